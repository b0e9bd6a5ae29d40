//! A guarded machine ID: several processes that all claim machine ID 7 in one registry.

use std::sync::Arc;
use std::time::Duration;

use mintid::coordinator::guarded::Claims;
use mintid::coordinator::{Coordinator, MachineIds};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;
use mintid::lease::event::{Operation, Source, What};
use mintid::lease::waiters::Owner;
use mintid::nonce::Loss;
use tokio::sync::mpsc::unbounded_channel;

use crate::life::{GUARDED, Life, ME, REQUEST_TIMEOUT, ROUNDED_MS, assert_about, fatal, passing, secs};
use crate::support::T0_MS;
use crate::support::clock::VirtualClock;
use crate::support::memory::{Memory, Registry};
use crate::support::unreliable::{Asked, Fault, Method};

/// How long a freed machine ID may stay free, at the most.
const TAKEN_WITHIN_MS: u64 = 2000;

/// What all the processes of a test share.
struct Scene {
    registry: Arc<Registry>,
    clock: Arc<VirtualClock>,
}

impl Scene {
    fn new() -> Self {
        let clock = Arc::new(VirtualClock::at(T0_MS));
        Self { registry: Arc::new(Registry::new(Layout::DEFAULT, clock.clone())), clock }
    }

    /// A process that has claimed nothing yet. Number 0 is the one that the test runs in.
    fn process(&self, number: u32) -> Life {
        self.process_again(number, Arc::default())
    }

    /// Another generator of a process that has claimed something before.
    fn process_again(&self, number: u32, claims: Arc<Claims>) -> Life {
        let number = if number == 0 { std::process::id() } else { number };
        Life::guarded(&self.registry, &self.clock, number, claims)
    }

    /// One that holds machine ID 7.
    async fn holder(&self, number: u32) -> Life {
        let mut life = self.process(number);
        life.ready().await.unwrap();
        assert!(matches!(life.next_event().await, What::Acquired { machine: 7, source: Source::Initial, .. }));
        life
    }

    /// A registry that forgot the holder grants machine ID 7 to another process.
    async fn steal(&self, ttl: Duration) {
        tokio::time::sleep(secs(1)).await;
        let machine_ids = MachineIds::only(&Layout::DEFAULT, 7).unwrap();
        self.registry.forget_row(7);
        Memory::new(&self.registry, machine_ids, self.clock.clone()).of_process(99).acquire(ttl).await.unwrap();
    }
}

const CONFLICT: What = What::Conflict { machine: 7 };

fn conflicts(events: &[What]) -> usize {
    events.iter().filter(|what| **what == CONFLICT).count()
}

