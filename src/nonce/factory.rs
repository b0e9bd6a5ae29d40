//! The counters of one process for one registry: opened by a lease, moved on while it lasts, closed when it ends.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::Order;
use super::fence::{Doubt, Extend, Fence, Watch};
use super::sortable::Taken;
use super::why::{Loss, Why};
use super::wide::{self, Slot};
use super::word::{CLOSED, Shape, Word};
use crate::clock::Clock;
use crate::error::{Code, Error};
use crate::layout::Layout;

/// A set of nonces that are unique among each other. Every ID type that counts in the same space shares its sequence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Space {
    /// How the space's one sequence counts.
    pub order: Order,
    /// What sets this space apart: empty for the default, the cipher and the key's fingerprint for encrypted nonces.
    pub name: String,
}

/// What a lease brings to a factory.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Machine ID and interval.
    pub fence: Fence,
    /// The coordinator's time in the grant, as a timestamp of the layout, and the local tick at which it arrived.
    pub now: u64,
    /// See [`Opening::now`].
    pub arrived: crate::clock::Tick,
    /// How to move the fence's end, where the lease does not run out by itself.
    pub extend: Option<Arc<dyn Extend>>,
    /// Whom to tell when a count cannot go on.
    pub doubt: Doubt,
}

/// Counts for one lease at a time. Cheap to share; see the module's guarantee.
pub struct Factory {
    layout: Layout,
    clock: Arc<dyn Clock>,
    /// Lease time minus tick, in nanoseconds, wrapping. Written under the lock, before the words that rely on it.
    offset: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    lease: Result<Held, Why>,
    /// What closing the last lease yielded.
    last_used: Option<u64>,
    sequences: HashMap<Space, Arc<Word>>,
    wide: HashMap<Space, Arc<Slot>>,
    watchers: Vec<Weak<dyn Watch>>,
}

#[derive(Debug)]
struct Held {
    fence: Fence,
    extend: Option<Arc<dyn Extend>>,
    doubt: Doubt,
}

impl State {
    fn tell_watchers(&mut self) {
        self.watchers.retain(|watcher| {
            watcher.upgrade().is_some_and(|watcher| {
                watcher.changed();
                true
            })
        });
    }
}

