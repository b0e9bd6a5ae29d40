//! What happens when a sequence cannot simply go on: its limit is looked at again, moved, waited for, or it is told why
//! there is none.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::factory::{Factory, View};
use super::fence::{Extend, Fence};
use super::source::Source;
use super::why::{Loss, Why};
use super::wide::{self, Slot};
use super::{Order, Space};
use crate::clock::Tick;
use crate::error::{Code, Error};
use crate::layout::Layout;

/// How far sortable nonces may run ahead of lease time, in milliseconds: as long as a lease.
const MOST_AHEAD: u64 = 300_000;

/// What a sequence that has run ahead is waited for, in milliseconds.
const LONGEST_WAIT: u64 = 1000;

/// Where the next timestamp that was wanted lies.
struct Wanted<'a> {
    layout: &'a Layout,
    timestamp: u64,
    now: u64,
    /// The fence in timestamps of the layout.
    fence: Fence,
}

impl Factory {
    /// What to do about a limit that was reached by `n` words: `Ok` means try again.
    #[cold]
    pub(super) fn look(&self, source: &Source, n: u64) -> Result<(), Error> {
        let state = self.lock();
        let held = state.lease.as_ref().map_err(|why| why.error())?;
        let (shape, layout, word) = (source.shape, source.space.layout(), &source.sequence.word);
        let (fence, now) = (self.seen_by(layout, held.fence)?, self.lease_time(source.view));
        let timestamp = match source.order {
            Order::Counter => shape.timestamp(word.last() + n),
            Order::Sortable => shape.timestamp(word.last() + 1).max(now),
        };
        if timestamp.max(now) >= fence.end {
            let (held, extend, doubt) = (held.fence, held.extend.clone(), held.doubt.clone());
            drop(state);
            let wanted = Wanted { layout, timestamp, now, fence };
            return self.extend_past(&wanted, held, extend).inspect_err(|_| doubt.raise());
        }
        if source.order == Order::Counter {
            if timestamp > now {
                drop(state);
                self.wait_until(source.view, timestamp);
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
        let now = self.lease_time(self.view(self.layout()));
        let timestamp = slot.sequence().next_timestamp(now).ok_or_else(wide::no_counts)?;
        if timestamp.max(now) < held.fence.end {
            return Ok(());
        }
        let (fence, extend, doubt) = (held.fence, held.extend.clone(), held.doubt.clone());
        drop(state);
        let wanted = Wanted { layout: self.layout(), timestamp, now, fence };
        self.extend_past(&wanted, fence, extend).inspect_err(|_| doubt.raise())
    }

    /// Whether a sortable nonce of a time that somebody chose may be given out, and then how far ahead of lease time.
    #[cold]
    pub(super) fn admit(&self, source: &Source, timestamp: u64) -> Result<u64, Error> {
        let layout = source.space.layout();
        loop {
            let ahead = self.ahead();
            let fence = {
                let state = self.lock();
                self.seen_by(layout, state.lease.as_ref().map_err(|why| why.error())?.fence)?
            };
            let now = self.lease_time(source.view);
            if now >= fence.end {
                self.look(source, 1)?;
            } else if !(fence.start..fence.end).contains(&timestamp) || timestamp > now + ahead.max(LONGEST_WAIT) {
                let [from, to] = [fence.start, fence.end.min(now + ahead + 1)].map(|end| layout.unix_ms(end));
                let found = layout.unix_ms(timestamp);
                let message = format!("time: expected one from {from} and before {to} (ms since 1970), found {found}");
                return Err(Error::new(Code::Time, message));
            } else if timestamp > now + ahead {
                self.wait_until(source.view, timestamp);
            } else {
                return Ok(ahead);
            }
        }
    }

    /// How far sortable nonces may run ahead of lease time. Not at all where nobody keeps the end of what was used: there
    /// the next process begins at its clock's time.
    pub(super) fn ahead(&self) -> u64 {
        match &self.lock().lease {
            Ok(held) if held.extend.is_some() || !held.fence.is_last(self.layout()) => MOST_AHEAD,
            _ => 0,
        }
    }

    /// A sequence counted ahead of time; `may_tell` says whether that is worth telling at a tick.
    #[cold]
    pub(super) fn ran_ahead(&self, space: &Space, may_tell: impl FnOnce(Tick) -> bool) {
        self.times_ahead.fetch_add(1, Ordering::Relaxed);
        if let Some(tell) = self.tell_ahead.get()
            && may_tell(self.clock.tick())
        {
            tell(space);
        }
    }

    fn extend_past(&self, wanted: &Wanted<'_>, held: Fence, extend: Option<Arc<dyn Extend>>) -> Result<(), Error> {
        let &Wanted { layout, timestamp, now, fence } = wanted;
        if held.is_last(self.layout()) || fence.is_last(layout) {
            let end = self.layout().end_unix_ms().min(layout.end_unix_ms());
            let text = format!("the layout ends at {end} (ms since 1970): it has no timestamps left");
            return Err(Error::new(Code::Time, text));
        }
        let timestamp = timestamp.max(now);
        let Some(extend) = extend else {
            if timestamp > now + 1 {
                return Err(far_ahead(timestamp - now, "to the end of the lease"));
            }
            return Err(Why::Lost { machine: fence.machine, loss: Loss::Expired }.error());
        };
        // Outside the lock: other sequences go on while the disk works.
        let end = extend.extend(layout.unix_ms(timestamp))?;
        let mut state = self.lock();
        let same_lease =
            matches!(&state.lease, Ok(other) if other.fence.machine == held.machine && other.fence.start == held.start);
        if same_lease {
            self.raise_end(&mut state, end.saturating_sub(self.layout().epoch_ms()));
        }
        Ok(())
    }

    /// Waits for the time of a sequence that has run ahead.
    ///
    /// # Errors
    /// `TIME` where that would take longer than a second.
    #[cold]
    pub(super) fn wait_for(&self, view: View, timestamp: u64) -> Result<(), Error> {
        let gap = timestamp.saturating_sub(self.lease_time(view));
        if gap > LONGEST_WAIT {
            return Err(far_ahead(gap, "by `overflow: 'drift'` or by a given time"));
        }
        self.wait_until(view, timestamp);
        Ok(())
    }

    /// Passes the time until lease time reaches `timestamp`: sleeps through whole milliseconds and spins through the rest.
    #[cold]
    pub(super) fn wait_until(&self, view: View, timestamp: u64) {
        loop {
            match timestamp.saturating_sub(self.lease_time(view)) {
                0 => return,
                1 => std::hint::spin_loop(),
                // At most a second at a time, so that a close meanwhile is noticed soon.
                gap => return std::thread::sleep(Duration::from_millis((gap - 1).min(1000))),
            }
        }
    }
}

fn far_ahead(gap_ms: u64, how: &str) -> Error {
    Error::new(
        Code::Time,
        format!("the sequence has run {gap_ms} ms ahead of lease time, {how}; no IDs until that is made up"),
    )
}
