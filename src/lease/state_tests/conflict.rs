//! The rows of the table about a guarded machine ID that another process holds.

use super::*;
use crate::lease::event::Source;

fn taken() -> Error {
    Error::new(Code::Conflict, "taken").with(|fields| fields.machine_id = Some(7)).retry_in(Duration::from_secs(1))
}

fn refused(error: Error) -> impl FnOnce(u64) -> Event {
    |generation| Event::Refused(generation, error)
}

/// In conflict over the first lease, or over one after a loss.
fn in_conflict(over: State) -> State {
    let generation = over.generation;
    at(Event::Refused(generation, taken()), over).0
}

#[test]
fn a_machine_id_that_another_has_is_a_conflict_that_is_told_once() {
    for before in [acquiring(), lost()] {
        let state = assert_step(
            before,
            refused(taken()),
            "Conflict",
            &["emit Conflict { machine: 7 }", "emit retry acquire 1 in 100ms", "Retry in 100ms"],
        );
        assert_eq!(state.asking().unwrap().last_error, Some(taken()));
        let state = assert_step(state, |generation| Event::Fired(generation, Timer::Retry), "Conflict", &["acquire"]);
        let state =
            assert_step(state, refused(taken()), "Conflict", &["emit retry acquire 2 in 200ms", "Retry in 200ms"]);
        assert_eq!(state.asking().map(|asking| (asking.asked, asking.failed)), Some((2, 2)));
    }
}

#[test]
fn a_conflict_goes_on_whatever_else_fails() {
    for (before, error) in [(acquiring(), passing()), (acquiring(), fatal()), (lost(), fatal())] {
        let state = in_conflict(before);
        assert_step(state, refused(error), "Conflict", &["emit retry acquire 2 in 200ms", "Retry in 200ms"]);
    }
}

#[test]
fn the_machine_id_is_taken_as_soon_as_it_is_free() {
    for (before, source) in [(acquiring(), "initial"), (lost(), "reacquire")] {
        assert_step(
            in_conflict(before),
            |generation| Event::Acquired(generation, grant(7, 60_000)),
            "Held",
            &["open 7", &format!("emit acquired {source}"), "settle Ok(())", "Deadline in 60s", "Renew in 20s"],
        );
    }
}

#[test]
fn a_conflict_is_asked_about_every_second_or_two_however_long_it_lasts() {
    let mut state = in_conflict(acquiring());
    for random in [0, u32::MAX / 3, u32::MAX].repeat(20) {
        let moment = Moment { now: NOW, random, timings: &TIMINGS };
        let refused = Event::Refused(state.generation, taken());
        let (next, effects) = step(state, refused, moment);
        let Some(Effect::Emit(What::Retry { delay, attempt, .. })) = effects.first() else { panic!("{effects:?}") };
        assert!(*delay <= Duration::from_millis(1800), "{delay:?}");
        assert!(*attempt < 8 || random == 0 || *delay >= Duration::from_secs(1), "{delay:?} after {attempt} attempts");
        state = next;
    }
}

#[test]
fn a_conflict_ends_with_a_close_and_nothing_else_of_the_applications() {
    for before in [acquiring(), lost()] {
        let state = in_conflict(before);
        assert_step(state.clone(), |_| Event::Closing, "Closed", &["close Closed", "settle Err(Closed)"]);
        for event in [Event::Wanted, Event::Doubted, Event::Disconnected, Event::Relinquished("draining".into())] {
            let (after, effects) = at(event, state.clone());
            assert_eq!((after, words(&effects)), (state.clone(), Vec::new()));
        }
    }
}

#[test]
fn what_is_stale_does_nothing_in_a_conflict_either() {
    let state = in_conflict(lost());
    let other = state.generation + 1;
    for event in [Event::Refused(other, fatal()), Event::Fired(other, Timer::Retry)] {
        assert_eq!(at(event, state.clone()).0, state);
    }
    let (after, effects) = at(Event::Acquired(other, grant(7, 60_000)), state.clone());
    assert_eq!((after, words(&effects)), (state, vec!["decline 7".to_owned()]));
}

#[test]
fn whoever_listens_later_is_told_what_it_missed() {
    let acquired = What::Acquired { machine: 7, source: Source::Initial, took: Duration::ZERO };
    assert_eq!(held().news(), Some(acquired));
    assert_eq!(in_conflict(acquiring()).news(), Some(What::Conflict { machine: 7 }));
    for state in [idle(), acquiring(), lost(), closed()] {
        assert_eq!(state.news(), None);
    }
}
