//! NoNoncense's table beside ours in a database: the recorded steps of the original, and both taking turns on one table.

#![allow(dead_code, reason = "each test crate uses its own part of this")]

use std::collections::BTreeMap;
use std::time::Duration;

use mintid::coordinator::registry::{Mode, OnReset, Registry};
use mintid::coordinator::{Coordinator, Lease, Renewal, Token};
use mintid::error::Code;
use serde_json::Value as Json;

use crate::support::bench::wait;

pub(crate) const TTL: Duration = Duration::from_secs(60);

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

/// A database with their table, and how its SQL says what the tests need.
pub(crate) trait TheirTable {
    /// As its migration makes it.
    const TABLE: &str;
    type Client: Coordinator + Registry;

    /// A new database, without the table.
    fn create() -> Self;
    /// Who leases machine IDs of the default layout from both tables.
    fn client(&self, on_reset: OnReset) -> Self::Client;
    fn run(&self, sql: &str);
    /// The first value of the first row.
    fn text(&self, sql: &str) -> String;
    /// So many seconds from now, as their column has it.
    fn moment(seconds: i64) -> String;
    /// The same moment, as our column has it.
    fn in_ours(moment: &str) -> String;
    fn bytes(hex: &str) -> String;
    /// Their token in hexadecimal digits.
    const TOKEN: &str;
    /// In how many seconds their lease ends.
    const LEFT: &str;
    /// When ours ends, in milliseconds since 1970.
    const END_MS: &str;
}

fn token(label: &str) -> Token {
    Token([label.trim_start_matches('T').parse().unwrap_or(99); 16])
}

fn hex_of(token: Token) -> String {
    token.0.map(|byte| format!("{byte:02x}")).concat()
}

/// Puts the rows of a recorded state into their table, and what we would know of our own leases into ours.
fn prepare<T: TheirTable>(bench: &T, client: &T::Client, row: &Json) {
    let epoch = T::in_ours("timestamp '1970-01-01 00:00:00'");
    bench.run(T::TABLE);
    wait(client.setup(Mode::Fresh)).unwrap();
    let first = wait(client.acquire(TTL)).unwrap().lease;
    wait(client.release(&first, 0)).unwrap();
    bench.run(&format!("update mintid_leases set expires_at = {epoch}, token = null"));
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
            "future" => T::moment(90),
            "past" => T::moment(-1800),
            literal => format!("timestamp '{literal}'"),
        };
        // A release of ours takes the token away.
        let released = before["expires_at"] == "past";
        let token = before["token"].as_str().map_or("null".to_owned(), |label| T::bytes(&hex_of(token(label))));
        bench.run(&format!(
            "delete from no_noncense_leases where id = {id};
             insert into no_noncense_leases values ({id}, {token}, {expires_at}, {version});
             update mintid_leases set token = {}, expires_at = {} where id = {id}",
            if released { "null" } else { &token },
            T::in_ours(&expires_at)
        ));
    }
}

/// Each of the rows that the recording names: token, `lock_version`, and when it ends, in seconds from now.
pub(crate) fn rows<T: TheirTable>(bench: &T, ids: &[i64]) -> BTreeMap<i64, (String, i64, f64)> {
    let column = |id: i64, what: &str| bench.text(&format!("select {what} from no_noncense_leases where id = {id}"));
    let each = ids.iter().map(|&id| {
        let (version, left) = (column(id, "lock_version"), column(id, T::LEFT));
        (id, (column(id, T::TOKEN), version.parse().unwrap(), left.parse().unwrap()))
    });
    each.collect()
}

