//! The table of the module, row by row.

#[path = "state_tests/conflict.rs"]
mod conflict;

use super::*;
use crate::coordinator::Token;

const TIMINGS: Timings =
    Timings { ttl: Duration::from_secs(300), first_ttl: Duration::from_secs(60), renew_every: Duration::from_secs(60) };
const NOW: Tick = Tick(1_000_000_000);

fn moment(now: Tick) -> Moment<'static> {
    Moment { now, random: u32::MAX, timings: &TIMINGS }
}

fn at(event: Event, state: State) -> (State, Vec<Effect>) {
    step(state, event, moment(NOW))
}

fn grant(machine: u32, ttl_ms: u64) -> Grant {
    let lease = Lease { machine, token: Token([machine as u8; 16]), start_ms: 1001, end_ms: 1000 + ttl_ms };
    Grant { lease, now_ms: 1000, term: Term::Renewable, usage: None }
}

fn passing() -> Error {
    Error::new(Code::Coordinator, "no answer").retry_as(Retry::Soon)
}

fn fatal() -> Error {
    Error::new(Code::Coordinator, "wrong password")
}

fn idle() -> State {
    State::new()
}

fn acquiring() -> State {
    at(Event::Wanted, idle()).0
}

/// Held since `NOW`, for a first lease of 60 s.
fn held() -> State {
    let state = acquiring();
    let generation = state.generation;
    at(Event::Acquired(generation, grant(7, 60_000)), state).0
}

fn lost() -> State {
    let state = held();
    let generation = state.generation;
    at(Event::Rejected(generation, Loss::Rejected), state).0
}

fn closed() -> State {
    at(Event::Closing, held()).0
}

/// The effects in words, so that a test reads like the table.
fn words(effects: &[Effect]) -> Vec<String> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::Acquire(_) => "acquire".into(),
            Effect::Renew(_, lease) => format!("renew {}", lease.machine),
            Effect::Release { lease, announce } => format!("release {} announce {announce}", lease.machine),
            Effect::Decline(lease) => format!("decline {}", lease.machine),
            Effect::Open(grant) => format!("open {}", grant.lease.machine),
            Effect::Grow(grant) => format!("grow {} to {}", grant.lease.machine, grant.lease.end_ms),
            Effect::Close(why) => format!("close {why:?}"),
            Effect::SetTimer(_, timer, at) => format!("{timer:?} in {:?}", at.since(NOW)),
            Effect::Emit(What::Acquired { source, .. }) => format!("emit acquired {}", source.as_str()),
            Effect::Emit(What::Renewed { source, .. }) => format!("emit renewed {}", source.as_str()),
            Effect::Emit(What::Retry { operation, attempt, delay, .. }) => {
                format!("emit retry {} {attempt} in {delay:?}", operation.as_str())
            }
            Effect::Emit(What::Lost { machine, loss, detail: None }) => {
                format!("emit lost {machine} {}", loss.as_str())
            }
            Effect::Emit(What::Lost { machine, loss, detail: Some(detail) }) => {
                format!("emit lost {machine} {} ({detail})", loss.as_str())
            }
            Effect::Emit(other) => format!("emit {other:?}"),
            Effect::Settle(result) => format!("settle {:?}", result.as_ref().map_err(Error::code)),
        })
        .collect()
}

fn assert_step(state: State, event: impl FnOnce(u64) -> Event, phase: &str, effects: &[&str]) -> State {
    let generation = state.generation;
    let (next, done) = at(event(generation), state);
    let name = format!("{:?}", next.phase);
    assert!(name.starts_with(phase), "expected {phase}, found {name}");
    assert_eq!(words(&done), effects);
    next
}

#[test]
fn wanting_a_lease_asks_for_it_once() {
    let state = assert_step(idle(), |_| Event::Wanted, "Acquiring", &["acquire"]);
    assert_step(state, |_| Event::Wanted, "Acquiring", &[]);
    assert_step(held(), |_| Event::Wanted, "Held", &["settle Ok(())"]);
    assert_step(lost(), |_| Event::Wanted, "Lost", &[]);
}

