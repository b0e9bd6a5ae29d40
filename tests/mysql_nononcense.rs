//! NoNoncense's table beside ours in MySQL and MariaDB: the recorded steps of the original, both taking turns on one table,
//! and what only one statement over both tables can keep.

#![cfg(all(feature = "mysql", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/mysql_server.rs"]
mod mysql_server;
mod support;

use std::collections::BTreeSet;
use std::thread;

use mintid::coordinator::mysql::{MySql, Settings, connect};
use mintid::coordinator::registry::{Mode, OnReset, Registry};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, MachineIds, Renewal};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;

use mysql_server::Server;
use support::bench::{Rule, block_on, every_rule_is_missed, wait};
use support::mysql::MySqlBench;
use support::nononcense::{self, TTL, TheirTable};

impl TheirTable for MySqlBench {
    const TABLE: &str = "create table no_noncense_leases (
      id smallint primary key, token blob, expires_at datetime(6) not null, lock_version int not null default 0);
      insert into no_noncense_leases (id, expires_at)
      with recursive ids (id) as (select 0 union all select id + 1 from ids where id < 511)
      select id, '1970-01-01' from ids";
    const TOKEN: &str = "coalesce(lower(hex(token)), '')";
    const LEFT: &str = "timestampdiff(microsecond, utc_timestamp(6), expires_at) / 1000000";
    const END_MS: &str = "timestampdiff(microsecond, '1970-01-01', expires_at) div 1000";
    type Client = MySql;

    fn create() -> Self {
        Self::new()
    }

    fn client(&self, on_reset: OnReset) -> MySql {
        client_at(self, &self.url(), on_reset)
    }

    fn run(&self, sql: &str) {
        MySqlBench::run(self, sql);
    }

    fn text(&self, sql: &str) -> String {
        MySqlBench::text(self, sql)
    }

    fn moment(seconds: i64) -> String {
        format!("(utc_timestamp(6) + interval {seconds} second)")
    }

    fn in_ours(moment: &str) -> String {
        moment.to_owned()
    }

    fn bytes(hex: &str) -> String {
        format!("X'{hex}'")
    }
}

fn client_at(bench: &MySqlBench, url: &str, on_reset: OnReset) -> MySql {
    let url = format!("{url}{}registry=nononcense", if url.contains('?') { '&' } else { '?' });
    bench.client_with(|setup| {
        setup.settings = Settings::parse(&url, &TlsOptions::default()).unwrap();
        setup.machine_ids = MachineIds::new(&Layout::DEFAULT, None).unwrap();
        setup.agreement.layout = Layout::DEFAULT;
        setup.on_reset = on_reset;
    })
}

#[test]
fn the_recorded_steps_of_the_original_come_out_the_same_or_stricter() {
    nononcense::recorded_steps::<MySqlBench>();
}

#[test]
fn theirs_and_ours_take_turns_on_one_table_and_never_hold_the_same() {
    nononcense::they_take_turns(&MySqlBench::new());
}

#[test]
fn a_row_that_one_of_their_nodes_took_is_lost() {
    nononcense::what_another_took_is_lost(&MySqlBench::new());
}

#[test]
fn what_their_table_forgot_is_put_back_while_newcomers_wait() {
    nononcense::what_was_forgotten_is_put_back(&MySqlBench::new());
}

#[test]
fn a_row_that_is_missing_there_is_neither_leased_nor_kept() {
    let bench = MySqlBench::new();
    bench.run(MySqlBench::TABLE);
    let client = TheirTable::client(&bench, OnReset::Grant);
    let lease = wait(client.acquire(TTL)).unwrap().lease;
    assert_eq!(lease.machine, 0);
    bench.run("delete from no_noncense_leases where id in (0, 1)");
    assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Lost(_)));
    let grant = wait(client.acquire(TTL)).unwrap();
    assert_eq!(grant.lease.machine, 2);
    bench.run("delete from no_noncense_leases where id > 2");
    assert_eq!(wait(client.acquire(TTL)).unwrap_err().code(), Code::Exhausted);
}

#[test]
fn a_missing_table_and_a_zone_that_is_not_utc_are_refused() {
    let server = Server::start(&[]);
    server.settle();
    let bench = MySqlBench::waiting_at(&format!("mysql://root@localhost/test?socket={}", server.socket()));
    let client = || TheirTable::client(&bench, OnReset::Grant);
    let error = wait(client().acquire(TTL)).unwrap_err();
    assert_eq!((error.code(), error.retry()), (Code::Config, Retry::Never), "{error}");
    assert!(error.message().contains("no table no_noncense_leases; NoNoncense's migration makes it"), "{error}");
    assert_eq!(error.fields().hint.as_deref(), Some("or this user may not see it: grant select and update on it"));
    bench.run(MySqlBench::TABLE);
    for zone in ["+01:00", "-05:00"] {
        server.sql(&format!("set global time_zone = '{zone}'"));
        let error = wait(client().acquire(TTL)).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some("coordinator")), "{error}");
        assert!(error.message().contains(&format!("default one is {zone}: ")), "{error}");
        assert!(error.message().contains("expected UTC"), "{error}");
    }
    server.sql("set global time_zone = '+00:00'");
    wait(client().acquire(TTL)).unwrap();
}

