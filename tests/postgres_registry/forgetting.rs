//! What a registry may forget, and who notices. Each rule is taken out of the SQL once, and must be missed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mintid::coordinator::Renewal;
use mintid::coordinator::registry::{Mode, Registry};
use mintid::error::{Code, Retry};

use crate::support::bench::{Bench, Change, Holder, few_machines, must_wait, wait};
use crate::support::postgres::PostgresBench;
use crate::{QUARANTINE_MS, TTL, refusal, renewed, settled};

/// What can happen to a registry, and the statements that make it happen.
const FORGETS: [(&str, &str); 8] = [
    ("the incarnation is gone, with nothing else lost", "truncate mintid_incarnation"),
    (
        "the leases were emptied and filled from a copy",
        "create table copy as select * from mintid_leases;
      truncate mintid_leases; insert into mintid_leases select * from copy; drop table copy",
    ),
    ("the leases are gone", "truncate mintid_leases"),
    ("the tables are gone", "drop table mintid_leases, mintid_registry, mintid_incarnation"),
    ("the lease table alone is gone", "drop table mintid_leases"),
    ("the registry's row is gone", "delete from mintid_registry"),
    ("the registry alone is gone", "drop table mintid_registry"),
    ("the incarnation's table alone is gone", "drop table mintid_incarnation"),
];

#[test]
fn a_new_registry_makes_newcomers_wait_until_every_lease_it_could_have_known_is_over() {
    let bench = PostgresBench::waiting();
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
        forgets(&PostgresBench::waiting(), what, sql);
    }
}

fn forgets(bench: &PostgresBench, what: &str, sql: &str) {
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
    let bench = PostgresBench::waiting();
    let mut holder = settled(&bench);
    let first = holder.lease();
    bench.step(60_000);
    renewed(&mut holder).unwrap();
    // As a copy of before the renewal would have it.
    bench.run(&format!(
        "update mintid_leases set expires_at = 'epoch'::timestamptz + {} * interval '1 ms' where id = {}",
        first.end_ms, first.machine
    ));
    let end_ms = holder.lease().end_ms;
    assert!(renewed(&mut holder).unwrap().end_ms >= end_ms, "put back");
    assert!(must_wait(&*bench.any(), TTL), "what else was forgotten is not known");
}

#[test]
fn a_holder_whose_row_went_back_to_before_its_claim_is_evidence() {
    let bench = PostgresBench::waiting();
    let mut holder = settled(&bench);
    bench.run("update mintid_leases set token = null, expires_at = 'epoch', acquired_at = null");
    renewed(&mut holder).expect("put back");
    assert!(must_wait(&*bench.any(), TTL));
}

#[test]
fn rows_that_somebody_deleted_are_not_free_at_once() {
    let bench = PostgresBench::waiting();
    let mut holder = settled(&bench);
    bench.run("delete from mintid_leases where id <= 3");
    let report = wait(bench.client_with(|_| {}).setup(Mode::Plain)).unwrap();
    assert!(report.not_before_ms > 0, "whoever held them may live");
    assert!(must_wait(&*bench.any(), TTL));
    renewed(&mut holder).expect("put back");
}

#[test]
fn an_ordinary_loss_is_no_evidence() {
    let bench = PostgresBench::waiting();
    let mut holder = settled(&bench);
    bench.step(TTL.as_millis() as i64 + 10);
    renewed(&mut holder).expect_err("revived");
    assert!(!must_wait(&*bench.any(), TTL));
}

#[test]
fn a_renewal_that_meets_the_release_of_its_own_lease_is_no_evidence() {
    let bench = PostgresBench::waiting();
    let holder = settled(&bench);
    let Holder { client, grant } = holder;
    wait(client.release(&grant.lease, grant.lease.start_ms)).unwrap();
    let renewal = wait(client.renew(&grant.lease, TTL));
    assert!(matches!(renewal, Renewal::Lost(_)), "{renewal:?}");
    assert!(!must_wait(&*bench.any(), TTL), "a close that met a renewal made the fleet wait");
}

#[test]
fn what_another_holds_is_not_taken_back() {
    let bench = PostgresBench::waiting();
    let mut holder = settled(&bench);
    let lease = holder.lease();
    // The registry forgot the holder, and granted its machine ID before anybody noticed.
    bench.run(&format!(
        "update mintid_leases set token = '\\x00112233445566778899aabbccddeeff',
           expires_at = clock_timestamp() + interval '1 hour' where id = {}",
        lease.machine
    ));
    renewed(&mut holder).expect_err("two holders of one machine ID");
    assert!(must_wait(&*bench.any(), TTL));
}

#[test]
fn what_is_nearly_over_is_not_put_back_while_the_registry_waits() {
    for forgotten in ["truncate mintid_leases", "truncate mintid_incarnation"] {
        let bench = PostgresBench::waiting();
        let mut holder = settled(&bench);
        bench.run(forgotten);
        bench.step(TTL.as_millis() as i64 - 1500);
        assert!(must_wait(&*bench.any(), TTL));
        renewed(&mut holder).expect_err("within the margin by which the clocks may differ");
    }
}

