//! Where a registry is, which rights it needs, and what an operator is told.

use mintid::coordinator::registry::{Mode, Registry, Verdict};
use mintid::coordinator::{Coordinator, Renewal};
use mintid::error::{Code, Retry};

use crate::registry_suite::refusal;
use crate::support::bench::wait;
use crate::support::postgres::PostgresBench;
use crate::support::registry::{RegistryBench, TTL};

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
