//! The counters of one process for one registry: opened by a lease, moved on while it lasts, closed when it ends.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::fence::{Doubt, Extend, Fence, Watch};
use super::source::{Sequence, Source};
use super::why::Why;
use super::wide::Slot;
use super::word::{CLOSED, Shape};
use super::{Order, Space};
use crate::clock::{Clock, Tick};
use crate::error::Error;
use crate::layout::Layout;

/// What a lease brings to a factory.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Machine ID and interval.
    pub fence: Fence,
    /// The coordinator's time in the grant, as a timestamp of the layout, and the local tick at which it arrived.
    pub now: u64,
    /// See [`Opening::now`].
    pub arrived: Tick,
    /// How to move the fence's end, where the lease does not run out by itself.
    pub extend: Option<Arc<dyn Extend>>,
    /// Whom to tell when a count cannot go on.
    pub doubt: Doubt,
}

/// How a layout sees lease time: what its epoch adds to that of the factory's layout in nanoseconds, wrapping, and the
/// end of its timestamps.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    gap: u64,
    end: u64,
}

/// Whom to tell that a sequence runs ahead of time.
type TellAhead = Box<dyn Fn(&Space) + Send + Sync>;

/// Counts for one lease at a time. Cheap to share; see the module's guarantee.
pub struct Factory {
    layout: Layout,
    pub(super) clock: Arc<dyn Clock>,
    /// Lease time minus tick, in nanoseconds, wrapping. Written under the lock, before the words that rely on it.
    offset: AtomicU64,
    state: Mutex<State>,
    pub(super) times_ahead: AtomicU64,
    pub(super) tell_ahead: OnceLock<TellAhead>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) lease: Result<Held, Why>,
    /// What closing the last lease yielded.
    last_used: Option<u64>,
    sequences: HashMap<Space, Arc<Sequence>>,
    /// The first space of each name: the others agree with it.
    names: HashMap<String, Space>,
    wide: HashMap<Space, Arc<Slot>>,
    wide_names: HashMap<String, Space>,
    watchers: Vec<Weak<dyn Watch>>,
}

