//! The rules of forgetting in the SQL.

use mintid::coordinator::registry::{Mode, Registry};

use crate::registry_suite::rules::{self, Rule};
use crate::registry_suite::{must_wait, refusal, settled};
use crate::support::bench::{Bench, Change, wait};
use crate::support::postgres::PostgresBench;
use crate::support::registry::RegistryBench;

const RULES: [Rule<PostgresBench>; 9] = [
    (
        "acquire compares the incarnation",
        &[("coalesce(found = incarnation, false) as same, coalesce(\n", "true as same, coalesce(\n")],
        rules::another_incarnation_is_noticed,
    ),
    ("acquire waits", WITHOUT_THE_WAIT, rules::another_incarnation_is_noticed),
    (
        "the wait is as long as the longest lease",
        &[(
            "clock_timestamp() + $2 * interval '1 millisecond' end)",
            "clock_timestamp() + $2 * interval '1 microsecond' end)",
        )],
        rules::the_wait_is_as_long_as_the_longest_lease,
    ),
    (
        "renew compares the incarnation",
        &[("coalesce(found = incarnation, false) as same,\n", "true as same,\n")],
        rules::a_renewal_compares_the_incarnation,
    ),
    (
        "a missing row is put back",
        &[("when now < not_before and confirmed", "when now < 'epoch' and confirmed")],
        rules::lost_leases_are_put_back,
    ),
    (
        "what another holds is left to them",
        &[("and (ours or expires_at < now)", "")],
        rules::what_another_holds_is_left_to_them,
    ),
    (
        "evidence counts",
        &[("not remembered and confirmed > now and view <> 'other' as forgot", "false as forgot")],
        rules::a_holder_is_evidence,
    ),
    (
        "nothing is put back within the margin",
        &[("confirmed > later", "confirmed > now")],
        rules::nothing_is_put_back_within_the_margin,
    ),
    (
        "nothing is renewed within the margin",
        &[("case when now <= not_before then later else now end", "now"), ("confirmed > later", "confirmed > now")],
        rules::nothing_is_renewed_within_the_margin,
    ),
];

const WITHOUT_THE_WAIT: &[Change] =
    &[("and not_before < now\n", "\n"), ("not_before >= now as waiting,\n  same", "false as waiting,\n  same")];

#[test]
fn sql_without_one_of_its_rules_of_forgetting_does_not_pass() {
    rules::are_missed(&RULES);
}

#[test]
fn many_that_meet_another_incarnation_together_make_one() {
    let bench = PostgresBench::waiting();
    settled(&bench);
    bench.run("truncate mintid_incarnation");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| refusal(&*bench.any()));
        }
    });
    assert_eq!(bench.value("select count(*) from mintid_incarnation"), 1);
}

#[test]
fn a_durable_incarnation_outlives_what_a_crash_empties() {
    let bench = PostgresBench::waiting();
    let durable = || bench.client_with(|setup| setup.agreement.durable = true);
    wait(durable().setup(Mode::Fresh)).unwrap();
    assert!(!must_wait(&durable()));
    bench.run("truncate mintid_incarnation");
    assert!(!must_wait(&durable()));
    bench.run("drop table mintid_leases");
    assert!(must_wait(&durable()), "another table is another registry all the same");
}
