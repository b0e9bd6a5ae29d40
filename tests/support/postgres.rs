//! A registry in a PostgreSQL schema of its own, whose clock the test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mintid::coordinator::keeper::Terms;
use mintid::coordinator::postgres::{Postgres, Settings, Setup};
use mintid::coordinator::registry::{Agreement, OnReset};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, MachineIds};
use mintid::layout::Layout;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::support::bench::{Bench, Change, Holder, Kind, few_machines};
use crate::support::registry::{RegistryBench, Way, hex, terms};

/// Where the server is that the README's test command promises.
pub(crate) fn url() -> String {
    std::env::var("MINTID_TEST_POSTGRES").unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/test".into())
}

/// One schema with nothing in it but a clock; it goes with the bench.
pub(crate) struct PostgresBench {
    schema: String,
    changes: Vec<Change>,
    ttl: Duration,
    on_reset: OnReset,
}

impl PostgresBench {
    /// A registry in which nothing is waited for.
    pub(crate) fn new() -> Self {
        Self::with(OnReset::Grant, &[])
    }

    /// The same with some texts of its clients' statements changed.
    pub(crate) fn changed(changes: &[Change]) -> Self {
        Self::with(OnReset::Grant, changes)
    }

    fn with(on_reset: OnReset, changes: &[Change]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let schema = format!("mintid_test_{}_{number}", std::process::id());
        query(&format!(
            "drop schema if exists {schema} cascade; create schema {schema};
             create table {schema}.clock as select interval '0' as shift"
        ));
        Self { schema, changes: changes.to_vec(), ttl: Duration::from_secs(300), on_reset }
    }

    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// A role of the bench's own; it goes with the bench.
    pub(crate) fn role(&self, attributes: &str) -> String {
        let role = format!("{}_role", self.schema);
        self.run(&format!("create role {role} with {attributes} password 'role'; grant select on clock to {role}"));
        role
    }

    /// A client that comes in as `role`.
    pub(crate) fn client_as(&self, role: &str) -> Postgres {
        let settings = Settings::parse(&self.url_as(role), &TlsOptions::default()).unwrap();
        self.client_with(|setup| setup.settings = settings)
    }

    /// The bench's schema as `role` sees it.
    pub(crate) fn url_as(&self, role: &str) -> String {
        let url = url();
        let host = url.rsplit_once('@').map_or(url.as_str(), |(_, host)| host).to_owned();
        let url = format!("postgres://{role}:role@{host}");
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}schema={}", self.schema)
    }

    pub(crate) fn agreement(&self) -> Agreement {
        Agreement { layout: few_machines(), ttl: self.ttl, fingerprint: None, durable: false }
    }

    /// A new client that agrees to something else, or is let in some other way.
    pub(crate) fn client_with(&self, change: impl FnOnce(&mut Setup)) -> Postgres {
        let settings = Settings::parse(&self.url(), &TlsOptions::default()).unwrap();
        let mut setup = Setup {
            settings,
            namespace: "default".into(),
            machine_ids: MachineIds::new(&few_machines(), None).unwrap(),
            agreement: self.agreement(),
            on_reset: self.on_reset,
            keep_open: false,
        };
        change(&mut setup);
        let clock = format!("(clock_timestamp() + (select shift from {}.clock))", self.schema);
        Postgres::new(setup).rewritten(&|statement| {
            let changed = self.changes.iter().fold(statement.to_owned(), |text, (from, to)| text.replace(from, to));
            changed.replace("clock_timestamp()", &clock)
        })
    }

    pub(crate) fn url(&self) -> String {
        let url = url();
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}schema={}", self.schema)
    }

    /// Runs statements as the superuser, in the bench's schema.
    pub(crate) fn run(&self, sql: &str) {
        query(&format!("set local search_path to {}; {sql}", self.schema));
    }

    /// The first value of a statement's first row, a whole number.
    pub(crate) fn value(&self, sql: &str) -> i64 {
        self.text(sql).parse().unwrap()
    }

    /// The first value of a statement's first row.
    pub(crate) fn text(&self, sql: &str) -> String {
        query(&format!("set local search_path to {}; {sql}", self.schema)).expect("a row")
    }
}

/// Runs statements as the superuser; returns the first value of the last row.
fn query(sql: &str) -> Option<String> {
    try_query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"))
}

