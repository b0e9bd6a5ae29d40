//! What happens next: a pure function `step(state, event, now) -> (state, effects)`. No clock, no randomness, no IO.
//!
//! | state | event | next | effects |
//! |---|---|---|---|
//! | Idle | Wanted | Acquiring | acquire |
//! | Acquiring | Acquired | Held | open, emit `leaseAcquired`, settle, timers |
//! | Acquiring | Refused, can pass | Acquiring | emit `leaseRetry` (and once `warning`, if the registry waits), retry timer |
//! | Acquiring | Refused, cannot pass | Idle | settle with the error |
//! | Held | Wanted | Held | settle |
//! | Held | Renew timer | Held | renew |
//! | Held | Renewed | Held | grow the fence, emit `leaseRenewed`, timers |
//! | Held | Unknown | Held | emit `leaseRetry`, renew timer |
//! | Held | Doubted, deadline ahead | Held | renew, if none is under way |
//! | Held | Disconnected | Held | renew, if none is under way |
//! | Held | Rejected, deadline timer, Doubted past the deadline | Lost | close, emit `leaseLost`, acquire |
//! | Held | Relinquished | Lost | close, release, emit `leaseLost`, acquire |
//! | Lost | Acquired | Held | as from Acquiring |
//! | Lost | Refused | Lost | emit `leaseRetry`, retry timer |
//! | Acquiring, Lost | Refused, another holds the guarded machine ID | Conflict | emit `conflict`, `leaseRetry`, retry timer |
//! | Conflict | Acquired | Held | as from Acquiring |
//! | Conflict | Refused | Conflict | emit `leaseRetry`, retry timer |
//! | Acquiring, Lost, Conflict | retry timer | the same | acquire |
//! | Held | Closing | Closed | close, release |
//! | Idle, Acquiring, Lost, Conflict | Closing | Closed | close |
//! | any other | Acquired | the same | decline: nobody waits for that grant any more |
//!
//! Whatever is not in the table changes nothing. Answers and timers carry the generation of the state that asked for
//! them; one of an earlier generation does nothing (but for that last line).

mod words;

use std::time::Duration;

pub use self::words::{Asking, Effect, Event, Holding, Phase, State, Timer, Timings};
use super::backoff;
use super::event::{Operation, Source, What};
use crate::clock::Tick;
use crate::coordinator::{Grant, Lease, Term};
use crate::error::{Code, Error, Retry};
use crate::nonce::{Loss, Why};

/// What the pure function needs to know beside the event.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// Now.
    pub now: Tick,
    /// A random number, for the jitter.
    pub random: u32,
    /// The timings in force.
    pub timings: &'a Timings,
}

/// One step; see the module's table.
#[must_use]
pub fn step(state: State, event: Event, moment: Moment<'_>) -> (State, Vec<Effect>) {
    let outdated = event.generation().is_some_and(|generation| generation != state.generation);
    let State { phase, generation } = state;
    let mut next = Next { generation, moment, effects: Vec::new() };
    let phase = if outdated { next.stale(phase, event) } else { next.step(phase, event) };
    (State { phase, generation: next.generation }, next.effects)
}

struct Next<'a> {
    generation: u64,
    moment: Moment<'a>,
    effects: Vec<Effect>,
}

