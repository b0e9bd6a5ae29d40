//! NoNoncense's table beside ours in PostgreSQL: the recorded steps of the original, and both taking turns on one table.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use mintid::coordinator::postgres::{Postgres, Settings};
use mintid::coordinator::registry::{Mode, OnReset, Registry};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, Lease, MachineIds, Renewal, Token};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;
use serde_json::Value as Json;

use support::bench::wait;
use support::postgres::PostgresBench;
use support::registry::RegistryBench as _;

const TTL: Duration = Duration::from_secs(60);

/// As its migration makes it.
const TABLE: &str = "create table no_noncense_leases (
  id smallint primary key, token bytea, expires_at timestamp not null, lock_version integer not null default 0);
  insert into no_noncense_leases (id, expires_at) select id, 'epoch' from generate_series(0, 511) as id";

/// Where we are stricter than the original, and what comes out instead: the steps by their number.
const STRICTER: [(usize, &str); 8] = [
    (4, "a released token is dead: the second release changes nothing"),
    (5, "a released token is dead: it cannot be renewed"),
    (6, "the machine ID that has been free longest comes first"),
    (9, "a lease that ran out is not revived"),
    (10, "the machine ID that has been free longest comes first"),
    (15, "rows that somebody is at are skipped under a lock: there is no race to lose"),
    (16, "rows that somebody is at are skipped under a lock: there is no race to lose"),
    (18, "a machine ID that the layout has no bits for is not leased"),
];

fn settings(bench: &PostgresBench) -> Settings {
    Settings::parse(&format!("{}&registry=nononcense", bench.url()), &TlsOptions::default()).unwrap()
}

fn client(bench: &PostgresBench, on_reset: OnReset) -> Postgres {
    bench.client_with(|setup| {
        setup.settings = settings(bench);
        setup.machine_ids = MachineIds::new(&Layout::DEFAULT, None).unwrap();
        setup.agreement.layout = Layout::DEFAULT;
        setup.on_reset = on_reset;
    })
}

fn token(label: &str) -> Token {
    Token([label.trim_start_matches('T').parse().unwrap_or(99); 16])
}

fn hex(label: &str) -> String {
    token(label).0.map(|byte| format!("{byte:02x}")).concat()
}

/// Puts the rows of a recorded state into their table, and what we would know of our own leases into ours.
fn prepare(bench: &PostgresBench, client: &Postgres, row: &Json) {
    bench.run(TABLE);
    wait(client.setup(Mode::Fresh)).unwrap();
    let first = wait(client.acquire(TTL)).unwrap().lease;
    wait(client.release(&first, 0)).unwrap();
    bench.run("update mintid_leases set expires_at = 'epoch', token = null");
    let others = row["other_rows"].as_str().unwrap();
    if others == "absent" {
        bench.run("delete from no_noncense_leases");
    } else {
        let expires_at = others.rsplit_once("expires_at ").unwrap().1;
        bench
            .run(&format!("update no_noncense_leases set token = null, lock_version = 0, expires_at = '{expires_at}'"));
    }
    for before in row["before"].as_array().unwrap() {
        let (id, version) = (&before["id"], &before["lock_version"]);
        let expires_at = match before["expires_at"].as_str().unwrap() {
            "future" => "clock_timestamp() + interval '90 seconds'".to_owned(),
            "past" => "clock_timestamp() - interval '30 minutes'".to_owned(),
            literal => format!("timestamp '{literal}' at time zone 'UTC'"),
        };
        // A release of ours takes the token away.
        let released = before["expires_at"] == "past";
        let token = before["token"].as_str().map_or("null".to_owned(), |label| format!("'\\x{}'", hex(label)));
        bench.run(&format!(
            "insert into no_noncense_leases values ({id}, {token}, ({expires_at}) at time zone 'UTC', {version})
             on conflict (id) do update set token = excluded.token, expires_at = excluded.expires_at,
               lock_version = excluded.lock_version;
             update mintid_leases set token = {}, expires_at = {expires_at} where id = {id}",
            if released { "null" } else { &token }
        ));
    }
}

/// Each of the rows that the recording names: token, `lock_version`, and when it ends, in seconds from now.
fn rows(bench: &PostgresBench, ids: &[i64]) -> BTreeMap<i64, (String, i64, f64)> {
    let column = |id: i64, what: &str| bench.text(&format!("select {what} from no_noncense_leases where id = {id}"));
    let each = ids.iter().map(|&id| {
        let left = "extract(epoch from expires_at at time zone 'UTC' - clock_timestamp())::float8";
        let token = column(id, "coalesce(encode(token, 'hex'), '')");
        (id, (token, column(id, "lock_version").parse().unwrap(), column(id, left).parse().unwrap()))
    });
    each.collect()
}