fn compare<T: TheirTable>(bench: &T, row: &Json, granted: Option<&Lease>, what: &str) {
    let after = row["after"].as_array().unwrap();
    let ids: Vec<i64> = after.iter().map(|row| row["id"].as_i64().unwrap()).collect();
    for (expected, (id, (found, version, left))) in after.iter().zip(rows(bench, &ids)) {
        let label = expected["token"].as_str().unwrap();
        let lease = granted.filter(|lease| i64::from(lease.machine) == id);
        assert_eq!(found, hex_of(lease.map_or_else(|| token(label), |lease| lease.token)), "{what}: row {id}");
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
fn lease_of<T: TheirTable>(bench: &T, action: &str) -> (Lease, Duration) {
    let (_, rest) = action.split_once("({").unwrap();
    let (lease, ttl) = rest.trim_end_matches(')').split_once('}').unwrap();
    let (machine, label) = lease.split_once(',').unwrap();
    let end = T::END_MS;
    let end_ms = bench.text(&format!("select coalesce(max({end}), 0) from mintid_leases where id = {machine}"));
    let end_ms = end_ms.parse().unwrap();
    let lease = Lease { machine: machine.parse().unwrap(), token: token(label), start_ms: 0, end_ms };
    (lease, Duration::from_millis(ttl.trim_start_matches(',').parse().unwrap_or(60_000)))
}

/// What a recorded action comes to, and what it leased.
fn act<T: TheirTable>(bench: &T, client: &T::Client, action: &str) -> (String, Option<Lease>) {
    if action.starts_with("acquire") {
        let ttl = if action.starts_with("acquire(20000)") { Duration::from_secs(20) } else { TTL };
        return match wait(client.acquire(ttl)) {
            Ok(grant) => (grant.lease.machine.to_string(), Some(grant.lease)),
            Err(error) => (format!(":{}", error.code().as_str().to_lowercase()), None),
        };
    }
    let (lease, ttl) = lease_of(bench, action);
    let came_out = if action.starts_with("renew") {
        match wait(client.renew(&lease, ttl)) {
            Renewal::Granted(_) => "ok",
            Renewal::Lost(_) => ":lost",
            Renewal::Unknown(error) => panic!("{action}: {error}"),
        }
    } else {
        wait(client.release(&lease, 0)).map(|()| "ok").unwrap()
    };
    (came_out.to_owned(), None)
}

pub(crate) fn recorded_steps<T: TheirTable>() {
    let vectors: Json = serde_json::from_str(include_str!("../vectors/08_leases.json")).unwrap();
    let steps = vectors["sql_state_table"].as_array().unwrap();
    let mut same = 0;
    for (number, row) in steps.iter().enumerate() {
        let what = format!("{number} {}", row["desc"].as_str().unwrap());
        let bench = T::create();
        let client = bench.client(OnReset::Grant);
        prepare(&bench, &client, row);
        let result = &row["result"];
        let (came_out, granted) = act(&bench, &client, row["action"].as_str().unwrap());
        let recorded = match (&result[1], result[0].as_str().unwrap()) {
            (Json::Object(grant), _) if grant.contains_key("id") => grant["id"].to_string(),
            (_, "ok") => "ok".to_owned(),
            (reason, _) => reason.as_str().unwrap().to_owned(),
        };
        if STRICTER.iter().any(|(stricter, _)| *stricter == number) {
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
fn stricter<T: TheirTable>(bench: &T, number: usize, came_out: &str) {
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
pub(crate) fn their_acquire<T: TheirTable>(bench: &T, round: usize) -> Option<(i64, String)> {
    let now = T::moment(0);
    let found = bench.text(&format!(
        "select coalesce((select concat(id, ',', lock_version) from no_noncense_leases
         where expires_at < {now} order by id limit 1), '')"
    ));
    let (id, version) = found.split_once(',')?;
    let token = format!("{round:032x}");
    let (bytes, end) = (T::bytes(&token), T::moment(60));
    bench.run(&format!(
        "update no_noncense_leases set token = {bytes}, lock_version = lock_version + 1, expires_at = {end}
         where id = {id} and lock_version = {version}"
    ));
    let id = id.parse().unwrap();
    (rows(bench, &[id])[&id].0 == token).then_some((id, token))
}

/// Their renewal or release.
fn theirs<T: TheirTable>(bench: &T, seconds: i64, id: i64, token: &str) -> bool {
    let version = || rows(bench, &[id])[&id].1;
    let before = version();
    let (end, bytes) = (T::moment(seconds), T::bytes(token));
    bench.run(&format!(
        "update no_noncense_leases set lock_version = lock_version + 1, expires_at = {end}
         where id = {id} and token = {bytes}"
    ));
    version() == before + 1
}

pub(crate) fn they_take_turns<T: TheirTable>(bench: &T) {
    bench.run(T::TABLE);
    let client = bench.client(OnReset::Grant);
    let (mut ours, mut others): (Vec<Lease>, Vec<(i64, String)>) = (Vec::new(), Vec::new());
    for round in 0..60 {
        match round % 6 {
            0 | 3 => ours.push(wait(client.acquire(TTL)).unwrap().lease),
            1 | 2 => others.extend(their_acquire(bench, round)),
            4 => {
                let (id, token) = others.remove(round % others.len());
                assert!(theirs(bench, 60, id, &token), "their lease on {id} was gone");
                assert!(theirs(bench, 0, id, &token));
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

pub(crate) fn what_another_took_is_lost<T: TheirTable>(bench: &T) {
    bench.run(T::TABLE);
    let client = bench.client(OnReset::Wait);
    wait(client.setup(Mode::Fresh)).unwrap();
    let lease = wait(client.acquire(TTL)).unwrap().lease;
    let (taken, machine) = (T::bytes("99"), lease.machine);
    bench.run(&format!("update no_noncense_leases set token = {taken}, lock_version = 7 where id = {machine}"));
    assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Lost(_)), "renewed what another holds");
}

pub(crate) fn what_was_forgotten_is_put_back<T: TheirTable>(bench: &T) {
    bench.run(T::TABLE);
    let client = bench.client(OnReset::Wait);
    wait(client.setup(Mode::Fresh)).unwrap();
    let lease = wait(client.acquire(TTL)).unwrap().lease;
    bench.run("update no_noncense_leases set token = null, expires_at = '1970-01-01'");
    assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Granted(_)), "put back");
    let left = rows(bench, &[i64::from(lease.machine)])[&i64::from(lease.machine)].2;
    assert!(left > 50.0, "only {left} s are left");
    assert_eq!(wait(client.acquire(TTL)).unwrap_err().code(), Code::RegistryReset);
}
