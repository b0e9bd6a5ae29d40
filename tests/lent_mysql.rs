//! The contract suite on MySQL or MariaDB over connections that the user's own program has, and what takes several
//! statements there.

#![cfg(feature = "mysql")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use std::sync::{Arc, Barrier};
use std::time::Duration;

use mintid::coordinator::functions::{Functions, Own, Request, Said, Trouble};
use mintid::coordinator::keeper;
use mintid::coordinator::mysql::{Lent, MySql};
use mintid::coordinator::registry::{Mode, OnReset, Registry, Verdict};
use mintid::coordinator::{Answer, Coordinator, MachineIds, Renewal};
use mintid::error::{Code, Error, Retry};
use support::bench::{Bench, Holder, Kind, few_machines, must_wait, wait};
use support::lent_mysql::Query;
use support::mysql::MySqlBench;
use support::registry::RegistryBench as _;

mod suite {
    crate::contract::suite!(super::LentBench::new());
}

const TTL: Duration = Duration::from_secs(300);

/// The clock and the database of a bench whose registry other clients come to.
struct LentBench {
    registry: MySqlBench,
    on_reset: OnReset,
}

impl LentBench {
    fn new() -> Self {
        Self { registry: MySqlBench::new(), on_reset: OnReset::Grant }
    }

    fn waiting() -> Self {
        Self { registry: MySqlBench::waiting(), on_reset: OnReset::Wait }
    }

    fn is_maria_db(&self) -> bool {
        self.registry.text("select @@version").contains("MariaDB")
    }

    fn client_with(&self, change: impl FnOnce(&mut keeper::Setup<Lent>)) -> MySql {
        self.client_over(Arc::new(Query::at(self.registry.url())), change)
    }

    fn client_over(&self, functions: Arc<dyn Functions>, change: impl FnOnce(&mut keeper::Setup<Lent>)) -> MySql {
        let own = Own::new("lent".into(), functions);
        let mut setup = keeper::Setup {
            settings: Lent::new(own, self.registry.database().to_owned(), self.is_maria_db()),
            namespace: "default".into(),
            machine_ids: MachineIds::new(&few_machines(), None).unwrap(),
            agreement: self.registry.agreement(),
            on_reset: self.on_reset,
            keep_open: true,
        };
        change(&mut setup);
        MySql::lent(setup).rewritten(&|statement| self.registry.on_its_clock(statement))
    }
}

impl Bench for LentBench {
    fn kind(&self) -> Kind {
        Kind::Renewable
    }

    fn ttl(&self) -> Duration {
        TTL
    }

    fn client(&self, machine_ids: MachineIds, _skew_ms: i64) -> Arc<dyn Coordinator> {
        Arc::new(self.client_with(|setup| setup.machine_ids = machine_ids))
    }

    fn pass(&self, by: Duration) {
        self.registry.pass(by);
    }

    fn step(&self, by_ms: i64) {
        self.registry.step(by_ms);
    }

    fn die(&self, holder: Holder) {
        self.registry.die(holder);
    }
}

fn refusal(client: &dyn Coordinator) -> Error {
    wait(client.acquire(TTL)).unwrap_err()
}

#[test]
fn many_make_the_registry_at_once_and_it_is_made_once() {
    let bench = LentBench::waiting();
    let together = Barrier::new(6);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let client = bench.client_with(|_| {});
                together.wait();
                let refused = (0..20).map(|_| refusal(&client)).find(|error| error.retry() != Retry::Soon);
                assert_eq!(refused.map(|error| error.code()), Some(Code::RegistryReset));
            });
        }
    });
    assert_eq!(bench.registry.value("select count(*) from mintid_leases"), 31);
    let wait_ms = bench
        .registry
        .value("select timestampdiff(microsecond, utc_timestamp(6), not_before) div 1000 from mintid_registry");
    assert!((290_000..=302_000).contains(&wait_ms), "one wait, not several on top of each other: {wait_ms} ms");
}

