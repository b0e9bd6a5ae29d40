//! Guarded machine IDs in real registries: several processes that claim the same one.

#![cfg(all(feature = "postgres", feature = "redis"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use mintid::clock::SystemClock;
use mintid::coordinator::guarded::Guarded;
use mintid::coordinator::registry::{Mode, Registry};
use mintid::coordinator::{Coordinator, Grant, Lease, MachineIds, Renewal};
use mintid::error::{Code, Error, Retry};
use mintid::nonce::Loss;

use support::bench::{Bench, Holder, block_on, few_machines, wait};
use support::postgres::PostgresBench;
use support::redis::RedisBench;
use support::registry::RegistryBench;
use support::unreliable::{Fault, Method, Unreliable};

const MACHINE: u32 = 7;

/// How long a guarded lease lasts; the benches' registries have agreed on five minutes.
const TTL: Duration = Duration::from_secs(60);

/// What these tests need of a registry beside what the contract suite does.
trait Guarding: Bench {
    /// A client that can look at the registry's rows.
    fn registry(&self, machine_ids: MachineIds) -> Arc<dyn Registry>;

    /// The registry's time.
    fn registry_ms(&self) -> i64;

    /// The registry forgets who holds the machine ID.
    fn forget(&self);
}

impl<B: RegistryBench> Guarding for B {
    fn registry(&self, machine_ids: MachineIds) -> Arc<dyn Registry> {
        Arc::new(self.client_on(|terms| terms.machine_ids = machine_ids))
    }

    fn registry_ms(&self) -> i64 {
        self.now_ms()
    }

    fn forget(&self) {
        self.write(MACHINE, None, 0);
    }
}

/// One `#[test]` a check. The second kind of bench makes newcomers wait for what it may have forgotten.
macro_rules! suite {
    ($module:ident, $bench:ident) => {
        mod $module {
            use super::{RegistryBench as _, $bench};

            #[test]
            fn the_newer_one_has_a_conflict_until_the_first_gives_its_lease_back() {
                super::the_newer_one_has_a_conflict_until_the_first_gives_its_lease_back(&$bench::new());
            }

            #[test]
            fn a_crashed_one_is_followed_when_its_minute_is_over_and_not_before() {
                super::a_crashed_one_is_followed_when_its_minute_is_over_and_not_before(&$bench::new());
            }

            #[test]
            fn a_renewal_is_lost_by_conflict_where_another_holds_the_machine_id() {
                super::a_renewal_is_lost_by_conflict_where_another_holds_the_machine_id(&$bench::new());
                super::a_renewal_is_lost_by_conflict_where_another_holds_the_machine_id(&$bench::waiting());
            }

            #[test]
            fn a_renewal_is_rejected_where_nobody_does() {
                super::a_renewal_is_rejected_where_nobody_does(&$bench::new());
            }

            #[test]
            fn a_registry_that_may_have_forgotten_leases_is_waited_for_as_long_as_others_lease() {
                super::a_registry_that_may_have_forgotten_leases_is_waited_for_as_long_as_others_lease(
                    &$bench::waiting(),
                );
            }

            #[test]
            fn a_fleet_that_leases_from_the_rest_shares_the_registry() {
                super::a_fleet_that_leases_from_the_rest_shares_the_registry(&$bench::new());
            }

            #[test]
            fn a_claim_whose_answer_was_lost_is_known_by_its_holder() {
                super::a_claim_whose_answer_was_lost_is_known_by_its_holder(&$bench::new());
            }
        }
    };
}

suite!(postgres, PostgresBench);
suite!(redis, RedisBench);