fn compare(bench: &PostgresBench, row: &Json, granted: Option<&Lease>, what: &str) {
    let after = row["after"].as_array().unwrap();
    let ids: Vec<i64> = after.iter().map(|row| row["id"].as_i64().unwrap()).collect();
    for (expected, (id, (token, version, left))) in after.iter().zip(rows(bench, &ids)) {
        let label = expected["token"].as_str().unwrap();
        match granted.filter(|lease| i64::from(lease.machine) == id) {
            Some(lease) => assert_eq!(token, lease.token.0.map(|byte| format!("{byte:02x}")).concat(), "{what}"),
            None => assert_eq!(token, hex(label), "{what}: row {id}"),
        }
        assert_eq!(version, expected["lock_version"].as_i64().unwrap(), "{what}: row {id}");
        let end = match expected["expires_at"].as_str().unwrap() {
            "future" => 90.0,
            "past" => -1800.0,
            "now" => 0.0,
            end => end.trim_start_matches("now+").trim_end_matches("ms").parse::<f64>().unwrap() / 1000.0,
        };
        assert!((left - end).abs() < 5.0, "{what}: row {id} ends in {left} s, not {end}");
    }
}

/// `renew({0,T1},120000)`, `release({1,T2})`.
fn lease_of(bench: &PostgresBench, action: &str) -> (Lease, Duration) {
    let (_, rest) = action.split_once("({").unwrap();
    let (lease, ttl) = rest.trim_end_matches(')').split_once('}').unwrap();
    let (machine, label) = lease.split_once(',').unwrap();
    let end_ms = bench.value(&format!(
        "select coalesce((select floor(extract(epoch from expires_at) * 1000)::int8 from mintid_leases where id = {machine}), 0)"
    ));
    let lease = Lease { machine: machine.parse().unwrap(), token: token(label), start_ms: 0, end_ms: end_ms as u64 };
    (lease, Duration::from_millis(ttl.trim_start_matches(',').parse().unwrap_or(60_000)))
}

#[test]
fn the_recorded_steps_of_the_original_come_out_the_same_or_stricter() {
    let vectors: Json = serde_json::from_str(include_str!("vectors/08_leases.json")).unwrap();
    let steps = vectors["sql_state_table"].as_array().unwrap();
    let mut same = 0;
    for (number, row) in steps.iter().enumerate() {
        let what = format!("{number} {}", row["desc"].as_str().unwrap());
        let bench = PostgresBench::new();
        let client = client(&bench, OnReset::Grant);
        prepare(&bench, &client, row);
        let (action, result) = (row["action"].as_str().unwrap(), &row["result"]);
        let is_stricter = STRICTER.iter().any(|(stricter, _)| *stricter == number);
        let ttl = if action.starts_with("acquire(20000)") { Duration::from_secs(20) } else { TTL };
        let mut granted = None;
        let came_out = if action.starts_with("acquire") {
            match wait(client.acquire(ttl)) {
                Ok(grant) => {
                    granted = Some(grant.lease);
                    u64::from(grant.lease.machine).to_string()
                }
                Err(error) => format!(":{}", error.code().as_str().to_lowercase()),
            }
        } else {
            let (lease, ttl) = lease_of(&bench, action);
            if action.starts_with("renew") {
                match wait(client.renew(&lease, ttl)) {
                    Renewal::Granted(_) => "ok".to_owned(),
                    Renewal::Lost(_) => ":lost".to_owned(),
                    Renewal::Unknown(error) => panic!("{what}: {error}"),
                }
            } else {
                wait(client.release(&lease, 0)).map(|()| "ok".to_owned()).unwrap()
            }
        };
        let recorded = match (&result[1], result[0].as_str().unwrap()) {
            (Json::Object(grant), _) if grant.contains_key("id") => grant["id"].to_string(),
            (_, "ok") => "ok".to_owned(),
            (reason, _) => reason.as_str().unwrap().to_owned(),
        };
        if is_stricter {
            stricter(&bench, number, &came_out);
        } else {
            assert!(came_out.ends_with(recorded.trim_start_matches(':')), "{what}: {came_out}, recorded {recorded}");
            compare(&bench, row, granted.as_ref(), &what);
            same += 1;
        }
    }
    assert_eq!((same, steps.len()), (12, 20));
}