#[derive(Debug)]
pub(super) struct Held {
    pub(super) fence: Fence,
    pub(super) extend: Option<Arc<dyn Extend>>,
    pub(super) doubt: Doubt,
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
            names: HashMap::new(),
            wide: HashMap::new(),
            wide_names: HashMap::new(),
            watchers: Vec::new(),
        };
        Self {
            layout,
            clock,
            offset: AtomicU64::new(0),
            state: Mutex::new(state),
            times_ahead: AtomicU64::new(0),
            tell_ahead: OnceLock::new(),
        }
    }

    /// The layout of the fences that it is opened with; a space may have another one.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What counts in `space`; all sources of one space share one sequence. The first call for a space makes it, also in
    /// the middle of a lease.
    ///
    /// # Errors
    /// `CONFIG` with option `space` where the name already stands for another kind, layout or encryption; with option
    /// `layout` where that has no room for some of the machine IDs.
    pub fn source(self: &Arc<Self>, space: Space) -> Result<Source, Error> {
        let (machines, most) = (space.layout().machines(), self.layout.machines());
        if machines < most {
            let message =
                format!("layout: expected room for {most} machine IDs, as the generator's has, found {machines}");
            return Err(Error::config("layout", message));
        }
        let mut state = self.lock();
        let State { lease, sequences, names, .. } = &mut *state;
        check_name(names, &space)?;
        let sequence = sequences.entry(space.clone()).or_insert_with(|| {
            let sequence = Sequence::closed();
            if let Ok(held) = lease {
                self.open_sequence(&sequence, &space, held.fence);
            }
            Arc::new(sequence)
        });
        Ok(Source::new(Arc::clone(sequence), space, Arc::clone(self)))
    }

    pub(super) fn wide_slot(&self, space: Space) -> Result<Arc<Slot>, Error> {
        let order = space.order();
        let mut state = self.lock();
        let State { lease, wide, wide_names, .. } = &mut *state;
        check_name(wide_names, &space)?;
        let slot = wide.entry(space).or_insert_with(|| {
            let slot = Slot::closed(order, self.layout);
            if let Ok(held) = lease {
                slot.open(order, self.layout, held.fence);
            }
            Arc::new(slot)
        });
        Ok(Arc::clone(slot))
    }

    /// Tells `tell`, from now on, of sequences that count ahead of time, each at most once a second. It is called by
    /// whoever counts: it must not block. The first one stays.
    pub fn on_ahead(&self, tell: impl Fn(&Space) + Send + Sync + 'static) {
        _ = self.tell_ahead.set(Box::new(tell));
    }

    /// How often a sequence was counted on ahead of time.
    #[must_use]
    pub fn times_ahead(&self) -> u64 {
        self.times_ahead.load(Ordering::Relaxed)
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
        self.close_sequences(&state);
        state.last_used = None;
        self.offset.store(offset(&opening), Ordering::Release);
        for (space, sequence) in &state.sequences {
            self.open_sequence(sequence, space, opening.fence);
        }
        for (space, slot) in &state.wide {
            slot.open(space.order(), self.layout, opening.fence);
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
        let last_used = self.close_sequences(&state).or(state.last_used);
        state.last_used = last_used;
        if state.lease.as_ref().err() != Some(&Why::Closed) {
            state.lease = Err(why);
        }
        state.tell_watchers();
        last_used
    }

    /// How a layout sees lease time.
    pub(super) fn view(&self, layout: &Layout) -> View {
        let gap = self.layout.epoch_ms().wrapping_sub(layout.epoch_ms()).wrapping_mul(NANOS_PER_MS);
        View { gap, end: layout.end() }
    }

    /// Lease time as a timestamp of a layout; it means something only while a lease is open.
    #[inline]
    pub(super) fn lease_time(&self, view: View) -> u64 {
        let nanos = self.clock.tick().0.wrapping_add(self.offset.load(Ordering::Acquire)).wrapping_add(view.gap);
        // The end fits into the timestamp's bits, later times would spill into the machine ID's.
        (nanos / NANOS_PER_MS).min(view.end)
    }

    /// The fence in the timestamps of another layout.
    pub(super) fn seen_by(&self, layout: &Layout, fence: Fence) -> Result<Fence, Error> {
        if *layout == self.layout {
            return Ok(fence);
        }
        Fence::new(layout, fence.machine, self.layout.unix_ms(fence.start), self.layout.unix_ms(fence.end))
    }

    /// A sequence whose layout has no room for the fence stays closed.
    fn open_sequence(&self, sequence: &Sequence, space: &Space, fence: Fence) {
        let Ok(fence) = self.seen_by(space.layout(), fence) else { return };
        let shape = Shape::of(*space.layout());
        let limit = match space.order() {
            // The first count reads lease time and moves this.
            Order::Counter => fence.start,
            Order::Sortable => fence.end,
        };
        sequence.word.open(shape.before(fence), shape.first_at(u64::from(fence.machine), limit));
    }

    pub(super) fn raise_end(&self, state: &mut State, end: u64) {
        let Ok(held) = &mut state.lease else { return };
        held.fence.end = held.fence.end.max(end.min(self.layout.end()));
        for (space, sequence) in state.sequences.iter().filter(|(space, _)| space.order() == Order::Sortable) {
            if let Ok(fence) = self.seen_by(space.layout(), held.fence) {
                let shape = Shape::of(*space.layout());
                sequence.word.set_limit(shape.first_at(u64::from(fence.machine), fence.end));
            }
        }
        for slot in state.wide.values() {
            slot.sequence().raise_end(held.fence.end);
        }
    }

    fn close_sequences(&self, state: &State) -> Option<u64> {
        let unused = state.lease.as_ref().ok()?.fence.start - 1;
        let used = state.sequences.iter().filter_map(|(space, sequence)| {
            let last = Some(sequence.word.close()).filter(|last| *last != CLOSED)?;
            let unix_ms = space.layout().unix_ms(Shape::of(*space.layout()).timestamp(last));
            Some(unix_ms.saturating_sub(self.layout.epoch_ms()))
        });
        let wide = state.wide.values().filter_map(|slot| slot.sequence().close());
        Some(used.chain(wide).max().unwrap_or(unused))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave the state half-written: each write below is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").field("layout", &self.layout).field("state", &self.state).finish_non_exhaustive()
    }
}

/// Remembers the first space of a name, and holds the others to it.
fn check_name(names: &mut HashMap<String, Space>, space: &Space) -> Result<(), Error> {
    if space.name().is_empty() {
        return Ok(());
    }
    names.entry(space.name().to_owned()).or_insert_with(|| space.clone()).agrees_with(space)
}

const NANOS_PER_MS: u64 = 1_000_000;

fn offset(opening: &Opening) -> u64 {
    opening.now.saturating_mul(NANOS_PER_MS).wrapping_sub(opening.arrived.0)
}

#[cfg(test)]
#[path = "factory_tests.rs"]
mod tests;
