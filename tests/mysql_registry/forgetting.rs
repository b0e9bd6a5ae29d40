//! The rules of forgetting in the SQL.

use crate::registry_suite::rules::{self, Rule};
use crate::support::bench::Change;
use crate::support::mysql::MySqlBench;

const LATER: &str = "interval $2 * 1000 microsecond)\n    else";
const SAME: &[Change] = &[("coalesce(registry.incarnation =", "coalesce('' <>")];

const RULES: [Rule<MySqlBench>; 9] = [
    ("acquire compares the incarnation", SAME, rules::another_incarnation_is_noticed),
    ("renew compares the incarnation", SAME, rules::a_renewal_compares_the_incarnation),
    (
        "acquire waits",
        &[("and judged.not_before < judged.moment\n", "\n"), ("not_before >= moment as waiting", "false as waiting")],
        rules::another_incarnation_is_noticed,
    ),
    (
        "the wait is as long as the longest lease",
        &[(LATER, "interval $2 microsecond)\n    else")],
        rules::the_wait_is_as_long_as_the_longest_lease,
    ),
    (
        "a missing row is put back",
        &[(
            "when judged.moment < judged.not_before and judged.confirmed",
            "when judged.moment < '1970-01-01' and judged.confirmed",
        )],
        rules::lost_leases_are_put_back,
    ),
    (
        "what another holds is left to them",
        &[("and (judged.ours or judged.expires_at < judged.moment)", "")],
        rules::what_another_holds_is_left_to_them,
    ),
    (
        "evidence counts",
        &[("not remembered and confirmed > moment as forgot", "false as forgot")],
        rules::a_holder_is_evidence,
    ),
    (
        "nothing is put back within the margin",
        &[("judged.confirmed > judged.later", "judged.confirmed > judged.moment")],
        rules::nothing_is_put_back_within_the_margin,
    ),
    (
        "while the registry waits, nothing is renewed within the margin",
        &[("case when judged.moment <= judged.not_before then judged.later else judged.moment end", "judged.moment")],
        rules::nothing_is_renewed_within_the_margin,
    ),
];

#[test]
fn sql_without_one_of_its_rules_of_forgetting_does_not_pass() {
    rules::are_missed(&RULES);
}
