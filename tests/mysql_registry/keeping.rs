//! Which rights a registry needs, how many machine IDs it may have, and what an operator is told.

use mintid::coordinator::mysql::Settings;
use mintid::coordinator::registry::{Mode, Registry, Verdict};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, MachineIds, Renewal};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;

use crate::registry_suite::refusal;
use crate::support::bench::wait;
use crate::support::mysql::MySqlBench;
use crate::support::registry::{RegistryBench as _, TTL};

#[test]
fn the_examination_finds_a_registry_fine_or_says_what_to_do() {
    let bench = MySqlBench::waiting();
    let operator = bench.client_with(|_| {});
    let verdict = |name: &str| {
        let examination = wait(operator.examine()).unwrap();
        assert!(examination.server.ends_with(&bench.text("select version()")), "{}", examination.server);
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
    bench.run("update mintid_registry set incarnation = 'another'");
    assert!(verdict("incarnation").1.contains("--accept-reset"));
}

#[test]
fn a_user_that_may_not_create_is_shown_the_sql_to_run() {
    let bench = MySqlBench::new();
    let user = bench.user("select, insert, update");
    let client = bench.client_as(&user);
    let error = refusal(&client);
    let fields = error.fields();
    assert_eq!(
        (error.code(), error.retry(), fields.server_code.as_deref()),
        (Code::Coordinator, Retry::Never, Some("1142"))
    );
    let hint = fields.hint.as_ref().unwrap();
    assert!(hint.contains("create table if not exists") && hint.contains(".mintid_leases"), "{hint}");
    bench.run(&bench.client_with(|_| {}).script());
    let grant = wait(client.acquire(TTL)).expect("what setup --print prints, and three rights, are enough");
    assert!(matches!(wait(client.renew(&grant.lease, TTL)), Renewal::Granted(_)));
    wait(client.release(&grant.lease, grant.lease.start_ms)).unwrap();
    assert_eq!(wait(client.list()).unwrap().len(), 31);
    assert!(wait(client.examine()).unwrap().checks.iter().all(|check| check.verdict != Verdict::Error));
}

/// Rights on the two tables alone; they are enough as well.
#[test]
fn a_user_of_the_two_tables_alone() {
    let bench = MySqlBench::new();
    bench.run(&bench.client_with(|_| {}).script());
    let user = bench.user("lock tables");
    for table in ["mintid_leases", "mintid_registry"] {
        bench.run(&format!("grant select, insert, update on {}.{table} to {user}@'%'", bench.database()));
    }
    // The clock of the tests is a table as well.
    bench.run(&format!("grant select on {}.clock to {user}@'%'", bench.database()));
    wait(bench.client_as(&user).acquire(TTL)).unwrap();
}

/// As many as the widest layout has.
#[test]
fn a_registry_with_many_machine_ids() {
    let bench = MySqlBench::new();
    let layout = Layout::new(0, 42, 15, 7, Layout::DEFAULT_EPOCH_MS).unwrap();
    let client = bench.client_with(|setup| {
        setup.agreement.layout = layout;
        setup.machine_ids = MachineIds::new(&layout, Some((32_766, 32_766))).unwrap();
    });
    assert_eq!(wait(client.acquire(TTL)).unwrap().lease.machine, 32_766);
    assert_eq!(bench.value("select count(*) from mintid_leases"), 32_767);
}

/// Quotes and blanks in it, and a name that means something else.
#[test]
fn a_database_by_any_name() {
    let bench = MySqlBench::new();
    let name = format!("{}`'\" mintid_leases", bench.database());
    bench.run(&format!("create database `{}`", name.replace('`', "``")));
    let settings = Settings::parse(&bench.url(), &TlsOptions::default()).unwrap();
    let encoded = name.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
    let url = bench.url().replace(settings.database(), &encoded);
    let settings = Settings::parse(&url, &TlsOptions::default()).unwrap();
    let client = bench.client_with(|setup| setup.settings = settings);
    let granted = wait(client.acquire(TTL));
    bench.run(&format!("drop database `{}`", name.replace('`', "``")));
    assert_eq!(granted.unwrap().lease.machine, 0);
}
