//! The word that a 64-bit sequence counts on: `machine ID | timestamp | count`, count lowest, so that it carries into the
//! timestamp. One word, so no reader can mix two leases.
//!
//! A sequence keeps the last word it gave out and the first one it may not give out without another look. Whoever opens
//! a lease stores the limit first and the word last; whoever counts loads the word first and the limit second. So a word
//! is always checked against its own lease's limit, or the compare-and-swap that follows fails.

use std::sync::atomic::{AtomicU64, Ordering};

use super::fence::Fence;
use crate::layout::{Layout, Parts};

/// No lease: nothing may be counted on. Greater than every word, because a layout's last timestamp is never used.
pub(super) const CLOSED: u64 = u64::MAX;

/// Where the parts of a word lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    layout: Layout,
}

impl Shape {
    pub(super) const fn of(layout: Layout) -> Self {
        Self { layout }
    }

    /// The first word of a machine ID's millisecond.
    #[inline]
    pub(super) const fn first_at(self, machine: u64, timestamp: u64) -> u64 {
        (machine << self.layout.time_bits() | timestamp) << self.layout.sequence_bits()
    }

    /// The word before a fence's first one: what an unused sequence stands on.
    pub(super) const fn before(self, fence: Fence) -> u64 {
        self.first_at(fence.machine as u64, fence.start) - 1
    }

    #[inline]
    pub(super) const fn machine(self, word: u64) -> u64 {
        word >> (self.layout.time_bits() + self.layout.sequence_bits())
    }

    #[inline]
    pub(super) const fn timestamp(self, word: u64) -> u64 {
        (word >> self.layout.sequence_bits()) & ((1 << self.layout.time_bits()) - 1)
    }

    /// The last word of the millisecond that `word` lies in.
    #[inline]
    pub(super) const fn last_in_millisecond(self, word: u64) -> u64 {
        word | ((1 << self.layout.sequence_bits()) - 1)
    }

    /// The nonce that a word stands for, its parts in the layout's order, in partition 0.
    #[inline]
    pub(super) const fn nonce(self, word: u64) -> u64 {
        self.layout.pack_unpartitioned(Parts {
            partition: 0,
            timestamp: self.timestamp(word),
            machine: self.machine(word),
            count: word,
        })
    }
}

/// The two atomics of a sequence, on a cache line of their own.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Word {
    last: AtomicU64,
    limit: AtomicU64,
}

impl Word {
    pub(super) const fn closed() -> Self {
        Self { last: AtomicU64::new(CLOSED), limit: AtomicU64::new(0) }
    }

    /// The last word given out, or [`CLOSED`].
    #[inline]
    pub(super) fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// The first word that needs another look. Load it after [`Word::last`].
    #[inline]
    pub(super) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Acquire)
    }

    /// Moves from `seen` to `last`; on failure says what stands there now.
    #[inline]
    pub(super) fn advance(&self, seen: u64, last: u64) -> Result<(), u64> {
        self.last.compare_exchange_weak(seen, last, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }

    /// Opens a lease: the limit before the word. The caller holds the factory's lock.
    pub(super) fn open(&self, before_first: u64, limit: u64) {
        self.limit.store(limit, Ordering::Release);
        self.last.store(before_first, Ordering::Release);
    }

    /// Moves the limit of the lease that is open. The caller holds the factory's lock.
    pub(super) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Release);
    }

    /// Ends the lease and yields the last word given out. The caller holds the factory's lock.
    pub(super) fn close(&self) -> u64 {
        self.last.swap(CLOSED, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_word_becomes_the_nonce_of_its_parts(machine in 0_u64..512, timestamp in 0_u64..(1 << 42) - 1, count in 0_u64..8192) {
            let shape = Shape::of(Layout::DEFAULT);
            let word = shape.first_at(machine, timestamp) + count;
            prop_assert!(word < CLOSED);
            prop_assert_eq!((shape.machine(word), shape.timestamp(word)), (machine, timestamp));
            prop_assert_eq!(
                Layout::DEFAULT.unpack(shape.nonce(word)),
                Parts { partition: 0, timestamp, machine, count }
            );
            prop_assert_eq!(shape.last_in_millisecond(word) + 1, shape.first_at(machine, timestamp + 1));
        }
    }

    #[test]
    fn the_greatest_word_of_any_layout_is_below_closed() {
        for layout in [Layout::DEFAULT, Layout::new(0, 42, 15, 7, 0).unwrap(), Layout::new(0, 48, 1, 15, 0).unwrap()] {
            let shape = Shape::of(layout);
            let last = shape.last_in_millisecond(shape.first_at(u64::from(layout.machines()) - 1, layout.end() - 1));
            assert!(last < CLOSED);
        }
    }
}
