//! What the tests of coordinators and of a lease's life share. `contract.rs` is declared where it is used.

#![allow(dead_code, reason = "each test crate uses its own part of this")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

pub(crate) mod bench;
pub(crate) mod clock;
#[cfg(feature = "redis")]
pub(crate) mod lent_eval;
#[cfg(feature = "mysql")]
pub(crate) mod lent_mysql;
#[cfg(feature = "postgres")]
pub(crate) mod lent_query;
pub(crate) mod memory;
#[cfg(feature = "mysql")]
pub(crate) mod mysql;
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(crate) mod nononcense;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(feature = "redis")]
pub(crate) mod redis;
#[cfg(feature = "tls")]
pub(crate) mod registry;
pub(crate) mod unreliable;

/// 2025-11-30T10:53:20Z, in milliseconds since 1970: when the tests begin.
pub(crate) const T0_MS: u64 = 1_764_500_000_000;

/// One hour, in milliseconds.
pub(crate) const HOUR_MS: i64 = 3_600_000;
