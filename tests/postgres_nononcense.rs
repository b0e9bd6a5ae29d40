//! NoNoncense's table beside ours in PostgreSQL: the recorded steps of the original, and both taking turns on one table.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use mintid::coordinator::postgres::{Postgres, Settings};
use mintid::coordinator::registry::OnReset;
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, MachineIds};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;

use support::bench::wait;
use support::nononcense::{self, TTL, TheirTable};
use support::postgres::PostgresBench;

impl TheirTable for PostgresBench {
    const TABLE: &str = "create table no_noncense_leases (
      id smallint primary key, token bytea, expires_at timestamp not null, lock_version integer not null default 0);
      insert into no_noncense_leases (id, expires_at) select id, 'epoch' from generate_series(0, 511) as id";
    const TOKEN: &str = "coalesce(encode(token, 'hex'), '')";
    const LEFT: &str = "extract(epoch from expires_at at time zone 'UTC' - clock_timestamp())::float8";
    const END_MS: &str = "floor(extract(epoch from expires_at) * 1000)::int8";
    type Client = Postgres;

    fn create() -> Self {
        Self::new()
    }

    fn client(&self, on_reset: OnReset) -> Postgres {
        self.client_with(|setup| {
            let url = format!("{}&registry=nononcense", self.url());
            setup.settings = Settings::parse(&url, &TlsOptions::default()).unwrap();
            setup.machine_ids = MachineIds::new(&Layout::DEFAULT, None).unwrap();
            setup.agreement.layout = Layout::DEFAULT;
            setup.on_reset = on_reset;
        })
    }

    fn run(&self, sql: &str) {
        PostgresBench::run(self, sql);
    }

    fn text(&self, sql: &str) -> String {
        PostgresBench::text(self, sql)
    }

    fn moment(seconds: i64) -> String {
        format!("((clock_timestamp() + interval '{seconds} seconds') at time zone 'UTC')")
    }

    fn in_ours(moment: &str) -> String {
        format!("({moment} at time zone 'UTC')")
    }

    fn bytes(hex: &str) -> String {
        format!("'\\x{hex}'")
    }
}

#[test]
fn the_recorded_steps_of_the_original_come_out_the_same_or_stricter() {
    nononcense::recorded_steps::<PostgresBench>();
}

#[test]
fn theirs_and_ours_take_turns_on_one_table_and_never_hold_the_same() {
    nononcense::they_take_turns(&PostgresBench::new());
}

#[test]
fn a_row_that_one_of_their_nodes_took_is_lost() {
    nononcense::what_another_took_is_lost(&PostgresBench::new());
}

#[test]
fn what_their_table_forgot_is_put_back_while_newcomers_wait() {
    nononcense::what_was_forgotten_is_put_back(&PostgresBench::new());
}

#[test]
fn a_missing_table_and_a_zone_that_is_not_utc_are_refused() {
    let bench = PostgresBench::new();
    let error = wait(TheirTable::client(&bench, OnReset::Grant).acquire(TTL)).unwrap_err();
    assert_eq!((error.code(), error.retry()), (Code::Config, Retry::Never), "{error}");
    assert!(error.message().contains("NoNoncense's migration makes it"), "{error}");
    bench.run(PostgresBench::TABLE);
    let role = bench.role("login superuser");
    let client = |zone: &str| {
        bench.run(&format!("alter role {role} set timezone to '{zone}'"));
        let by_role = bench.url_as(&role);
        let settings = Settings::parse(&format!("{by_role}&registry=nononcense"), &TlsOptions::default()).unwrap();
        bench.client_with(|setup| setup.settings = settings)
    };
    for zone in ["Europe/London", "Asia/Tokyo", "Etc/GMT+1"] {
        let error = wait(client(zone).acquire(TTL)).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some("coordinator")), "{error}");
        assert!(error.message().contains(zone) && error.message().contains("UTC"), "{error}");
    }
    for zone in ["UTC", "Etc/UTC", "gmt"] {
        wait(client(zone).acquire(TTL)).unwrap_or_else(|error| panic!("{zone}: {error}"));
    }
}