#[test]
fn a_grant_opens_tells_and_sets_its_timers() {
    let granted = |generation| Event::Acquired(generation, grant(7, 60_000));
    assert_step(
        acquiring(),
        granted,
        "Held",
        &["open 7", "emit acquired initial", "settle Ok(())", "Deadline in 60s", "Renew in 20s"],
    );
    assert_step(
        lost(),
        granted,
        "Held",
        &["open 7", "emit acquired reacquire", "settle Ok(())", "Deadline in 60s", "Renew in 20s"],
    );
}

#[test]
fn a_grant_without_an_end_needs_no_timers() {
    let unlimited = |generation| Event::Acquired(generation, Grant { term: Term::Unlimited, ..grant(7, 60_000) });
    assert_step(acquiring(), unlimited, "Held", &["open 7", "emit acquired initial", "settle Ok(())"]);
}

#[test]
fn the_deadline_counts_from_before_the_request_was_sent() {
    let state = acquiring();
    let late = NOW.after(Duration::from_secs(4));
    let granted = Event::Acquired(state.generation, grant(7, 60_000));
    let (state, effects) = step(state, granted, moment(late));
    assert!(words(&effects).contains(&"Deadline in 60s".into()), "{:?}", words(&effects));
    assert!(words(&effects).contains(&"Renew in 24s".into()));
    let Phase::Held(holding) = state.phase else { panic!("not held") };
    assert_eq!(holding.deadline, Some(NOW.after(Duration::from_secs(60))));
}

#[test]
fn a_short_grant_is_renewed_before_its_end() {
    let short = |generation| Event::Acquired(generation, grant(7, 3000));
    assert_step(
        acquiring(),
        short,
        "Held",
        &["open 7", "emit acquired initial", "settle Ok(())", "Deadline in 3s", "Renew in 1s"],
    );
}

#[test]
fn an_acquire_that_may_succeed_later_is_tried_again_with_growing_delays() {
    let mut state = acquiring();
    for (attempt, delay) in [(1, "100ms"), (2, "200ms"), (3, "400ms")] {
        state = assert_step(
            state,
            |generation| Event::Refused(generation, passing()),
            "Acquiring",
            &[&format!("emit retry acquire {attempt} in {delay}"), &format!("Retry in {delay}")],
        );
        assert_eq!(state.asking().unwrap().failed, attempt);
        state = assert_step(state, |generation| Event::Fired(generation, Timer::Retry), "Acquiring", &["acquire"]);
    }
    let exhausted = Error::new(Code::Exhausted, "all leased");
    let state = assert_step(
        state,
        |generation| Event::Refused(generation, exhausted.clone()),
        "Acquiring",
        &["emit retry acquire 4 in 800ms", "Retry in 800ms"],
    );
    assert_eq!(state.asking().unwrap().last_error, Some(exhausted));
}

#[test]
fn a_fatal_answer_ends_the_first_acquire_and_the_next_want_starts_anew() {
    let state = assert_step(
        acquiring(),
        |generation| Event::Refused(generation, fatal()),
        "Idle",
        &["settle Err(Coordinator)"],
    );
    assert_step(state, |_| Event::Wanted, "Acquiring", &["acquire"]);
}

#[test]
fn after_a_loss_everything_is_tried_again() {
    let state = assert_step(
        lost(),
        |generation| Event::Refused(generation, fatal()),
        "Lost",
        &["emit retry acquire 1 in 100ms", "Retry in 100ms"],
    );
    assert_step(state, |generation| Event::Fired(generation, Timer::Retry), "Lost", &["acquire"]);
}

#[test]
fn a_renewal_grows_the_fence_and_sets_the_timers_again() {
    let state = assert_step(held(), |generation| Event::Fired(generation, Timer::Renew), "Held", &["renew 7"]);
    assert_step(
        state,
        |generation| Event::Renewed(generation, grant(7, 300_000)),
        "Held",
        &["grow 7 to 301000", "emit renewed scheduled", "Deadline in 300s", "Renew in 60s"],
    );
}

