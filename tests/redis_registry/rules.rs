//! The rules of forgetting in the Lua, on the server that all tests share.

use mintid::coordinator::registry::{Mode, OnReset, Registry};

use crate::registry_suite::rules::{self, Rule};
use crate::registry_suite::{must_wait, settled};
use crate::rules_are_missed;
use crate::support::bench::{Bench, Change, wait};
use crate::support::redis::RedisBench;
use crate::support::registry::RegistryBench;

const RULES: [Rule<RedisBench>; 12] = [
    (
        "acquire compares the incarnation",
        &[(
            "if not not_before or not is_same(now, durable, incarnation, aof, doubted) then return answer('strange') end\n\
             if not_before >= now",
            "if not_before >= now",
        )],
        rules::another_incarnation_is_noticed,
    ),
    (
        "acquire waits",
        &[("if not_before >= now then return answer('waiting') end", "")],
        rules::another_incarnation_is_noticed,
    ),
    (
        "the wait is as long as the longest lease",
        &[("math.max(not_before, now + wait)", "math.max(not_before, now + wait / 1000)")],
        rules::the_wait_is_as_long_as_the_longest_lease,
    ),
    (
        "renew compares the incarnation",
        &[(
            "if not ended or not not_before or not is_same(now, durable, incarnation, aof, doubted) then",
            "if not ended or not not_before then",
        )],
        rules::a_renewal_compares_the_incarnation,
    ),
    (
        "what was lost is put back",
        &[("elseif now < not_before and confirmed", "elseif now < 0 and confirmed")],
        rules::lost_leases_are_put_back,
    ),
    (
        "what another holds is left to them",
        &[("and (ours or ended < now)", "")],
        rules::what_another_holds_is_left_to_them,
    ),
    (
        "evidence counts",
        &[("not remembered and confirmed > now and now > not_before and", "false and")],
        rules::a_holder_is_evidence,
    ),
    (
        "nothing is put back within the margin",
        &[("confirmed > later", "confirmed > now")],
        rules::nothing_is_put_back_within_the_margin,
    ),
    (
        "nothing is renewed within the margin",
        &[("(now <= not_before and later or now)", "now")],
        rules::nothing_is_renewed_within_the_margin,
    ),
    (
        "a missing end is not free at once",
        &[("if not ended then return answer('strange') end", "ended = ended or 0")],
        rules::a_missing_row_is_not_free,
    ),
    (
        "a missing end of the wait is not the end of it",
        &[("not_before = tonumber(not_before)\n", "not_before = tonumber(not_before or '0')\n")],
        |bench| {
            assert!(must_wait(&*bench.any()));
            bench.unset(&["not_before"]);
            assert!(must_wait(&*bench.any()));
        },
    ),
    ("a wait is never shortened", &[("math.max(not_before, now + wait)", "now + wait")], |bench| {
        let _holder = settled(bench);
        bench.change_incarnation();
        assert!(must_wait(&*bench.any()));
        let until = bench.not_before_ms();
        // A clock that was set back.
        bench.step(-60_000);
        bench.change_incarnation();
        assert!(must_wait(&*bench.any()));
        assert_eq!(bench.not_before_ms(), until);
    }),
];

#[test]
fn lua_without_one_of_its_rules_of_forgetting_does_not_pass() {
    rules::are_missed(&RULES);
}

const ADOPT: &str = "local version, durable, aof = fields('version', 'durable', 'aof')\n";

/// An operator makes the registry, and ends its wait, after a process saw that there is none, and before it makes it.
const QUICKER: Change = (
    ADOPT,
    "if redis.call('HSETNX', key, 'intruded', '1') == 1 then
       redis.call('HSET', key, 'protocol', '1', 'version', '7', 'incarnation', identity('0'), 'not_before', '0')
       for n = 0, 30 do redis.call('HSET', key, 'e' .. n, '0') end
     end
     local version, durable, aof = fields('version', 'durable', 'aof')\n",
);

/// The server is restarted after a process saw that it is the same, and before it writes that.
const RESTARTED: [Change; 2] = [
    (
        ADOPT,
        "redis.call('HSETNX', key, 'intruded', '1')
         local version, durable, aof = fields('version', 'durable', 'aof')\n",
    ),
    (
        "local run = info('server', 'run_id')",
        "local run = redis.call('HEXISTS', key, 'intruded') == 1 and 'restarted' or info('server', 'run_id')",
    ),
];

#[test]
fn only_the_registry_that_was_looked_at_is_adopted() {
    rules_are_missed(&[
        ("another adopted it", &[("(version or '') ~= ARGV[1] or ", "")], |changes| {
            let bench = RedisBench::of(OnReset::Wait, &[changes, &[QUICKER]].concat());
            assert!(!must_wait(&*bench.any()), "the wait that an operator ended begins anew");
        }),
        ("it is another incarnation", &[(" or identity(durable) ~= ARGV[2]", "")], |changes| {
            let plain = RedisBench::waiting();
            let operator = plain.client_of_all();
            wait(operator.setup(Mode::Fresh)).unwrap();
            let bench = plain.with_changes(&[changes, &RESTARTED].concat());
            // Nobody has said yet how the incarnation is kept; what is kept changes with the first who says it.
            assert!(must_wait(&bench.client_on(|terms| terms.agreement.durable = true)));
        }),
    ]);
}
