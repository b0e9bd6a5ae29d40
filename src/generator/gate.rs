//! What one thread was told of the lease.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::nonce::Why;

/// What this handle's thread may do, as far as it was told. Between a `leaseLost` that it heard and the next
/// `leaseAcquired` it counts nothing, although the factory may be open again already.
#[derive(Debug)]
pub(super) struct Gate {
    open: AtomicU8,
    heard: Mutex<Heard>,
}

#[derive(Debug)]
pub(super) struct Heard {
    pub(super) number: u64,
    state: Result<(), Why>,
}

impl Gate {
    const OPEN: u8 = 1;
    const SHUT: u8 = 0;

    pub(super) fn new() -> Self {
        Self { open: AtomicU8::new(Self::SHUT), heard: Mutex::new(Heard { number: 0, state: Err(Why::NotReady) }) }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire) == Self::OPEN
    }

    /// News of an earlier number than what was heard already changes nothing.
    pub(super) fn hear(&self, number: u64, state: Result<(), Why>) {
        let mut heard = self.heard();
        if number >= heard.number && heard.state != Err(Why::Closed) {
            *heard = Heard { number, state };
            self.open.store(if state.is_ok() { Self::OPEN } else { Self::SHUT }, Ordering::Release);
        }
    }

    pub(super) fn close(&self) {
        self.heard().state = Err(Why::Closed);
        self.open.store(Self::SHUT, Ordering::Release);
    }

    pub(super) fn why(&self) -> Why {
        self.heard().state.err().unwrap_or(Why::NotReady)
    }

    pub(super) fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonce::Loss;

    const LOST: Why = Why::Lost { machine: 7, loss: Loss::Expired };

    #[test]
    fn the_gate_follows_the_newest_news_and_stays_closed_once_closed() {
        let gate = Gate::new();
        assert_eq!((gate.is_open(), gate.why()), (false, Why::NotReady));
        gate.hear(2, Ok(()));
        assert!(gate.is_open());
        gate.hear(3, Err(LOST));
        gate.hear(2, Ok(()));
        assert_eq!((gate.is_open(), gate.why()), (false, LOST));
        gate.hear(5, Ok(()));
        gate.hear(4, Ok(()));
        assert!(gate.is_open());
        gate.close();
        gate.hear(9, Ok(()));
        assert_eq!((gate.is_open(), gate.why()), (false, Why::Closed));
    }
}