#[test]
fn a_renewal_with_an_unknown_outcome_is_repeated_and_nothing_is_lost() {
    let state = assert_step(
        held(),
        |generation| Event::Unknown(generation, passing()),
        "Held",
        &["emit retry renew 1 in 100ms", "Renew in 100ms"],
    );
    let state = assert_step(state, |generation| Event::Fired(generation, Timer::Renew), "Held", &["renew 7"]);
    assert_step(
        state,
        |generation| Event::Unknown(generation, passing()),
        "Held",
        &["emit retry renew 2 in 200ms", "Renew in 200ms"],
    );
}

#[test]
fn losing_closes_first_tells_then_and_asks_again() {
    for (loss, event) in [
        (Loss::Rejected, (|generation| Event::Rejected(generation, Loss::Rejected)) as fn(u64) -> Event),
        (Loss::Conflict, |generation| Event::Rejected(generation, Loss::Conflict)),
        (Loss::Expired, |generation| Event::Fired(generation, Timer::Deadline)),
    ] {
        let closed = format!("close Lost {{ machine: 7, loss: {loss:?} }}");
        let told = format!("emit lost 7 {}", loss.as_str());
        assert_step(held(), event, "Lost", &[&closed, &told, "acquire"]);
    }
}

#[test]
fn giving_up_releases_before_it_asks_again() {
    assert_step(
        held(),
        |_| Event::Relinquished("draining".into()),
        "Lost",
        &[
            "close Lost { machine: 7, loss: Relinquished }",
            "release 7 announce false",
            "emit lost 7 relinquished (draining)",
            "acquire",
        ],
    );
    for state in [idle(), acquiring(), lost(), closed()] {
        let before = state.clone();
        assert_eq!(at(Event::Relinquished("draining".into()), state).0, before);
    }
}

#[test]
fn doubt_renews_before_the_deadline_and_loses_after_it() {
    let state = assert_step(held(), |_| Event::Doubted, "Held", &["renew 7"]);
    assert_step(state.clone(), |_| Event::Doubted, "Held", &[]);
    let (state, effects) = step(state, Event::Doubted, moment(NOW.after(Duration::from_secs(60))));
    assert!(matches!(state.phase, Phase::Lost(_)));
    assert_eq!(words(&effects), ["close Lost { machine: 7, loss: Expired }", "emit lost 7 expired", "acquire"]);
    assert_step(lost(), |_| Event::Doubted, "Lost", &[]);
}

#[test]
fn closing_releases_what_is_held_and_is_the_end() {
    assert_step(
        held(),
        |_| Event::Closing,
        "Closed",
        &["close Closed", "release 7 announce true", "settle Err(Closed)"],
    );
    for state in [idle(), acquiring(), lost()] {
        assert_step(state, |_| Event::Closing, "Closed", &["close Closed", "settle Err(Closed)"]);
    }
    for event in [Event::Wanted, Event::Closing, Event::Doubted] {
        assert_step(closed(), |_| event, "Closed", &[]);
    }
}

#[test]
fn a_grant_that_nobody_waits_for_is_declined() {
    let asked = acquiring().generation;
    for state in [closed(), held(), lost()] {
        let before = state.clone();
        let (after, effects) = at(Event::Acquired(asked, grant(9, 60_000)), state);
        assert_eq!((after, words(&effects)), (before, vec!["decline 9".to_owned()]));
    }
}

#[test]
fn answers_and_timers_of_an_earlier_generation_do_nothing() {
    for state in [idle(), acquiring(), held(), lost(), closed()] {
        let stale = state.generation + 1;
        for event in [
            Event::Refused(stale, fatal()),
            Event::Renewed(stale, grant(7, 1)),
            Event::Rejected(stale, Loss::Rejected),
            Event::Unknown(stale, passing()),
            Event::Fired(stale, Timer::Deadline),
            Event::Fired(stale, Timer::Renew),
            Event::Fired(stale, Timer::Retry),
        ] {
            let before = state.clone();
            let (after, effects) = at(event, state.clone());
            assert_eq!(after, before);
            assert!(effects.is_empty());
        }
    }
}

