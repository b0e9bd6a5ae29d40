//! The contract suite on PostgreSQL; and the same with one rule at a time taken out of the SQL, each of which the suite
//! must notice.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use support::bench::{Rule, every_rule_is_missed};
use support::postgres::PostgresBench;

mod suite {
    crate::contract::suite!(super::PostgresBench::new());
}

/// What is changed in the SQL, the check that must notice, and what it must say.
const BROKEN: [Rule<PostgresBench>; 12] = [
    (
        "start after everything before",
        &[(
            "extract(epoch from now) * 1000)::int8 as now_ms",
            "extract(epoch from now) * 1000)::int8 - 1000 as now_ms",
        )],
        contract::a_lease_starts_after_everything_before,
        "before",
    ),
    (
        "grant only what is free",
        &[("and leases.expires_at < now\n", "and leases.expires_at is not null\n")],
        contract::a_dead_holder_frees_its_id,
        "is_exhausted",
    ),
    (
        "free what ran out",
        &[("and leases.expires_at < now\n", "and leases.expires_at < now and leases.token is null\n")],
        contract::a_dead_holder_frees_its_id,
        "a dead holder's machine ID is free",
    ),
    (
        "renew only what is alive",
        &[("expires_at >= case when now <= not_before then later else now end", "not_before is not null")],
        contract::only_what_is_alive_is_renewed,
        "revived",
    ),
    (
        "never shorten",
        &[("then greatest(expires_at, wanted)", "then wanted")],
        contract::a_renewal_can_be_repeated_and_never_shortens,
        "shortened",
    ),
    (
        "release to the last use",
        &[("greatest(clock_timestamp(), 'epoch'", "least(clock_timestamp(), 'epoch'")],
        contract::a_release_reaches_to_the_last_use,
        "before the last use",
    ),
    (
        "a release ends the token",
        &[("    token = null,\n", ""), ("when ours and expires_at >= confirmed and", "when ours and")],
        contract::a_released_token_is_dead,
        "a released lease was renewed",
    ),
    (
        "renewing needs the token",
        &[("coalesce(token = $3, false) as ours", "true as ours")],
        contract::a_stale_token_neither_renews_nor_releases,
        "renewed with a stale token",
    ),
    (
        "releasing needs the token",
        &[(
            "where namespace = $1 and id = $2 and token = $3",
            "where namespace = $1 and id = $2 and $3::bytea is not null",
        )],
        contract::a_stale_token_neither_renews_nor_releases,
        "released with a stale token",
    ),
    (
        "a token for each claim",
        &[(
            "token = $4 || int8send(floor(extract(epoch from now) * 1000)::int8 + 1)",
            "token = coalesce('\\x00112233445566778899aabbccddeeff', $4)",
        )],
        contract::each_claim_has_its_own_token,
        "a token for two claims",
    ),
    (
        "the longest free comes first",
        &[("order by leases.expires_at, leases.id", "order by leases.id")],
        contract::the_id_free_longest_comes_first,
        "by how long each has been free",
    ),
    (
        "keep to the range",
        &[(
            "leases.id between $2 and $3 and leases.expires_at < now\n",
            "leases.id + $2 + $3 is not null and leases.expires_at < now\n",
        )],
        contract::a_client_keeps_to_its_machine_ids,
        "only the range is granted",
    ),
];

#[test]
fn sql_without_one_of_its_rules_does_not_pass() {
    every_rule_is_missed(&BROKEN, PostgresBench::changed);
}
