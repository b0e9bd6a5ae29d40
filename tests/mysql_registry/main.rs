//! What a registry in MySQL or MariaDB does beside leasing: it notices that it may have forgotten leases, lets holders go on
//! and newcomers wait, refuses who disagrees, and keeps to its locks.

#![cfg(all(feature = "mysql", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod forgetting;
mod keeping;
mod locks;
#[path = "../support/mysql_server.rs"]
mod mysql_server;
#[path = "../support/registry_suite/mod.rs"]
mod registry_suite;
mod servers;
#[path = "../support/mod.rs"]
mod support;

mod suite {
    crate::registry_suite::suite!(crate::support::mysql::MySqlBench);
}
