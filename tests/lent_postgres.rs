//! The contract suite on PostgreSQL over connections that the user's own program has, and what takes several statements
//! there.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use std::sync::{Arc, Barrier};
use std::time::Duration;

use mintid::coordinator::functions::{Functions, Own, Request, Said, Trouble};
use mintid::coordinator::keeper;
use mintid::coordinator::postgres::{Lent, LentPostgres};
use mintid::coordinator::registry::{Mode, OnReset, Registry, Verdict};
use mintid::coordinator::{Answer, Coordinator, MachineIds, Renewal};
use mintid::error::{Code, Error, Retry};
use support::bench::{Bench, Holder, Kind, few_machines, must_wait, wait};
use support::lent_query::Query;
use support::postgres::{PostgresBench, url};
use support::registry::RegistryBench as _;

mod suite {
    crate::contract::suite!(super::LentBench::new());
}

const TTL: Duration = Duration::from_secs(300);

/// The clock and the schema of a bench whose registry other clients come to.
struct LentBench {
    registry: PostgresBench,
    on_reset: OnReset,
}

impl LentBench {
    fn new() -> Self {
        Self { registry: PostgresBench::new(), on_reset: OnReset::Grant }
    }

    fn waiting() -> Self {
        Self { registry: PostgresBench::waiting(), on_reset: OnReset::Wait }
    }

    fn client_with(&self, change: impl FnOnce(&mut keeper::Setup<Lent>)) -> LentPostgres {
        self.client_over(Arc::new(Query(url())), change)
    }

    fn client_over(
        &self,
        functions: Arc<dyn Functions>,
        change: impl FnOnce(&mut keeper::Setup<Lent>),
    ) -> LentPostgres {
        let mut setup = keeper::Setup {
            settings: Lent::new(Own::new("lent".into(), functions), self.registry.schema().to_owned()),
            namespace: "default".into(),
            machine_ids: MachineIds::new(&few_machines(), None).unwrap(),
            agreement: self.registry.agreement(),
            on_reset: self.on_reset,
            keep_open: true,
        };
        change(&mut setup);
        let clock = format!("(clock_timestamp() + (select shift from {}.clock))", self.registry.schema());
        LentPostgres::new(setup).rewritten(&|statement| statement.replace("clock_timestamp()", &clock))
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
    let together = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let client = bench.client_with(|_| {});
                together.wait();
                let error = refusal(&client);
                assert_eq!(error.code(), Code::RegistryReset, "{error}");
            });
        }
    });
    let rows = bench.registry.value("select count(*)::int8 from mintid_leases");
    assert_eq!((rows, bench.registry.value("select count(*)::int8 from mintid_registry")), (31, 1));
    let wait_ms =
        bench.registry.value("select (extract(epoch from not_before - now()) * 1000)::int8 from mintid_registry");
    assert!((290_000..=302_000).contains(&wait_ms), "one wait, not several on top of each other: {wait_ms} ms");
}

/// Between looking and changing, somebody else changes it: whoever looked goes by what there is now.
#[test]
fn a_registry_that_changed_meanwhile_is_looked_at_again() {
    /// Has somebody else set the registry up just before the first block comes.
    #[derive(Debug)]
    struct Overtaken {
        query: Query,
        schema: String,
        done: std::sync::atomic::AtomicBool,
    }
    impl Functions for Overtaken {
        fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
            Box::pin(async move {
                let changes =
                    matches!(&request, Request::Query { statement, .. } if statement.contains("serialization"));
                if changes && !self.done.swap(true, std::sync::atomic::Ordering::SeqCst) {
                    let statement = format!(
                        "insert into {0}.mintid_registry (namespace, protocol, layout) values ('default', 1, 'other')",
                        self.schema
                    );
                    self.query.call(Request::Query { statement, parameters: Vec::new() }).await?;
                }
                self.query.call(request).await
            })
        }
    }
    let bench = LentBench::waiting();
    let schema = bench.registry.schema().to_owned();
    let overtaken = Overtaken { query: Query(url()), schema, done: false.into() };
    let client = bench.client_over(Arc::new(overtaken), |_| {});
    assert_eq!(refusal(&client).fields().option, Some("layout"), "what somebody else said meanwhile holds");
}