/// What comes out where we are stricter.
fn stricter(bench: &PostgresBench, number: usize, came_out: &str) {
    let expected = match number {
        4 => "ok",
        5 | 9 => ":lost",
        6 | 10 => "2",
        15 => "3",
        16 => "6",
        18 => ":err_mintid_exhausted",
        other => panic!("{other} is not listed"),
    };
    assert_eq!(came_out, expected, "{number}");
    if number == 4 {
        assert_eq!(rows(bench, &[1])[&1].1, 2, "the row was left alone");
    }
}

/// What NoNoncense's own acquire does, by its recorded operations.
fn their_acquire(bench: &PostgresBench, round: usize) -> Option<(i64, String)> {
    let found = bench.text(
        "select coalesce((select id || ',' || lock_version from no_noncense_leases
         where expires_at < clock_timestamp() at time zone 'UTC' order by id limit 1), '')",
    );
    let (id, version) = found.split_once(',')?;
    let token = format!("{round:032x}");
    let updated = bench.value(&format!(
        "with done as (update no_noncense_leases set token = '\\x{token}', lock_version = lock_version + 1,
           expires_at = clock_timestamp() at time zone 'UTC' + interval '60 seconds'
         where id = {id} and lock_version = {version} returning 1) select count(*) from done"
    ));
    (updated == 1).then(|| (id.parse().unwrap(), token))
}

fn theirs(bench: &PostgresBench, what: &str, id: i64, token: &str) -> bool {
    let end = if what == "release" { "0" } else { "60" };
    bench.value(&format!(
        "with done as (update no_noncense_leases set lock_version = lock_version + 1,
           expires_at = clock_timestamp() at time zone 'UTC' + interval '{end} seconds'
         where id = {id} and token = '\\x{token}' returning 1) select count(*) from done"
    )) == 1
}

#[test]
fn theirs_and_ours_take_turns_on_one_table_and_never_hold_the_same() {
    let bench = PostgresBench::new();
    bench.run(TABLE);
    let client = client(&bench, OnReset::Grant);
    let (mut ours, mut others): (Vec<Lease>, Vec<(i64, String)>) = (Vec::new(), Vec::new());
    for round in 0..60 {
        match round % 6 {
            0 | 3 => ours.push(wait(client.acquire(TTL)).unwrap().lease),
            1 | 2 => others.extend(their_acquire(&bench, round)),
            4 => {
                let (id, token) = others.remove(round % others.len());
                assert!(theirs(&bench, "renew", id, &token), "their lease on {id} was gone");
                assert!(theirs(&bench, "release", id, &token));
            }
            _ => {
                let lease = ours.remove(round % ours.len());
                assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Granted(_)), "ours on {}", lease.machine);
                wait(client.release(&lease, 0)).unwrap();
            }
        }
        let held = ours.iter().map(|lease| i64::from(lease.machine)).chain(others.iter().map(|(id, _)| *id));
        let mut held: Vec<i64> = held.collect();
        held.sort_unstable();
        let count = held.len();
        held.dedup();
        assert_eq!(held.len(), count, "two hold one machine ID after round {round}");
    }
    assert_eq!((ours.len(), others.len()), (10, 10));
}

#[test]
fn a_row_that_one_of_their_nodes_took_is_lost() {
    let bench = PostgresBench::new();
    bench.run(TABLE);
    let client = client(&bench, OnReset::Grant);
    let lease = wait(client.acquire(TTL)).unwrap().lease;
    bench.run(&format!("update no_noncense_leases set token = '\\x99', lock_version = 7 where id = {}", lease.machine));
    assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Lost(_)));
}

#[test]
fn what_their_table_forgot_is_put_back_while_newcomers_wait() {
    let bench = PostgresBench::waiting();
    bench.run(TABLE);
    let client = client(&bench, OnReset::Wait);
    wait(client.setup(Mode::Fresh)).unwrap();
    let lease = wait(client.acquire(TTL)).unwrap().lease;
    bench.run("update no_noncense_leases set token = null, expires_at = 'epoch'");
    assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Granted(_)), "put back");
    let left = rows(&bench, &[i64::from(lease.machine)])[&i64::from(lease.machine)].2;
    assert!(left > 50.0, "{left} s");
    assert_eq!(wait(client.acquire(TTL)).unwrap_err().code(), Code::RegistryReset);
}

#[test]
fn a_missing_table_and_a_zone_that_is_not_utc_are_refused() {
    let bench = PostgresBench::new();
    let error = wait(client(&bench, OnReset::Grant).acquire(TTL)).unwrap_err();
    assert_eq!((error.code(), error.retry()), (Code::Config, Retry::Never), "{error}");
    assert!(error.message().contains("NoNoncense's migration makes it"), "{error}");
    bench.run(TABLE);
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
