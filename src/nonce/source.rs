//! What a caller counts nonces of 64 bits with: one sequence of one factory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::factory::{Factory, View};
use super::sortable::Taken;
use super::word::{Shape, Word};
use super::{Order, Space};
use crate::clock::Tick;
use crate::error::Error;

/// What a sortable sequence does when a millisecond's counts are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overflow {
    /// Waits for the next one.
    #[default]
    Wait,
    /// Takes the next one's: timestamps run ahead of time, never past the fence's end.
    Drift,
}

/// The sequence of one space.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) word: Word,
    /// The tick, and one, at which somebody was told last that it runs ahead; 0 for never.
    told: AtomicU64,
}

impl Sequence {
    pub(super) const fn closed() -> Self {
        Self { word: Word::closed(), told: AtomicU64::new(0) }
    }

    /// Whether somebody may be told again.
    fn may_tell(&self, now: Tick) -> bool {
        const EVERY: u64 = 1_000_000_000;
        let told = self.told.load(Ordering::Relaxed);
        let due = told == 0 || now.0 >= (told - 1).saturating_add(EVERY);
        due && self.told.compare_exchange(told, now.0 + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// One sequence to count with. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Source {
    pub(super) sequence: Arc<Sequence>,
    pub(super) order: Order,
    pub(super) shape: Shape,
    pub(super) view: View,
    /// The bits of a nonce that are not counted.
    partition: u64,
    overflow: Overflow,
    pub(super) space: Space,
    pub(super) factory: Arc<Factory>,
}

impl Source {
    pub(super) fn new(sequence: Arc<Sequence>, space: Space, factory: Arc<Factory>) -> Self {
        let layout = *space.layout();
        Self {
            sequence,
            order: space.order(),
            shape: Shape::of(layout),
            view: factory.view(&layout),
            partition: layout.partition_start(space.partition()),
            overflow: Overflow::Wait,
            space,
            factory,
        }
    }

    /// The same sequence with something else to do when a millisecond is used up.
    #[must_use]
    pub fn with_overflow(self, overflow: Overflow) -> Self {
        Self { overflow, ..self }
    }

    /// What counts another partition of the same space.
    ///
    /// # Errors
    /// `CONFIG` with option `partition` where there is none of this number.
    pub fn in_partition(&self, partition: u64) -> Result<Self, Error> {
        let space = self.space.clone().in_partition(partition)?;
        Ok(self.factory.source(space)?.with_overflow(self.overflow))
    }

    /// The next nonce.
    ///
    /// # Errors
    /// `NOT_READY`, `LEASE_LOST` or `CLOSED` without a lease; `TIME` at the end of the layout, or where sortable nonces
    /// were counted so far ahead of time that waiting would take longer than a second; `COORDINATOR` when the end of the
    /// fence could not be moved.
    #[inline]
    pub fn next(&self) -> Result<u64, Error> {
        self.take(1).map(|(first, _)| self.nonce(first))
    }

    /// Fills `nonces` in ascending order. On an error nothing of what was counted is given out.
    ///
    /// # Errors
    /// As [`Source::next`].
    pub fn fill(&self, nonces: &mut [u64]) -> Result<(), Error> {
        /// Small enough that a block never waits long for lease time, large enough to make the swap cheap.
        const MOST_AT_ONCE: usize = 1024;
        let mut rest = nonces;
        while !rest.is_empty() {
            let (first, n) = self.take(rest.len().min(MOST_AT_ONCE) as u64)?;
            let (block, after) = rest.split_at_mut(n as usize);
            for (slot, word) in block.iter_mut().zip(first..) {
                *slot = self.nonce(word);
            }
            rest = after;
        }
        Ok(())
    }

    /// The next nonce at a given time, in milliseconds since 1970, instead of lease time. It must lie inside the fence
    /// and no more than five minutes ahead of lease time. Where a later one was given out before, or the time's counts
    /// are used up, the nonce comes after these.
    ///
    /// # Errors
    /// As [`Source::next`]; `TIME` for another time; `CONFIG` with option `time` for kinds without one.
    pub fn next_at(&self, unix_ms: u64) -> Result<u64, Error> {
        if self.order != Order::Sortable {
            return Err(Error::config("time", "time: expected a type of sortable nonces; others do not count by time"));
        }
        let timestamp = self.space.layout().timestamp(unix_ms)?;
        loop {
            let ahead = self.factory.admit(self, timestamp)?;
            let latest = self.factory.lease_time(self.view) + ahead;
            match self.sequence.word.take_between(self.shape, 1, timestamp, latest) {
                Taken::Words { first, .. } => return Ok(self.nonce(first)),
                Taken::Wait { timestamp } => self.factory.wait_for(self.view, timestamp.saturating_sub(ahead))?,
                Taken::Limit => self.factory.look(self, 1)?,
            }
        }
    }

    #[inline]
    fn nonce(&self, word: u64) -> u64 {
        self.partition | self.shape.nonce(word)
    }

    /// Takes 1 to `n` consecutive words: the first one and how many.
    #[inline]
    fn take(&self, n: u64) -> Result<(u64, u64), Error> {
        loop {
            match self.order {
                Order::Counter => {
                    if let Some(first) = self.sequence.word.take_consecutive(n) {
                        return Ok((first, n));
                    }
                }
                Order::Sortable => {
                    match self.sequence.word.take_by_time(self.shape, n, || self.factory.lease_time(self.view)) {
                        Taken::Words { first, n } => return Ok((first, n)),
                        Taken::Wait { timestamp } => {
                            if let Some(taken) = self.overflow(n, timestamp)? {
                                return Ok(taken);
                            }
                            continue;
                        }
                        Taken::Limit => {}
                    }
                }
            }
            self.factory.look(self, n)?;
        }
    }

    /// What to do about a millisecond that is used up: `None` means try again.
    #[cold]
    fn overflow(&self, n: u64, timestamp: u64) -> Result<Option<(u64, u64)>, Error> {
        if self.overflow == Overflow::Drift {
            let (now, ahead) = (self.factory.lease_time(self.view), self.factory.ahead());
            return match self.sequence.word.take_between(self.shape, n, now, now + ahead) {
                Taken::Words { first, n } => {
                    if self.shape.timestamp(first) > now {
                        self.factory.ran_ahead(&self.space, |tick| self.sequence.may_tell(tick));
                    }
                    Ok(Some((first, n)))
                }
                Taken::Wait { timestamp } => {
                    self.factory.wait_for(self.view, timestamp.saturating_sub(ahead)).map(|()| None)
                }
                Taken::Limit => self.factory.look(self, n).map(|()| None),
            };
        }
        self.factory.wait_for(self.view, timestamp).map(|()| None)
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
