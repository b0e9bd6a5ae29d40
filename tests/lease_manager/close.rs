//! The end: bounded, told, and to the last use.

use std::time::Duration;

use mintid::error::Code;
use mintid::lease::event::What;
use mintid::nonce::Why;

use crate::life::{Life, ME, Start, TIMINGS, assert_about, passing, secs};
use crate::support::T0_MS;
use crate::support::unreliable::{Asked, Fault, Method};

#[tokio::test(start_paused = true)]
async fn it_releases_to_the_last_use_and_tells() {
    let mut life = Life::held(Start::default()).await;
    life.pass(secs(1)).await;
    let mut nonces = vec![0; 20_000];
    life.source.fill(&mut nonces).unwrap();
    life.coordinator.fail_next(Method::Release, Fault::Delay(secs(1)));
    life.close().await.unwrap();
    assert_about(life.now_ms(), 2000);
    assert!(matches!(life.settle().await[..], [What::Released { machine: 0, took }] if took >= secs(1)));
    assert_eq!(life.coordinator.asked()[1..], [Asked::Release(0, T0_MS + 1 + 20_000 / 8192)]);
    assert_eq!(life.registry.expires_at_ms(0), T0_MS + 1000, "free at once");
    assert_eq!(life.manager.lease(), None);
    assert_eq!(life.source.next().unwrap_err().code(), Code::Closed);
}

#[tokio::test(start_paused = true)]
async fn an_unused_lease_is_released_to_before_its_start() {
    let life = Life::held(Start::default()).await;
    life.close().await.unwrap();
    assert_eq!(life.coordinator.asked()[1..], [Asked::Release(0, T0_MS)]);
}

#[tokio::test(start_paused = true)]
async fn what_the_owner_of_the_factory_closed_counts_too() {
    let mut life = Life::held(Start::default()).await;
    life.pass(secs(1)).await;
    let mut nonces = vec![0; 20_000];
    life.source.fill(&mut nonces).unwrap();
    let last_used = life.factory.close(Why::Closed);
    life.close_after(last_used).await.unwrap();
    assert_eq!(life.coordinator.asked()[1..], [Asked::Release(0, T0_MS + 1 + 20_000 / 8192)]);
}

/// As when one generator gives the lease up and the last one leaves in the next moment.
#[tokio::test(start_paused = true)]
async fn giving_up_just_before_the_end_still_releases_to_the_last_use() {
    let mut life = Life::held(Start::default()).await;
    life.pass(secs(1)).await;
    let mut nonces = vec![0; 20_000];
    life.source.fill(&mut nonces).unwrap();
    life.manager.relinquish(u64::MAX, "draining".into());
    let last_used = life.factory.close(Why::Closed);
    life.close_after(last_used).await.unwrap();
    let last_used_ms = T0_MS + 1 + 20_000 / 8192;
    let releases: Vec<_> =
        life.coordinator.asked().into_iter().filter(|asked| matches!(asked, Asked::Release(0, _))).collect();
    assert_eq!(releases, [Asked::Release(0, last_used_ms)]);
}

#[tokio::test(start_paused = true)]
async fn it_takes_five_seconds_at_the_most_when_the_release_is_not_answered() {
    let mut life = Life::held(Start { request_timeout: secs(60), ..Start::default() }).await;
    life.coordinator.fail(Method::Release, Fault::LoseRequest);
    life.close().await.unwrap();
    assert_about(life.now_ms(), 5000);
    assert_eq!(life.settle().await, [], "nobody knows that it was released");
}

#[tokio::test(start_paused = true)]
async fn it_takes_five_seconds_at_the_most_when_the_acquire_is_not_answered() {
    let mut life = Life::begin(Start { request_timeout: secs(60), ..Start::default() });
    life.coordinator.fail(Method::Acquire, Fault::LoseRequest);
    let wait = life.wait(ME, None);
    life.settle().await;
    let closed = life.close();
    assert_eq!(wait.await.unwrap().unwrap_err().code(), Code::Closed);
    assert_eq!(life.now_ms(), 0, "who waits need not wait for that");
    closed.await.unwrap();
    assert_about(life.now_ms(), 5000);
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_comes_too_late_is_given_back() {
    let mut life = Life::begin(Start::default());
    life.coordinator.fail_next(Method::Acquire, Fault::Delay(secs(2)));
    let wait = life.wait(ME, None);
    life.settle().await;
    let closed = life.close();
    closed.await.unwrap();
    assert_about(life.now_ms(), 2000);
    assert_eq!(wait.await.unwrap().unwrap_err().code(), Code::Closed);
    assert_eq!(life.coordinator.asked(), [Asked::Acquire(TIMINGS.first_ttl), Asked::Release(0, T0_MS)]);
    assert_eq!(life.settle().await, [], "nobody ever had it");
    assert_eq!(life.source.next().unwrap_err().code(), Code::Closed);
}

#[tokio::test(start_paused = true)]
async fn without_a_lease_there_is_nothing_to_wait_for() {
    let mut life = Life::begin(Start::default());
    life.close().await.unwrap();
    assert_eq!((life.now_ms(), life.coordinator.asked()), (0, vec![]));
    assert_eq!(life.settle().await, []);
    assert_eq!(life.source.next().unwrap_err().code(), Code::Closed);
}

#[tokio::test(start_paused = true)]
async fn while_the_manager_tries_again_it_stops_trying() {
    let mut life = Life::begin(Start::default());
    life.coordinator.fail(Method::Acquire, Fault::Refuse(passing()));
    let wait = life.wait(ME, None);
    life.pass(secs(60)).await;
    life.close().await.unwrap();
    assert_eq!(wait.await.unwrap().unwrap_err().code(), Code::Closed);
    let asked = life.coordinator.asked();
    life.pass(secs(600)).await;
    assert_eq!(life.coordinator.asked(), asked);
}

#[tokio::test(start_paused = true)]
async fn everybody_who_closes_is_answered() {
    let mut life = Life::held(Start::default()).await;
    life.coordinator.fail_next(Method::Release, Fault::Delay(secs(1)));
    let (first, second) = (life.close(), life.close());
    life.settle().await;
    let third = life.close();
    for closed in [first, second, third] {
        closed.await.expect("a close without an answer");
    }
    life.close().await.expect("also when all is over");
    assert_eq!(life.coordinator.asked().len(), 2, "released once");
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_while_it_ends_is_answered() {
    let life = Life::begin(Start::default());
    // The actor ends at the first of these commands, with the others still in its inbox.
    let (first, wait, second) = (life.close(), life.wait(ME, None), life.close());
    first.await.unwrap();
    assert_eq!(wait.await.expect("a wait without an answer").unwrap_err().code(), Code::Closed);
    second.await.expect("a close without an answer");
    assert_eq!(life.ready().await.unwrap_err().code(), Code::Closed, "also when all is over");
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_nobody_holds_any_more_closes_itself() {
    let Life { manager, coordinator, source, .. } = Life::held(Start::default()).await;
    drop(manager);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(matches!(coordinator.asked()[..], [Asked::Acquire(_), Asked::Release(0, T0_MS)]));
    assert_eq!(source.next().unwrap_err().code(), Code::Closed);
}
