//! A registry in a MySQL or MariaDB database of its own, whose clock the test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mintid::coordinator::keeper::Terms;
use mintid::coordinator::mysql::{MySql, Settings, Setup, connect};
use mintid::coordinator::registry::{Agreement, OnReset};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, MachineIds};
use mintid::error::Error;
use mintid::layout::Layout;

use crate::support::bench::{Bench, Change, Holder, Kind, block_on, few_machines};
use crate::support::registry::{RegistryBench, Way, hex, terms};

/// Where the server is that the README's test command promises, or a MySQL instead.
pub(crate) fn url() -> String {
    let named = ["MINTID_TEST_MYSQL", "MINTID_TEST_MARIADB"].iter().find_map(|name| std::env::var(name).ok());
    named.filter(|url| !url.is_empty()).unwrap_or_else(|| "mysql://root@127.0.0.1:3306/test".into())
}

/// One database with nothing in it but a clock; it goes with the bench.
pub(crate) struct MySqlBench {
    server: String,
    database: String,
    changes: Vec<Change>,
    ttl: Duration,
    on_reset: OnReset,
}

impl MySqlBench {
    /// A registry in which nothing is waited for.
    pub(crate) fn new() -> Self {
        Self::with(url(), OnReset::Grant, &[])
    }

    /// The same with some texts of its clients' statements changed.
    pub(crate) fn changed(changes: &[Change]) -> Self {
        Self::with(url(), OnReset::Grant, changes)
    }

    /// A registry where newcomers wait, on another server than usual.
    pub(crate) fn waiting_at(server: &str) -> Self {
        Self::with(server.to_owned(), OnReset::Wait, &[])
    }

    fn with(server: String, on_reset: OnReset, changes: &[Change]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let database = format!("mintid_test_{}_{number}", std::process::id());
        query(
            &server,
            &format!(
                "drop database if exists {database}; create database {database};
                 create table {database}.clock (shift bigint not null primary key);
                 insert into {database}.clock values (0)"
            ),
        );
        Self { server, database, changes: changes.to_vec(), ttl: Duration::from_secs(300), on_reset }
    }

    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// A user of the bench's own who may do `rights` in its database; it goes with the bench.
    pub(crate) fn user(&self, rights: &str) -> String {
        let user = format!("{}_user", self.database);
        self.run(&format!("create user {user}@'%' identified by 'user'"));
        self.run(&format!("grant {rights} on {}.* to {user}@'%'", self.database));
        user
    }

    /// A client that comes in as `user`.
    pub(crate) fn client_as(&self, user: &str) -> MySql {
        let host = self.server.rsplit_once('@').map_or(self.server.as_str(), |(_, host)| host);
        let url = self.within(&format!("mysql://{user}:user@{host}"));
        self.client_with(|setup| setup.settings = Settings::parse(&url, &TlsOptions::default()).unwrap())
    }

    pub(crate) fn agreement(&self) -> Agreement {
        Agreement { layout: few_machines(), ttl: self.ttl, fingerprint: None, durable: false }
    }

    /// A new client that agrees to something else, or is let in some other way.
    pub(crate) fn client_with(&self, change: impl FnOnce(&mut Setup)) -> MySql {
        let mut setup = Setup {
            settings: Settings::parse(&self.url(), &TlsOptions::default()).unwrap(),
            namespace: "default".into(),
            machine_ids: MachineIds::new(&few_machines(), None).unwrap(),
            agreement: self.agreement(),
            on_reset: self.on_reset,
            keep_open: false,
        };
        change(&mut setup);
        MySql::new(setup).rewritten(&|statement| self.on_its_clock(statement))
    }

    /// A statement with the bench's changes, that reads the bench's clock.
    pub(crate) fn on_its_clock(&self, statement: &str) -> String {
        let shift = format!("+ interval (select shift from {}.clock) microsecond)", self.database);
        let changed = self.changes.iter().fold(statement.to_owned(), |text, (from, to)| text.replace(from, to));
        let moved = changed.replace("sysdate(6)", &format!("(\u{0} {shift}"));
        moved.replace("utc_timestamp(6)", &format!("(utc_timestamp(6) {shift}")).replace('\u{0}', "sysdate(6)")
    }

    /// A client of the same database at another server.
    pub(crate) fn at(&self, server: &str) -> MySql {
        let url = self.within(server);
        self.client_with(|setup| setup.settings = Settings::parse(&url, &TlsOptions::default()).unwrap())
    }

    pub(crate) fn url(&self) -> String {
        self.within(&self.server)
    }

