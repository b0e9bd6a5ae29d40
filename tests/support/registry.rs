//! What a registry on a server brings to its suite, which is in `registry_suite/`.

use std::time::Duration;

use mintid::coordinator::MachineIds;
use mintid::coordinator::keeper::Terms;
use mintid::coordinator::registry::{Agreement, OnReset, Registry};

use crate::support::bench::{Bench, Change, few_machines};

/// How long the leases of these checks last.
pub(crate) const TTL: Duration = Duration::from_secs(300);
/// 300 s and the margin of 2 s.
const QUARANTINE_MS: i64 = 302_000;

/// What happens to a registry, and what makes it happen.
pub(crate) type Way<B> = (&'static str, fn(&B));

/// An empty registry on a server, and hands in it. Each check gets a new one.
pub(crate) trait RegistryBench: Bench + Sized + 'static {
    /// A client of it.
    type Client: Registry;

    /// A registry where newcomers wait for what it may have forgotten, or not; with some texts of its clients' statements
    /// changed.
    fn of(on_reset: OnReset, changes: &[Change]) -> Self;

    /// A client on other terms than the rest.
    fn client_on(&self, change: impl FnOnce(&mut Terms)) -> Self::Client;

    /// The registry's time.
    fn now_ms(&self) -> i64;

    /// All that makes it forget something, though its holders can go on; with what was forgotten.
    fn ways_to_forget() -> Vec<Way<Self>>;

    /// It is another incarnation now; nothing else is lost.
    fn change_incarnation(&self);

    /// Every lease is lost, as if there never had been one.
    fn forget_leases(&self);

    /// Writes what is kept of a machine ID: the token while it is leased, and the end.
    fn write(&self, machine: u32, token: Option<[u8; 16]>, end_ms: i64);

    /// Deletes what is kept of a machine ID.
    fn delete(&self, machine: u32);

    /// The end that is kept of a machine ID, and whether a token is.
    fn kept(&self, machine: u32) -> (i64, bool);

    /// Until when nothing is granted to newcomers.
    fn not_before_ms(&self) -> i64;

    /// How many base keys are known.
    fn keys(&self) -> usize;

    /// Makes it a registry of another protocol.
    fn speak(&self, protocol: i32);

    /// How long newcomers wait after a reset.
    fn quarantine_ms(&self) -> i64 {
        QUARANTINE_MS
    }

    /// Newcomers wait.
    fn waiting() -> Self {
        Self::of(OnReset::Wait, &[])
    }

    /// Newcomers do not wait.
    fn granting() -> Self {
        Self::of(OnReset::Grant, &[])
    }

    /// A client on the terms of the rest.
    fn client_of_all(&self) -> Self::Client {
        self.client_on(|_| {})
    }
}

/// A token as servers take it.
pub(crate) fn hex(token: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(token))
}

/// The terms of most clients of a bench.
pub(crate) fn terms(namespace: &str, on_reset: OnReset) -> Terms {
    Terms {
        namespace: namespace.to_owned(),
        machine_ids: MachineIds::new(&few_machines(), None).unwrap(),
        agreement: Agreement { layout: few_machines(), ttl: TTL, fingerprint: None, durable: false },
        on_reset,
        holder: String::new(),
    }
}
