//! The interval of timestamps that a lease allows its holder to put into nonces.

use std::fmt;
use std::sync::Arc;

use crate::error::{Code, Error};
use crate::layout::Layout;

/// One machine ID and `[start, end)`, in timestamps of the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// Machine ID.
    pub machine: u32,
    /// First timestamp that may be used; at least 1.
    pub start: u64,
    /// First timestamp that may not.
    pub end: u64,
}

impl Fence {
    /// The fence of a lease granted for `[start, end)` in milliseconds since 1970.
    ///
    /// # Errors
    /// `TIME` when the start lies at or before the epoch or past the layout's end; `CONFIG` (option `layout`) when the
    /// layout has too few bits for the machine ID. An end past the layout's is cut to it.
    pub fn new(layout: &Layout, machine: u32, start_ms: u64, end_ms: u64) -> Result<Self, Error> {
        if machine >= layout.machines() {
            let most = layout.machines() - 1;
            return Err(Error::config(
                "layout",
                format!("machine ID {machine} needs more than the layout's 0 to {most}"),
            ));
        }
        let start = layout.timestamp(start_ms)?;
        if start == 0 {
            return Err(Error::new(Code::Time, "the time of the lease lies at the layout's epoch, expected after it"));
        }
        let end = end_ms.min(layout.end_unix_ms()).saturating_sub(layout.epoch_ms());
        Ok(Self { machine, start, end: end.max(start) })
    }

    /// Whether nothing but the end of the layout ends this fence.
    #[must_use]
    pub fn is_last(&self, layout: &Layout) -> bool {
        self.end >= layout.end()
    }
}

/// How a fence without a lease that runs out is moved on: the holder promises its coordinator a later end *before* it
/// uses it.
pub trait Extend: Send + Sync {
    /// Promises an end past `unix_ms` (milliseconds since 1970) and returns it. It may take as long as a disk does.
    ///
    /// # Errors
    /// `COORDINATOR` when the promise could not be kept; nothing past the old end may be used then.
    fn extend(&self, unix_ms: u64) -> Result<u64, Error>;
}

/// Somebody who keeps nonces that were counted ahead of their use.
pub trait Watch: fmt::Debug + Send + Sync {
    /// What was counted before this call is not to be given out any more. Called with the factory's lock held: it must
    /// not block.
    fn changed(&self);
}

/// Called when a count could not go on, so that the lease's owner looks at it. It must not block.
#[derive(Clone)]
pub struct Doubt(Arc<dyn Fn() + Send + Sync>);

impl Doubt {
    /// Calls `look` whenever there is doubt.
    pub fn new(look: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(super) fn raise(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Doubt")
    }
}

impl fmt::Debug for dyn Extend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dyn Extend")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: u64 = Layout::DEFAULT_EPOCH_MS;

    #[test]
    fn milliseconds_become_timestamps_and_the_layouts_end_cuts() {
        let fence = Fence::new(&Layout::DEFAULT, 5, EPOCH + 10, u64::MAX).unwrap();
        assert_eq!(fence, Fence { machine: 5, start: 10, end: Layout::DEFAULT.end() });
        assert!(fence.is_last(&Layout::DEFAULT));
        assert!(!Fence::new(&Layout::DEFAULT, 5, EPOCH + 10, EPOCH + 20).unwrap().is_last(&Layout::DEFAULT));
    }

    #[test]
    fn times_and_machine_ids_outside_are_refused() {
        for start in [0, EPOCH - 1, EPOCH, Layout::DEFAULT.end_unix_ms()] {
            assert_eq!(Fence::new(&Layout::DEFAULT, 0, start, u64::MAX).unwrap_err().code(), Code::Time, "{start}");
        }
        assert_eq!(Fence::new(&Layout::DEFAULT, 512, EPOCH + 1, u64::MAX).unwrap_err().fields().option, Some("layout"));
    }
}
