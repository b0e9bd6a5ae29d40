//! A registry in a hash of its own, whose clock the test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mintid::coordinator::redis::{Redis, Settings, Setup, Value, connect};
use mintid::coordinator::registry::{Agreement, OnReset};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, MachineIds};
use mintid::layout::Layout;

use crate::support::bench::{Bench, Change, Holder, Kind, few_machines};

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

    /// A registry where newcomers wait for what it may have forgotten.
    pub(crate) fn waiting() -> Self {
        Self::with(OnReset::Wait, &[])
    }

    /// Both.
    pub(crate) fn waiting_changed(changes: &[Change]) -> Self {
        Self::with(OnReset::Wait, changes)
    }

    /// On a server of the test's own.
    pub(crate) fn at(url: &str, on_reset: OnReset) -> Self {
        let mut bench = Self::with(on_reset, &[]);
        url.clone_into(&mut bench.url);
        bench
    }

    fn with(on_reset: OnReset, changes: &[Change]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let namespace = format!("test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        Self { url: url(), namespace, changes: changes.to_vec(), ttl: Duration::from_secs(300), on_reset }
    }

    pub(crate) fn agreement(&self) -> Agreement {
        Agreement { layout: few_machines(), ttl: self.ttl, fingerprint: None, durable: false }
    }

    /// A new client that agrees to something else, or is let in some other way.
    pub(crate) fn client_with(&self, change: impl FnOnce(&mut Setup)) -> Redis {
        let mut setup = Setup {
            settings: Settings::parse(&self.url, &TlsOptions::default()).unwrap(),
            namespace: self.namespace.clone(),
            machine_ids: MachineIds::new(&few_machines(), None).unwrap(),
            agreement: self.agreement(),
            on_reset: self.on_reset,
            keep_open: false,
        };
        change(&mut setup);
        Redis::new(setup).rewritten(&|script| self.on_its_clock(script))
    }

    /// A script with the bench's changes, that reads the bench's clock.
    pub(crate) fn on_its_clock(&self, script: &str) -> String {
        let clock = format!("{CLOCK} + tonumber(redis.call('GET', '{}') or '0')", self.clock());
        let changed = self.changes.iter().fold(script.to_owned(), |text, (from, to)| text.replace(from, to));
        assert!(changed.contains(CLOCK), "the clock is read somewhere");
        changed.replace(CLOCK, &clock)
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The hash that the registry is in.
    pub(crate) fn key(&self) -> String {
        format!("mintid:{{{}}}", self.namespace)
    }

    fn clock(&self) -> String {
        format!("clock:{{{}}}", self.namespace)
    }

    /// Runs one command as it is.
    pub(crate) fn run(&self, parts: &[&str]) -> Value {
        let settings = Settings::parse(&self.url, &TlsOptions::default()).unwrap();
        crate::support::bench::block_on(async {
            let connection = connect(&settings, &self.key()).await.expect("the Redis of MINTID_TEST_REDIS");
            let parts: Vec<_> = parts.iter().map(|part| part.as_bytes()).collect();
            connection.command(&parts).await.unwrap()
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

    /// The registry's time.
    pub(crate) fn now_ms(&self) -> i64 {
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
}

impl Drop for RedisBench {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.run(&["DEL", &self.key(), &self.clock()]);
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
