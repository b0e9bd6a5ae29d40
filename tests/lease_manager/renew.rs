//! While a lease is held: when it is renewed, and what may go wrong without losing it.

use std::time::Duration;

use mintid::clock::Clock;
use mintid::error::Code;
use mintid::lease::event::{Operation, Source, What};
use mintid::lease::state::Timings;
use mintid::nonce::Loss;

use crate::life::{Life, ROUNDED_MS, Start, TIMINGS, assert_about, fatal, passing, secs};
use crate::support::T0_MS;
use crate::support::unreliable::{Asked, Fault, Method};

#[tokio::test(start_paused = true)]
async fn it_is_renewed_after_a_third_of_the_first_and_then_as_often_as_told() {
    let mut life = Life::held(Start::default()).await;
    let events = life.pass(secs(330)).await;
    let renewed = What::Renewed { machine: 0, source: Source::Scheduled, took: Duration::ZERO };
    assert_eq!(events, vec![renewed; 6]);
    for (found, expected) in life.coordinator.renewed_at().into_iter().zip([20, 80, 140, 200, 260, 320]) {
        assert!(found.abs_diff(expected * 1000) <= 6 * ROUNDED_MS, "expected {expected} s, found {found} ms");
    }
    assert_eq!(life.coordinator.asked()[1..], [Asked::Renew(0, TIMINGS.ttl); 6]);
    let expires_at_ms = life.manager.lease().unwrap().expires_at_ms.unwrap();
    assert_eq!(expires_at_ms, life.registry.expires_at_ms(0));
    assert!(expires_at_ms > T0_MS + 600_000);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_renewed_counts_on_for_ever() {
    let mut life = Life::held(Start::default()).await;
    let mut last = life.count().await.unwrap();
    for _ in 0..24 {
        let events = life.pass(secs(3600)).await;
        assert!(events.iter().all(|what| matches!(what, What::Renewed { .. })), "{events:?}");
        let next = life.count().await.unwrap();
        assert_eq!((next.machine, next.timestamp, next.count), (0, last.timestamp, last.count + 1), "one sequence");
        last = next;
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_asked_for_again_and_nothing_is_lost() {
    let mut life = Life::held(Start::default()).await;
    for _ in 0..5 {
        life.coordinator.fail_next(Method::Renew, Fault::Refuse(passing()));
    }
    for failed in 1..=5 {
        let told = life.next_event().await;
        let What::Retry { operation: Operation::Renew, attempt, delay, error, .. } = told else { panic!("{told:?}") };
        assert_eq!((attempt, error), (failed, passing()));
        assert!(delay <= Duration::from_millis(100 << (failed - 1)));
        assert!(life.count().await.is_ok(), "the fence lasts");
    }
    assert!(matches!(life.next_event().await, What::Renewed { machine: 0, .. }));
    assert_eq!(life.coordinator.acquired_at().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_answer_that_got_lost_is_asked_for_with_the_same_token() {
    let mut life = Life::held(Start::default()).await;
    life.coordinator.fail_next(Method::Renew, Fault::LoseAnswer);
    let told = life.next_event().await;
    let What::Retry { operation: Operation::Renew, attempt: 1, error, .. } = told else { panic!("{told:?}") };
    assert_eq!(error.code(), Code::Coordinator);
    assert!(life.now_ms() >= 25_000, "the request timed out");
    assert!(matches!(life.next_event().await, What::Renewed { machine: 0, .. }));
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_fails_for_good_may_still_be_a_passing_trouble() {
    let mut life = Life::held(Start::default()).await;
    life.coordinator.fail_next(Method::Renew, Fault::Refuse(fatal()));
    assert!(matches!(life.next_event().await, What::Retry { operation: Operation::Renew, .. }));
    assert!(matches!(life.next_event().await, What::Renewed { .. }));
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_the_factory_refuses_before_the_loss_is_told() {
    let mut life = Life::held(Start::default()).await;
    life.coordinator.fail(Method::Renew, Fault::LoseRequest);
    life.coordinator.fail(Method::Acquire, Fault::Delay(secs(3)));
    life.count().await.unwrap();
    let lost = loop {
        let heard = life.next_heard().await;
        if !matches!(heard.0, What::Retry { operation: Operation::Renew, .. }) {
            break heard;
        }
    };
    assert_about(life.now_ms(), 60_000);
    assert_eq!(lost.0, What::Lost { machine: 0, loss: Loss::Expired, detail: None });
    let refused = lost.1.unwrap().expect_err("counted inside the listener of `leaseLost`");
    let fields = refused.fields();
    assert_eq!((refused.code(), fields.machine_id, fields.reason), (Code::LeaseLost, Some(0), Some("expired")));
    assert_eq!(life.manager.lease(), None);
    assert_eq!(life.count().await.unwrap_err().code(), Code::LeaseLost);

    let acquired = life.next_event().await;
    assert!(
        matches!(acquired, What::Acquired { source: Source::Reacquire, took, .. } if took >= secs(3)),
        "{acquired:?}"
    );
    assert_eq!(life.count().await.map(|parts| parts.machine), Ok(1), "the one that was free longest");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_from_before_the_request() {
    let mut life = Life::begin(Start::default());
    life.coordinator.fail_next(Method::Acquire, Fault::Delay(secs(4)));
    life.coordinator.fail(Method::Renew, Fault::LoseRequest);
    life.ready().await.unwrap();
    assert_about(life.now_ms(), 4000);
    while !matches!(life.next_event().await, What::Lost { loss: Loss::Expired, .. }) {}
    assert_about(life.now_ms(), 60_000);
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_deadline_changes_nothing() {
    let mut life = Life::held(Start { request_timeout: secs(100), ..Start::default() }).await;
    life.coordinator.fail_next(Method::Renew, Fault::Delay(secs(50)));
    assert!(matches!(life.next_event().await, What::Lost { machine: 0, loss: Loss::Expired, .. }));
    assert!(matches!(life.next_event().await, What::Acquired { machine: 1, .. }));
    let events = life.pass(secs(15)).await;
    assert_eq!(events, [], "the renewal of machine ID 0 was granted meanwhile, and is nobody's");
    assert_eq!(life.manager.lease().unwrap().machine, 1);
    assert_eq!(life.count().await.unwrap().machine, 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_late_moves_the_deadline_by_what_is_left_of_it() {
    let mut life = Life::held(Start { request_timeout: secs(100), ..Start::default() }).await;
    life.coordinator.fail_next(Method::Renew, Fault::Delay(secs(30)));
    assert!(matches!(life.next_event().await, What::Renewed { took, .. } if took >= secs(30)));
    life.coordinator.fail(Method::Renew, Fault::LoseRequest);
    while !matches!(life.next_event().await, What::Lost { .. }) {}
    let late_ms = life.now_ms().abs_diff(320_000);
    assert!(late_ms <= 2 * ROUNDED_MS, "asked at 20 s for 300 s, lost at {} ms", life.now_ms());
}

#[tokio::test(start_paused = true)]
async fn doubt_asks_at_once_and_only_once() {
    let mut life = Life::held(Start::default()).await;
    life.coordinator.fail_next(Method::Renew, Fault::Delay(secs(1)));
    for _ in 0..10 {
        life.manager.doubt();
        life.settle().await;
    }
    assert_eq!(life.coordinator.renewed_at(), [0]);
    assert!(matches!(life.next_event().await, What::Renewed { machine: 0, .. }));
}

/// An application that goes on counting while its disk is full must not turn the backoff into a storm.
#[tokio::test(start_paused = true)]
async fn doubt_during_the_backoff_waits_for_its_turn() {
    let mut life = Life::held(Start::default()).await;
    life.coordinator.fail(Method::Renew, Fault::Refuse(passing()));
    let began_ms = life.now_ms();
    let mut told = 0;
    while life.now_ms() < began_ms + 25_000 {
        life.manager.doubt();
        told += life.pass(Duration::from_millis(10)).await.len();
    }
    // Full jitter to 100 ms, 200 ms, 400 ms … reaches 25 s in 8 tries at the least and not in many more.
    assert!(told < 60, "{told} tries in 25 s");
}

#[tokio::test(start_paused = true)]
async fn other_timings_are_in_force_from_the_next_timer_on() {
    let mut life = Life::held(Start::default()).await;
    life.manager.tune(Timings { renew_every: secs(10), ttl: secs(60), ..TIMINGS }, secs(1));
    life.pass(secs(45)).await;
    let renewed_at = life.coordinator.renewed_at();
    for (found, expected) in renewed_at.iter().zip([20_000_u64, 30_000, 40_000]) {
        assert!(found.abs_diff(expected) <= 3 * ROUNDED_MS, "{renewed_at:?}");
    }
    assert_eq!(life.coordinator.asked()[1..], [Asked::Renew(0, secs(60)); 3]);
    life.coordinator.fail_next(Method::Renew, Fault::LoseRequest);
    assert!(matches!(life.next_event().await, What::Retry { operation: Operation::Renew, .. }));
    let timed_out_ms = life.clock.tick().millis() - life.coordinator.renewed_at().last().unwrap();
    assert_about(timed_out_ms, 1000);
}
