//! The contract suite on every coordinator of this crate, on the memory coordinator, and on memory coordinators that
//! break a rule, each of which the suite must notice.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mintid::clock::{Clock, ManualClock};
use mintid::coordinator::fixed::Fixed;
use mintid::coordinator::local::Local;
use mintid::coordinator::{Coordinator, Grant, Lease, MachineIds, Renewal, Term};
use mintid::error::{Code, Error, Retry};
use mintid::layout::Layout;
use mintid::nonce::Loss;
use support::bench::{Bench, Holder, Kind, few_machines, wait};
use support::clock::Skewed;
use support::memory::{Memory, Registry, Rule};
use support::{HOUR_MS, T0_MS};
use tempfile::TempDir;

mod memory {
    crate::contract::suite!(super::MemoryBench::default());
}

mod local {
    crate::contract::suite!(super::LocalBench::default());
}

/// The part on identity: nobody guards it, so there is no registry to exhaust and nothing that runs out.
mod fixed {
    use super::*;

    fn fixed(machine: u32, namespace: &str, clock: &Arc<ManualClock>) -> Fixed {
        Fixed::new(machine, namespace, few_machines(), clock.clone())
    }

    fn clock() -> Arc<ManualClock> {
        Arc::new(ManualClock::at(T0_MS))
    }

    fn claim(fixed: &Fixed) -> Result<Grant, Error> {
        wait(fixed.acquire(Duration::from_secs(60)))
    }

    #[test]
    fn its_own_id_is_granted_from_now_to_the_end_of_the_layout() {
        let grant = claim(&fixed(31, "whole", &clock())).unwrap();
        let Lease { machine, start_ms, end_ms, .. } = grant.lease;
        assert_eq!((machine, start_ms, end_ms), (31, T0_MS + 1, few_machines().end_unix_ms()));
        assert!(matches!(grant.term, Term::Unlimited));
        assert_eq!(grant.now_ms, T0_MS);
    }

    #[test]
    fn one_lease_of_a_process_holds_it_at_a_time() {
        let clock = clock();
        let grant = claim(&fixed(1, "once", &clock)).unwrap();
        let again = fixed(1, "once", &clock);
        let error = claim(&again).unwrap_err();
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
        for other in [fixed(2, "once", &clock), fixed(1, "another", &clock)] {
            claim(&other).expect("another machine ID, or namespace, is nobody's");
        }
        wait(again.release(&grant.lease, grant.lease.start_ms)).unwrap();
        claim(&again).expect("free again");
    }

    #[test]
    fn a_lease_starts_after_everything_that_the_process_used_before() {
        let clock = clock();
        let one = fixed(1, "after", &clock);
        let mut free_from_ms = 0;
        for step_ms in [0, HOUR_MS, -HOUR_MS, -HOUR_MS, HOUR_MS] {
            clock.set_wall_ms(clock.wall_ms().saturating_add_signed(step_ms));
            let lease = claim(&one).unwrap().lease;
            assert!(lease.start_ms >= free_from_ms, "starts at {}, before {free_from_ms}", lease.start_ms);
            free_from_ms = lease.start_ms + 5001;
            wait(one.release(&lease, lease.start_ms + 5000)).unwrap();
        }
    }

    #[test]
    fn it_is_renewed_as_itself_and_as_no_other() {
        let one = fixed(1, "renewed", &clock());
        let lease = claim(&one).unwrap().lease;
        let renewal = wait(one.renew(&lease, Duration::from_secs(60)));
        assert!(matches!(&renewal, Renewal::Granted(grant) if grant.lease == lease), "{renewal:?}");
        let renewal = wait(one.renew(&Lease { machine: 2, ..lease }, Duration::from_secs(60)));
        assert!(matches!(renewal, Renewal::Lost(Loss::Rejected)), "{renewal:?}");
    }

    #[test]
    fn a_lease_of_before_is_neither_renewed_nor_given_back() {
        let one = fixed(1, "stale", &clock());
        let stale = claim(&one).unwrap().lease;
        wait(one.release(&stale, stale.start_ms)).unwrap();
        let held = claim(&one).unwrap().lease;
        let renewal = wait(one.renew(&stale, Duration::from_secs(60)));
        assert!(matches!(renewal, Renewal::Lost(Loss::Rejected)), "{renewal:?}");
        wait(one.release(&stale, stale.start_ms)).unwrap();
        assert!(claim(&one).is_err(), "a stale lease gave back machine ID {} of another", held.machine);
    }

    #[test]
    fn a_time_outside_the_layout_is_refused_and_holds_nothing() {
        let clock = clock();
        let one = fixed(1, "time", &clock);
        for wall_ms in [0, Layout::DEFAULT_EPOCH_MS - 1, few_machines().end_unix_ms()] {
            clock.set_wall_ms(wall_ms);
            assert_eq!(claim(&one).unwrap_err().code(), Code::Time, "{wall_ms}");
        }
        clock.set_wall_ms(T0_MS);
        claim(&one).expect("nobody got it yet");
    }
}

