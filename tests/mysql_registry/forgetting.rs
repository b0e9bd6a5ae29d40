//! What a registry may forget, and who notices. Each rule is taken out of the SQL once, and must be missed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mintid::coordinator::Renewal;
use mintid::coordinator::registry::{Mode, Registry};
use mintid::error::{Code, Retry};

use crate::support::bench::{Bench, Change, Holder, few_machines, must_wait, wait};
use crate::support::mysql::MySqlBench;
use crate::{QUARANTINE_MS, TTL, refusal, renewed, settled};

/// What can happen to a registry, and the statements that make it happen.
const FORGETS: [(&str, &str); 7] = [
    ("the server was started again", ANOTHER),
    (
        "the leases were put back from a copy",
        "create table copy like mintid_leases; insert into copy select * from mintid_leases;
         drop table mintid_leases; do sleep(1.1); create table mintid_leases like copy;
         insert into mintid_leases select * from copy; drop table copy",
    ),
    ("the leases are gone", EMPTY),
    ("the tables are gone", "drop table mintid_leases, mintid_registry"),
    ("the lease table alone is gone", "drop table mintid_leases"),
    ("the registry's row is gone", "delete from mintid_registry"),
    ("the registry alone is gone", "drop table mintid_registry"),
];

/// What remembers another incarnation is in the place of the one that there is.
const ANOTHER: &str = "update mintid_registry set incarnation = concat('another', incarnation)";
const EMPTY: &str = "truncate table mintid_leases";

#[test]
fn a_new_registry_makes_newcomers_wait_until_every_lease_it_could_have_known_is_over() {
    let bench = MySqlBench::waiting();
    let client = bench.client_with(|_| {});
    let error = refusal(&client);
    assert_eq!((error.code(), error.retry()), (Code::RegistryReset, Retry::Later), "{error}");
    let not_before_ms = error.fields().not_before_ms.unwrap() as i64;
    let until = not_before_ms - bench.now_ms();
    assert!((QUARANTINE_MS - 5000..=QUARANTINE_MS).contains(&until), "{until} ms");
    let wait_for = error.worth_retrying_in().unwrap();
    assert!(wait_for <= TTL + Duration::from_secs(3) && wait_for > TTL, "{wait_for:?}");
    assert_eq!(error.fields().command, Some("npx mintid setup --accept-reset"));
    bench.step(until - 2000);
    assert!(must_wait(&client, TTL));
    bench.step(2100);
    assert!(!must_wait(&client, TTL));
}

#[test]
fn whatever_a_registry_forgets_holders_go_on_and_newcomers_wait() {
    for (what, sql) in FORGETS {
        forgets(&MySqlBench::waiting(), what, sql);
    }
}

fn forgets(bench: &MySqlBench, what: &str, sql: &str) {
    let mut holder = settled(bench);
    let before = renewed(&mut holder).unwrap();
    bench.run(sql);
    assert!(must_wait(&*bench.any(), TTL), "{what}: granted before the old leases were over");
    let after = renewed(&mut holder).unwrap_or_else(|lost| panic!("{what}: a holder was stopped: {lost:?}"));
    assert!(after.end_ms >= before.end_ms && after.token == before.token, "{what}: {before:?} became {after:?}");
    bench.step(QUARANTINE_MS / 2);
    let after = renewed(&mut holder).expect("a renewal within the wait");
    bench.step(QUARANTINE_MS / 2 + 100);
    let newcomers: Vec<Holder> = (0..3).map(|_| bench.holder(0, 3)).collect();
    let taken: Vec<u32> = newcomers.iter().map(|newcomer| newcomer.lease().machine).collect();
    assert!(!taken.contains(&after.machine), "{what}: machine ID {} was granted twice", after.machine);
    renewed(&mut holder).expect("a renewal after the wait");
}

