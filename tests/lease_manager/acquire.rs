//! From the first wait to the first lease.

use std::time::Duration;

use mintid::clock::{Clock, Tick};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;
use mintid::lease::event::{Operation, Source, What};
use mintid::lease::manager::Snapshot;
use mintid::lease::waiters::Owner;
use tokio::sync::mpsc::unbounded_channel;

use crate::life::{Life, ME, REQUEST_TIMEOUT, Start, TIMINGS, assert_about, fatal, passing, secs};
use crate::support::T0_MS;
use crate::support::unreliable::{Asked, Fault, Method};

const OTHER: Owner = Owner(2);

#[tokio::test(start_paused = true)]
async fn nobody_asks_before_somebody_waits() {
    let mut life = Life::begin(Start::default());
    assert_eq!(life.pass(secs(3600)).await, []);
    assert_eq!(life.coordinator.asked(), []);
    assert_eq!(life.source.next().unwrap_err().code(), Code::NotReady);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_a_lease_that_counts() {
    let mut life = Life::begin(Start::default());
    assert_eq!(life.ready().await, Ok(()));
    let lease = life.manager.lease().unwrap();
    let expected = Snapshot {
        announced: 1,
        machine: 0,
        acquired_at_ms: T0_MS,
        expires_at_ms: Some(T0_MS + 60_000),
        ends: lease.ends,
    };
    assert_eq!(lease, expected);
    assert_eq!(lease.ends.map(|ends| ends.since(Tick::default())), Some(secs(60)));
    let acquired = What::Acquired { machine: 0, source: Source::Initial, took: Duration::ZERO };
    assert_eq!(life.settle().await, [acquired]);
    assert_eq!(life.coordinator.asked(), [Asked::Acquire(TIMINGS.first_ttl)]);
    let parts = life.count().await.unwrap();
    assert_eq!((parts.machine, Layout::DEFAULT.unix_ms(parts.timestamp)), (0, T0_MS + 1));
}

#[tokio::test(start_paused = true)]
async fn all_who_wait_share_one_request() {
    let life = Life::begin(Start::default());
    life.coordinator.fail_next(Method::Acquire, Fault::Delay(secs(1)));
    let waits: Vec<_> = (0..10).map(|owner| life.wait(Owner(owner), None)).collect();
    for wait in waits {
        assert_eq!(wait.await, Ok(Ok(())));
    }
    assert_eq!(life.ready().await, Ok(()), "who comes later need not wait");
    assert_eq!(life.coordinator.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failed_try_is_told_and_made_again_after_the_delay_that_was_told() {
    let mut life = Life::begin(Start::default());
    for _ in 0..6 {
        life.coordinator.fail_next(Method::Acquire, Fault::Refuse(passing()));
    }
    let ready = life.wait(ME, None);
    let mut due_ms = 0;
    for failed in 1..=6 {
        let told = life.next_event().await;
        let What::Retry { operation: Operation::Acquire, attempt, delay, error, .. } = told else { panic!("{told:?}") };
        assert_eq!((attempt, error), (failed, passing()));
        assert!(delay <= Duration::from_millis(100 << (failed - 1)), "attempt {failed} waits {delay:?}");
        assert_about(life.now_ms(), due_ms);
        due_ms = life.now_ms() + delay.as_millis() as u64;
    }
    assert_eq!(ready.await, Ok(Ok(())));
    assert_about(life.now_ms(), due_ms);
    assert!(matches!(life.next_event().await, What::Acquired { source: Source::Initial, .. }));
}

#[tokio::test(start_paused = true)]
async fn a_wait_gives_up_in_time_with_its_attempts_and_the_last_cause() {
    let mut life = Life::begin(Start::default());
    life.coordinator.fail(Method::Acquire, Fault::Refuse(passing()));
    let error = life.wait(ME, Some(secs(10))).await.unwrap().unwrap_err();
    assert_about(life.now_ms(), 10_000);
    let asked = life.coordinator.asked().len() as u32;
    assert_eq!(
        (error.code(), error.fields().attempts, error.cause()),
        (Code::AcquireTimeout, Some(asked), Some(&passing()))
    );
    life.coordinator.heal();
    let events = life.pass(secs(31)).await;
    assert!(events.iter().any(|what| matches!(what, What::Acquired { .. })), "and the manager goes on: {events:?}");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_without_an_answer_yet_is_an_attempt() {
    let life = Life::begin(Start::default());
    life.coordinator.fail(Method::Acquire, Fault::LoseRequest);
    let error = life.wait(ME, Some(secs(3))).await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.fields().attempts), (Code::AcquireTimeout, Some(1)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn that_every_id_is_leased_stands_for_itself() {
    let life = Life::begin(Start::default());
    life.lease_all_to_others(secs(600)).await;
    let error = life.wait(ME, Some(secs(10))).await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.retry(), error.fields().capacity), (Code::Exhausted, Retry::Later, Some(511)));
    assert!(life.coordinator.asked().len() > 3, "it was tried again until then");
}

#[tokio::test(start_paused = true)]
async fn who_waits_while_every_id_is_leased_gets_the_first_that_is_free() {
    let life = Life::begin(Start::default());
    let others = life.lease_all_to_others(secs(40)).await;
    assert_eq!(life.wait(ME, Some(secs(80))).await, Ok(Ok(())));
    assert!(life.clock.wall_ms() > others[0].end_ms);
}

#[tokio::test(start_paused = true)]
async fn each_wait_has_a_timeout_of_its_own() {
    let life = Life::begin(Start::default());
    life.coordinator.fail(Method::Acquire, Fault::Refuse(passing()));
    let (short, long, endless) = (life.wait(ME, Some(secs(1))), life.wait(OTHER, Some(secs(2))), life.wait(ME, None));
    assert_eq!(short.await.unwrap().unwrap_err().code(), Code::AcquireTimeout);
    assert_about(life.now_ms(), 1000);
    assert_eq!(long.await.unwrap().unwrap_err().code(), Code::AcquireTimeout);
    assert_about(life.now_ms(), 2000);
    life.coordinator.heal();
    assert_eq!(endless.await, Ok(Ok(())));
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_the_waits_of_one_handle_at_once() {
    let life = Life::begin(Start::default());
    life.coordinator.fail_next(Method::Acquire, Fault::Delay(secs(2)));
    let (mine, other) = (life.wait(ME, None), life.wait(OTHER, None));
    life.manager.cancel(ME);
    assert_eq!(mine.await.unwrap().unwrap_err().code(), Code::Closed);
    assert_eq!(life.now_ms(), 0);
    assert_eq!(other.await, Ok(Ok(())));
    assert_eq!(life.ready().await, Ok(()), "only those waits that were under way");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_cured_rejects_at_once_and_the_next_wait_tries_anew() {
    let mut life = Life::begin(Start::default());
    life.coordinator.fail_next(Method::Acquire, Fault::Refuse(fatal()));
    let waits = [life.wait(ME, None), life.wait(OTHER, Some(secs(60)))];
    for wait in waits {
        assert_eq!(wait.await, Ok(Err(fatal())));
    }
    assert_eq!(life.now_ms(), 0);
    assert_eq!(life.pass(secs(3600)).await, [], "nobody asked for more");
    assert_eq!(life.coordinator.asked().len(), 1);
    assert_eq!(life.ready().await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_not_asked_for_again_and_its_orphan_runs_out() {
    let mut life = Life::begin(Start::default());
    life.coordinator.fail_next(Method::Acquire, Fault::LoseAnswer);
    life.ready().await.unwrap();
    let told = life.next_event().await;
    let What::Retry { operation: Operation::Acquire, attempt: 1, error, .. } = told else { panic!("{told:?}") };
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon));
    assert!(error.message().contains("5000 ms"), "{error}");
    assert!(life.now_ms() >= REQUEST_TIMEOUT.as_millis() as u64);
    assert_eq!(life.manager.lease().unwrap().machine, 1, "a claim of its own");
    assert_eq!(life.registry.expires_at_ms(0), T0_MS + 60_000, "the orphan ends with its short first lease");
}

#[tokio::test(start_paused = true)]
async fn a_grant_before_the_epoch_is_refused_and_given_back() {
    let before = Layout::DEFAULT_EPOCH_MS - 1000;
    let mut life = Life::begin(Start { wall_ms: before, ..Start::default() });
    let error = life.ready().await.unwrap_err();
    assert_eq!(error.code(), Code::Time, "{error}");
    assert_eq!(life.settle().await, []);
    assert_eq!(life.coordinator.asked(), [Asked::Acquire(TIMINGS.first_ttl), Asked::Release(0, before)]);
    assert_eq!(life.source.next().unwrap_err().code(), Code::NotReady);
    life.pass(secs(2)).await;
    assert_eq!(life.ready().await, Ok(()), "once the epoch has begun");
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_the_layout_has_no_room_for_is_refused() {
    let wide = Layout::new(0, 42, 10, 12, Layout::DEFAULT_EPOCH_MS).unwrap();
    let life = Life::begin(Start { registry: wide, machine_ids: Some((600, 600)), ..Start::default() });
    let error = life.ready().await.unwrap_err();
    assert_eq!((error.code(), error.fields().option), (Code::Config, Some("layout")), "{error}");
}

#[tokio::test(start_paused = true)]
async fn who_listens_late_is_told_of_the_lease_that_is_held() {
    let mut life = Life::held(Start::default()).await;
    let (heard, mut events) = unbounded_channel();
    life.listen(OTHER, heard);
    life.settle().await;
    assert!(matches!(events.try_recv(), Ok((What::Acquired { machine: 0, .. }, _))));
    life.pass(secs(21)).await;
    assert!(matches!(events.try_recv(), Ok((What::Renewed { machine: 0, .. }, _))));
    life.manager.unsubscribe(OTHER);
    assert_ne!(life.pass(secs(61)).await, [], "others hear on");
    assert!(events.try_recv().is_err(), "who does not listen hears nothing");
}

#[tokio::test(start_paused = true)]
async fn who_listens_without_a_lease_is_told_nothing() {
    let mut life = Life::begin(Start::default());
    let (heard, mut events) = unbounded_channel();
    life.listen(OTHER, heard);
    life.settle().await;
    assert!(events.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_warning_reaches_one_handle_alone() {
    let mut life = Life::begin(Start::default());
    let (heard, mut events) = unbounded_channel();
    life.listen(OTHER, heard);
    life.manager.warn(OTHER, "A_CODE", "a sentence".into());
    assert_eq!(life.settle().await, []);
    let warning = What::Warning { code: "A_CODE", message: "a sentence".into() };
    assert_eq!(events.try_recv().map(|(what, _)| what), Ok(warning));
}
