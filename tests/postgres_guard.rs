//! Guarded machine IDs on a real PostgreSQL: two processes that claim the same one.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use mintid::clock::SystemClock;
use mintid::coordinator::guarded::{Claims, Guarded};
use mintid::coordinator::registry::{Mode, Registry};
use mintid::coordinator::{Coordinator, Grant, MachineIds, Renewal};
use mintid::error::{Code, Error, Retry};
use mintid::nonce::Loss;

use support::bench::{Bench, Holder, few_machines, wait};
use support::postgres::PostgresBench;

const MACHINE: u32 = 7;

/// How long a guarded lease lasts; the bench's registry has agreed on five minutes.
const TTL: Duration = Duration::from_secs(60);

/// A process that claims the machine ID; each has a memory of its own.
fn process(bench: &PostgresBench) -> Arc<dyn Coordinator> {
    let machine_ids = MachineIds::only(&few_machines(), MACHINE).unwrap();
    let registry = Arc::new(bench.client_with(|setup| setup.machine_ids = machine_ids));
    let claims = Arc::<Claims>::default();
    Arc::new(Guarded::new(MACHINE, registry.clone(), claims, Arc::new(SystemClock)).looking_at(registry))
}

fn claim(process: &Arc<dyn Coordinator>) -> Result<Grant, Error> {
    wait(process.acquire(TTL))
}

#[track_caller]
fn assert_conflict(process: &Arc<dyn Coordinator>) {
    let error = claim(process).unwrap_err();
    let found = (error.code(), error.retry(), error.fields().machine_id);
    assert_eq!(found, (Code::Conflict, Retry::Later, Some(MACHINE)), "{error}");
}

#[test]
fn the_newer_one_has_a_conflict_until_the_first_gives_its_lease_back() {
    let bench = PostgresBench::new();
    let (first, second) = (process(&bench), process(&bench));
    let mut holder = Holder::of(first, TTL).unwrap();
    assert_eq!(holder.lease().machine, MACHINE);
    assert_conflict(&second);
    holder.renew(TTL);
    assert_conflict(&second);
    let last_used_ms = holder.grant.now_ms;
    holder.release(last_used_ms);
    bench.pass(Duration::from_millis(2));
    let next = claim(&second).unwrap();
    assert_eq!(next.lease.machine, MACHINE);
    assert!(next.lease.start_ms > last_used_ms);
}

#[test]
fn a_crashed_one_is_followed_when_its_minute_is_over_and_not_before() {
    let bench = PostgresBench::new();
    let (first, second) = (process(&bench), process(&bench));
    let end_ms = claim(&first).unwrap().lease.end_ms;
    let left_ms = end_ms as i64 - bench.now_ms();
    assert!((55_000..=60_000).contains(&left_ms), "{left_ms} ms are left of a minute");
    bench.step(left_ms - 5000);
    assert_conflict(&second);
    bench.step(5001);
    assert!(claim(&second).unwrap().lease.start_ms > end_ms);
}

/// Whatever the registry makes of it: in a registry that is told to, newcomers wait from then on.
#[test]
fn a_renewal_is_lost_by_conflict_where_another_holds_the_machine_id() {
    for bench in [PostgresBench::new(), PostgresBench::waiting()] {
        wait(bench.client_with(|_| {}).setup(Mode::Fresh)).unwrap();
        let (first, second) = (process(&bench), process(&bench));
        let lease = claim(&first).unwrap().lease;
        bench.run("update mintid_leases set token = null, expires_at = 'epoch' where id = 7");
        bench.pass(Duration::from_millis(2));
        let mut other = Holder::of(second, TTL).unwrap();
        assert!(matches!(wait(first.renew(&lease, TTL)), Renewal::Lost(Loss::Conflict)));
        assert!(matches!(wait(first.renew(&lease, TTL)), Renewal::Lost(_)));
        other.renew(TTL);
    }
}

#[test]
fn a_renewal_is_rejected_where_nobody_does() {
    let bench = PostgresBench::new();
    let first = process(&bench);
    let lease = claim(&first).unwrap().lease;
    bench.run("update mintid_leases set token = null, expires_at = 'epoch' where id = 7");
    assert!(matches!(wait(first.renew(&lease, TTL)), Renewal::Lost(Loss::Rejected)));
    assert_eq!(claim(&first).unwrap().lease.machine, MACHINE);
}

/// The others of the namespace may hold theirs for as long as was agreed.
#[test]
fn a_registry_that_may_have_forgotten_leases_is_waited_for_as_long_as_others_lease() {
    let bench = PostgresBench::waiting();
    let error = claim(&process(&bench)).unwrap_err();
    assert_eq!(error.code(), Code::RegistryReset, "{error}");
    let wait_ms = error.fields().not_before_ms.unwrap() as i64 - bench.now_ms();
    assert!((295_000..=302_000).contains(&wait_ms), "{wait_ms} ms");
}

#[test]
fn a_fleet_that_leases_from_the_rest_shares_the_registry() {
    let bench = PostgresBench::new();
    let guarded = claim(&process(&bench)).unwrap();
    let fleet: Vec<Holder> = (0..5).map(|_| bench.holder(10, 14)).collect();
    assert!(fleet.iter().all(|holder| holder.lease().machine != guarded.lease.machine));
    assert_conflict(&process(&bench));
}