#[test]
fn a_holder_whose_end_was_forgotten_is_evidence() {
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    let first = holder.lease();
    bench.step(60_000);
    renewed(&mut holder).unwrap();
    // As a copy of before the renewal would have it.
    bench.run(&format!(
        "update mintid_leases set expires_at = '1970-01-01' + interval {} * 1000 microsecond where id = {}",
        first.end_ms, first.machine
    ));
    let end_ms = holder.lease().end_ms;
    assert!(renewed(&mut holder).unwrap().end_ms >= end_ms, "put back");
    assert!(must_wait(&*bench.any(), TTL), "what else was forgotten is not known");
}

#[test]
fn a_holder_whose_row_went_back_to_before_its_claim_is_evidence() {
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    bench.run("update mintid_leases set token = null, expires_at = '1970-01-01', acquired_at = null");
    renewed(&mut holder).expect("put back");
    assert!(must_wait(&*bench.any(), TTL));
}

#[test]
fn rows_that_somebody_deleted_are_not_free_at_once() {
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    bench.run("delete from mintid_leases where id <= 3");
    let report = wait(bench.client_with(|_| {}).setup(Mode::Plain)).unwrap();
    assert!(report.not_before_ms > 0, "whoever held them may live");
    assert!(must_wait(&*bench.any(), TTL));
    renewed(&mut holder).expect("put back");
}

#[test]
fn an_ordinary_loss_is_no_evidence() {
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    bench.step(TTL.as_millis() as i64 + 10);
    renewed(&mut holder).expect_err("revived");
    assert!(!must_wait(&*bench.any(), TTL));
}

#[test]
fn a_renewal_that_meets_the_release_of_its_own_lease_is_no_evidence() {
    let bench = MySqlBench::waiting();
    let holder = settled(&bench);
    let Holder { client, grant } = holder;
    wait(client.release(&grant.lease, grant.lease.start_ms)).unwrap();
    let renewal = wait(client.renew(&grant.lease, TTL));
    assert!(matches!(renewal, Renewal::Lost(_)), "{renewal:?}");
    assert!(!must_wait(&*bench.any(), TTL), "a close that met a renewal made the fleet wait");
}

#[test]
fn what_another_holds_is_not_taken_back() {
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    let lease = holder.lease();
    // The registry forgot the holder, and granted its machine ID before anybody noticed.
    bench.run(&format!(
        "update mintid_leases set token = X'00112233445566778899AABBCCDDEEFF',
           expires_at = utc_timestamp(6) + interval 1 hour where id = {}",
        lease.machine
    ));
    renewed(&mut holder).expect_err("two holders of one machine ID");
    assert!(must_wait(&*bench.any(), TTL));
}

#[test]
fn what_is_nearly_over_is_not_put_back_while_the_registry_waits() {
    for forgotten in [EMPTY, ANOTHER] {
        let bench = MySqlBench::waiting();
        let mut holder = settled(&bench);
        bench.run(forgotten);
        bench.step(TTL.as_millis() as i64 - 1500);
        assert!(must_wait(&*bench.any(), TTL));
        renewed(&mut holder).expect_err("within the margin by which the clocks may differ");
    }
}

#[test]
fn a_lease_put_back_lasts_at_least_as_long_as_was_confirmed() {
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    renewed(&mut holder).unwrap();
    let end_ms = holder.lease().end_ms;
    bench.run(EMPTY);
    let renewal = wait(holder.client.renew(&holder.grant.lease, Duration::from_secs(3)));
    let Renewal::Granted(grant) = renewal else { panic!("{renewal:?}") };
    assert_eq!(grant.lease.end_ms, end_ms);
}

#[test]
fn a_second_reset_begins_the_wait_anew() {
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    for _ in 0..2 {
        bench.run(ANOTHER);
        let until = refusal(&*bench.any()).fields().not_before_ms.unwrap() as i64;
        assert!(until - bench.now_ms() > QUARANTINE_MS - 5000);
        renewed(&mut holder).unwrap();
        bench.step(QUARANTINE_MS / 2);
    }
}

