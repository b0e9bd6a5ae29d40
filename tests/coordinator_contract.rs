//! The contract suite on every coordinator of this crate, on the memory coordinator, and on memory coordinators that
//! break a rule, each of which the suite must notice.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mintid::clock::{Clock, ManualClock};
use mintid::coordinator::local::Local;
use mintid::coordinator::{Coordinator, MachineIds};
use support::bench::{Bench, Holder, Kind};
use support::clock::Skewed;
use support::memory::{Memory, Registry, Rule};
use support::{T0_MS, contract};
use tempfile::TempDir;

mod memory {
    use super::MemoryBench;

    crate::support::contract::suite!(MemoryBench::default());
}

mod local {
    use super::LocalBench;

    crate::support::contract::suite!(LocalBench::default());
}

/// Each rule that a registry may break, the check that must notice, and what it must say.
#[test]
fn a_registry_that_breaks_a_rule_does_not_pass() {
    type Check = fn(&MemoryBench);
    let caught: [(Rule, Check, &str); 12] = [
        (Rule::StartAfterEverythingBefore, contract::a_lease_starts_after_everything_before, "before"),
        (Rule::GrantOnlyWhatIsFree, contract::every_id_but_the_highest_is_leased_once, "panicked"),
        (Rule::RenewOnlyWhatIsAlive, contract::only_what_is_alive_is_renewed, "revived"),
        (Rule::NeverShorten, contract::a_renewal_can_be_repeated_and_never_shortens, "shortened by a renewal"),
        (Rule::ReleaseToTheLastUse, contract::a_release_reaches_to_the_last_use, "before the last use"),
        (Rule::ReleaseEndsTheToken, contract::a_released_token_is_dead, "a released lease was renewed"),
        (Rule::AskForTheToken, contract::a_stale_token_neither_renews_nor_releases, "renewed with a stale token"),
        (Rule::TokenOfItsOwn, contract::each_claim_has_its_own_token, "a token for two claims"),
        (Rule::RowsOutliveTheirLease, contract::a_lease_starts_after_everything_before, "before"),
        (Rule::OneClock, contract::a_clients_clock_changes_nothing, "granted twice to a client off by"),
        (Rule::LongestFreeFirst, contract::the_id_free_longest_comes_first, "by how long each has been free"),
        (Rule::KeepToTheRange, contract::a_client_keeps_to_its_machine_ids, "only the range is granted"),
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
        Self::of(|registry| registry)
    }
}

impl MemoryBench {
    fn without(rule: Rule) -> Self {
        Self::of(|registry| registry.without(rule))
    }

    fn of(make: impl FnOnce(Registry) -> Registry) -> Self {
        let clock = Arc::new(ManualClock::at(T0_MS));
        let mut bench = Self { registry: Arc::new(Registry::new(Default::default(), clock.clone())), clock };
        bench.registry = Arc::new(make(Registry::new(bench.layout(), bench.clock.clone())));
        bench
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

    fn step(&self, by_ms: i64) -> bool {
        self.clock.set_wall_ms(self.clock.wall_ms().saturating_add_signed(by_ms));
        true
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

    fn step(&self, by_ms: i64) -> bool {
        self.clock.set_wall_ms(self.clock.wall_ms().saturating_add_signed(by_ms));
        true
    }

    /// What the kernel does with a process's locks; `local_coordinator` kills a real one.
    fn die(&self, holder: Holder) {
        drop(holder);
    }
}