/// Each rule that a registry may break, the check that must notice, and what it must say.
#[test]
fn a_registry_that_breaks_a_rule_does_not_pass() {
    type Check = fn(&MemoryBench);
    let caught: [(Rule, Check, &str); 17] = [
        (Rule::StartAfterEverythingBefore, contract::a_grant_is_for_the_time_after_now, "a lease starts after"),
        (Rule::StartAfterEverythingBefore, contract::a_lease_starts_after_everything_before, "before"),
        (Rule::GrantOnlyWhatIsFree, contract::every_id_but_the_highest_is_leased_once, "each is granted once"),
        (Rule::FreeWhatRanOut, contract::a_dead_holder_frees_its_id, "a dead holder's machine ID is free"),
        (Rule::FreeWhatIsReleased, contract::a_released_id_is_granted_again, "a released machine ID is free"),
        (Rule::RenewOnlyWhatIsAlive, contract::only_what_is_alive_is_renewed, "revived"),
        (Rule::NeverShorten, contract::a_renewal_can_be_repeated_and_never_shortens, "shortened by a renewal"),
        (Rule::ReleaseToTheLastUse, contract::a_release_reaches_to_the_last_use, "before the last use"),
        (Rule::ReleaseToTheLastUse, contract::what_many_threads_use_never_overlaps, "was used twice"),
        (Rule::ReleaseEndsTheToken, contract::a_released_token_is_dead, "a released lease was renewed"),
        (Rule::AskForTheToken, contract::a_stale_token_neither_renews_nor_releases, "renewed with a stale token"),
        (Rule::TokenOfItsOwn, contract::each_claim_has_its_own_token, "a token for two claims"),
        (Rule::RowsOutliveTheirLease, contract::a_lease_starts_after_everything_before, "before"),
        (Rule::OneClock, contract::a_clients_clock_changes_nothing, "granted twice to a client off by"),
        (Rule::LongestFreeFirst, contract::the_id_free_longest_comes_first, "by how long each has been free"),
        (Rule::KeepToTheRange, contract::a_client_keeps_to_its_machine_ids, "only the range is granted"),
        (Rule::KeepToTheRange, contract::every_id_but_the_highest_is_leased_once, "every machine ID but the highest"),
    ];
    for (rule, check, complaint) in caught {
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&MemoryBench::without(rule))));
        let panic = outcome.expect_err(&format!("nobody noticed that {rule:?} was broken"));
        assert!(said(&*panic).contains(complaint), "{rule:?}: {}", said(&*panic));
    }
}

fn said(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<String>().map_or_else(|| panic.downcast_ref::<&str>().unwrap_or(&""), String::as_str)
}

struct MemoryBench {
    clock: Arc<ManualClock>,
    registry: Arc<Registry>,
}

impl Default for MemoryBench {
    fn default() -> Self {
        let clock = Arc::new(ManualClock::at(T0_MS));
        Self { registry: Arc::new(Registry::new(few_machines(), clock.clone())), clock }
    }
}

impl MemoryBench {
    fn without(rule: Rule) -> Self {
        let clock = Arc::new(ManualClock::at(T0_MS));
        Self { registry: Arc::new(Registry::new(few_machines(), clock.clone()).without(rule)), clock }
    }
}

impl Bench for MemoryBench {
    fn kind(&self) -> Kind {
        Kind::Renewable
    }

    fn ttl(&self) -> Duration {
        Duration::from_secs(300)
    }

    fn client(&self, machine_ids: MachineIds, skew_ms: i64) -> Arc<dyn Coordinator> {
        let clock = Skewed { true_clock: self.clock.clone(), by_ms: skew_ms };
        Arc::new(Memory::new(&self.registry, machine_ids, Arc::new(clock)))
    }

    fn pass(&self, by: Duration) {
        self.clock.advance(by);
    }

    fn step(&self, by_ms: i64) {
        self.clock.set_wall_ms(self.clock.wall_ms().saturating_add_signed(by_ms));
    }

    fn die(&self, holder: Holder) {
        let left_ms = (holder.lease().end_ms + 1).saturating_sub(self.clock.wall_ms());
        self.pass(Duration::from_millis(left_ms));
    }
}

struct LocalBench {
    directory: TempDir,
    clock: Arc<ManualClock>,
}

impl Default for LocalBench {
    fn default() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), clock: Arc::new(ManualClock::at(T0_MS)) }
    }
}

impl Bench for LocalBench {
    fn kind(&self) -> Kind {
        Kind::Held
    }

    fn ttl(&self) -> Duration {
        Duration::from_secs(300)
    }

    fn client(&self, machine_ids: MachineIds, skew_ms: i64) -> Arc<dyn Coordinator> {
        let clock = Skewed { true_clock: self.clock.clone(), by_ms: skew_ms };
        Arc::new(Local::new(self.directory.path(), "default", machine_ids, self.layout(), Arc::new(clock)))
    }

    fn pass(&self, by: Duration) {
        self.clock.advance(by);
    }

    fn step(&self, by_ms: i64) {
        self.clock.set_wall_ms(self.clock.wall_ms().saturating_add_signed(by_ms));
    }

    /// What the kernel does with a process's locks; `local_coordinator` kills a real one.
    fn die(&self, holder: Holder) {
        drop(holder);
    }
}
