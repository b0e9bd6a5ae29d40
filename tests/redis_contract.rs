//! The contract suite on Redis; and the same with one rule at a time taken out of the Lua, each of which the suite must
//! notice.

#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use support::bench::{Rule, every_rule_is_missed};
use support::redis::RedisBench;

mod suite {
    crate::contract::suite!(super::RedisBench::new());
}

/// What is changed in the Lua, the check that must notice, and what it must say.
const BROKEN: [Rule<RedisBench>; 12] = [
    (
        "start after everything before",
        &[(
            "return { verdict, text(now), text(tonumber(not_before) or 0), ... }",
            "return { verdict, text(now - 60000), text(tonumber(not_before) or 0), ... }",
        )],
        contract::a_lease_starts_after_everything_before,
        "before",
    ),
    (
        "grant only what is free",
        &[("if ended >= now or taken[n] then\n", "if ended < 0 then\n")],
        contract::a_dead_holder_frees_its_id,
        "is_exhausted",
    ),
    (
        "free what ran out",
        &[(
            "if ended >= now or taken[n] then\n",
            "if ended >= now or redis.call('HEXISTS', key, 't' .. n) == 1 then\n",
        )],
        contract::a_dead_holder_frees_its_id,
        "a dead holder's machine ID is free",
    ),
    (
        "renew only what is alive",
        &[("if remembered and ended >= (now <= not_before and later or now) then", "if remembered then")],
        contract::only_what_is_alive_is_renewed,
        "revived",
    ),
    (
        "never shorten",
        &[("until_ms = math.max(ended, now + ttl)", "until_ms = now + ttl")],
        contract::a_renewal_can_be_repeated_and_never_shortens,
        "shortened",
    ),
    (
        "release to the last use",
        &[("math.max(now, tonumber(ARGV[3]))", "math.min(now, tonumber(ARGV[3]))")],
        contract::a_release_reaches_to_the_last_use,
        "before the last use",
    ),
    (
        "a release ends the token",
        &[
            ("redis.call('HDEL', key, 't' .. machine)", ""),
            ("local remembered = ours and ended >= confirmed and", "local remembered = ours and"),
        ],
        contract::a_released_token_is_dead,
        "a released lease was renewed",
    ),
    (
        "renewing needs the token",
        &[("local ours = token == ARGV[2]", "local ours = true")],
        contract::a_stale_token_neither_renews_nor_releases,
        "renewed with a stale token",
    ),
    (
        "releasing needs the token",
        &[("if redis.call('HGET', key, 't' .. machine) ~= ARGV[2] then return 0 end", "")],
        contract::a_stale_token_neither_renews_nor_releases,
        "released with a stale token",
    ),
    (
        "a token for each claim",
        &[(
            "local token = ARGV[3] .. string.format",
            "local token = '00112233445566778899aabbccddeeff' or string.format",
        )],
        contract::each_claim_has_its_own_token,
        "a token for two claims",
    ),
    (
        "the longest free comes first",
        &[("elseif not free or ended < free_since then", "elseif not free then")],
        contract::the_id_free_longest_comes_first,
        "by how long each has been free",
    ),
    (
        "keep to the range",
        &[(
            "local first, last, ttl = tonumber(ARGV[1]), tonumber(ARGV[2]), ",
            "local first, last, ttl = 0, tonumber(ARGV[2]), ",
        )],
        contract::a_client_keeps_to_its_machine_ids,
        "only the range is granted",
    ),
];

#[test]
fn lua_without_one_of_its_rules_does_not_pass() {
    every_rule_is_missed(&BROKEN, RedisBench::changed);
}
