//! A registry in a hash of its own, whose clock the test moves.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mintid::coordinator::keeper::Terms;
use mintid::coordinator::redis::{Redis, Settings, Setup, Value, connect};
use mintid::coordinator::registry::{Agreement, OnReset};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, MachineIds};
use mintid::error::Error;
use mintid::layout::Layout;

use crate::support::bench::{Bench, Change, Holder, Kind, few_machines};
use crate::support::registry::{RegistryBench, Way, hex, terms};

/// Where the server is that the README's test command promises.
pub(crate) fn url() -> String {
    std::env::var("MINTID_TEST_REDIS").unwrap_or_else(|_| "redis://127.0.0.1:6379".into())
}

/// Where the scripts read the clock.
const CLOCK: &str = "math.floor(time[2] / 1000)";

/// One namespace with nothing in it but a clock; it goes with the bench.
pub(crate) struct RedisBench {
    url: String,
    namespace: String,
    /// Further namespaces that clients were made for.
    others: Mutex<Vec<String>>,
    changes: Vec<Change>,
    ttl: Duration,
    on_reset: OnReset,
}

impl RedisBench {
    /// A registry in which nothing is waited for.
    pub(crate) fn new() -> Self {
        Self::with(OnReset::Grant, &[])
    }

    /// The same with some texts of its clients' scripts changed.
    pub(crate) fn changed(changes: &[Change]) -> Self {
        Self::with(OnReset::Grant, changes)
    }

    /// On a server of the test's own.
    pub(crate) fn at(url: &str, on_reset: OnReset, changes: &[Change]) -> Self {
        let mut bench = Self::with(on_reset, changes);
        url.clone_into(&mut bench.url);
        bench
    }

    /// The same registry, for clients whose scripts are changed.
    pub(crate) fn with_changes(&self, changes: &[Change]) -> Self {
        let mut bench = Self::at(&self.url, self.on_reset, changes);
        bench.namespace.clone_from(&self.namespace);
        bench
    }

    /// The same namespace on another server.
    pub(crate) fn at_another(&self, url: &str) -> Self {
        let mut bench = self.with_changes(&self.changes);
        url.clone_into(&mut bench.url);
        bench
    }

    fn with(on_reset: OnReset, changes: &[Change]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let namespace = format!("test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        Self {
            url: url(),
            others: Mutex::default(),
            namespace,
            changes: changes.to_vec(),
            ttl: Duration::from_secs(300),
            on_reset,
        }
    }

    pub(crate) fn agreement(&self) -> Agreement {
        Agreement { layout: few_machines(), ttl: self.ttl, fingerprint: None, durable: false }
    }

    /// What a client of it is made of.
    pub(crate) fn setup(&self) -> Setup {
        Setup {
            settings: settings(&self.url),
            namespace: self.namespace.clone(),
            machine_ids: MachineIds::new(&few_machines(), None).unwrap(),
            agreement: self.agreement(),
            on_reset: self.on_reset,
            keep_open: false,
        }
    }

    /// A new client that agrees to something else, or is let in some other way.
    pub(crate) fn client_with(&self, change: impl FnOnce(&mut Setup)) -> Redis {
        let mut setup = self.setup();
        change(&mut setup);
        if setup.namespace != self.namespace {
            self.others.lock().unwrap().push(setup.namespace.clone());
        }
        let namespace = setup.namespace.clone();
        Redis::new(setup).rewritten(&|script| self.on_the_clock_of(&namespace, script))
    }

    /// A script with the bench's changes, that reads the bench's clock.
    pub(crate) fn on_its_clock(&self, script: &str) -> String {
        self.on_the_clock_of(&self.namespace, script)
    }

    fn on_the_clock_of(&self, namespace: &str, script: &str) -> String {
        let clock = format!("{CLOCK} + tonumber(redis.call('GET', '{}') or '0')", clock_of(namespace));
        let changed = self.changes.iter().fold(script.to_owned(), |text, (from, to)| text.replace(from, to));
        assert!(changed.contains(CLOCK), "the clock is read somewhere");
        changed.replace(CLOCK, &clock)
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The hash that the registry is in.
    pub(crate) fn key(&self) -> String {
        key_of(&self.namespace)
    }

    fn clock(&self) -> String {
        clock_of(&self.namespace)
    }

    /// Runs one command as it is.
    pub(crate) fn run(&self, parts: &[&str]) -> Value {
        self.try_run(&self.key(), parts).unwrap_or_else(|error| panic!("{parts:?}: {error}"))
    }

    fn try_run(&self, key: &str, parts: &[&str]) -> Result<Value, Error> {
        let settings = settings(&self.url);
        crate::support::bench::block_on(async {
            let connection = connect(&settings, key).await?;
            let parts: Vec<_> = parts.iter().map(|part| part.as_bytes()).collect();
            connection.command(&parts).await
        })
    }

    /// One field of the registry.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        match self.run(&["HGET", &self.key(), name]) {
            Value::BulkString(bytes) => Some(String::from_utf8(bytes).unwrap()),
            Value::Nil => None,
            other => panic!("{other:?}"),
        }
    }

    /// Writes one field of the registry.
    pub(crate) fn set(&self, name: &str, value: &str) {
        self.run(&["HSET", &self.key(), name, value]);
    }

    /// Deletes some fields of the registry.
    pub(crate) fn unset(&self, names: &[&str]) {
        self.run(&[&["HDEL", &self.key()], names].concat());
    }
}

