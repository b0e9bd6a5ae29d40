//! The contract suite on MySQL and MariaDB; and the same with one rule at a time taken out of the SQL, each of which the
//! suite must notice.

#![cfg(feature = "mysql")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use support::bench::{Rule, every_rule_is_missed};
use support::mysql::MySqlBench;

mod suite {
    crate::contract::suite!(super::MySqlBench::new());
}

/// What is changed in the SQL, the check that must notice, and what it must say.
const BROKEN: [Rule<MySqlBench>; 12] = [
    (
        "start after everything before",
        &[("judged.moment) div 1000 as moment_ms", "judged.moment) div 1000 - 1000 as moment_ms")],
        contract::a_lease_starts_after_everything_before,
        "before",
    ),
    (
        "grant only what is free",
        &[
            ("and leases.expires_at < utc_timestamp(6)\n", "and leases.expires_at is not null\n"),
            ("and candidate.expires_at < judged.moment\n", "\n"),
        ],
        contract::a_dead_holder_frees_its_id,
        "is_exhausted",
    ),
    (
        "free what ran out",
        &[(
            "and leases.expires_at < utc_timestamp(6)\n",
            "and leases.expires_at < utc_timestamp(6) and leases.token is null\n",
        )],
        contract::a_dead_holder_frees_its_id,
        "a dead holder's machine ID is free",
    ),
    (
        "renew only what is alive",
        &[(
            "and judged.expires_at >= case when judged.moment <= judged.not_before then judged.later else judged.moment end",
            "and judged.not_before is not null",
        )],
        contract::only_what_is_alive_is_renewed,
        "revived",
    ),
    (
        "never shorten",
        &[("then greatest(judged.expires_at, judged.wanted)", "then judged.wanted")],
        contract::a_renewal_can_be_repeated_and_never_shortens,
        "shortened",
    ),
    (
        "release to the last use",
        &[("greatest(utc_timestamp(6), cast(", "least(utc_timestamp(6), cast(")],
        contract::a_release_reaches_to_the_last_use,
        "before the last use",
    ),
    (
        "a release ends the token",
        &[
            ("  leases.token = null,\n", ""),
            ("when judged.ours and judged.expires_at >= judged.confirmed\n", "when judged.ours\n"),
        ],
        contract::a_released_token_is_dead,
        "a released lease was renewed",
    ),
    (
        "renewing needs the token",
        &[("coalesce(looked.token = $3, false) as ours", "true as ours")],
        contract::a_stale_token_neither_renews_nor_releases,
        "renewed with a stale token",
    ),
    (
        "releasing needs the token",
        &[("and leases.id = $2 and leases.token = $3", "and leases.id = $2 and $3 is not null")],
        contract::a_stale_token_neither_renews_nor_releases,
        "released with a stale token",
    ),
    (
        "the token is the claim's",
        &[("leases.token = concat($4, ", "leases.token = concat(X'0011223344556677', ")],
        contract::a_renewal_can_be_repeated_and_never_shortens,
        "a live lease was not renewed",
    ),
    (
        "the longest free comes first",
        &[("order by leases.expires_at, leases.id limit 1\n", "order by leases.id limit 1\n")],
        contract::the_id_free_longest_comes_first,
        "by how long each has been free",
    ),
    (
        "keep to the range",
        &[("leases.id between $2 and $3\n", "leases.id + $2 + $3 is not null\n")],
        contract::a_client_keeps_to_its_machine_ids,
        "only the range is granted",
    ),
];

#[test]
fn sql_without_one_of_its_rules_does_not_pass() {
    every_rule_is_missed(&BROKEN, MySqlBench::changed);
}