    /// The same address with the bench's database.
    fn within(&self, url: &str) -> String {
        let (start, query) = url.split_once('?').unwrap_or((url, ""));
        let (server, _) = start.rsplit_once('/').unwrap();
        format!("{server}/{}{}{query}", self.database, if query.is_empty() { "" } else { "?" })
    }

    /// Runs statements as the superuser, in the bench's database.
    pub(crate) fn run(&self, sql: &str) {
        query(&self.url(), sql);
    }

    /// The first value of a statement's first row, a whole number.
    pub(crate) fn value(&self, sql: &str) -> i64 {
        self.text(sql).parse().unwrap()
    }

    /// The first value of a statement's first row.
    pub(crate) fn text(&self, sql: &str) -> String {
        query(&self.url(), sql).expect("a row")
    }
}

/// Runs statements as the superuser; returns the first value of the last row.
fn query(url: &str, sql: &str) -> Option<String> {
    try_query(url, sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"))
}

fn try_query(url: &str, sql: &str) -> Result<Option<String>, Error> {
    block_on(async {
        let connection = connect(&Settings::parse(url, &TlsOptions::default())?).await?;
        let mut last = None;
        for statement in sql.split(';').filter(|statement| !statement.trim().is_empty()) {
            let answer = connection.query(statement, &[]).await?;
            last = answer.rows.first().and_then(mintid::coordinator::mysql::Row::first).or(last);
        }
        Ok(last)
    })
}

impl Drop for MySqlBench {
    fn drop(&mut self) {
        // What a failed test left behind goes with the next one of its number.
        let _ = try_query(&self.server, &format!("drop database {0}; drop user if exists {0}_user@'%'", self.database));
    }
}

impl Bench for MySqlBench {
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
        self.run(&format!("update clock set shift = shift + {by_ms} * 1000"));
    }

    fn die(&self, holder: Holder) {
        let left_ms = holder.lease().end_ms as i64 + 1 - self.now_ms();
        self.step(left_ms.max(0));
    }
}

impl RegistryBench for MySqlBench {
    type Client = MySql;

    fn of(on_reset: OnReset, changes: &[Change]) -> Self {
        Self::with(url(), on_reset, changes)
    }

    fn client_on(&self, change: impl FnOnce(&mut Terms)) -> MySql {
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
        self.value(
            "select timestampdiff(microsecond, '1970-01-01', utc_timestamp(6) + interval (select shift from clock) \
             microsecond) div 1000",
        )
    }

    fn ways_to_forget() -> Vec<Way<Self>> {
        vec![
            ("the server was started again", Self::change_incarnation),
            ("the leases were put back from a copy", |bench| {
                bench.run(
                    "create table copy like mintid_leases; insert into copy select * from mintid_leases;
                     drop table mintid_leases; do sleep(1.1); create table mintid_leases like copy;
                     insert into mintid_leases select * from copy; drop table copy",
                );
            }),
            ("the leases are gone", |bench| bench.run("truncate table mintid_leases")),
            ("the tables are gone", |bench| bench.run("drop table mintid_leases, mintid_registry")),
            ("the lease table alone is gone", |bench| bench.run("drop table mintid_leases")),
            ("the registry's row is gone", |bench| bench.run("delete from mintid_registry")),
            ("the registry alone is gone", |bench| bench.run("drop table mintid_registry")),
        ]
    }

    fn change_incarnation(&self) {
        self.run("update mintid_registry set incarnation = concat('another', incarnation)");
    }

    fn forget_leases(&self) {
        self.run("update mintid_leases set token = null, expires_at = '1970-01-01', holder = null, acquired_at = null");
    }

    fn write(&self, machine: u32, token: Option<[u8; 16]>, end_ms: i64) {
        let token = token.map_or("null".to_owned(), |token| format!("X'{}'", hex(token)));
        self.run(&format!(
            "update mintid_leases set token = {token}, expires_at = '1970-01-01' + interval {end_ms} * 1000 microsecond
             where id = {machine}"
        ));
    }

    fn delete(&self, machine: u32) {
        self.run(&format!("delete from mintid_leases where id = {machine}"));
    }

    fn kept(&self, machine: u32) -> (i64, bool) {
        let of = |what: &str| self.value(&format!("select {what} from mintid_leases where id = {machine}"));
        (of("timestampdiff(microsecond, '1970-01-01', expires_at) div 1000"), of("token is not null") == 1)
    }

    fn not_before_ms(&self) -> i64 {
        self.value("select timestampdiff(microsecond, '1970-01-01', not_before) div 1000 from mintid_registry")
    }

    fn keys(&self) -> usize {
        self.value("select length(fingerprints) div 16 from mintid_registry") as usize
    }

    fn speak(&self, protocol: i32) {
        self.run(&format!("update mintid_registry set protocol = {protocol}"));
    }
}
