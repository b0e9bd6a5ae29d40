//! What an operator announces with `setup --restored`: a registry that was put back as it was, which nothing in it shows.

#![cfg(all(feature = "mysql", feature = "postgres", feature = "redis"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::time::Duration;

use mintid::coordinator::Renewal;
use mintid::coordinator::registry::{Mode, OnReset, Registry, Report};

use crate::support::bench::{Bench, must_wait, wait};
use crate::support::mysql::MySqlBench;
use crate::support::postgres::PostgresBench;
use crate::support::redis::RedisBench;

const TTL: Duration = Duration::from_secs(300);
/// 300 s and the margin of 2 s.
const QUARANTINE_MS: i64 = 302_000;

/// A registry that can be put back, and looks the same.
trait Restorable: Bench {
    fn setup(&self, mode: Mode, on_reset: OnReset) -> Report;

    /// As a backup has it from before machine ID 0 was leased.
    fn restore(&self);

    fn time_ms(&self) -> i64;
}

impl Restorable for PostgresBench {
    fn setup(&self, mode: Mode, on_reset: OnReset) -> Report {
        wait(self.client_with(|setup| setup.on_reset = on_reset).setup(mode)).unwrap()
    }

    fn restore(&self) {
        self.run("update mintid_leases set token = null, expires_at = 'epoch', acquired_at = null where id = 0");
    }

    fn time_ms(&self) -> i64 {
        self.now_ms()
    }
}

impl Restorable for MySqlBench {
    fn setup(&self, mode: Mode, on_reset: OnReset) -> Report {
        wait(self.client_with(|setup| setup.on_reset = on_reset).setup(mode)).unwrap()
    }

    fn restore(&self) {
        self.run("update mintid_leases set token = null, expires_at = '1970-01-01', acquired_at = null where id = 0");
    }

    fn time_ms(&self) -> i64 {
        self.now_ms()
    }
}

impl Restorable for RedisBench {
    fn setup(&self, mode: Mode, on_reset: OnReset) -> Report {
        wait(self.client_with(|setup| setup.on_reset = on_reset).setup(mode)).unwrap()
    }

    fn restore(&self) {
        self.set("e0", "0");
        self.run(&["HDEL", &self.key(), "t0"]);
    }

    fn time_ms(&self) -> i64 {
        self.now_ms()
    }
}

fn an_announced_restore_makes_newcomers_wait_and_holders_go_on(bench: &impl Restorable) {
    bench.setup(Mode::Fresh, OnReset::Wait);
    let holder = bench.holder(0, 0);
    bench.restore();
    let report = bench.setup(Mode::Restored, OnReset::Wait);
    assert!((report.not_before_ms as i64 - bench.time_ms() - QUARANTINE_MS).abs() < 5000, "{report:?}");
    assert!(!report.created, "{report:?}");
    assert!(must_wait(&*bench.within(0, 0), TTL));

    bench.step(QUARANTINE_MS / 2);
    let again = bench.setup(Mode::Restored, OnReset::Grant);
    let later = (again.not_before_ms - report.not_before_ms) as i64;
    assert!((later - QUARANTINE_MS / 2).abs() < 5000, "the wait begins anew: {later} ms");
    assert_eq!(bench.setup(Mode::Plain, OnReset::Wait).not_before_ms, again.not_before_ms);

    let mut lease = holder.grant.lease;
    for step in [0, QUARANTINE_MS / 2, QUARANTINE_MS / 2 - 1000] {
        bench.step(step);
        assert!(must_wait(&*bench.within(1, 1), TTL));
        let renewal = wait(holder.client.renew(&lease, TTL));
        let Renewal::Granted(grant) = renewal else { panic!("a holder was stopped: {renewal:?}") };
        assert_eq!((grant.lease.machine, grant.lease.token), (0, lease.token));
        lease = grant.lease;
    }
    bench.step(1500);
    assert!(!must_wait(&*bench.within(1, 1), TTL));
    wait(bench.within(0, 0).acquire(TTL)).expect_err("machine ID 0 was granted twice");
}

/// Else the test above would show nothing.
fn a_restore_that_nobody_announces_is_not_noticed_by_newcomers(bench: &impl Restorable) {
    bench.setup(Mode::Fresh, OnReset::Wait);
    let holder = bench.holder(0, 0);
    bench.restore();
    let grant = wait(bench.within(0, 0).acquire(TTL)).unwrap();
    assert_eq!(grant.lease.machine, holder.grant.lease.machine);
}

#[test]
fn postgres() {
    an_announced_restore_makes_newcomers_wait_and_holders_go_on(&PostgresBench::waiting());
    a_restore_that_nobody_announces_is_not_noticed_by_newcomers(&PostgresBench::waiting());
}

#[test]
fn mysql() {
    an_announced_restore_makes_newcomers_wait_and_holders_go_on(&MySqlBench::waiting());
    a_restore_that_nobody_announces_is_not_noticed_by_newcomers(&MySqlBench::waiting());
}

#[test]
fn redis() {
    an_announced_restore_makes_newcomers_wait_and_holders_go_on(&RedisBench::waiting());
    a_restore_that_nobody_announces_is_not_noticed_by_newcomers(&RedisBench::waiting());
}
