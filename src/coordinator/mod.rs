//! Who may use which machine ID, until when.
//!
//! A coordinator grants a machine ID for an interval of *its own* clock, and grants it again only when its own clock has
//! passed that interval's end. Whatever a client's clock says, the fences of one machine ID never overlap.
//!
//! Every coordinator passes one contract suite, `tests/support/contract.rs`.

#[cfg(feature = "tls")]
mod address;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "redis"))]
mod beside;
pub mod custom;
pub mod fixed;
pub mod functions;
#[cfg(feature = "runtime")]
pub mod guarded;
#[cfg(feature = "runtime")]
pub mod keeper;
pub mod local;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
pub mod registry;
#[cfg(any(feature = "mysql", feature = "redis"))]
mod socket;
#[cfg(feature = "tls")]
pub mod tls;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Code, Error};
use crate::layout::Layout;
use crate::nonce::{Extend, Loss};

/// What a coordinator's methods return: a future that the lease manager drives.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Grants, renews and takes back leases. Called by the lease manager alone, one request of a lease at a time.
pub trait Coordinator: Send + Sync + 'static {
    /// What to call it in messages; never with credentials.
    fn name(&self) -> String;

    /// Claims the machine ID that has been free longest, for `ttl`. Each call is a claim of its own: an answer that got
    /// lost is never asked for again.
    ///
    /// # Errors
    /// `EXHAUSTED` when every machine ID is leased; `CONFIG`, `COORDINATOR` or `TIME` with the retry class that fits.
    fn acquire(&self, ttl: Duration) -> Answer<'_, Result<Grant, Error>>;

    /// Prolongs a lease that is still alive, never shortens it. May be repeated.
    fn renew(&self, lease: &Lease, ttl: Duration) -> Answer<'_, Renewal>;

    /// Gives a lease back, free again after `last_used_ms` (milliseconds since 1970). A lease that is not held any more
    /// is left alone.
    ///
    /// # Errors
    /// When the outcome is unknown; the lease then runs out by itself.
    fn release(&self, lease: &Lease, last_used_ms: u64) -> Answer<'_, Result<(), Error>>;

    /// What an operator should know of the registry, as of the last acquire.
    fn caution(&self) -> Option<Caution> {
        None
    }

    /// Has `tell` called whenever a connection ended by itself while nothing was asked, where there are connections. It
    /// does not block.
    fn on_disconnect(&self, tell: Arc<dyn Fn() + Send + Sync>) {
        drop(tell);
    }
}

/// Proof that a lease is ours: 16 bytes, new for each claim. Not shown in any output.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(pub [u8; 16]);

impl Token {
    /// A token that nobody else has.
    ///
    /// # Errors
    /// `COORDINATOR` when the operating system has no random bytes.
    pub(crate) fn random() -> Result<Self, Error> {
        Self::random_part().map(Self)
    }

    /// Some bytes of a token that nobody else has; the rest is the coordinator's.
    ///
    /// # Errors
    /// As [`Token::random`].
    pub(crate) fn random_part<const N: usize>() -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        getrandom::fill(&mut bytes).map_err(|error| {
            Error::new(Code::Coordinator, format!("no random bytes from the operating system: {error}"))
        })?;
        Ok(bytes)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// One machine ID for one interval, as last confirmed by the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Machine ID.
    pub machine: u32,
    /// Proof of the claim.
    pub token: Token,
    /// First moment that may be used, in milliseconds since 1970 by the coordinator's clock.
    pub start_ms: u64,
    /// First moment that may not.
    pub end_ms: u64,
}

/// A coordinator's answer to an acquire or a renew.
#[derive(Debug, Clone)]
pub struct Grant {
    /// What was granted.
    pub lease: Lease,
    /// The coordinator's time when it decided, in milliseconds since 1970.
    pub now_ms: u64,
    /// How long it lasts.
    pub term: Term,
    /// How many of the machine IDs that it was taken from are leased, where that is known.
    pub usage: Option<Usage>,
}

/// How full a range of machine IDs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// How many are leased.
    pub leased: u32,
    /// How many there are.
    pub capacity: u32,
}

/// What may go wrong with a registry, and has not yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caution {
    /// A stable word for it.
    pub code: &'static str,
    /// The sentence for people.
    pub message: String,
}

