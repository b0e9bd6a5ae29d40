//! What registries on servers promise beside leasing: they notice that they may have forgotten leases, let holders go on and
//! newcomers wait, and refuse who disagrees. `suite!` makes a test of each check; the rules of forgetting are taken out of the
//! statements one by one by `rules::are_missed`. A crate that uses it declares `#[path = "../support/registry_suite/mod.rs"]
//! mod registry_suite;` beside `mod support;`.

mod forgetting;
mod keeping;
mod restoring;
pub(crate) mod rules;

use mintid::coordinator::registry::{Mode, Registry};
use mintid::coordinator::{Coordinator, Lease, Renewal};
use mintid::error::Error;

pub(crate) use self::forgetting::*;
pub(crate) use self::keeping::*;
pub(crate) use self::restoring::*;
use crate::support::bench::{self, Holder, wait};
use crate::support::registry::{RegistryBench, TTL};

/// One `#[test]` a check, each on a bench of its own.
macro_rules! suite {
    ($bench:ty) => {
        $crate::registry_suite::suite! { $bench =>
            a_new_registry_makes_newcomers_wait_until_every_lease_it_could_have_known_is_over
            whatever_it_forgets_holders_go_on_and_newcomers_wait
            a_renewal_alone_notices_another_incarnation
            a_holder_whose_end_was_forgotten_is_evidence
            a_holder_whose_row_went_back_to_before_its_claim_is_evidence
            rows_that_somebody_deleted_are_not_free_at_once
            an_ordinary_loss_is_no_evidence
            a_renewal_that_meets_the_release_of_its_own_lease_is_no_evidence
            what_another_holds_is_not_taken_back
            what_is_nearly_over_is_not_put_back_while_the_registry_waits
            a_lease_put_back_lasts_at_least_as_long_as_was_confirmed
            a_second_reset_begins_the_wait_anew
            many_that_meet_another_incarnation_together_agree_on_one
            many_that_find_no_registry_make_it_together
            an_announced_restore_makes_newcomers_wait_and_holders_go_on
            a_restore_that_nobody_announces_is_not_noticed_by_newcomers
            a_release_keeps_the_end_and_no_token
            a_setup_keeps_to_the_layout_that_the_processes_have
            who_disagrees_is_refused_with_the_option
            a_key_is_added_by_the_first_process_that_has_one
            setup_is_idempotent_and_only_an_operators_word_ends_a_wait
            a_fresh_setup_lets_the_next_process_say_what_is_agreed_on
            the_list_tells_who_holds_what_until_when
            namespaces_know_nothing_of_each_other
            usage_is_told_with_a_grant
            development_need_not_wait
        }
    };
    ($bench:ty => $($check:ident)*) => {
        $(
            #[test]
            fn $check() {
                $crate::registry_suite::$check::<$bench>();
            }
        )*
    };
}
pub(crate) use suite;

/// A registry past its first wait, and a holder in it.
pub(crate) fn settled<B: RegistryBench>(bench: &B) -> Holder {
    wait(bench.client_of_all().setup(Mode::Fresh)).unwrap();
    bench.holder(0, 3)
}

/// Renews for the usual time.
pub(crate) fn renewed(holder: &mut Holder) -> Result<Lease, Renewal> {
    holder.try_renew(TTL)
}

/// Why nothing was granted.
pub(crate) fn refusal(client: &dyn Coordinator) -> Error {
    wait(client.acquire(TTL)).expect_err("granted")
}

/// Whether newcomers must wait at the moment.
pub(crate) fn must_wait(client: &dyn Coordinator) -> bool {
    bench::must_wait(client, TTL)
}

/// Has a registry with a holder forget something: the holder goes on, newcomers wait, and nobody gets its machine ID.
pub(crate) fn forgets<B: RegistryBench>(bench: &B, what: &str, forget: impl FnOnce(&B)) {
    let mut holder = settled(bench);
    let before = renewed(&mut holder).unwrap();
    forget(bench);
    notices(bench, what, holder, before);
}

/// The same, from when it was forgotten on.
pub(crate) fn notices<B: RegistryBench>(bench: &B, what: &str, mut holder: Holder, before: Lease) {
    assert!(must_wait(&*bench.any()), "{what}: granted before the old leases were over");
    let after = renewed(&mut holder).unwrap_or_else(|lost| panic!("{what}: a holder was stopped: {lost:?}"));
    assert!(after.end_ms >= before.end_ms && after.token == before.token, "{what}: {before:?} became {after:?}");
    bench.step(bench.quarantine_ms() / 2);
    let after = renewed(&mut holder).expect("a renewal within the wait");
    bench.step(bench.quarantine_ms() / 2 + 100);
    let newcomers: Vec<Holder> = (0..3).map(|_| bench.holder(0, 3)).collect();
    let taken: Vec<u32> = newcomers.iter().map(|newcomer| newcomer.lease().machine).collect();
    assert!(!taken.contains(&after.machine), "{what}: machine ID {} was granted twice", after.machine);
    renewed(&mut holder).expect("a renewal after the wait");
}
