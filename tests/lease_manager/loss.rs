//! From one lease to the next.

use std::time::Duration;

use mintid::error::Code;
use mintid::lease::event::{Operation, Source, What};
use mintid::lease::waiters::Owner;
use mintid::nonce::Loss;
use tokio::sync::mpsc::unbounded_channel;

use crate::life::{Life, ME, Start, assert_about, fatal, passing, secs};
use crate::support::T0_MS;
use crate::support::unreliable::{Asked, Fault, Method};

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_taken_away_is_lost_once_and_another_acquired_once() {
    let mut life = Life::held(Start::default()).await;
    let before = life.count().await.unwrap();
    life.registry.evict(0);
    let (what, counted) = life.next_heard().await;
    assert_eq!(what, What::Lost { machine: 0, loss: Loss::Rejected, detail: None });
    assert_eq!(counted.unwrap().expect_err("counted inside the listener").fields().reason, Some("rejected"));
    assert_about(life.now_ms(), 20_000);
    let acquired = What::Acquired { machine: 1, source: Source::Reacquire, took: Duration::ZERO };
    assert_eq!(life.settle().await, [acquired]);
    let after = life.count().await.unwrap();
    assert_eq!(after.machine, 1);
    assert!(after.timestamp > before.timestamp, "a new claim begins new words");
    let later = life.pass(secs(600)).await;
    assert!(later.iter().all(|what| matches!(what, What::Renewed { machine: 1, .. })), "{later:?}");
}

#[tokio::test(start_paused = true)]
async fn the_same_id_again_begins_new_words() {
    let mut life = Life::held(Start { machine_ids: Some((7, 7)), ..Start::default() }).await;
    let before = life.count().await.unwrap();
    life.registry.evict(7);
    while !matches!(life.next_event().await, What::Acquired { machine: 7, .. }) {}
    let after = life.count().await.unwrap();
    assert!(life.now_ms() > 60_000, "the row ran out first");
    assert!((after.timestamp, after.count) > (before.timestamp + 60_000 - 100, 0), "{before:?}, then {after:?}");
}

#[tokio::test(start_paused = true)]
async fn giving_up_releases_to_the_last_use_and_takes_another() {
    let mut life = Life::held(Start::default()).await;
    life.pass(secs(1)).await;
    let mut nonces = vec![0; 20_000];
    life.source.fill(&mut nonces).unwrap();
    life.manager.relinquish(u64::MAX, "draining".into());
    let (what, counted) = life.next_heard().await;
    let detail = Some("draining".into());
    assert_eq!(what, What::Lost { machine: 0, loss: Loss::Relinquished, detail });
    assert_eq!(counted.unwrap().expect_err("counted inside the listener").fields().reason, Some("relinquished"));
    assert!(matches!(life.next_event().await, What::Acquired { machine: 1, source: Source::Reacquire, .. }));
    let last_used_ms = T0_MS + 1 + 20_000 / 8192;
    assert!(life.coordinator.asked().contains(&Asked::Release(0, last_used_ms)), "{:?}", life.coordinator.asked());
    assert_eq!(life.settle().await, [], "no `leaseReleased`: it was lost");
}

#[tokio::test(start_paused = true)]
async fn there_is_nothing_to_give_up_without_a_lease() {
    let mut life = Life::begin(Start::default());
    life.manager.relinquish(u64::MAX, "draining".into());
    assert_eq!(life.pass(secs(60)).await, []);
    assert_eq!(life.coordinator.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn after_a_loss_everything_is_tried_again() {
    let mut life = Life::held(Start::default()).await;
    life.coordinator.fail(Method::Acquire, Fault::Refuse(fatal()));
    life.manager.relinquish(u64::MAX, "draining".into());
    let wait = life.wait(ME, None);
    assert!(matches!(life.next_event().await, What::Lost { .. }));
    for failed in 1..=12 {
        let told = life.next_event().await;
        let What::Retry { operation: Operation::Acquire, attempt, delay, error, .. } = told else { panic!("{told:?}") };
        assert_eq!((attempt, error), (failed, fatal()));
        assert!(delay <= secs(30));
    }
    life.coordinator.heal();
    assert_eq!(wait.await, Ok(Ok(())));
    assert!(matches!(life.next_event().await, What::Acquired { source: Source::Reacquire, .. }));
}

#[tokio::test(start_paused = true)]
async fn a_wait_after_a_loss_gives_up_in_its_own_time() {
    let mut life = Life::held(Start::default()).await;
    life.coordinator.fail(Method::Acquire, Fault::Refuse(passing()));
    life.manager.relinquish(u64::MAX, "draining".into());
    life.pass(secs(60)).await;
    let error = life.wait(ME, Some(secs(2))).await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.cause()), (Code::AcquireTimeout, Some(&passing())));
    assert!(error.message().contains("2000 ms") || error.message().contains("2001 ms"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_count_that_finds_the_lease_over_has_it_lost_at_once() {
    let mut life = Life::held(Start::default()).await;
    life.count().await.unwrap();
    life.clock.sleep_through(secs(3600));
    // A counter looks at the clock only when it has used up what was due when it last looked.
    let error = life.source.fill(&mut vec![0; 50_000]).expect_err("an hour later");
    assert_eq!((error.code(), error.fields().reason), (Code::LeaseLost, Some("expired")));
    let slept_until_ms = life.now_ms();
    let events = life.settle().await;
    assert_eq!(life.now_ms(), slept_until_ms, "no timer was needed");
    assert!(
        matches!(events[..], [What::Lost { machine: 0, loss: Loss::Expired, .. }, What::Acquired { machine: 1, .. }]),
        "{events:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_suspend_is_noticed_within_a_second_of_waking_also_when_nobody_counts() {
    let mut life = Life::held(Start::default()).await;
    life.pass(Duration::from_millis(1500)).await;
    life.clock.sleep_through(secs(3600));
    let woke_ms = life.now_ms();
    let (what, counted) = life.next_heard().await;
    assert_eq!(what, What::Lost { machine: 0, loss: Loss::Expired, detail: None });
    assert!(counted.unwrap().is_err());
    assert!(life.now_ms() <= woke_ms + 1000);
}

#[tokio::test(start_paused = true)]
async fn a_suspend_shorter_than_the_lease_loses_nothing() {
    let mut life = Life::held(Start::default()).await;
    life.clock.sleep_through(secs(50));
    assert!(life.count().await.is_ok());
    let events = life.pass(secs(2)).await;
    assert!(matches!(events[..], [What::Renewed { .. }]), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn everybody_who_listens_hears_the_same_in_the_same_order() {
    let mut life = Life::held(Start::default()).await;
    let (heard, mut events) = unbounded_channel();
    life.listen(Owner(2), heard);
    life.settle().await;
    events.try_recv().expect("the lease that is held");
    life.coordinator.fail_next(Method::Acquire, Fault::Refuse(passing()));
    life.manager.relinquish(u64::MAX, "draining".into());
    let mine = life.pass(secs(100)).await;
    let others: Vec<_> = std::iter::from_fn(|| events.try_recv().ok()).map(|(what, _)| what).collect();
    assert_eq!(mine, others);
    assert!(matches!(mine[..3], [What::Lost { .. }, What::Retry { .. }, What::Acquired { .. }]), "{mine:?}");
}