/// The rules of the wait and of putting back, what is changed to break them, and the test that must notice.
#[test]
fn sql_without_one_of_its_rules_of_forgetting_does_not_pass() {
    type Check = fn(&MySqlBench);
    const LATER: &str = "interval $2 * 1000 microsecond)\n    else";
    let rules: [(&str, &[Change], Check); 8] = [
        ("acquire compares the incarnation", &[("coalesce(registry.incarnation =", "coalesce('' <>")], |bench| {
            forgets(bench, "incarnation", ANOTHER);
        }),
        (
            "acquire waits",
            &[
                ("and judged.not_before < judged.moment\n", "\n"),
                ("not_before >= moment as waiting", "false as waiting"),
            ],
            |bench| forgets(bench, "incarnation", ANOTHER),
        ),
        ("the wait is as long as the longest lease", &[(LATER, "interval $2 microsecond)\n    else")], |bench| {
            let mut holder = settled(bench);
            renewed(&mut holder).unwrap();
            bench.run(EMPTY);
            assert!(must_wait(&*bench.any(), TTL));
            bench.step(TTL.as_millis() as i64 - 1000);
            assert!(must_wait(&*bench.any(), TTL), "the holder's fence has another second");
        }),
        (
            "a missing row is put back",
            &[(
                "when judged.moment < judged.not_before and judged.confirmed",
                "when judged.moment < '1970-01-01' and judged.confirmed",
            )],
            |bench| forgets(bench, "leases", EMPTY),
        ),
        (
            "what another holds is left to them",
            &[("and (judged.ours or judged.expires_at < judged.moment)", "")],
            |bench| {
                let mut holder = settled(bench);
                bench.run(ANOTHER);
                bench.run(&format!(
                    "update mintid_leases set token = X'00112233445566778899AABBCCDDEEFF' where id = {}",
                    holder.lease().machine
                ));
                renewed(&mut holder).expect_err("two holders of one machine ID");
            },
        ),
        ("evidence counts", &[("not remembered and confirmed > moment as forgot", "false as forgot")], |bench| {
            let mut holder = settled(bench);
            bench.run("update mintid_leases set token = null, expires_at = '1970-01-01'");
            let _ = renewed(&mut holder);
            assert!(must_wait(&*bench.any(), TTL));
        }),
        (
            "nothing is put back within the margin",
            &[("judged.confirmed > judged.later", "judged.confirmed > judged.moment")],
            |bench| {
                let mut holder = settled(bench);
                bench.run(EMPTY);
                bench.step(TTL.as_millis() as i64 - 1500);
                renewed(&mut holder).expect_err("within the margin by which the clocks may differ");
            },
        ),
        (
            "while the registry waits, nothing is renewed within the margin",
            &[(
                "case when judged.moment <= judged.not_before then judged.later else judged.moment end",
                "judged.moment",
            )],
            |bench| {
                let mut holder = settled(bench);
                bench.run(ANOTHER);
                bench.step(TTL.as_millis() as i64 - 1500);
                assert!(must_wait(&*bench.any(), TTL));
                renewed(&mut holder).expect_err("within the margin by which the clocks may differ");
            },
        ),
    ];
    for (rule, changes, check) in rules {
        catch_unwind(AssertUnwindSafe(|| check(&MySqlBench::waiting())))
            .unwrap_or_else(|_| panic!("{rule}: the check fails anyway"));
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&MySqlBench::waiting_changed(changes))));
        assert!(outcome.is_err(), "nobody noticed the lack of: {rule}");
    }
}

#[test]
fn many_that_meet_another_incarnation_together_agree_on_one() {
    let bench = MySqlBench::waiting();
    settled(&bench);
    bench.run(ANOTHER);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(refusal(&*bench.any()).code(), Code::RegistryReset));
        }
    });
    bench.step(QUARANTINE_MS);
    assert!(!must_wait(&*bench.any(), TTL), "the wait was not begun anew for each of them");
}

#[test]
fn many_that_find_no_tables_make_them_together() {
    let bench = MySqlBench::waiting();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let error = refusal(&*bench.any());
                assert!(error.code() == Code::RegistryReset || error.retry() == Retry::Soon, "{error}");
            });
        }
    });
    assert_eq!(bench.value("select count(*) from mintid_leases"), i64::from(few_machines().machines()) - 1);
}
