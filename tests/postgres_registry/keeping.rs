//! Who may use a registry, where it is, and what an operator can do.

use std::time::Duration;

use mintid::coordinator::registry::{Mode, OnReset, Registry, Verdict};
use mintid::coordinator::{Coordinator, MachineIds, Renewal};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;

use crate::support::bench::{Bench, Holder, few_machines, must_wait, wait};
use crate::support::postgres::PostgresBench;
use crate::{QUARANTINE_MS, TTL, refusal, settled};

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