impl Factory {
    /// A factory without a lease.
    #[must_use]
    pub fn new(layout: Layout, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            lease: Err(Why::NotReady),
            last_used: None,
            sequences: HashMap::new(),
            wide: HashMap::new(),
            watchers: Vec::new(),
        };
        Self { layout, clock, offset: AtomicU64::new(0), state: Mutex::new(state) }
    }

    /// The layout of its nonces.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What counts in `space`; all sources of one space share one sequence. The first call for a space makes it, also in
    /// the middle of a lease.
    #[must_use]
    pub fn source(self: &Arc<Self>, space: Space) -> Source {
        let order = space.order;
        let mut state = self.lock();
        let State { lease, sequences, .. } = &mut *state;
        let word = sequences.entry(space).or_insert_with(|| {
            let word = Word::closed();
            if let Ok(held) = lease {
                self.open_word(&word, order, held.fence);
            }
            Arc::new(word)
        });
        Source { word: Arc::clone(word), order, factory: Arc::clone(self) }
    }

    pub(super) fn wide_slot(&self, space: Space) -> Arc<Slot> {
        let order = space.order;
        let mut state = self.lock();
        let State { lease, wide, .. } = &mut *state;
        let slot = wide.entry(space).or_insert_with(|| {
            let slot = Slot::closed(order, self.layout);
            if let Ok(held) = lease {
                slot.open(order, self.layout, held.fence);
            }
            Arc::new(slot)
        });
        Arc::clone(slot)
    }

    /// Tells `watcher`, as long as it lives, when a lease ends or another one begins.
    pub fn watch(&self, watcher: Weak<dyn Watch>) {
        self.lock().watchers.push(watcher);
    }

    /// Starts to count for a lease; `false` if the factory was closed for good. An open lease is closed first; its last
    /// use is lost, so callers close themselves.
    pub fn open(&self, opening: Opening) -> bool {
        let mut state = self.lock();
        if state.lease.as_ref().err() == Some(&Why::Closed) {
            return false;
        }
        close_words(&mut state, self.shape());
        state.last_used = None;
        self.offset.store(offset(&opening), Ordering::Release);
        for (space, word) in &state.sequences {
            self.open_word(word, space.order, opening.fence);
        }
        for (space, slot) in &state.wide {
            slot.open(space.order, self.layout, opening.fence);
        }
        state.lease = Ok(Held { fence: opening.fence, extend: opening.extend, doubt: opening.doubt });
        state.tell_watchers();
        true
    }

    /// Moves the end of the lease that is open, never back, and sets lease time by the newer grant, never back.
    pub fn renew(&self, opening: &Opening) {
        let mut state = self.lock();
        let newer = offset(opening);
        if newer.wrapping_sub(self.offset.load(Ordering::Acquire)) as i64 > 0 {
            self.offset.store(newer, Ordering::Release);
        }
        self.raise_end(&mut state, opening.fence.end);
    }

    /// Ends the lease: no count begins after this returns, and those under way fail. Yields the last timestamp that any
    /// sequence used (the one before the start, if none did), also when it was closed before; `None` if no lease was ever
    /// open. [`Why::Closed`] is for good.
    pub fn close(&self, why: Why) -> Option<u64> {
        let mut state = self.lock();
        let last_used = close_words(&mut state, self.shape()).or(state.last_used);
        state.last_used = last_used;
        if state.lease.as_ref().err() != Some(&Why::Closed) {
            state.lease = Err(why);
        }
        state.tell_watchers();
        last_used
    }

    /// Lease time as a timestamp of the layout; it means something only while a lease is open.
    #[inline]
    pub(super) fn lease_time(&self) -> u64 {
        let nanos = self.clock.tick().0.wrapping_add(self.offset.load(Ordering::Acquire));
        // The end fits into the timestamp's bits, later times would spill into the machine ID's.
        (nanos / NANOS_PER_MS).min(self.layout.end())
    }

    fn shape(&self) -> Shape {
        Shape::of(self.layout)
    }

    fn open_word(&self, word: &Word, order: Order, fence: Fence) {
        let shape = self.shape();
        let limit = match order {
            // The first count reads lease time and moves this.
            Order::Counter => fence.start,
            Order::Sortable => fence.end,
        };
        word.open(shape.before(fence), shape.first_at(u64::from(fence.machine), limit));
    }

    fn raise_end(&self, state: &mut State, end: u64) {
        let Ok(held) = &mut state.lease else { return };
        held.fence.end = held.fence.end.max(end.min(self.layout.end()));
        let limit = self.shape().first_at(u64::from(held.fence.machine), held.fence.end);
        for (space, word) in &state.sequences {
            if space.order == Order::Sortable {
                word.set_limit(limit);
            }
        }
        for slot in state.wide.values() {
            slot.sequence().raise_end(held.fence.end);
        }
    }

    /// What to do about a limit that was reached by `n` words: `Ok` means try again.
    #[cold]
    fn look(&self, word: &Word, order: Order, n: u64) -> Result<(), Error> {
        let state = self.lock();
        let held = state.lease.as_ref().map_err(|why| why.error())?;
        let (fence, shape, now) = (held.fence, self.shape(), self.lease_time());
        let wanted = match order {
            Order::Counter => shape.timestamp(word.last() + n),
            Order::Sortable => shape.timestamp(word.last() + 1).max(now),
        };
        if wanted.max(now) >= fence.end {
            let (extend, doubt) = (held.extend.clone(), held.doubt.clone());
            drop(state);
            return self.extend_past(wanted.max(now), fence, extend).inspect_err(|_| doubt.raise());
        }
        if order == Order::Counter {
            if wanted > now {
                drop(state);
                self.wait_until(wanted);
                return Ok(());
            }
            word.set_limit(shape.first_at(u64::from(fence.machine), (now + 1).min(fence.end)));
        }
        Ok(())
    }

    /// [`Factory::look`] for a wide sequence.
    #[cold]
    pub(super) fn look_wide(&self, slot: &Slot) -> Result<(), Error> {
        let state = self.lock();
        let held = state.lease.as_ref().map_err(|why| why.error())?;
        let now = self.lease_time();
        let wanted = slot.sequence().next_timestamp(now).ok_or_else(wide::no_counts)?.max(now);
        if wanted < held.fence.end {
            return Ok(());
        }
        let (fence, extend, doubt) = (held.fence, held.extend.clone(), held.doubt.clone());
        drop(state);
        self.extend_past(wanted, fence, extend).inspect_err(|_| doubt.raise())
    }

    fn extend_past(&self, timestamp: u64, fence: Fence, extend: Option<Arc<dyn Extend>>) -> Result<(), Error> {
        if fence.is_last(&self.layout) {
            let text =
                format!("the layout ends at {} (ms since 1970): it has no timestamps left", self.layout.end_unix_ms());
            return Err(Error::new(Code::Time, text));
        }
        let Some(extend) = extend else {
            return Err(Why::Lost { machine: fence.machine, loss: Loss::Expired }.error());
        };
        // Outside the lock: other sequences go on while the disk works.
        let end = extend.extend(self.layout.unix_ms(timestamp))?;
        let mut state = self.lock();
        let same_lease =
            matches!(&state.lease, Ok(held) if held.fence.machine == fence.machine && held.fence.start == fence.start);
        if same_lease {
            self.raise_end(&mut state, end.saturating_sub(self.layout.epoch_ms()));
        }
        Ok(())
    }

    /// Passes the time until lease time reaches `timestamp`: sleeps through whole milliseconds and spins through the rest.
    #[cold]
    pub(super) fn wait_until(&self, timestamp: u64) {
        loop {
            match timestamp.saturating_sub(self.lease_time()) {
                0 => return,
                1 => std::hint::spin_loop(),
                // At most a second at a time, so that a close meanwhile is noticed soon.
                gap => return std::thread::sleep(Duration::from_millis((gap - 1).min(1000))),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave the state half-written: each write below is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").field("layout", &self.layout).field("state", &self.state).finish_non_exhaustive()
    }
}

/// One sequence to count with. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Source {
    pub(super) word: Arc<Word>,
    order: Order,
    factory: Arc<Factory>,
}

