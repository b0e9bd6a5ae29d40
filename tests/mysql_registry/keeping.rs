//! Who may use a registry, where it is, and what an operator can do.

use std::time::Duration;

use mintid::coordinator::mysql::Settings;
use mintid::coordinator::registry::{Mode, OnReset, Registry, Verdict};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, MachineIds, Renewal};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;

use crate::support::bench::{Bench, Holder, few_machines, must_wait, wait};
use crate::support::mysql::MySqlBench;
use crate::{QUARANTINE_MS, TTL, refusal, settled};

#[test]
fn a_setup_keeps_to_the_layout_that_the_processes_have() {
    let bench = MySqlBench::waiting();
    let _holder = settled(&bench);
    let default = bench.client_with(|setup| setup.agreement.layout = Layout::DEFAULT);
    let report = wait(default.setup(Mode::Plain)).unwrap();
    assert_eq!((report.created, report.not_before_ms, report.machine_ids, report.ttl_ms), (false, 0, 31, 300_000));
    assert_eq!(wait(default.list()).unwrap().len(), 31);
}

#[test]
fn who_disagrees_is_refused_with_the_option() {
    let bench = MySqlBench::new();
    let keyed = |bench: &MySqlBench, key: u8| bench.client_with(|setup| setup.agreement.fingerprint = Some([key; 16]));
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
    let bench = MySqlBench::new();
    wait(bench.any().acquire(TTL)).unwrap();
    assert_eq!(bench.value("select length(fingerprints) div 16 from mintid_registry"), 0);
    wait(bench.client_with(|setup| setup.agreement.fingerprint = Some([1; 16])).acquire(TTL)).unwrap();
    assert_eq!(bench.value("select length(fingerprints) div 16 from mintid_registry"), 1);
}

#[test]
fn setup_is_idempotent_and_only_an_operators_word_ends_a_wait() {
    let bench = MySqlBench::waiting();
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
    let bench = MySqlBench::waiting();
    settled(&bench);
    let short = |setup: &mut mintid::coordinator::mysql::Setup| {
        setup.agreement.ttl = Duration::from_secs(30);
        setup.agreement.durable = true;
    };
    assert_eq!(refusal(&bench.client_with(short)).fields().option, Some("lease.ttlMs"));
    wait(bench.client_with(|_| {}).setup(Mode::Fresh)).unwrap();
    wait(bench.client_with(short).acquire(Duration::from_secs(30))).expect("said anew, and nothing to wait for");
    assert_eq!(refusal(&*bench.any()).fields().option, Some("lease.ttlMs"));
}

#[test]
fn the_list_tells_who_holds_what_until_when() {
    let bench = MySqlBench::new();
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
    let bench = MySqlBench::new();
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
    let bench = MySqlBench::new();
    let holders: Vec<Holder> = (0..3).map(|_| bench.holder(0, 3)).collect();
    let leased: Vec<u32> = holders.iter().map(|holder| holder.grant.usage.unwrap().leased).collect();
    assert_eq!(leased, [1, 2, 3]);
    assert_eq!(holders[0].grant.usage.unwrap().capacity, 4);
}

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

#[test]
fn development_need_not_wait() {
    let bench = MySqlBench::waiting();
    let client = bench.client_with(|setup| setup.on_reset = OnReset::Grant);
    wait(client.acquire(TTL)).expect("at once");
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
