//! Nonces of 96 and 128 bits. Timestamp, machine ID and count do not fit one word, so each lease has a sequence of its
//! own: immutable but for its end, which only grows, and for its word, which closing ends for good. Nobody can take a
//! count from one lease and the machine ID from another.
//!
//! A counter keeps the lease's start as its timestamp; what 96 bits cannot count carries into that, inside the fence. It
//! is never ahead of time and never waits. Both read lease time at each call: an expired lease gives nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::factory::{Factory, View};
use super::fence::Fence;
use super::{Order, Space};
use crate::error::{Code, Error};
use crate::layout::{Layout, Parts, Size};

/// No lease. Greater than every word: counters stop before it, and a layout's last timestamp is never used.
const CLOSED: u64 = u64::MAX;

/// One space's sequence under one lease.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Sequence {
    order: Order,
    layout: Layout,
    machine: u64,
    start: u64,
    end: AtomicU64,
    /// Counter: the next count. Sortable: the last `timestamp | count` that was given out.
    word: AtomicU64,
}

/// What came of an attempt to take counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// `n` counts from the one in `first`, in one timestamp.
    Counts { first: Parts, n: u64 },
    /// The millisecond is used up: come again when lease time has reached `timestamp`.
    Wait { timestamp: u64 },
    /// The fence's end, or no lease: the slow path must look.
    Limit,
}

impl Sequence {
    fn closed(order: Order, layout: Layout) -> Self {
        Self { word: AtomicU64::new(CLOSED), ..Self::open(order, layout, Fence { machine: 0, start: 1, end: 1 }) }
    }

    fn open(order: Order, layout: Layout, fence: Fence) -> Self {
        let Fence { machine, start, end } = fence;
        let word = match order {
            Order::Counter => 0,
            Order::Sortable => (start << sortable_bits(&layout)) - 1,
        };
        Self { order, layout, machine: machine.into(), start, end: AtomicU64::new(end), word: AtomicU64::new(word) }
    }

    /// Takes 1 to `n` counts for nonces of a size.
    fn take(&self, size: Size, n: u64, now: impl Fn() -> u64) -> Taken {
        match self.order {
            Order::Counter => self.take_consecutive(size, n, now()),
            Order::Sortable => self.take_by_time(n, now),
        }
    }

    fn take_consecutive(&self, size: Size, n: u64, now: u64) -> Taken {
        let mut seen = self.word();
        loop {
            let (timestamp, room) = self.at(size, seen);
            let n = n.min(room).min((CLOSED - 1).saturating_sub(seen));
            if n == 0 || timestamp.max(now) >= self.end() {
                return Taken::Limit;
            }
            match self.advance(seen, seen + n) {
                Ok(()) => return Taken::Counts { first: self.parts(timestamp, seen), n },
                Err(other) => seen = other,
            }
        }
    }

    /// The word first, then the clock, then compare-and-swap, so that timestamps never go back.
    fn take_by_time(&self, n: u64, now: impl Fn() -> u64) -> Taken {
        let bits = sortable_bits(&self.layout);
        let mut seen = self.word();
        loop {
            if seen == CLOSED {
                return Taken::Limit;
            }
            let now = now();
            let first = (seen + 1).max(now << bits);
            let timestamp = first >> bits;
            if timestamp >= self.end() {
                return Taken::Limit;
            }
            if timestamp > now {
                return Taken::Wait { timestamp };
            }
            let last = (first + (n - 1)).min(first | ((1 << bits) - 1));
            match self.advance(seen, last) {
                Ok(()) => {
                    let count = first & ((1 << bits) - 1);
                    return Taken::Counts { first: self.parts(timestamp, count), n: last - first + 1 };
                }
                Err(other) => seen = other,
            }
        }
    }

    /// The timestamp at which a counter's nonce of a size shows a count, and how many it shows from there on.
    fn at(&self, size: Size, count: u64) -> (u64, u64) {
        match self.layout.count_bits(size) {
            64.. => (self.start, u64::MAX),
            bits => (self.start.saturating_add(count >> bits), (1 << bits) - (count & ((1 << bits) - 1))),
        }
    }

    fn parts(&self, timestamp: u64, count: u64) -> Parts {
        Parts { partition: 0, timestamp, machine: self.machine, count }
    }

    /// The timestamp of the next count, or `None` when there is no lease or no count left.
    pub(super) fn next_timestamp(&self, now: u64) -> Option<u64> {
        match (self.order, self.word()) {
            (_, CLOSED) => None,
            (Order::Counter, word) if word == CLOSED - 1 => None,
            // In 96 bits, which have the fewest counts.
            (Order::Counter, word) => Some(self.at(Size::Bits96, word).0),
            (Order::Sortable, word) => Some(((word + 1) >> sortable_bits(&self.layout)).max(now)),
        }
    }