fn try_query(sql: &str) -> Result<Option<String>, tokio_postgres::Error> {
    crate::support::bench::block_on(async {
        let (client, connection) =
            tokio_postgres::connect(&url(), NoTls).await.expect("the PostgreSQL of MINTID_TEST_POSTGRES");
        let driver = tokio::spawn(connection);
        let messages = client.simple_query(sql).await;
        driver.abort();
        Ok(messages?.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    })
}

impl Drop for PostgresBench {
    fn drop(&mut self) {
        // What a failed test left behind goes with the next one of its number.
        let _ = try_query(&format!(
            "drop schema {0} cascade;
             do $$ begin if exists (select from pg_roles where rolname = '{0}_role') then
               drop owned by {0}_role; drop role {0}_role; end if; end $$",
            self.schema
        ));
    }
}

impl Bench for PostgresBench {
    fn kind(&self) -> Kind {
        Kind::Renewable
    }

    fn layout(&self) -> Layout {
        few_machines()
    }

    fn ttl(&self) -> Duration {
        self.ttl
    }

    fn client(&self, machine_ids: MachineIds, _skew_ms: i64) -> Arc<dyn Coordinator> {
        // No statement takes a time of the client's: its clock has no way in.
        Arc::new(self.client_with(|setup| setup.machine_ids = machine_ids))
    }

    fn pass(&self, by: Duration) {
        self.step(by.as_millis() as i64);
    }

    fn step(&self, by_ms: i64) {
        self.run(&format!("update clock set shift = shift + interval '{by_ms} milliseconds'"));
    }

    fn die(&self, holder: Holder) {
        let left_ms = holder.lease().end_ms as i64 + 1 - self.now_ms();
        self.step(left_ms.max(0));
    }
}

impl RegistryBench for PostgresBench {
    type Client = Postgres;

    fn of(on_reset: OnReset, changes: &[Change]) -> Self {
        Self::with(on_reset, changes)
    }

    fn client_on(&self, change: impl FnOnce(&mut Terms)) -> Postgres {
        let mut terms = terms("default", self.on_reset);
        change(&mut terms);
        self.client_with(|setup| {
            setup.namespace = terms.namespace;
            setup.machine_ids = terms.machine_ids;
            setup.agreement = terms.agreement;
            setup.on_reset = terms.on_reset;
        })
    }

    fn now_ms(&self) -> i64 {
        self.value("select floor(extract(epoch from clock_timestamp() + (select shift from clock)) * 1000)::int8")
    }

    fn ways_to_forget() -> Vec<Way<Self>> {
        vec![
            ("the incarnation is gone, with nothing else lost", |bench| bench.run("truncate mintid_incarnation")),
            ("the leases were emptied and filled from a copy", |bench| {
                bench.run(
                    "create table copy as select * from mintid_leases;
                     truncate mintid_leases; insert into mintid_leases select * from copy; drop table copy",
                );
            }),
            ("the leases are gone", |bench| bench.run("truncate mintid_leases")),
            ("the tables are gone", |bench| {
                bench.run("drop table mintid_leases, mintid_registry, mintid_incarnation");
            }),
            ("the lease table alone is gone", |bench| bench.run("drop table mintid_leases")),
            ("the registry's row is gone", |bench| bench.run("delete from mintid_registry")),
            ("the registry alone is gone", |bench| bench.run("drop table mintid_registry")),
            ("the incarnation's table alone is gone", |bench| bench.run("drop table mintid_incarnation")),
        ]
    }

    fn change_incarnation(&self) {
        self.run("truncate mintid_incarnation");
    }

    fn forget_leases(&self) {
        self.run("update mintid_leases set token = null, expires_at = 'epoch', holder = null, acquired_at = null");
    }

    fn write(&self, machine: u32, token: Option<[u8; 16]>, end_ms: i64) {
        let token = token.map_or("null".to_owned(), |token| format!("'\\x{}'", hex(token)));
        self.run(&format!(
            "update mintid_leases set token = {token},
               expires_at = 'epoch'::timestamptz + {end_ms} * interval '1 ms' where id = {machine}"
        ));
    }

    fn delete(&self, machine: u32) {
        self.run(&format!("delete from mintid_leases where id = {machine}"));
    }

    fn kept(&self, machine: u32) -> (i64, bool) {
        let of = |what: &str| self.value(&format!("select {what} from mintid_leases where id = {machine}"));
        (of("floor(extract(epoch from expires_at) * 1000)::int8"), of("(token is not null)::int") == 1)
    }

    fn not_before_ms(&self) -> i64 {
        self.value("select floor(extract(epoch from not_before) * 1000)::int8 from mintid_registry")
    }

    fn keys(&self) -> usize {
        self.value("select cardinality(fingerprints)::int8 from mintid_registry") as usize
    }

    fn speak(&self, protocol: i32) {
        self.run(&format!("update mintid_registry set protocol = {protocol}"));
    }
}
