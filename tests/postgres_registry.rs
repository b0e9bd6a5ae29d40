//! What a PostgreSQL registry does beside leasing: it notices that it may have forgotten leases, lets holders go on and
//! newcomers wait, and refuses who disagrees. Each rule of that is taken out of the SQL once, and must be missed.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mintid::coordinator::registry::{Mode, OnReset, Registry, Verdict};
use mintid::coordinator::{Coordinator, Lease, MachineIds, Renewal};
use mintid::error::{Code, Error, Retry};
use mintid::layout::Layout;
use support::bench::{Bench, Holder, few_machines, wait};
use support::postgres::{Change, PostgresBench, must_wait};

const TTL: Duration = Duration::from_secs(300);
/// 300 s and the margin of 2 s.
const QUARANTINE_MS: i64 = 302_000;

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

/// A registry past its first wait, and a holder in it.
fn settled(bench: &PostgresBench) -> Holder {
    wait(bench.client_with(|_| {}).setup(Mode::Fresh)).unwrap();
    bench.holder(0, 3)
}

fn renewed(holder: &mut Holder) -> Result<Lease, Renewal> {
    match wait(holder.client.renew(&holder.grant.lease, TTL)) {
        Renewal::Granted(grant) => {
            holder.grant = grant;
            Ok(holder.grant.lease)
        }
        other => Err(other),
    }
}

fn refusal(client: &dyn Coordinator) -> Error {
    wait(client.acquire(TTL)).expect_err("granted")
}

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
fn a_setup_keeps_to_the_layout_that_the_processes_have() {
    let bench = PostgresBench::waiting();
    let _holder = settled(&bench);
    let default = bench.client_with(|setup| setup.agreement.layout = Layout::DEFAULT);
    let report = wait(default.setup(Mode::Plain)).unwrap();
    assert_eq!((report.created, report.not_before_ms, report.machine_ids, report.ttl_ms), (false, 0, 31, 300_000));
    assert_eq!(wait(default.list()).unwrap().len(), 31);
}