#[test]
fn a_lease_put_back_lasts_at_least_as_long_as_was_confirmed() {
    let bench = PostgresBench::waiting();
    let mut holder = settled(&bench);
    renewed(&mut holder).unwrap();
    let end_ms = holder.lease().end_ms;
    bench.run("truncate mintid_leases");
    let renewal = wait(holder.client.renew(&holder.grant.lease, Duration::from_secs(3)));
    let Renewal::Granted(grant) = renewal else { panic!("{renewal:?}") };
    assert_eq!(grant.lease.end_ms, end_ms);
}

#[test]
fn a_second_reset_begins_the_wait_anew() {
    let bench = PostgresBench::waiting();
    let mut holder = settled(&bench);
    for _ in 0..2 {
        bench.run("truncate mintid_incarnation");
        let until = refusal(&*bench.any()).fields().not_before_ms.unwrap() as i64;
        assert!(until - bench.now_ms() > QUARANTINE_MS - 5000);
        renewed(&mut holder).unwrap();
        bench.step(QUARANTINE_MS / 2);
    }
}

/// The rules of the wait and of putting back, what is changed to break them, and the test that must notice.
#[test]
fn sql_without_one_of_its_rules_of_forgetting_does_not_pass() {
    type Check = fn(&PostgresBench);
    const INCARNATION: &str = "truncate mintid_incarnation";
    const LEASES: &str = "truncate mintid_leases";
    let rules: [(&str, &[Change], Check); 7] = [
        (
            "acquire compares the incarnation",
            &[("coalesce(found = incarnation, false) as same, coalesce(\n", "true as same, coalesce(\n")],
            |bench| forgets(bench, "incarnation", INCARNATION),
        ),
        (
            "acquire waits",
            &[("and not_before < now\n", "\n"), ("not_before >= now as waiting,\n  same", "false as waiting,\n  same")],
            |bench| forgets(bench, "incarnation", INCARNATION),
        ),
        (
            "the wait is as long as the longest lease",
            &[(
                "clock_timestamp() + $2 * interval '1 millisecond' end)",
                "clock_timestamp() + $2 * interval '1 microsecond' end)",
            )],
            |bench| {
                let mut holder = settled(bench);
                renewed(&mut holder).unwrap();
                bench.run(LEASES);
                assert!(must_wait(&*bench.any(), TTL));
                bench.step(TTL.as_millis() as i64 - 1000);
                assert!(must_wait(&*bench.any(), TTL), "the holder's fence has another second");
            },
        ),
        (
            "a missing row is put back",
            &[("when now < not_before and confirmed", "when now < 'epoch' and confirmed")],
            |bench| forgets(bench, "leases", LEASES),
        ),
        ("what another holds is left to them", &[("and (ours or expires_at < now)", "")], |bench| {
            let mut holder = settled(bench);
            bench.run("truncate mintid_incarnation");
            bench.run(&format!(
                "update mintid_leases set token = '\\x00112233445566778899aabbccddeeff' where id = {}",
                holder.lease().machine
            ));
            renewed(&mut holder).expect_err("two holders of one machine ID");
        }),
        (
            "evidence counts",
            &[("not remembered and confirmed > now and view <> 'other' as forgot", "false as forgot")],
            |bench| {
                let mut holder = settled(bench);
                bench.run("update mintid_leases set token = null, expires_at = 'epoch'");
                let _ = renewed(&mut holder);
                assert!(must_wait(&*bench.any(), TTL));
            },
        ),
        ("nothing is put back within the margin", &[("confirmed > later", "confirmed > now")], |bench| {
            let mut holder = settled(bench);
            bench.run("truncate mintid_leases");
            bench.step(TTL.as_millis() as i64 - 1500);
            renewed(&mut holder).expect_err("within the margin by which the clocks may differ");
        }),
    ];
    for (rule, changes, check) in rules {
        catch_unwind(AssertUnwindSafe(|| check(&PostgresBench::waiting())))
            .unwrap_or_else(|_| panic!("{rule}: the check fails anyway"));
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&PostgresBench::waiting_changed(changes))));
        assert!(outcome.is_err(), "nobody noticed the lack of: {rule}");
    }
}

#[test]
fn many_that_meet_another_incarnation_together_agree_on_one() {
    let bench = PostgresBench::waiting();
    settled(&bench);
    bench.run("truncate mintid_incarnation");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(refusal(&*bench.any()).code(), Code::RegistryReset));
        }
    });
    assert_eq!(bench.value("select count(*) from mintid_incarnation"), 1);
    bench.step(QUARANTINE_MS);
    assert!(!must_wait(&*bench.any(), TTL), "the wait was not begun anew for each of them");
}

#[test]
fn many_that_find_no_tables_make_them_together() {
    let bench = PostgresBench::waiting();
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
