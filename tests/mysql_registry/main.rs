//! What a registry in MySQL or MariaDB does beside leasing: it notices that it may have forgotten leases, lets holders go on
//! and newcomers wait, refuses who disagrees, and keeps to its locks.

#![cfg(all(feature = "mysql", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod forgetting;
mod keeping;
mod locks;
#[path = "../support/mysql_server.rs"]
mod mysql_server;
mod servers;
#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use mintid::coordinator::registry::{Mode, Registry};
use mintid::coordinator::{Coordinator, Lease, Renewal};
use mintid::error::Error;

use crate::support::bench::{Bench, Holder, wait};
use crate::support::mysql::MySqlBench;

const TTL: Duration = Duration::from_secs(300);
/// 300 s and the margin of 2 s.
const QUARANTINE_MS: i64 = 302_000;

/// A registry past its first wait, and a holder in it.
fn settled(bench: &MySqlBench) -> Holder {
    wait(bench.client_with(|_| {}).setup(Mode::Fresh)).unwrap();
    bench.holder(0, 3)
}

fn renewed(holder: &mut Holder) -> Result<Lease, Renewal> {
    holder.try_renew(TTL)
}

fn refusal(client: &dyn Coordinator) -> Error {
    wait(client.acquire(TTL)).expect_err("granted")
}