impl Source {
    /// The next nonce.
    ///
    /// # Errors
    /// `NOT_READY`, `LEASE_LOST` or `CLOSED` without a lease; `TIME` at the end of the layout; `COORDINATOR` when the
    /// end of the fence could not be moved.
    #[inline]
    pub fn next(&self) -> Result<u64, Error> {
        let shape = self.factory.shape();
        self.take(1).map(|(first, _)| shape.nonce(first))
    }

    /// Fills `nonces` in ascending order. On an error nothing of what was counted is given out.
    ///
    /// # Errors
    /// As [`Source::next`].
    pub fn fill(&self, nonces: &mut [u64]) -> Result<(), Error> {
        /// Small enough that a block never waits long for lease time, large enough to make the swap cheap.
        const MOST_AT_ONCE: usize = 1024;
        let shape = self.factory.shape();
        let mut rest = nonces;
        while !rest.is_empty() {
            let (first, n) = self.take(rest.len().min(MOST_AT_ONCE) as u64)?;
            let (block, after) = rest.split_at_mut(n as usize);
            for (slot, word) in block.iter_mut().zip(first..) {
                *slot = shape.nonce(word);
            }
            rest = after;
        }
        Ok(())
    }

    /// Takes 1 to `n` consecutive words: the first one and how many.
    #[inline]
    fn take(&self, n: u64) -> Result<(u64, u64), Error> {
        loop {
            match self.order {
                Order::Counter => {
                    if let Some(first) = self.word.take_consecutive(n) {
                        return Ok((first, n));
                    }
                }
                Order::Sortable => {
                    match self.word.take_by_time(self.factory.shape(), n, || self.factory.lease_time()) {
                        Taken::Words { first, n } => return Ok((first, n)),
                        Taken::Wait { timestamp } => {
                            self.factory.wait_until(timestamp);
                            continue;
                        }
                        Taken::Limit => {}
                    }
                }
            }
            self.factory.look(&self.word, self.order, n)?;
        }
    }
}

const NANOS_PER_MS: u64 = 1_000_000;

fn offset(opening: &Opening) -> u64 {
    opening.now.saturating_mul(NANOS_PER_MS).wrapping_sub(opening.arrived.0)
}

fn close_words(state: &mut State, shape: Shape) -> Option<u64> {
    let unused = state.lease.as_ref().ok()?.fence.start - 1;
    let used = state.sequences.values().map(|word| word.close()).filter(|last| *last != CLOSED);
    let used = used.map(|last| shape.timestamp(last));
    let wide = state.wide.values().filter_map(|slot| slot.sequence().close());
    Some(used.chain(wide).max().unwrap_or(unused))
}

#[cfg(test)]
#[path = "factory_tests.rs"]
mod tests;
