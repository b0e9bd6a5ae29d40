//! What a PostgreSQL registry does beside leasing: it notices that it may have forgotten leases, lets holders go on and
//! newcomers wait, and refuses who disagrees.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod forgetting;
mod keeping;
#[path = "../support/registry_suite/mod.rs"]
mod registry_suite;
#[path = "../support/mod.rs"]
mod support;

mod suite {
    crate::registry_suite::suite!(crate::support::postgres::PostgresBench);
}