/// How to get to an address.
pub(crate) fn settings(url: &str) -> Settings {
    Settings::parse(url, &TlsOptions::default()).unwrap()
}

fn key_of(namespace: &str) -> String {
    format!("mintid:{{{namespace}}}")
}

fn clock_of(namespace: &str) -> String {
    format!("clock:{{{namespace}}}")
}

impl Drop for RedisBench {
    fn drop(&mut self) {
        let namespaces = self.others.get_mut().map(std::mem::take).unwrap_or_default();
        for namespace in namespaces.iter().chain([&self.namespace]) {
            // A server of the test's own may be gone.
            let key = key_of(namespace);
            let _ = self.try_run(&key, &["DEL", &key, &clock_of(namespace)]);
        }
    }
}

impl Bench for RedisBench {
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
        // No script takes a time of the client's: its clock has no way in.
        Arc::new(self.client_with(|setup| setup.machine_ids = machine_ids))
    }

    fn pass(&self, by: Duration) {
        self.step(by.as_millis() as i64);
    }

    fn step(&self, by_ms: i64) {
        self.run(&["INCRBY", &self.clock(), &by_ms.to_string()]);
    }

    fn die(&self, holder: Holder) {
        let left_ms = holder.lease().end_ms as i64 + 1 - self.now_ms();
        self.step(left_ms.max(0));
    }
}

impl RegistryBench for RedisBench {
    type Client = Redis;

    fn of(on_reset: OnReset, changes: &[Change]) -> Self {
        Self::with(on_reset, changes)
    }

    fn client_on(&self, change: impl FnOnce(&mut Terms)) -> Redis {
        let mut terms = terms(&self.namespace, self.on_reset);
        change(&mut terms);
        self.client_with(|setup| {
            setup.namespace = terms.namespace;
            setup.machine_ids = terms.machine_ids;
            setup.agreement = terms.agreement;
            setup.on_reset = terms.on_reset;
        })
    }

    fn now_ms(&self) -> i64 {
        let Value::Array(time) = self.run(&["TIME"]) else { panic!("no time") };
        let part = |at: usize| match &time[at] {
            Value::BulkString(bytes) => std::str::from_utf8(bytes).unwrap().parse::<i64>().unwrap(),
            other => panic!("{other:?}"),
        };
        let shift = match self.run(&["GET", &self.clock()]) {
            Value::BulkString(bytes) => std::str::from_utf8(&bytes).unwrap().parse::<i64>().unwrap(),
            _ => 0,
        };
        part(0) * 1000 + part(1) / 1000 + shift
    }

    fn ways_to_forget() -> Vec<Way<Self>> {
        vec![
            ("the hash is gone", |bench| {
                bench.run(&["DEL", &bench.key()]);
            }),
            ("the server runs anew, with nothing lost", Self::change_incarnation),
            ("the incarnation is gone", |bench| bench.unset(&["incarnation"])),
            ("the protocol is gone", |bench| bench.unset(&["protocol"])),
            ("the end of the wait is gone", |bench| bench.unset(&["not_before"])),
            ("each end is gone", |bench| {
                let ends: Vec<String> = (0..31).map(|machine| format!("e{machine}")).collect();
                bench.unset(&ends.iter().map(String::as_str).collect::<Vec<_>>());
            }),
            ("all but the incarnation is gone", |bench| {
                let incarnation = bench.field("incarnation").unwrap();
                bench.run(&["DEL", &bench.key()]);
                bench.set("incarnation", &incarnation);
            }),
        ]
    }

    fn change_incarnation(&self) {
        self.set("incarnation", "0123456789abcdef0123456789abcdef01234567");
        // Nor does it have a file that is believed.
        self.unset(&["aof"]);
    }

    fn forget_leases(&self) {
        for machine in 0..31 {
            self.write(machine, None, 0);
        }
    }

    fn write(&self, machine: u32, token: Option<[u8; 16]>, end_ms: i64) {
        self.set(&format!("e{machine}"), &end_ms.to_string());
        let field = format!("t{machine}");
        match token {
            Some(token) => self.set(&field, &hex(token)),
            None => self.unset(&[&field]),
        }
    }

    fn delete(&self, machine: u32) {
        self.unset(&[&format!("e{machine}")]);
    }

    fn kept(&self, machine: u32) -> (i64, bool) {
        let end_ms = self.field(&format!("e{machine}")).unwrap().parse().unwrap();
        (end_ms, self.field(&format!("t{machine}")).is_some())
    }

    fn not_before_ms(&self) -> i64 {
        self.field("not_before").unwrap().parse().unwrap()
    }

    fn quarantine_ms(&self) -> i64 {
        // Where a failover can have two masters for a while.
        let former = ["+sentinel", "+cluster", "cluster=true"].iter().any(|part| self.url.contains(part));
        if former { 322_000 } else { 302_000 }
    }

    fn keys(&self) -> usize {
        self.field("keys").map_or(0, |keys| keys.split(',').count())
    }

    fn speak(&self, protocol: i32) {
        self.set("protocol", &protocol.to_string());
    }
}
