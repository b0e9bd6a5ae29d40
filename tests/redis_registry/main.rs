//! What a registry in Redis or Valkey does beside leasing: it notices that it may have forgotten leases, also after restarts
//! and failovers of servers that these tests start, lets holders go on and newcomers wait, and refuses who disagrees.

#![cfg(all(feature = "redis", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod append_only;
mod examination;
mod failures;
mod memory;
#[path = "../support/redis_server.rs"]
mod redis_server;
#[path = "../support/registry_suite/mod.rs"]
mod registry_suite;
mod replicas;
mod restarts;
mod rights;
mod rules;
#[path = "../support/mod.rs"]
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use mintid::coordinator::registry::{Mode, OnReset, Registry as _};
use mintid::coordinator::{Coordinator, Renewal};
use mintid::error::{Code, Error, Retry};

use crate::redis_server::Server;
use crate::support::bench::{Change, wait};
use crate::support::redis::RedisBench;
use crate::support::registry::{RegistryBench as _, TTL};

mod suite {
    crate::registry_suite::suite!(crate::support::redis::RedisBench);
}

fn url(server: &Server) -> String {
    format!("redis://127.0.0.1:{}", server.port)
}

/// A registry on a server of the test's own, with nothing to wait for, and nobody in it.
fn registry(server: &Server, changes: &[Change]) -> RedisBench {
    let bench = RedisBench::at(&url(server), OnReset::Wait, changes);
    wait(bench.client_of_all().setup(Mode::Fresh)).unwrap();
    bench
}

/// Ends a server as a crash does, and starts it again.
fn crash(server: &Server) {
    server.kill();
    server.launch();
    server.wait_for(&["PING"], "PONG");
}

/// What an operation could not do for now, and what is advised.
#[track_caller]
fn expect(error: &Error, retry: Retry, server_code: Option<&str>, advice: &str) {
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, retry), "{error:?}");
    assert_eq!(error.fields().server_code.as_deref(), server_code, "{error:?}");
    assert!(error.fields().hint.as_deref().unwrap_or_default().contains(advice), "{error:?}");
}

/// Why a renewal was not answered; a lease that is lost is another answer.
#[track_caller]
fn unknown(client: &dyn Coordinator, lease: &mintid::coordinator::Lease) -> Error {
    match wait(client.renew(lease, TTL)) {
        Renewal::Unknown(error) => error,
        other => panic!("{other:?}"),
    }
}

/// A rule, what is changed in the scripts to break it, and the check that must notice.
type Rule<'a> = (&'a str, &'a [Change], fn(&[Change]));

/// Takes one rule at a time out of the scripts: each check passes with it, and fails without.
fn rules_are_missed(rules: &[Rule<'_>]) {
    for (rule, changes, check) in rules {
        catch_unwind(AssertUnwindSafe(|| check(&[]))).unwrap_or_else(|_| panic!("{rule}: the check fails anyway"));
        let outcome = catch_unwind(AssertUnwindSafe(|| check(changes)));
        assert!(outcome.is_err(), "nobody noticed the lack of: {rule}");
    }
}
