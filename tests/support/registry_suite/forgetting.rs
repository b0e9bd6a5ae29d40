//! What a registry may forget, and who notices.

use std::time::Duration;

use mintid::coordinator::Renewal;
use mintid::coordinator::registry::{Mode, Registry};
use mintid::error::{Code, Retry};

use super::{forgets, must_wait, refusal, renewed, rules, settled};
use crate::support::bench::{Holder, few_machines, wait};
use crate::support::registry::{RegistryBench, TTL};

pub(crate) fn a_new_registry_makes_newcomers_wait_until_every_lease_it_could_have_known_is_over<B: RegistryBench>() {
    let bench = B::waiting();
    let client = bench.client_of_all();
    let error = refusal(&client);
    assert_eq!((error.code(), error.retry()), (Code::RegistryReset, Retry::Later), "{error}");
    let not_before_ms = error.fields().not_before_ms.unwrap() as i64;
    assert!(not_before_ms.abs_diff(bench.not_before_ms()) <= 1, "as it is kept");
    let until = not_before_ms - bench.now_ms();
    assert!((bench.quarantine_ms() - 5000..=bench.quarantine_ms()).contains(&until), "{until} ms");
    let wait_for = error.worth_retrying_in().unwrap();
    assert!(wait_for <= TTL + Duration::from_secs(3) && wait_for > TTL, "{wait_for:?}");
    assert_eq!(error.fields().command, Some("npx mintid setup --accept-reset"));
    bench.step(until - 2000);
    assert!(must_wait(&client));
    bench.step(2100);
    assert!(!must_wait(&client));
}

pub(crate) fn whatever_it_forgets_holders_go_on_and_newcomers_wait<B: RegistryBench>() {
    for (what, forget) in B::ways_to_forget() {
        forgets(&B::waiting(), what, forget);
    }
}

pub(crate) fn a_renewal_alone_notices_another_incarnation<B: RegistryBench>() {
    rules::a_renewal_compares_the_incarnation(&B::waiting());
}

pub(crate) fn a_holder_whose_end_was_forgotten_is_evidence<B: RegistryBench>() {
    let bench = B::waiting();
    let mut holder = settled(&bench);
    let first = holder.lease();
    bench.step(60_000);
    renewed(&mut holder).unwrap();
    // As a copy of before the renewal would have it.
    bench.write(first.machine, Some(first.token.0), first.end_ms as i64);
    let end_ms = holder.lease().end_ms;
    assert!(renewed(&mut holder).unwrap().end_ms >= end_ms, "put back");
    assert!(must_wait(&*bench.any()), "what else was forgotten is not known");
}

pub(crate) fn a_holder_whose_row_went_back_to_before_its_claim_is_evidence<B: RegistryBench>() {
    let bench = B::waiting();
    let mut holder = settled(&bench);
    bench.write(holder.lease().machine, None, 0);
    renewed(&mut holder).expect("put back");
    assert!(must_wait(&*bench.any()));
}

pub(crate) fn rows_that_somebody_deleted_are_not_free_at_once<B: RegistryBench>() {
    let bench = B::waiting();
    let mut holder = settled(&bench);
    (0..=3).for_each(|machine| bench.delete(machine));
    let report = wait(bench.client_of_all().setup(Mode::Plain)).unwrap();
    assert!(report.not_before_ms > 0, "whoever held them may live");
    assert!(must_wait(&*bench.any()));
    renewed(&mut holder).expect("put back");
    rules::a_missing_row_is_not_free(&B::waiting());
}

pub(crate) fn an_ordinary_loss_is_no_evidence<B: RegistryBench>() {
    let bench = B::waiting();
    let mut holder = settled(&bench);
    bench.step(TTL.as_millis() as i64 + 10);
    renewed(&mut holder).expect_err("revived");
    assert!(!must_wait(&*bench.any()));
}

pub(crate) fn a_renewal_that_meets_the_release_of_its_own_lease_is_no_evidence<B: RegistryBench>() {
    let bench = B::waiting();
    let Holder { client, grant } = settled(&bench);
    wait(client.release(&grant.lease, grant.lease.start_ms)).unwrap();
    let renewal = wait(client.renew(&grant.lease, TTL));
    assert!(matches!(renewal, Renewal::Lost(_)), "{renewal:?}");
    assert!(!must_wait(&*bench.any()), "a close that met a renewal made the fleet wait");
}

pub(crate) fn what_another_holds_is_not_taken_back<B: RegistryBench>() {
    let bench = B::waiting();
    let mut holder = settled(&bench);
    // The registry forgot the holder, and granted its machine ID before anybody noticed.
    bench.write(holder.lease().machine, Some([7; 16]), bench.now_ms() + 3_600_000);
    renewed(&mut holder).expect_err("two holders of one machine ID");
    assert!(must_wait(&*bench.any()));
}

pub(crate) fn what_is_nearly_over_is_not_put_back_while_the_registry_waits<B: RegistryBench>() {
    rules::nothing_is_put_back_within_the_margin(&B::waiting());
    rules::nothing_is_renewed_within_the_margin(&B::waiting());
}

pub(crate) fn a_lease_put_back_lasts_at_least_as_long_as_was_confirmed<B: RegistryBench>() {
    let bench = B::waiting();
    let mut holder = settled(&bench);
    renewed(&mut holder).unwrap();
    let end_ms = holder.lease().end_ms;
    bench.forget_leases();
    bench.change_incarnation();
    let renewal = wait(holder.client.renew(&holder.grant.lease, Duration::from_secs(3)));
    let Renewal::Granted(grant) = renewal else { panic!("{renewal:?}") };
    assert_eq!(grant.lease.end_ms, end_ms);
    assert_eq!(bench.kept(grant.lease.machine), (end_ms as i64, true));
}

pub(crate) fn a_second_reset_begins_the_wait_anew<B: RegistryBench>() {
    let bench = B::waiting();
    let mut holder = settled(&bench);
    for _ in 0..2 {
        bench.change_incarnation();
        let until = refusal(&*bench.any()).fields().not_before_ms.unwrap() as i64;
        assert!(until - bench.now_ms() > bench.quarantine_ms() - 5000);
        renewed(&mut holder).unwrap();
        bench.step(bench.quarantine_ms() / 2);
    }
}

pub(crate) fn many_that_meet_another_incarnation_together_agree_on_one<B: RegistryBench>() {
    let bench = B::waiting();
    settled(&bench);
    bench.change_incarnation();
    let began = bench.now_ms();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(refusal(&*bench.any()).code(), Code::RegistryReset));
        }
    });
    let not_before_ms = bench.not_before_ms();
    assert!(not_before_ms <= bench.now_ms() + bench.quarantine_ms() && not_before_ms >= began + bench.quarantine_ms());
    bench.step(bench.quarantine_ms());
    assert!(!must_wait(&*bench.any()), "the wait was begun anew for some of them");
    assert_eq!(bench.not_before_ms(), not_before_ms);
}

pub(crate) fn many_that_find_no_registry_make_it_together<B: RegistryBench>() {
    let bench = B::waiting();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let error = refusal(&*bench.any());
                assert!(error.code() == Code::RegistryReset || error.retry() == Retry::Soon, "{error}");
            });
        }
    });
    let listed = wait(bench.client_of_all().list()).unwrap();
    assert_eq!(listed.len(), few_machines().machines() as usize - 1);
}