#[tokio::test(start_paused = true)]
async fn the_newer_one_loses_and_is_told_and_the_first_notices_nothing() {
    let scene = Scene::new();
    let mut first = scene.holder(1).await;
    let mut second = scene.process(2);
    let error = second.wait(ME, Some(secs(600))).await.unwrap().unwrap_err();
    assert_about(second.now_ms(), 600_000);
    assert_eq!((error.code(), error.retry(), error.fields().machine_id), (Code::Conflict, Retry::Later, Some(7)));
    assert!(error.message().contains("memory"), "{error}");
    let told = second.settle().await;
    assert_eq!(told[0], CONFLICT);
    assert_eq!(conflicts(&told), 1, "told once");
    let retries = told[1..].iter().filter(|what| match what {
        What::Retry { operation: Operation::Acquire, source: Source::Initial, error, delay, .. } => {
            error.code() == Code::Conflict && *delay <= Duration::from_millis(1800)
        }
        _ => false,
    });
    let asked = second.coordinator.acquired_at();
    assert_eq!((retries.count(), told.len()), (asked.len(), asked.len() + 1));
    assert!((300..=620).contains(&asked.len()), "asked {} times in ten minutes", asked.len());
    let longest = asked.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(longest <= TAKEN_WITHIN_MS, "not asked for {longest} ms");
    assert_eq!(scene.registry.listed(), 0, "all rows are looked at for each of these questions");

    assert_eq!(first.count().await.unwrap().machine, 7);
    let told = first.settle().await;
    assert!(told.iter().all(|what| matches!(what, What::Renewed { machine: 7, .. })), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_given_back_is_taken_within_two_seconds() {
    let scene = Scene::new();
    let mut first = scene.holder(1).await;
    let mut second = scene.process(2);
    let ready = second.wait(ME, None);
    second.pass(secs(100)).await;
    let last = first.count().await.unwrap();
    first.close().await.unwrap();
    let freed_ms = second.now_ms();
    assert_eq!(ready.await, Ok(Ok(())));
    assert!(second.now_ms() - freed_ms <= TAKEN_WITHIN_MS, "{} ms later", second.now_ms() - freed_ms);
    let mut told = second.settle().await;
    assert!(matches!(told.pop(), Some(What::Acquired { machine: 7, source: Source::Initial, .. })));
    let next = second.count().await.unwrap();
    assert!(next.timestamp > last.timestamp, "{last:?}, then {next:?}");
    assert!(matches!(first.settle().await.last(), Some(What::Released { machine: 7, .. })));
}

#[tokio::test(start_paused = true)]
async fn a_crashed_holder_is_followed_when_its_last_minute_is_over() {
    let scene = Scene::new();
    let mut first = scene.holder(1).await;
    first.pass(secs(500)).await;
    first.crash();
    let end_ms = scene.registry.expires_at_ms(7);
    let second = scene.process(2);
    assert_eq!(second.wait(ME, Some(secs(90))).await, Ok(Ok(())));
    let now_ms = T0_MS + second.now_ms();
    assert!(now_ms > end_ms && now_ms - end_ms <= TAKEN_WITHIN_MS, "{} ms after its end", now_ms - end_ms);
    assert!(now_ms <= T0_MS + 500_000 + 60_000 + TAKEN_WITHIN_MS, "back within its minute");
    let parts = second.count().await.unwrap();
    assert!(Layout::DEFAULT.unix_ms(parts.timestamp) > end_ms, "after everything that the first one may have used");
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_a_minute_long_from_first_to_last() {
    let scene = Scene::new();
    let mut life = scene.holder(1).await;
    life.pass(secs(70)).await;
    let asked = life.coordinator.asked();
    assert_eq!(asked[0], Asked::Acquire(secs(60)));
    assert!(asked[1..].iter().all(|asked| *asked == Asked::Renew(7, secs(60))), "{asked:?}");
    let renewed_at = life.coordinator.renewed_at();
    for (found, expected) in renewed_at.iter().zip([20_000_u64, 32_000, 44_000, 56_000, 68_000]) {
        assert!(found.abs_diff(expected) <= 5 * ROUNDED_MS, "{renewed_at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_up_does_not_conflict_with_the_next_one() {
    let scene = Scene::new();
    let mut life = scene.holder(0).await;
    for delay in [0, 10, 3000] {
        life.pass(secs(5)).await;
        life.coordinator.fail_next(Method::Release, Fault::Delay(Duration::from_millis(delay)));
        life.manager.relinquish(u64::MAX, "draining".into());
        let told = life.pass(secs(5)).await;
        assert!(matches!(told.first(), Some(What::Lost { machine: 7, loss: Loss::Relinquished, .. })), "{told:?}");
        assert!(matches!(told.last(), Some(What::Acquired { source: Source::Reacquire, .. })), "{told:?}");
        assert_eq!(conflicts(&told), 0, "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_release_that_is_on_its_way_does_not_conflict_with_the_next_generator() {
    let scene = Scene::new();
    let claims: Arc<Claims> = Arc::default();
    let mut first = scene.process_again(0, Arc::clone(&claims));
    first.ready().await.unwrap();
    // What is heard of the lease before says nothing about this one.
    first.coordinator.fail_next(Method::Release, Fault::Delay(secs(3)));
    first.manager.relinquish(u64::MAX, "draining".into());
    first.pass(secs(5)).await;
    first.coordinator.fail_next(Method::Release, Fault::LoseRequest);
    let closed = first.close();
    let mut second = scene.process_again(0, claims);
    second.ready().await.unwrap();
    closed.await.unwrap();
    let told = second.settle().await;
    assert_eq!(conflicts(&told), 0, "{told:?}");
    let errors = told.iter().filter_map(|what| match what {
        What::Retry { error, .. } => Some((error.code(), error.retry())),
        _ => None,
    });
    assert!(errors.eq([(Code::Coordinator, Retry::Soon)].repeat(told.len() - 1)), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_ran_out_does_not_conflict_with_the_next_one() {
    let scene = Scene::new();
    let mut life = scene.holder(0).await;
    life.pass(secs(100)).await;
    life.coordinator.fail(Method::Renew, Fault::LoseRequest);
    let told = life.pass(secs(65)).await;
    assert!(told.iter().any(|what| matches!(what, What::Lost { loss: Loss::Expired, .. })), "{told:?}");
    assert!(matches!(told.last(), Some(What::Acquired { source: Source::Reacquire, .. })), "{told:?}");
    assert_eq!(conflicts(&told), 0, "{told:?}");
}

/// It never comes, or an error in its place.
fn lost_answers() -> [Fault; 2] {
    [Fault::LoseAnswer, Fault::Break(passing())]
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_is_no_conflict() {
    for fault in lost_answers() {
        let scene = Scene::new();
        let mut life = scene.process(0);
        life.coordinator.fail_next(Method::Acquire, fault);
        assert_eq!(life.wait(ME, Some(secs(90))).await, Ok(Ok(())));
        let now_ms = life.now_ms();
        assert!(now_ms > 60_000 && now_ms <= 60_000 + TAKEN_WITHIN_MS, "{now_ms} ms");
        let told = life.settle().await;
        assert_eq!(conflicts(&told), 0, "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn renewals_whose_answers_were_lost_are_no_conflict() {
    for fault in lost_answers() {
        let scene = Scene::new();
        let mut life = scene.holder(0).await;
        life.coordinator.fail(Method::Renew, fault);
        while !matches!(life.next_event().await, What::Lost { loss: Loss::Expired, .. }) {}
        let end_ms = scene.registry.expires_at_ms(7);
        let left_ms = end_ms - T0_MS - life.now_ms();
        assert!(left_ms > 30_000, "only {left_ms} ms more than what was confirmed");
        let told = life.pass(Duration::from_millis(left_ms + TAKEN_WITHIN_MS)).await;
        assert_eq!(conflicts(&told), 0, "{told:?}");
        assert!(matches!(told.last(), Some(What::Acquired { source: Source::Reacquire, .. })), "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_does_not_hide_another_holder() {
    let scene = Scene::new();
    let _first = scene.holder(1).await;
    let mut second = scene.process(0);
    second.coordinator.fail_next(Method::Acquire, Fault::LoseAnswer);
    let _waiting = second.wait(ME, None);
    let told = second.pass(secs(8)).await;
    assert!(matches!(told[0], What::Retry { .. }), "{told:?}");
    assert_eq!(told[1], CONFLICT, "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_is_refused_since_another_holds_the_id_is_a_loss_by_conflict() {
    let scene = Scene::new();
    let mut life = scene.holder(0).await;
    scene.steal(secs(600)).await;
    let (what, counted) = life.next_heard().await;
    assert_eq!(what, What::Lost { machine: 7, loss: Loss::Conflict, detail: None });
    assert_eq!(counted.unwrap().expect_err("counted inside the listener").fields().reason, Some("conflict"));
    assert_about(life.now_ms(), 20_000);
    assert_eq!(life.next_event().await, CONFLICT);
    let retry = life.next_event().await;
    assert!(matches!(retry, What::Retry { source: Source::Reacquire, .. }), "{retry:?}");
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_is_refused_for_any_other_reason_is_not() {
    for reason in ["no row", "no token", "another's, which is over"] {
        let scene = Scene::new();
        let mut life = scene.holder(0).await;
        match reason {
            "no row" => scene.registry.forget_row(7),
            "no token" => scene.registry.evict(7),
            _ => scene.steal(secs(1)).await,
        }
        let lost = life.next_event().await;
        assert_eq!(lost, What::Lost { machine: 7, loss: Loss::Rejected, detail: None }, "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_given_back_is_not_taken_for_ones_own_any_more() {
    let scene = Scene::new();
    let claims: Arc<Claims> = Arc::default();
    let first = scene.process_again(0, Arc::clone(&claims));
    first.ready().await.unwrap();
    first.close().await.unwrap();
    tokio::time::sleep(secs(1)).await;
    let mut other = scene.holder(1).await;
    other.pass(secs(2)).await;
    let mut again = scene.process_again(0, claims);
    let _waiting = again.wait(ME, None);
    assert_eq!(again.next_event().await, CONFLICT);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_is_answered_after_the_release_changes_nothing() {
    let scene = Scene::new();
    let claims: Arc<Claims> = Arc::default();
    let mut first = scene.process_again(0, Arc::clone(&claims));
    first.ready().await.unwrap();
    first.coordinator.fail_next(Method::Renew, Fault::Delay(secs(4)));
    first.pass(secs(21)).await;
    assert_eq!(first.coordinator.renewed_at().len(), 1);
    first.close().await.unwrap();
    tokio::time::sleep(secs(1)).await;
    let mut other = scene.holder(1).await;
    other.pass(secs(5)).await;
    let mut again = scene.process_again(0, claims);
    let _waiting = again.wait(ME, None);
    assert_eq!(again.next_event().await, CONFLICT);
}

/// One that is lost is not counted under for long, whatever else fails, and however long the answer takes.
#[tokio::test(start_paused = true)]
async fn nobody_waits_long_to_learn_why_a_lease_is_lost() {
    for (limit, late_ms) in [(REQUEST_TIMEOUT, 1000), (Duration::from_millis(500), 600)] {
        let scene = Scene::new();
        let mut life = scene.holder(0).await;
        life.manager.tune(GUARDED, limit);
        scene.steal(secs(600)).await;
        scene.registry.stop_listing();
        let lost = loop {
            match life.next_event().await {
                What::Retry { operation: Operation::Renew, .. } => {}
                what => break what,
            }
        };
        assert_eq!(lost, What::Lost { machine: 7, loss: Loss::Rejected, detail: None });
        let took_ms = life.now_ms() - 20_000;
        assert!(took_ms <= late_ms + 2 * ROUNDED_MS, "{took_ms} ms after the first refusal");
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_fails_during_a_conflict_it_is_tried_again() {
    let scene = Scene::new();
    let first = scene.holder(1).await;
    let mut second = scene.process(2);
    let ready = second.wait(ME, None);
    assert_eq!(second.next_event().await, CONFLICT);
    for error in [passing(), fatal()] {
        second.coordinator.fail_next(Method::Acquire, Fault::Refuse(error));
    }
    let told = second.pass(secs(10)).await;
    assert_eq!(conflicts(&told), 0, "it is the same one still");
    first.close().await.unwrap();
    assert_eq!(ready.await, Ok(Ok(())));
}

#[tokio::test(start_paused = true)]
async fn whoever_listens_later_hears_of_the_conflict() {
    let scene = Scene::new();
    let _first = scene.holder(1).await;
    let mut second = scene.process(2);
    let _waiting = second.wait(ME, None);
    second.pass(secs(5)).await;
    let (heard, mut events) = unbounded_channel();
    second.listen(Owner(2), heard);
    second.settle().await;
    assert_eq!(events.try_recv().map(|(what, _)| what), Ok(CONFLICT));
}

#[tokio::test(start_paused = true)]
async fn closing_during_a_conflict_gives_nothing_back() {
    let scene = Scene::new();
    let mut first = scene.holder(1).await;
    let second = scene.process(2);
    let ready = second.wait(ME, None);
    first.pass(secs(5)).await;
    second.close().await.unwrap();
    assert_eq!(ready.await.unwrap().unwrap_err().code(), Code::Closed);
    let asked = second.coordinator.asked();
    assert!(asked.iter().all(|asked| *asked == Asked::Acquire(GUARDED.first_ttl)), "{asked:?}");
    assert_eq!(first.pass(secs(60)).await.iter().filter(|what| !matches!(what, What::Renewed { .. })).count(), 0);
}