#[test]
fn a_renewal_makes_the_earlier_deadline_stale() {
    let first = held();
    let generation = first.generation;
    let (renewed, _) = at(Event::Renewed(generation, grant(7, 300_000)), first);
    let (after, effects) = at(Event::Fired(generation, Timer::Deadline), renewed.clone());
    assert_eq!(after, renewed);
    assert!(effects.is_empty());
}

#[test]
fn a_connection_that_ended_is_tried_at_once() {
    let state = assert_step(held(), |_| Event::Disconnected, "Held", &["renew 7"]);
    assert_step(state.clone(), |_| Event::Disconnected, "Held", &[]);
    assert_step(state.clone(), |generation| Event::Fired(generation, Timer::Renew), "Held", &[]);
    let failed = assert_step(
        state,
        |generation| Event::Unknown(generation, passing()),
        "Held",
        &["emit retry renew 1 in 100ms", "Renew in 100ms"],
    );
    let again = assert_step(failed, |generation| Event::Fired(generation, Timer::Renew), "Held", &["renew 7"]);
    assert_step(
        again,
        |generation| Event::Renewed(generation, grant(7, 300_000)),
        "Held",
        &["grow 7 to 301000", "emit renewed reconnect", "Deadline in 300s", "Renew in 60s"],
    );
    for state in [idle(), acquiring(), lost(), closed()] {
        let phase = format!("{:?}", state.phase);
        assert_step(state, |_| Event::Disconnected, phase.split('(').next().unwrap(), &[]);
    }
}

#[test]
fn a_retry_tells_what_it_was_for_and_how_long_it_took() {
    let later = NOW.after(Duration::from_millis(40));
    let retry = |state: State, event: fn(u64, Error) -> Event| {
        let event = event(state.generation, passing());
        let (_, effects) = step(state, event, moment(later));
        let Some(Effect::Emit(What::Retry { source, took, .. })) = effects.first() else { panic!("{effects:?}") };
        (source.as_str(), *took)
    };
    let took = Duration::from_millis(40);
    assert_eq!(retry(acquiring(), Event::Refused), ("initial", took));
    assert_eq!(retry(lost(), Event::Refused), ("reacquire", took));
    let renewing = at(Event::Disconnected, held()).0;
    assert_eq!(retry(renewing, Event::Unknown), ("reconnect", took));
}

#[test]
fn a_renewal_is_tried_more_often_where_little_time_is_left() {
    let mut state = held();
    for _ in 0..20 {
        let (generation, moment) = (state.generation, moment(NOW.after(Duration::from_secs(56))));
        let (next, effects) = step(state, Event::Unknown(generation, passing()), moment);
        let Some(Effect::Emit(What::Retry { delay, .. })) = effects.first() else { panic!("{effects:?}") };
        assert!(*delay <= Duration::from_secs(1), "{delay:?} of the 4 s that are left");
        state = next;
    }
}

#[test]
fn a_registry_that_waits_is_told_of_once_and_asked_again_when_it_may_be_over() {
    let waits =
        |left: u64| Error::new(Code::RegistryReset, "new").retry_as(Retry::Later).retry_in(Duration::from_millis(left));
    let told = "emit Warning { code: \"REGISTRY_RESET\", message: \"new\" }";
    let state = assert_step(
        acquiring(),
        |generation| Event::Refused(generation, waits(50_000)),
        "Acquiring",
        &[told, "emit retry acquire 1 in 100ms", "Retry in 100ms"],
    );
    // The backoff alone would come to 30 s in the end.
    let mut state = assert_step(state, |generation| Event::Fired(generation, Timer::Retry), "Acquiring", &["acquire"]);
    for _ in 0..12 {
        state = at(Event::Refused(state.generation, waits(500)), state).0;
        state = at(Event::Fired(state.generation, Timer::Retry), state).0;
    }
    assert_step(
        state,
        |generation| Event::Refused(generation, waits(500)),
        "Acquiring",
        &["emit retry acquire 14 in 1.3s", "Retry in 1.3s"],
    );
}