#[test]
fn native_and_lent_connections_share_a_registry() {
    let bench = LentBench::new();
    let (lent, native) = (bench.holder(0, 1), bench.registry.holder(0, 1));
    assert_ne!(lent.lease().machine, native.lease().machine);
    let error = wait(bench.within(0, 1).acquire(TTL)).unwrap_err();
    assert_eq!(error.code(), Code::Exhausted);
    let other = native.client.as_ref();
    let renewal = wait(other.renew(&lent.lease(), TTL));
    assert!(matches!(renewal, Renewal::Granted(_)), "one protocol: {renewal:?}");
}

#[test]
fn what_is_agreed_on_is_the_same_for_all() {
    let bench = LentBench::new();
    wait(bench.client_with(|setup| setup.agreement.fingerprint = Some([1; 16])).acquire(TTL)).unwrap();
    wait(bench.registry.client_with(|setup| setup.agreement.fingerprint = Some([1; 16])).acquire(TTL)).unwrap();
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
    bench.registry.run("update mintid_leases set token = null, expires_at = 'epoch' where id = 0");
    holder.renew(TTL);
    assert!(must_wait(&*bench.within(1, 1), TTL), "what else did it forget?");
    holder.renew(TTL);
}

#[test]
fn another_incarnation_is_noticed() {
    let bench = LentBench::waiting();
    let operator = bench.client_with(|_| {});
    wait(operator.setup(Mode::Fresh)).unwrap();
    assert!(!must_wait(&*bench.any(), TTL));
    bench.registry.run("truncate mintid_incarnation");
    assert!(must_wait(&*bench.any(), TTL));
    assert_eq!(wait(operator.setup(Mode::AcceptReset)).unwrap().not_before_ms, 0);
    assert!(!must_wait(&*bench.any(), TTL));
}

#[test]
fn an_operator_sees_the_registry() {
    let bench = LentBench::new();
    let holder = bench.holder(2, 2);
    let operator = bench.client_with(|_| {});
    let listed = wait(operator.list()).unwrap();
    assert_eq!((listed.len(), listed[2].live, listed[2].expires_at_ms), (31, true, holder.lease().end_ms));
    assert!(listed.windows(2).all(|pair| pair[0].machine < pair[1].machine));
    let examination = wait(operator.examine()).unwrap();
    assert!(examination.server.starts_with("PostgreSQL"), "{}", examination.server);
    let named = |name: &str| examination.checks.iter().find(|check| check.name == name).unwrap();
    assert_eq!((named("writable").verdict, named("tables").verdict), (Verdict::Fine, Verdict::Fine));
    assert_eq!(named("machine IDs").found, "1 of 31 leased");
}

#[test]
fn a_schema_may_be_called_anything() {
    let bench = LentBench::new();
    let odd = format!("{} '$mintid$'; \"\\", bench.registry.schema());
    let quoted = odd.replace('"', "\"\"");
    bench.registry.run(&format!("create schema \"{quoted}\""));
    let own = Own::new("lent".into(), Arc::new(Query(url())));
    let client = bench.client_with(|setup| setup.settings = Lent::new(own, odd));
    let granted = wait(client.acquire(TTL));
    bench.registry.run(&format!("drop schema \"{quoted}\" cascade"));
    granted.expect("in that schema");
}

#[test]
fn what_a_server_says_is_told_as_for_connections_of_our_own() {
    let bench = LentBench::new();
    let role = bench.registry.role("login");
    let host = url().rsplit_once('@').map(|(_, host)| host.to_owned()).unwrap();
    let query = Arc::new(Query(format!("postgres://{role}:role@{host}")));
    let error = refusal(&bench.client_over(query, |_| {}));
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Never));
    assert_eq!(
        (error.fields().server_code.as_deref(), error.fields().coordinator.as_deref()),
        (Some("42501"), Some("lent"))
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
        (
            || Ok(Said::Rows(vec![[("made".into(), Some("perhaps".into()))].into()])),
            "lent: query() answered no rows of",
        ),
    ];
    let bench = LentBench::new();
    for (broken, says) in cases {
        let error = refusal(&bench.client_over(Arc::new(Broken(broken)), |_| {}));
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
        assert!(error.message().starts_with(says), "{error}");
    }
}