#[test]
fn native_and_lent_connections_share_a_registry() {
    let bench = LentBench::new();
    let (lent, native) = (bench.holder(0, 1), bench.registry.holder(0, 1));
    assert_ne!(lent.lease().machine, native.lease().machine);
    assert_eq!(refusal(&*bench.within(0, 1)).code(), Code::Exhausted);
    let renewal = wait(native.client.renew(&lent.lease(), TTL));
    assert!(matches!(renewal, Renewal::Granted(_)), "one protocol: {renewal:?}");
}

#[test]
fn what_is_agreed_on_is_the_same_for_all() {
    let bench = LentBench::new();
    wait(bench.client_with(|setup| setup.agreement.fingerprint = Some([0xFE; 16])).acquire(TTL)).unwrap();
    wait(bench.registry.client_with(|setup| setup.agreement.fingerprint = Some([0xFE; 16])).acquire(TTL)).unwrap();
    let other = bench.client_with(|setup| setup.agreement.fingerprint = Some([2; 16]));
    let error = refusal(&other);
    assert_eq!((error.code(), error.fields().option), (Code::Config, Some("key")));
    let other = bench.client_with(|setup| setup.agreement.ttl = Duration::from_secs(30));
    assert_eq!(refusal(&other).fields().option, Some("lease.ttlMs"));
}

#[test]
fn a_holder_that_the_registry_forgot_has_newcomers_wait_and_is_put_back() {
    let bench = LentBench::waiting();
    wait(bench.client_with(|_| {}).setup(Mode::Fresh)).unwrap();
    let mut holder = bench.holder(0, 0);
    assert!(!must_wait(&*bench.within(1, 1), TTL));
    bench.registry.run("update mintid_leases set token = null, expires_at = '1970-01-01' where id = 0");
    holder.renew(TTL);
    assert!(must_wait(&*bench.within(1, 1), TTL), "what else did it forget?");
    holder.renew(TTL);
}

#[test]
fn rows_that_were_deleted_come_back_after_newcomers_were_told_to_wait() {
    let bench = LentBench::waiting();
    wait(bench.client_with(|_| {}).setup(Mode::Fresh)).unwrap();
    assert!(!must_wait(&*bench.any(), TTL));
    bench.registry.run("delete from mintid_leases");
    assert!(must_wait(&*bench.any(), TTL));
    assert_eq!(bench.registry.value("select count(*) from mintid_leases"), 31);
}

#[test]
fn another_incarnation_is_noticed() {
    let bench = LentBench::waiting();
    let operator = bench.client_with(|_| {});
    wait(operator.setup(Mode::Fresh)).unwrap();
    assert!(!must_wait(&*bench.any(), TTL));
    assert!(!must_wait(&*bench.registry.any(), TTL), "another session sees the same one");
    bench.registry.run("update mintid_registry set incarnation = 'another'");
    assert!(must_wait(&*bench.any(), TTL));
    assert_eq!(wait(operator.setup(Mode::AcceptReset)).unwrap().not_before_ms, 0);
    assert!(!must_wait(&*bench.any(), TTL));
}

/// A mark that is kept as it was is kept only if it still is that one.
#[test]
fn what_is_not_waited_for_must_not_have_changed_meanwhile() {
    /// Another incarnation, between looking and adopting.
    #[derive(Debug)]
    struct Overtaken {
        query: Query,
        done: std::sync::atomic::AtomicBool,
    }
    impl Functions for Overtaken {
        fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
            Box::pin(async move {
                let adopts =
                    matches!(&request, Request::Query { statement, .. } if statement.contains("not_before = case"));
                if adopts && !self.done.swap(true, std::sync::atomic::Ordering::SeqCst) {
                    let statement = "update mintid_registry set incarnation = 'another'".into();
                    self.query.call(Request::Query { statement, parameters: Vec::new() }).await?;
                }
                self.query.call(request).await
            })
        }
    }
    let bench = LentBench::waiting();
    wait(bench.client_with(|_| {}).setup(Mode::Fresh)).unwrap();
    let overtaken = Overtaken { query: Query::at(bench.registry.url()), done: false.into() };
    let client = bench.client_over(Arc::new(overtaken), |setup| setup.agreement.durable = true);
    assert!(must_wait(&client, TTL));
}