#[test]
fn the_search_path_of_a_session_does_not_decide_where_the_registry_is() {
    let bench = PostgresBench::new();
    let client = bench.client_with(|_| {});
    wait(client.acquire(TTL)).unwrap();
    let other = PostgresBench::new();
    let role = other.role("login superuser");
    other.run(&format!("alter role {role} set search_path to {}", other.schema()));
    let settings = bench.client_as(&role);
    let grant = wait(settings.acquire(TTL)).unwrap();
    assert_eq!(grant.lease.machine, 1, "the same registry, in which 0 is leased");
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
                "greatest(not_before, clock_timestamp() + $2 * interval '1 millisecond')",
                "clock_timestamp() + $2 * interval '1 microsecond'",
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
        ("evidence counts", &[("not remembered and confirmed > now as forgot", "false as forgot")], |bench| {
            let mut holder = settled(bench);
            bench.run("update mintid_leases set token = null, expires_at = 'epoch'");
            let _ = renewed(&mut holder);
            assert!(must_wait(&*bench.any(), TTL));
        }),
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

#[test]
fn who_disagrees_is_refused_with_the_option() {
    let bench = PostgresBench::new();
    let keyed =
        |bench: &PostgresBench, key: u8| bench.client_with(|setup| setup.agreement.fingerprint = Some([key; 16]));
    wait(keyed(&bench, 1).acquire(TTL)).unwrap();
    wait(keyed(&bench, 1).acquire(TTL)).unwrap();
    wait(bench.any().acquire(TTL)).expect("who has no key has no masks that could differ");
    let other_layout = Layout::new(0, 41, 5, 13, Layout::DEFAULT_EPOCH_MS).unwrap();
    let others = [
        (keyed(&bench, 2), "key"),
        (bench.client_with(|setup| setup.agreement.ttl = Duration::from_secs(30)), "lease.ttlMs"),
        (bench.client_with(|setup| setup.agreement.layout = other_layout), "layout"),
        (bench.client_with(|setup| setup.agreement.durable = true), "incarnation"),
    ];
    for (client, option) in others {
        let error = refusal(&client);
        assert_eq!((error.code(), error.fields().option, error.retry()), (Code::Config, Some(option), Retry::Never));
    }
    bench.run("update mintid_registry set protocol = 2");
    assert_eq!(refusal(&*bench.any()).code(), Code::RegistryVersion);
}

#[test]
fn a_key_is_added_by_the_first_process_that_has_one() {
    let bench = PostgresBench::new();
    wait(bench.any().acquire(TTL)).unwrap();
    assert_eq!(bench.value("select cardinality(fingerprints)::int8 from mintid_registry"), 0);
    wait(bench.client_with(|setup| setup.agreement.fingerprint = Some([1; 16])).acquire(TTL)).unwrap();
    assert_eq!(bench.value("select cardinality(fingerprints)::int8 from mintid_registry"), 1);
}

#[test]
fn setup_is_idempotent_and_only_an_operators_word_ends_a_wait() {
    let bench = PostgresBench::waiting();
    let operator = bench.client_with(|_| {});
    let first = wait(operator.setup(Mode::Plain)).unwrap();
    assert!(first.created && first.machine_ids == 31);
    assert!((first.not_before_ms - first.now_ms).abs_diff(QUARANTINE_MS as u64) < 5000, "{first:?}");
    bench.step(1000);
    let again = wait(operator.setup(Mode::Plain)).unwrap();
    assert_eq!((again.created, again.not_before_ms), (false, first.not_before_ms));
    assert!(must_wait(&*bench.any(), TTL));
    assert_eq!(wait(operator.setup(Mode::AcceptReset)).unwrap().not_before_ms, 0);
    assert!(!must_wait(&*bench.any(), TTL));
    wait(operator.setup(Mode::Plain)).unwrap();
    assert!(!must_wait(&*bench.any(), TTL), "a plain setup begins no wait");
}

#[test]
fn a_fresh_setup_lets_the_next_process_say_what_is_agreed_on() {
    let bench = PostgresBench::waiting();
    settled(&bench);
    let short = |setup: &mut mintid::coordinator::postgres::Setup| {
        setup.agreement.ttl = Duration::from_secs(30);
        setup.agreement.durable = true;
    };
    assert_eq!(refusal(&bench.client_with(short)).fields().option, Some("lease.ttlMs"));
    wait(bench.client_with(|_| {}).setup(Mode::Fresh)).unwrap();
    wait(bench.client_with(short).acquire(Duration::from_secs(30))).expect("said anew, and nothing to wait for");
    assert_eq!(refusal(&*bench.any()).fields().option, Some("lease.ttlMs"));
}

#[test]
fn a_durable_incarnation_outlives_what_a_crash_empties() {
    let bench = PostgresBench::waiting();
    let durable = || bench.client_with(|setup| setup.agreement.durable = true);
    wait(durable().setup(Mode::Fresh)).unwrap();
    assert!(!must_wait(&durable(), TTL));
    bench.run("truncate mintid_incarnation");
    assert!(!must_wait(&durable(), TTL));
    bench.run("drop table mintid_leases");
    assert!(must_wait(&durable(), TTL), "another table is another registry all the same");
}

#[test]
fn the_list_tells_who_holds_what_until_when() {
    let bench = PostgresBench::new();
    let holder = bench.holder(2, 2);
    let listed = wait(bench.client_with(|_| {}).list()).unwrap();
    assert_eq!(listed.len(), 31);
    let lease = &listed[2];
    assert_eq!((lease.machine, lease.live, lease.expires_at_ms), (2, true, holder.lease().end_ms));
    assert!(lease.holder.as_ref().unwrap().ends_with(&format!(":{}", std::process::id())));
    assert_eq!(listed.iter().filter(|lease| lease.live).count(), 1);
    assert_eq!((listed[3].holder.as_ref(), listed[3].expires_at_ms), (None, 0));
}

#[test]
fn namespaces_know_nothing_of_each_other() {
    let bench = PostgresBench::new();
    let one = MachineIds::new(&few_machines(), Some((0, 0))).unwrap();
    for namespace in ["a", "b"] {
        let client = bench.client_with(|setup| {
            setup.namespace = namespace.into();
            setup.machine_ids = one;
        });
        assert_eq!(wait(client.acquire(TTL)).unwrap().lease.machine, 0);
    }
}

#[test]
fn usage_is_told_with_a_grant() {
    let bench = PostgresBench::new();
    let holders: Vec<Holder> = (0..3).map(|_| bench.holder(0, 3)).collect();
    let leased: Vec<u32> = holders.iter().map(|holder| holder.grant.usage.unwrap().leased).collect();
    assert_eq!(leased, [1, 2, 3]);
    assert_eq!(holders[0].grant.usage.unwrap().capacity, 4);
}

#[test]
fn the_examination_finds_a_registry_fine_or_says_what_to_do() {
    let bench = PostgresBench::waiting();
    let operator = bench.client_with(|_| {});
    let verdict = |name: &str| {
        let examination = wait(operator.examine()).unwrap();
        assert!(examination.server.starts_with("PostgreSQL"), "{}", examination.server);
        let check = examination.checks.into_iter().find(|check| check.name == name).unwrap();
        (check.verdict, check.advice.unwrap_or_default())
    };
    let (tables, advice) = verdict("tables");
    assert_eq!(tables, Verdict::Warning);
    assert!(advice.contains("npx mintid setup"), "{advice}");
    wait(operator.setup(Mode::Plain)).unwrap();
    assert_eq!((verdict("tables").0, verdict("incarnation").0), (Verdict::Fine, Verdict::Warning));
    wait(operator.setup(Mode::AcceptReset)).unwrap();
    assert_eq!((verdict("incarnation").0, verdict("machine IDs").0), (Verdict::Fine, Verdict::Fine));
    bench.run("truncate mintid_incarnation");
    assert!(verdict("incarnation").1.contains("--accept-reset"));
}

#[test]
fn a_role_that_may_not_create_is_shown_the_sql_to_run() {
    let bench = PostgresBench::new();
    let role = bench.role("login");
    let client = bench.client_as(&role);
    let error = refusal(&client);
    let fields = error.fields();
    assert_eq!(
        (error.code(), error.retry(), fields.server_code.as_deref()),
        (Code::Coordinator, Retry::Never, Some("42501"))
    );
    let hint = fields.hint.as_ref().unwrap();
    assert!(hint.contains("create table if not exists") && hint.contains("create unlogged table"), "{hint}");
    bench.run(&format!("grant usage on schema {} to {role}", bench.schema()));
    bench.run(&bench.client_with(|_| {}).script());
    bench.run(&format!("grant select, insert, update on all tables in schema {} to {role}", bench.schema()));
    wait(client.acquire(TTL)).expect("what setup --print prints, and three rights, are enough");
}

#[test]
fn no_default_of_the_role_gets_in_the_way() {
    let defaults = [
        "timezone to 'Pacific/Kiritimati'",
        "default_transaction_isolation to 'serializable'",
        "default_transaction_isolation to 'repeatable read'",
        "synchronous_commit to off",
        "search_path to pg_catalog",
        "datestyle to 'German, DMY'",
        "intervalstyle to 'iso_8601'",
        "bytea_output to 'escape'",
        "extra_float_digits to '-15'",
        "standard_conforming_strings to off",
    ];
    for default in defaults {
        let bench = PostgresBench::new();
        let role = bench.role("login superuser");
        bench.run(&format!("alter role {role} set {default}"));
        let client = bench.client_as(&role);
        let grant = wait(client.acquire(TTL)).unwrap_or_else(|error| panic!("{default}: {error}"));
        assert!((grant.now_ms as i64).abs_diff(bench.now_ms()) < 5000, "{default}");
        let renewal = wait(client.renew(&grant.lease, TTL));
        assert!(matches!(renewal, Renewal::Granted(_)), "{default}: {renewal:?}");
        wait(client.release(&grant.lease, grant.lease.start_ms)).unwrap();
    }
}

#[test]
fn development_need_not_wait() {
    let bench = PostgresBench::waiting();
    let client = bench.client_with(|setup| setup.on_reset = OnReset::Grant);
    wait(client.acquire(TTL)).expect("at once");
}