/// A process that claims the machine ID; each has a memory of its own.
fn process(bench: &impl Guarding) -> Arc<dyn Coordinator> {
    let registry = bench.registry(MachineIds::only(&few_machines(), MACHINE).unwrap());
    let inner = Arc::clone(&registry) as Arc<dyn Coordinator>;
    Arc::new(Guarded::new(MACHINE, inner, Arc::default(), Arc::new(SystemClock)).looking_at(Some(registry)))
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

fn the_newer_one_has_a_conflict_until_the_first_gives_its_lease_back(bench: &impl Guarding) {
    let (first, second) = (process(bench), process(bench));
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

fn a_crashed_one_is_followed_when_its_minute_is_over_and_not_before(bench: &impl Guarding) {
    let (first, second) = (process(bench), process(bench));
    let end_ms = claim(&first).unwrap().lease.end_ms;
    let left_ms = end_ms as i64 - bench.registry_ms();
    assert!((55_000..=60_000).contains(&left_ms), "{left_ms} ms are left of a minute");
    bench.step(left_ms - 5000);
    assert_conflict(&second);
    bench.step(5001);
    assert!(claim(&second).unwrap().lease.start_ms > end_ms);
}

/// Whatever the registry makes of what it forgot: one that is told to waits from then on.
fn a_renewal_is_lost_by_conflict_where_another_holds_the_machine_id(bench: &impl Guarding) {
    wait(bench.registry(MachineIds::new(&few_machines(), None).unwrap()).setup(Mode::Fresh)).unwrap();
    let (first, second) = (process(bench), process(bench));
    let lease = claim(&first).unwrap().lease;
    bench.forget();
    bench.pass(Duration::from_millis(2));
    let mut other = Holder::of(second, TTL).unwrap();
    assert!(matches!(wait(first.renew(&lease, TTL)), Renewal::Lost(Loss::Conflict)));
    assert!(matches!(wait(first.renew(&lease, TTL)), Renewal::Lost(_)));
    other.renew(TTL);
}

fn a_renewal_is_rejected_where_nobody_does(bench: &impl Guarding) {
    let first = process(bench);
    let lease = claim(&first).unwrap().lease;
    bench.forget();
    assert!(matches!(wait(first.renew(&lease, TTL)), Renewal::Lost(Loss::Rejected)));
    assert_eq!(claim(&first).unwrap().lease.machine, MACHINE);
}

/// The others of the namespace may hold theirs for as long as was agreed.
fn a_registry_that_may_have_forgotten_leases_is_waited_for_as_long_as_others_lease(bench: &impl Guarding) {
    let error = claim(&process(bench)).unwrap_err();
    assert_eq!(error.code(), Code::RegistryReset, "{error}");
    let wait_ms = error.fields().not_before_ms.unwrap() as i64 - bench.registry_ms();
    assert!((295_000..=302_000).contains(&wait_ms), "{wait_ms} ms");
}

fn a_fleet_that_leases_from_the_rest_shares_the_registry(bench: &impl Guarding) {
    let guarded: Lease = claim(&process(bench)).unwrap().lease;
    let fleet: Vec<Holder> = (0..3).map(|_| bench.holder(MACHINE, MACHINE + 3)).collect();
    assert!(fleet.iter().all(|holder| holder.lease().machine != guarded.machine));
    assert_conflict(&process(bench));
}

/// By what the registry keeps of who claims, which is the same in every store.
fn a_claim_whose_answer_was_lost_is_known_by_its_holder(bench: &impl Guarding) {
    let registry = bench.registry(MachineIds::only(&few_machines(), MACHINE).unwrap());
    let clock = Arc::new(SystemClock);
    let inner = Arc::new(Unreliable::new(Arc::clone(&registry) as Arc<dyn Coordinator>, clock.clone()));
    let guarded = Guarded::new(MACHINE, inner.clone(), Arc::default(), clock).looking_at(Some(Arc::clone(&registry)));
    inner.fail_next(Method::Acquire, Fault::LoseAnswer);
    block_on(async {
        tokio::select! {
            answer = guarded.acquire(TTL) => panic!("an answer: {answer:?}"),
            () = leased(&*registry) => {}
        }
        let error = guarded.acquire(TTL).await.unwrap_err();
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
        assert!(error.message().contains("an earlier lease of this process"), "{error}");
    });
    assert_conflict(&process(bench));
}

/// Waits until somebody has the machine ID.
async fn leased(registry: &dyn Registry) {
    let is_leased = async || registry.list().await.unwrap().iter().any(|row| row.machine == MACHINE && row.live);
    while !is_leased().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