impl Next<'_> {
    fn step(&mut self, phase: Phase, event: Event) -> Phase {
        match (phase, event) {
            (Phase::Closed, event) => self.stale(Phase::Closed, event),
            (phase, Event::Closing) => self.close(&phase),

            (Phase::Idle, Event::Wanted) => Phase::Acquiring(self.ask(Source::Initial)),

            (
                Phase::Acquiring(asking) | Phase::Lost(asking) | Phase::Conflict { asking, .. },
                Event::Acquired(_, grant),
            ) => self.hold(&asking, grant),
            (Phase::Acquiring(_), Event::Refused(_, error)) if error.retry() == Retry::Never => {
                self.generation += 1;
                self.effects.push(Effect::Settle(Err(error)));
                Phase::Idle
            }
            (Phase::Acquiring(asking), Event::Refused(_, error)) => self.refused(&asking, error, Phase::Acquiring),
            (Phase::Lost(asking), Event::Refused(_, error)) => self.refused(&asking, error, Phase::Lost),
            (Phase::Conflict { machine, asking }, Event::Refused(_, error)) => {
                Phase::Conflict { machine, asking: self.try_later(&asking, error) }
            }
            (Phase::Acquiring(asking), Event::Fired(_, Timer::Retry)) => Phase::Acquiring(self.ask_again(asking)),
            (Phase::Lost(asking), Event::Fired(_, Timer::Retry)) => Phase::Lost(self.ask_again(asking)),
            (Phase::Conflict { machine, asking }, Event::Fired(_, Timer::Retry)) => {
                Phase::Conflict { machine, asking: self.ask_again(asking) }
            }

            (Phase::Held(holding), Event::Wanted) => {
                self.effects.push(Effect::Settle(Ok(())));
                Phase::Held(holding)
            }
            // One at a time: an answer that is on its way sets the timers anew.
            (Phase::Held(holding), Event::Fired(_, Timer::Renew)) if holding.renewal_sent.is_none() => {
                Phase::Held(self.renew(holding, holding.source))
            }
            (Phase::Held(holding), Event::Renewed(_, grant)) => self.renewed(&holding, grant),
            (Phase::Held(holding), Event::Unknown(_, error)) => Phase::Held(self.renew_later(holding, error)),
            (Phase::Held(holding), Event::Doubted)
                if holding.deadline.is_some_and(|deadline| deadline <= self.moment.now) =>
            {
                self.lose(&holding, Loss::Expired, None)
            }
            (Phase::Held(holding), Event::Doubted) if holding.renewal_sent.is_none() && holding.unknown == 0 => {
                Phase::Held(self.renew(holding, Source::Scheduled))
            }
            (Phase::Held(holding), Event::Disconnected) if holding.renewal_sent.is_none() && holding.unknown == 0 => {
                Phase::Held(self.renew(holding, Source::Reconnect))
            }
            (Phase::Held(holding), Event::Rejected(_, loss)) => self.lose(&holding, loss, None),
            (Phase::Held(holding), Event::Fired(_, Timer::Deadline)) => self.lose(&holding, Loss::Expired, None),
            (Phase::Held(holding), Event::Relinquished(why)) => {
                self.lose(&holding, Loss::Relinquished, Some(why).filter(|why| !why.is_empty()))
            }

            (phase, _) => phase,
        }
    }

    /// A grant that nobody waits for is given back at once; nothing was counted under it.
    fn stale(&mut self, phase: Phase, event: Event) -> Phase {
        if let Event::Acquired(_, grant) = event {
            self.effects.push(Effect::Decline(grant.lease));
        }
        phase
    }

    fn ask(&mut self, source: Source) -> Asking {
        self.ask_again(Asking { source, sent: self.moment.now, asked: 0, failed: 0, last_error: None })
    }

    fn ask_again(&mut self, asking: Asking) -> Asking {
        self.generation += 1;
        self.effects.push(Effect::Acquire(self.generation));
        Asking { sent: self.moment.now, asked: asking.asked + 1, ..asking }
    }

    fn refused(&mut self, asking: &Asking, error: Error, phase: fn(Asking) -> Phase) -> Phase {
        match error.fields().machine_id.filter(|_| error.code() == Code::Conflict) {
            Some(machine) => {
                self.effects.push(Effect::Emit(What::Conflict { machine }));
                Phase::Conflict { machine, asking: self.try_later(asking, error) }
            }
            None => phase(self.try_later(asking, error)),
        }
    }

    fn try_later(&mut self, asking: &Asking, error: Error) -> Asking {
        let Asking { source, sent, asked, .. } = *asking;
        let failed = asking.failed + 1;
        if error.code() == Code::RegistryReset
            && asking.last_error.as_ref().is_none_or(|last| last.code() != error.code())
        {
            self.effects
                .push(Effect::Emit(What::Warning { code: "REGISTRY_RESET", message: error.message().to_owned() }));
        }
        let delay = self.acquire_delay(failed, &error);
        let took = self.moment.now.since(sent);
        let operation = Operation::Acquire;
        let retry = What::Retry { operation, source, took, attempt: failed, delay, error: error.clone() };
        self.later(Timer::Retry, delay, retry);
        Asking { source, sent, asked, failed, last_error: Some(error) }
    }

    /// Not much later than the time after which it may help, and spread over a second then: the others were told the same.
    fn acquire_delay(&self, failed: u32, error: &Error) -> Duration {
        // Who chose short leases wants to be back soon.
        let delay = backoff::delay(failed, self.moment.random, self.moment.timings.ttl / 2);
        let spread = backoff::delay(5, self.moment.random, Duration::MAX) / 2;
        error.worth_retrying_in().map_or(delay, |wait| delay.min(wait + spread))
    }

    fn renew(&mut self, holding: Holding, source: Source) -> Holding {
        self.effects.push(Effect::Renew(self.generation, holding.lease));
        Holding { renewal_sent: Some(self.moment.now), source, ..holding }
    }

    /// Sooner than the backoff says where the lease would not last for many more attempts.
    fn renew_later(&mut self, holding: Holding, error: Error) -> Holding {
        let unknown = holding.unknown + 1;
        let left = holding.deadline.map_or(Duration::MAX, |deadline| deadline.since(self.moment.now));
        let delay = backoff::delay(unknown, self.moment.random, left / 4);
        let took = self.moment.now.since(holding.renewal_sent.unwrap_or(self.moment.now));
        let (operation, source) = (Operation::Renew, holding.source);
        self.later(Timer::Renew, delay, What::Retry { operation, source, took, attempt: unknown, delay, error });
        Holding { renewal_sent: None, unknown, ..holding }
    }

    fn later(&mut self, timer: Timer, delay: Duration, retry: What) {
        self.effects.push(Effect::Emit(retry));
        self.effects.push(Effect::SetTimer(self.generation, timer, self.moment.now.after(delay)));
    }

    fn hold(&mut self, asking: &Asking, grant: Grant) -> Phase {
        let (lease, left, source) = (grant.lease, left(&grant), asking.source);
        let took = self.moment.now.since(asking.sent);
        self.effects.push(Effect::Open(grant));
        self.effects.push(Effect::Emit(What::Acquired { machine: lease.machine, source, took }));
        self.effects.push(Effect::Settle(Ok(())));
        Phase::Held(self.holding(lease, left, asking.sent, self.moment.timings.first_ttl / 3))
    }

    fn renewed(&mut self, holding: &Holding, grant: Grant) -> Phase {
        let (lease, left) = (grant.lease, left(&grant));
        let sent = holding.renewal_sent.unwrap_or(self.moment.now);
        let took = self.moment.now.since(sent);
        self.effects.push(Effect::Grow(grant));
        self.effects.push(Effect::Emit(What::Renewed { machine: lease.machine, source: holding.source, took }));
        Phase::Held(self.holding(lease, left, sent, self.moment.timings.renew_every))
    }

    /// The deadline counts from before the request was sent: by then the coordinator's clock showed at most its `now`.
    fn holding(&mut self, lease: Lease, left: Option<Duration>, sent: Tick, renew_in: Duration) -> Holding {
        self.generation += 1;
        if let Some(left) = left {
            let renew_at = self.moment.now.after(renew_in.min(left / 3));
            self.effects.push(Effect::SetTimer(self.generation, Timer::Deadline, sent.after(left)));
            self.effects.push(Effect::SetTimer(self.generation, Timer::Renew, renew_at));
        }
        Holding {
            lease,
            deadline: left.map(|left| sent.after(left)),
            renewal_sent: None,
            source: Source::Scheduled,
            unknown: 0,
        }
    }

    /// Closes first, tells then: no count begins after the event.
    fn lose(&mut self, holding: &Holding, loss: Loss, detail: Option<String>) -> Phase {
        let machine = holding.lease.machine;
        self.effects.push(Effect::Close(Why::Lost { machine, loss }));
        if loss == Loss::Relinquished {
            self.effects.push(Effect::Release { lease: holding.lease, announce: false });
        }
        self.effects.push(Effect::Emit(What::Lost { machine, loss, detail }));
        Phase::Lost(self.ask(Source::Reacquire))
    }

    fn close(&mut self, phase: &Phase) -> Phase {
        self.generation += 1;
        self.effects.push(Effect::Close(Why::Closed));
        if let Phase::Held(holding) = phase {
            self.effects.push(Effect::Release { lease: holding.lease, announce: true });
        }
        self.effects.push(Effect::Settle(Err(Why::Closed.error())));
        Phase::Closed
    }
}

/// How long a grant lasts from its own `now` on, if it ends by itself.
fn left(grant: &Grant) -> Option<Duration> {
    let left = Duration::from_millis(grant.lease.end_ms.saturating_sub(grant.now_ms));
    matches!(grant.term, Term::Renewable).then_some(left)
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