/// What is changed in the SQL, the check that must notice, and what it must say.
const BROKEN: [Rule<MySqlBench>; 6] = [
    (
        "grant only what is free there",
        &[(" and theirs.expires_at < utc_timestamp(6)", ""), (" and candidate.their_end < judged.moment", "")],
        nononcense::they_take_turns,
        "two hold one machine ID",
    ),
    (
        "what is leased is leased there",
        &[(
            "theirs.expires_at = claimed.moment + interval $5 * 1000 microsecond",
            "theirs.expires_at = theirs.expires_at",
        )],
        nononcense::they_take_turns,
        "two hold one machine ID",
    ),
    (
        "renewing needs the token there",
        &[(" and their_view = 'ours'", ""), (" and their_view <> 'other'", "")],
        nononcense::what_another_took_is_lost,
        "renewed what another holds",
    ),
    (
        "what another holds was not forgotten",
        &[(" and their_view <> 'other'", "")],
        nononcense::what_another_took_is_lost,
        "renewed what another holds",
    ),
    (
        "what is renewed is renewed there",
        &[("theirs.expires_at = decided.new_end", "theirs.expires_at = theirs.expires_at")],
        nononcense::what_was_forgotten_is_put_back,
        "s are left",
    ),
    (
        "what is released is released there",
        &[("theirs.expires_at = greatest(\n", "theirs.expires_at = greatest(theirs.expires_at,\n")],
        what_is_released_is_free_there,
        "is not free for them",
    ),
];

#[test]
fn sql_without_one_of_its_rules_does_not_pass() {
    every_rule_is_missed(&BROKEN, MySqlBench::changed);
}

fn what_is_released_is_free_there(bench: &MySqlBench) {
    bench.run(MySqlBench::TABLE);
    let client = TheirTable::client(bench, OnReset::Grant);
    let lease = wait(client.acquire(TTL)).unwrap().lease;
    wait(client.release(&lease, 0)).unwrap();
    let taken = nononcense::their_acquire(bench, 1).map(|(id, _)| id);
    assert_eq!(taken, Some(i64::from(lease.machine)), "what was released is not free for them");
}

#[test]
fn a_release_frees_it_for_them() {
    what_is_released_is_free_there(&MySqlBench::new());
}

#[test]
fn rows_that_one_of_their_nodes_is_at_are_skipped() {
    let bench = MySqlBench::new();
    bench.run(MySqlBench::TABLE);
    let client = TheirTable::client(&bench, OnReset::Grant);
    wait(client.setup(Mode::Fresh)).unwrap();
    let connection = block_on(async {
        let connection = connect(&Settings::parse(&bench.url(), &TlsOptions::default()).unwrap()).await.unwrap();
        connection.query("begin", &[]).await.unwrap();
        connection.query("update no_noncense_leases set lock_version = 7 where id < 3", &[]).await.unwrap();
        connection
    });
    assert_eq!(wait(client.acquire(TTL)).unwrap().lease.machine, 3);
    block_on(connection.query("rollback", &[])).unwrap();
    assert_eq!(wait(client.acquire(TTL)).unwrap().lease.machine, 0);
}

#[test]
fn theirs_and_ours_at_once_never_hold_the_same() {
    const EACH: usize = 20;
    let bench = MySqlBench::new();
    bench.run(MySqlBench::TABLE);
    wait(TheirTable::client(&bench, OnReset::Grant).setup(Mode::Fresh)).unwrap();
    let bench = &bench;
    let (ours, theirs) = thread::scope(|scope| {
        let ours = [(); 3].map(|()| {
            scope.spawn(|| {
                let client = TheirTable::client(bench, OnReset::Grant);
                (0..EACH).map(|_| wait(client.acquire(TTL)).unwrap().lease.machine.into()).collect::<Vec<i64>>()
            })
        });
        let theirs = [1, 2].map(|node| {
            // Who loses a row to another looks again.
            let acquire = move |round| (0..).find_map(|_| nononcense::their_acquire(bench, node * 1000 + round));
            scope.spawn(move || (0..EACH).map(|round| acquire(round).unwrap().0).collect::<Vec<i64>>())
        });
        (ours.map(|thread| thread.join().unwrap()).concat(), theirs.map(|thread| thread.join().unwrap()).concat())
    });
    let held: BTreeSet<_> = ours.iter().chain(&theirs).collect();
    assert_eq!((ours.len(), theirs.len(), held.len()), (3 * EACH, 2 * EACH, 5 * EACH));
    let leased = "select count(*) from no_noncense_leases where expires_at > utc_timestamp(6) and lock_version = 1";
    assert_eq!(bench.value(leased), 5 * EACH as i64);
}

#[test]
fn who_may_only_look_at_their_table_is_told_what_to_grant() {
    let bench = MySqlBench::new();
    bench.run(MySqlBench::TABLE);
    wait(TheirTable::client(&bench, OnReset::Grant).setup(Mode::Fresh)).unwrap();
    let user = bench.user("select");
    for table in ["mintid_leases", "mintid_registry"] {
        bench.run(&format!("grant insert, update on {table} to {user}@'%'"));
    }
    let url = bench.url();
    let url = format!("mysql://{user}:user@{}", url.rsplit_once('@').unwrap().1);
    let acquire = || wait(client_at(&bench, &url, OnReset::Grant).acquire(TTL));
    let error = acquire().unwrap_err();
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Never), "{error}");
    assert!(matches!(error.fields().server_code.as_deref(), Some("1142" | "1143")), "{error}");
    let hint = error.fields().hint.clone().unwrap();
    assert!(hint.contains("on both tables, select and update on no_noncense_leases:\n"), "{hint}");
    bench.run(&format!("grant update on no_noncense_leases to {user}@'%'"));
    acquire().unwrap();
}
