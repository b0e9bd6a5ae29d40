//! The contract suite on MySQL and MariaDB; and the same with one rule at a time taken out of the SQL, each of which the
//! suite must notice.

#![cfg(feature = "mysql")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use support::mysql::MySqlBench;

mod suite {
    crate::contract::suite!(super::MySqlBench::new());
}