/// What is told to whoever comes too late.
#[must_use]
pub fn exhausted(capacity: u32) -> Error {
    Error::new(Code::Exhausted, format!("all {capacity} machine IDs are leased"))
        .with(|fields| fields.capacity = Some(capacity))
}

/// How a lease ends.
#[derive(Debug, Clone)]
pub enum Term {
    /// At its `end_ms`, unless it is renewed before.
    Renewable,
    /// With the process; its end is moved on as it is used up.
    WhileHeld(Arc<dyn Extend>),
    /// With the process; it lasts until the layout ends.
    Unlimited,
}

/// What came of a renewal. Proven loss and unknown outcome are not the same.
#[derive(Debug, Clone)]
pub enum Renewal {
    /// Still ours, until the grant's end.
    Granted(Grant),
    /// Certainly not ours any more.
    Lost(Loss),
    /// Nobody knows: ask again with the same token while the fence lasts.
    Unknown(Error),
}

/// The machine IDs a registry hands out, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineIds {
    first: u32,
    last: u32,
}

impl MachineIds {
    /// All that the layout has but the highest, which is the database's own; or the given range within these.
    ///
    /// # Errors
    /// `CONFIG` with option `machineIds` when the range is empty or reaches beyond; with option `layout` when that has a
    /// single machine ID, so that none is left.
    pub fn new(layout: &Layout, range: Option<(u32, u32)>) -> Result<Self, Error> {
        let Some(highest) = layout.machines().checked_sub(2) else {
            let text = "layout.machine: expected at least 1 bit where machine IDs are leased (the highest ID is the \
                        database's), found 0; `machineId: 0` does without";
            return Err(Error::config("layout", text));
        };
        let (first, last) = range.unwrap_or((0, highest));
        if first > last || last > highest {
            let text = format!(
                "machineIds: expected from <= to <= {highest} (the highest ID is the database's), found {first} to {last}"
            );
            return Err(Error::config("machineIds", text));
        }
        Ok(Self { first, last })
    }

    /// One of them alone.
    ///
    /// # Errors
    /// `CONFIG` with option `machineId` when it is the highest, or beyond.
    pub fn only(layout: &Layout, machine: u32) -> Result<Self, Error> {
        // A layout with a single machine ID has none to lease.
        let Self { last: highest, .. } = Self::new(layout, None)?;
        if machine > highest {
            let text = format!(
                "machineId: expected 0 to {highest} with guard (the highest ID is the database's), found {machine}"
            );
            return Err(Error::config("machineId", text));
        }
        Ok(Self { first: machine, last: machine })
    }

    /// How many there are.
    #[must_use]
    pub fn capacity(self) -> u32 {
        self.last - self.first + 1
    }

    /// Each of them, ascending.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        self.first..=self.last
    }

    /// Whether `machine` is one of them.
    #[must_use]
    pub fn contains(self, machine: u32) -> bool {
        (self.first..=self.last).contains(&machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_machine_id_is_never_handed_out() {
        let all = MachineIds::new(&Layout::DEFAULT, None).unwrap();
        assert_eq!((all.capacity(), all.contains(0), all.contains(510), all.contains(511)), (511, true, true, false));
        for range in [(0, 511), (5, 4), (600, 700)] {
            let error = MachineIds::new(&Layout::DEFAULT, Some(range)).unwrap_err();
            assert_eq!(error.fields().option, Some("machineIds"));
        }
        let of_bits = |bits| MachineIds::new(&Layout::new(0, 42, bits, 13 - bits / 2, 0).unwrap(), None);
        assert_eq!(of_bits(0).unwrap_err().fields().option, Some("layout"));
        assert_eq!([1, 2, 15].map(|bits| of_bits(bits).unwrap().capacity()), [1, 3, 32_767]);
        assert_eq!(MachineIds::new(&Layout::new(0, 41, 20, 2, 0).unwrap(), None).unwrap().capacity(), 32_767);
    }

    #[test]
    fn one_machine_id_is_claimed_alone_and_never_the_highest() {
        let one = MachineIds::only(&Layout::DEFAULT, 510).unwrap();
        assert_eq!((one.capacity(), one.contains(509), one.contains(510)), (1, false, true));
        let error = MachineIds::only(&Layout::DEFAULT, 511).unwrap_err();
        assert_eq!(error.fields().option, Some("machineId"));
    }

    #[test]
    fn a_token_is_not_shown() {
        assert_eq!(format!("{:?}", Token([7; 16])), "Token(…)");
    }
}