    pub(super) fn raise_end(&self, end: u64) {
        self.end.fetch_max(end, Ordering::AcqRel);
    }

    /// Ends the sequence and yields the last timestamp that it used; `None` if it used none, or had ended before.
    pub(super) fn close(&self) -> Option<u64> {
        match (self.order, self.word.swap(CLOSED, Ordering::AcqRel)) {
            (_, CLOSED) | (Order::Counter, 0) => None,
            (Order::Counter, word) => Some(self.at(Size::Bits96, word - 1).0),
            (Order::Sortable, word) => Some(word >> sortable_bits(&self.layout)).filter(|last| *last >= self.start),
        }
    }

    fn word(&self) -> u64 {
        self.word.load(Ordering::Acquire)
    }

    fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    fn advance(&self, seen: u64, to: u64) -> Result<(), u64> {
        self.word.compare_exchange_weak(seen, to, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }
}

/// Bits of a sortable nonce's count: what a timestamp leaves of a word, as in `NoNoncense`, and 96 bits have room for.
fn sortable_bits(layout: &Layout) -> u32 {
    (64 - layout.time_bits()).min(layout.count_bits(Size::Bits96))
}

/// Where the sequence of a space's current lease is found.
#[derive(Debug)]
pub(super) struct Slot(RwLock<Arc<Sequence>>);

impl Slot {
    pub(super) fn closed(order: Order, layout: Layout) -> Self {
        Self(RwLock::new(Arc::new(Sequence::closed(order, layout))))
    }

    /// Begins a lease. The caller holds the factory's lock and has closed the sequence before.
    pub(super) fn open(&self, order: Order, layout: Layout, fence: Fence) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Sequence::open(order, layout, fence));
    }

    pub(super) fn sequence(&self) -> RwLockReadGuard<'_, Arc<Sequence>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One sequence of wide nonces to count with. Cloning shares it; 96 and 128 bits share it too.
#[derive(Debug, Clone)]
pub struct WideSource {
    pub(super) slot: Arc<Slot>,
    view: View,
    factory: Arc<Factory>,
}

impl WideSource {
    /// The next nonce of a size, in the lower bits.
    ///
    /// # Errors
    /// As [`super::Source::next`], and `CONFIG` with option `bits` for 64, which another source counts; `TIME` also when
    /// a counter is at its end.
    pub fn next(&self, size: Size) -> Result<u128, Error> {
        let mut nonce = [0];
        self.fill(size, &mut nonce)?;
        Ok(nonce[0])
    }

    /// Fills `nonces` in ascending order. On an error nothing of what was counted is given out.
    ///
    /// # Errors
    /// As [`WideSource::next`].
    pub fn fill(&self, size: Size, nonces: &mut [u128]) -> Result<(), Error> {
        if size == Size::Bits64 {
            return Err(Error::config("bits", "bits: expected 96 or 128 of a wide nonce, found 64"));
        }
        let mut rest = nonces;
        while !rest.is_empty() {
            let (first, n) = self.take(size, rest.len() as u64)?;
            let (block, after) = rest.split_at_mut(n as usize);
            for (slot, count) in block.iter_mut().zip(first.count..) {
                *slot = self.factory.layout().pack_sized(size, Parts { count, ..first });
            }
            rest = after;
        }
        Ok(())
    }

    fn take(&self, size: Size, n: u64) -> Result<(Parts, u64), Error> {
        loop {
            // The guard is dropped before anything that takes time.
            let taken = self.slot.sequence().take(size, n, || self.factory.lease_time(self.view));
            match taken {
                Taken::Counts { first, n } => return Ok((first, n)),
                Taken::Wait { timestamp } => self.factory.wait_until(self.view, timestamp),
                Taken::Limit => self.factory.look_wide(&self.slot)?,
            }
        }
    }
}

#[cfg(test)]
impl WideSource {
    pub(super) fn set(&self, word: u64) {
        self.slot.sequence().word.store(word, Ordering::Release);
    }
}

/// The error of a counter without counts.
#[cold]
pub(super) fn no_counts() -> Error {
    Error::new(Code::Time, "the lease has used up its 2^64 wide counts; they begin again with the next one")
}

impl Factory {
    /// What counts wide nonces in `space`: as [`Factory::source`], apart from the sequences of 64 bits, and always in the
    /// factory's own layout.
    ///
    /// # Errors
    /// `CONFIG` with option `space`, as there; 64 bits have names of their own.
    pub fn wide_source(self: &Arc<Self>, space: Space) -> Result<WideSource, Error> {
        let slot = self.wide_slot(space)?;
        Ok(WideSource { slot, view: self.view(self.layout()), factory: Arc::clone(self) })
    }
}

#[cfg(test)]
#[path = "wide_tests.rs"]
mod tests;