#[test]
fn an_operator_sees_the_registry() {
    let bench = LentBench::new();
    let holder = bench.holder(2, 2);
    let operator = bench.client_with(|_| {});
    let listed = wait(operator.list()).unwrap();
    assert_eq!((listed.len(), listed[2].live, listed[2].expires_at_ms), (31, true, holder.lease().end_ms));
    let examination = wait(operator.examine()).unwrap();
    let named = |name: &str| examination.checks.iter().find(|check| check.name == name).unwrap();
    assert_eq!((named("writable").verdict, named("tables").verdict), (Verdict::Fine, Verdict::Fine));
    assert_eq!(named("machine IDs").found, "1 of 31 leased");
}

#[test]
fn a_session_that_commits_nothing_grants_nothing() {
    let bench = LentBench::new();
    wait(bench.any().acquire(TTL)).unwrap();
    let query = Query { url: bench.registry.url(), session: "set autocommit = 0" };
    let error = refusal(&bench.client_over(Arc::new(query), |_| {}));
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
    assert!(error.message().contains("commit"), "{error}");
}

#[test]
fn the_other_dialect_is_named() {
    let bench = LentBench::new();
    let is_maria_db = bench.is_maria_db();
    let own = Own::new("lent".into(), Arc::new(Query::at(bench.registry.url())));
    let client = bench.client_with(|setup| {
        setup.settings = Lent::new(own, bench.registry.database().to_owned(), !is_maria_db);
    });
    let error = refusal(&client);
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Never), "{error}");
    let dialect = if is_maria_db { "dialect: 'mariadb'" } else { "dialect: 'mysql'" };
    assert!(error.fields().hint.as_ref().unwrap().ends_with(dialect), "{error:?}");
}

#[test]
fn what_a_server_says_is_told_as_for_connections_of_our_own() {
    let bench = LentBench::new();
    let user = bench.registry.user("select");
    let (_, host) =
        bench.registry.url().rsplit_once('@').map(|(user, host)| (user.to_owned(), host.to_owned())).unwrap();
    let query = Arc::new(Query::at(format!("mysql://{user}:user@{host}")));
    let error = refusal(&bench.client_over(query, |_| {}));
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Never), "{error}");
    assert_eq!(
        (error.fields().server_code.as_deref(), error.fields().coordinator.as_deref()),
        (Some("1142"), Some("lent"))
    );
    assert!(error.fields().hint.as_ref().unwrap().contains("create table if not exists"), "{error:?}");
}

#[test]
fn what_is_no_word_of_a_servers_is_tried_again() {
    type Break = fn() -> Result<Said, Trouble>;
    #[derive(Debug)]
    struct Broken(Break);
    impl Functions for Broken {
        fn call(&self, _: Request) -> Answer<'_, Result<Said, Trouble>> {
            Box::pin(async { (self.0)() })
        }
    }
    let threw =
        || Err(Trouble { what: "threw Error: timeout".into(), code: Some("ETIMEDOUT".into()), ..Trouble::default() });
    let cases: [(Break, &str); 3] = [
        (threw, "lent: query() threw Error: timeout"),
        (|| Ok(Said::No), "lent: query() answered what belongs to another function"),
        (|| Ok(Said::Rows(vec![[("fit".into(), Some("1".into()))].into()])), "lent: the answer is not that"),
    ];
    let bench = LentBench::new();
    for (broken, says) in cases {
        let error = refusal(&bench.client_over(Arc::new(Broken(broken)), |_| {}));
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
        assert!(error.message().starts_with(says), "{error}");
    }
}
