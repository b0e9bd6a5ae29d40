//! The life of a lease as the real actor lives it, over a coordinator in memory and in virtual time.

#![cfg(feature = "runtime")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod acquire;
mod close;
mod guard;
mod life;
mod loss;
mod renew;
#[path = "../support/mod.rs"]
mod support;
