//! The rules of forgetting: each is taken out of the statements once, and must be missed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mintid::coordinator::Lease;
use mintid::coordinator::registry::OnReset;

use super::{forgets, must_wait, renewed, settled};
use crate::support::bench::{Change, wait};
use crate::support::registry::{RegistryBench, TTL};

/// A rule of forgetting, what is changed in the statements to break it, and the check that must notice.
pub(crate) type Rule<B> = (&'static str, &'static [Change], fn(&B));

/// Takes one rule at a time out of the statements: each check passes with it, and fails without.
pub(crate) fn are_missed<B: RegistryBench>(rules: &[Rule<B>]) {
    for (rule, changes, check) in rules {
        catch_unwind(AssertUnwindSafe(|| check(&B::waiting())))
            .unwrap_or_else(|_| panic!("{rule}: the check fails anyway"));
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&B::of(OnReset::Wait, changes))));
        assert!(outcome.is_err(), "nobody noticed the lack of: {rule}");
    }
}

pub(crate) fn another_incarnation_is_noticed<B: RegistryBench>(bench: &B) {
    forgets(bench, "incarnation", B::change_incarnation);
}

pub(crate) fn lost_leases_are_put_back<B: RegistryBench>(bench: &B) {
    forgets(bench, "leases", |bench| {
        bench.forget_leases();
        bench.change_incarnation();
    });
}

pub(crate) fn a_renewal_compares_the_incarnation<B: RegistryBench>(bench: &B) {
    let mut holder = settled(bench);
    bench.change_incarnation();
    renewed(&mut holder).unwrap();
    assert!(bench.not_before_ms() > bench.now_ms(), "a renewal did not notice");
}

pub(crate) fn the_wait_is_as_long_as_the_longest_lease<B: RegistryBench>(bench: &B) {
    let mut holder = settled(bench);
    renewed(&mut holder).unwrap();
    bench.forget_leases();
    bench.change_incarnation();
    assert!(must_wait(&*bench.any()));
    bench.step(TTL.as_millis() as i64 - 1000);
    assert!(must_wait(&*bench.any()), "the holder's fence has another second");
}

pub(crate) fn what_another_holds_is_left_to_them<B: RegistryBench>(bench: &B) {
    let mut holder = settled(bench);
    let Lease { machine, end_ms, .. } = holder.lease();
    bench.change_incarnation();
    bench.write(machine, Some([7; 16]), end_ms as i64);
    renewed(&mut holder).expect_err("two holders of one machine ID");
}

pub(crate) fn a_holder_is_evidence<B: RegistryBench>(bench: &B) {
    let mut holder = settled(bench);
    bench.write(holder.lease().machine, None, 0);
    let _ = renewed(&mut holder);
    assert!(must_wait(&*bench.any()));
}

pub(crate) fn nothing_is_put_back_within_the_margin<B: RegistryBench>(bench: &B) {
    let mut holder = settled(bench);
    bench.forget_leases();
    bench.change_incarnation();
    bench.step(TTL.as_millis() as i64 - 1500);
    renewed(&mut holder).expect_err("within the margin by which the clocks may differ");
}

pub(crate) fn nothing_is_renewed_within_the_margin<B: RegistryBench>(bench: &B) {
    let mut holder = settled(bench);
    bench.change_incarnation();
    bench.step(TTL.as_millis() as i64 - 1500);
    renewed(&mut holder).expect_err("within the margin by which the clocks may differ");
}

pub(crate) fn a_missing_row_is_not_free<B: RegistryBench>(bench: &B) {
    let _holder = settled(bench);
    bench.delete(3);
    wait(bench.within(3, 3).acquire(TTL)).expect_err("whoever held it may live");
}
