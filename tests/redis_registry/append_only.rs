//! Restarts with an append-only file. Where the server confirms what is in it when it is on disk (Redis 7.2 and from 8.0 on), a
//! restart that kept every lease is no reason to wait; elsewhere it is.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::registry_suite::{must_wait, notices, renewed};
use crate::restarts::{follow, moved};
use crate::support::bench::{Bench as _, Holder};
use crate::support::redis::RedisBench;
use crate::support::registry::RegistryBench as _;
use crate::*;

/// How long a restart counts as the same after the last grant: two thirds of a lease.
const BELIEVED_MS: i64 = 200_000;

fn with_file(fsync: &str) -> Server {
    Server::start(&["appendonly yes", &format!("appendfsync {fsync}")])
}

/// Whether the server says what is in its file when it is on disk: not Valkey, nor Redis 7.0 and 7.4.
pub(crate) fn confirms(server: &Server) -> bool {
    let told = server.ask(&["INFO", "server"]);
    let redis = ["redis_version:7.2.", "redis_version:8."].iter().any(|version| told.contains(version));
    redis && !told.contains("valkey_version")
}

/// A holder whose process has seen that the server confirms what it writes, if it does.
fn holder(bench: &RedisBench) -> Holder {
    let mut holder = bench.holder(0, 3);
    renewed(&mut holder).unwrap();
    holder
}

/// After a restart, as it is where the server confirms; elsewhere newcomers wait.
fn goes_on(server: &Server, bench: &RedisBench, what: &str, mut holder: Holder) {
    if !confirms(server) {
        let before = holder.lease();
        return notices(bench, what, holder, before);
    }
    let remembered = bench.field("incarnation");
    wait(bench.client_of_all().examine()).unwrap();
    assert_eq!(bench.field("incarnation"), remembered, "{what}: looking changes nothing");
    let newcomers: Vec<Holder> = (0..3).map(|_| bench.holder(0, 3)).collect();
    let before = holder.lease();
    assert!(newcomers.iter().all(|newcomer| newcomer.lease().machine != before.machine), "{what}: granted twice");
    assert!(renewed(&mut holder).unwrap().end_ms >= before.end_ms, "{what}");
    assert_eq!(bench.not_before_ms(), 0, "{what}");
}

#[test]
fn a_restart_that_kept_every_lease_goes_on() {
    for fsync in ["everysec", "always"] {
        let server = with_file(fsync);
        let bench = registry(&server, &[]);
        let mut last = holder(&bench);
        for restart in 0..2 {
            let released = holder(&bench);
            let start_ms = released.lease().start_ms;
            released.release(start_ms);
            renewed(&mut last).unwrap();
            if restart == 0 {
                crash(&server);
            } else {
                server.ask(&["BGREWRITEAOF"]);
                server.stop();
                server.launch();
            }
            let taken = last.lease().machine;
            goes_on(&server, &bench, &format!("{fsync}, restart {restart}"), last);
            if !confirms(&server) {
                return;
            }
            // The others are gone, the clock passes their ends.
            bench.step(TTL.as_millis() as i64 + 1);
            last = holder(&bench);
            assert_ne!(last.lease().machine, taken, "the one that has been free longest");
        }
    }
}

#[test]
fn nobody_has_a_file_believed_who_has_not_seen_that_it_is_written() {
    let server = with_file("always");
    let bench = registry(&server, &[]);
    holder(&bench);
    bench.step(BELIEVED_MS + 1);
    let holder = bench.holder(0, 3);
    let believed_until = bench.field("aof").map_or(0, |until| until.parse().unwrap());
    assert!(believed_until < bench.now_ms(), "a process learns it from the answer to its first grant");
    let before = holder.lease();
    crash(&server);
    notices(&bench, "after one grant", holder, before);
}

#[test]
fn an_old_copy_of_the_file_is_noticed() {
    an_old_copy(&[]);
}

/// A copy that was made in time is still there when its leases are over.
fn an_old_copy(changes: &[Change]) {
    let server = with_file("always");
    let bench = registry(&server, changes);
    let mut holder = holder(&bench);
    let folder = server.ask(&["CONFIG", "GET", "dir"]).lines().last().unwrap().to_owned();
    let copy = tempfile::tempdir().unwrap();
    copy_all(Path::new(&folder).join("appendonlydir").as_path(), copy.path());
    for _ in 0..2 {
        bench.step(BELIEVED_MS / 2 + 1000);
        renewed(&mut holder).unwrap();
    }
    let before = holder.lease();
    server.kill();
    copy_all(copy.path(), Path::new(&folder).join("appendonlydir").as_path());
    server.launch();
    server.wait_for(&["PING"], "PONG");
    // The clock of these tests is in the file too; a clock goes on.
    bench.step(BELIEVED_MS + 2000);
    notices(&bench, "an old copy", holder, before);
}

fn copy_all(from: &Path, to: &Path) {
    for file in fs::read_dir(to).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn flushed_is_forgotten() {
    let server = with_file("always");
    let bench = registry(&server, &[]);
    let holder = holder(&bench);
    let before = holder.lease();
    server.ask(&["FLUSHALL"]);
    crash(&server);
    notices(&bench, "flushed, and killed", holder, before);
}

#[test]
fn who_has_a_copy_may_take_its_place() {
    a_replica_was_there(&[]);
}

fn a_replica_was_there(changes: &[Change]) {
    let server = with_file("always");
    let bench = registry(&server, changes);
    let mut holder = holder(&bench);
    let replica = Server::start(&[]);
    follow(&replica, &server);
    renewed(&mut holder).unwrap();
    replica.kill();
    server.wait_for(&["INFO", "replication"], "connected_slaves:0");
    let before = renewed(&mut holder).unwrap();
    crash(&server);
    notices(&bench, "a replica was there", holder, before);
}

#[test]
fn a_replica_that_is_restarted_as_a_master_is_noticed() {
    a_replica_becomes_a_master(&[]);
}

fn a_replica_becomes_a_master(changes: &[Change]) {
    let server = with_file("always");
    let bench = registry(&server, changes);
    let mut holder = holder(&bench);
    let replica = with_file("always");
    follow(&replica, &server);
    let before = renewed(&mut holder).unwrap();
    replica.wait_for(&["HGET", &bench.key(), &format!("e{}", before.machine)], &before.end_ms.to_string());
    replica.wait_for(&["INFO", "persistence"], "aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0");
    let other = bench.at_another(&url(&replica));
    crash(&replica);
    // It was told to follow by a command, which a restart forgets.
    assert!(replica.ask(&["INFO", "replication"]).contains("role:master"));
    notices(&other, "restarted as a master", moved(holder, &other), before);
}

#[test]
fn a_promoted_replica_is_noticed_whose_copy_would_be_believed() {
    a_promotion(&[]);
}

fn a_promotion(changes: &[Change]) {
    let server = with_file("always");
    let bench = registry(&server, changes);
    let holder = holder(&bench);
    let replica = with_file("always");
    follow(&replica, &server);
    replica.ask(&["REPLICAOF", "NO", "ONE"]);
    let before = holder.lease();
    let bench = bench.at_another(&url(&replica));
    notices(&bench, "promoted", moved(holder, &bench), before);
}

#[test]
fn a_restart_without_the_file_is_noticed() {
    without_the_file(&[]);
}

/// The data are those of the last copy, which would be believed if it were the file.
fn without_the_file(changes: &[Change]) {
    let server = with_file("always");
    let bench = registry(&server, changes);
    let mut holder = holder(&bench);
    server.ask(&["SAVE"]);
    let before = renewed(&mut holder).unwrap();
    server.configure(&["appendonly no"]);
    crash(&server);
    assert!(must_wait(&*bench.any()));
    if confirms(&server) {
        // With the file once more, the next restart would believe it.
        expect(&unknown(&*holder.client, &before), Retry::Soon, None, "CONFIG SET appendonly yes");
        bench.step(BELIEVED_MS + 1);
        let after = renewed(&mut holder).expect("nobody would believe the file any more");
        assert!(after.end_ms >= before.end_ms);
    }
    assert!(must_wait(&*bench.any()));
}

#[test]
fn nothing_is_granted_that_a_restart_would_not_bring_back() {
    turned_off(&[]);
}

fn turned_off(changes: &[Change]) {
    let server = with_file("always");
    let bench = registry(&server, changes);
    let mut holder = holder(&bench);
    server.ask(&["CONFIG", "SET", "appendonly", "no"]);
    if !confirms(&server) {
        renewed(&mut holder).expect("nobody would believe the file");
        return;
    }
    let lease = holder.lease();
    let advice = "CONFIG SET appendonly yes";
    expect(&wait(bench.any().acquire(TTL)).unwrap_err(), Retry::Soon, None, advice);
    expect(&unknown(&*holder.client, &lease), Retry::Soon, None, advice);
    assert_eq!(bench.kept(lease.machine), (lease.end_ms as i64, true), "as the file has it");

    server.ask(&["CONFIG", "SET", "appendonly", "yes"]);
    renewed(&mut holder).expect("the file has everything again");
    server.ask(&["CONFIG", "SET", "appendonly", "no"]);
    bench.step(BELIEVED_MS + 1);
    let before = renewed(&mut holder).expect("nobody would believe the file any more");
    assert!(!must_wait(&*bench.any()), "nothing was forgotten");
    crash(&server);
    // The clock of these tests is in the file too; a clock goes on.
    bench.step(BELIEVED_MS + 1);
    notices(&bench, "turned off for long", holder, before);
}

#[test]
fn a_file_that_is_not_synced_is_none() {
    let server = with_file("no");
    let bench = registry(&server, &[]);
    let mut holder = holder(&bench);
    let before = renewed(&mut holder).unwrap();
    assert_eq!(bench.field("aof"), None);
    crash(&server);
    notices(&bench, "appendfsync no", holder, before);
}

#[test]
fn what_is_not_confirmed_is_not_relied_on() {
    unconfirmed(&[]);
}

fn unconfirmed(changes: &[Change]) {
    let server = with_file("always");
    let bench = registry(&server, changes);
    let mut holder = holder(&bench);
    server.ask(&["CONFIG", "SET", "appendfsync", "no"]);
    if !confirms(&server) {
        renewed(&mut holder).expect("nobody would believe the file");
        return;
    }
    let advice = "set appendfsync to everysec or always";
    expect(&wait(bench.within(3, 3).acquire(TTL)).unwrap_err(), Retry::Soon, None, advice);
    let (end_ms, leased) = bench.kept(3);
    assert!(end_ms <= bench.now_ms() && !leased, "it was given back");
    let lease = holder.lease();
    expect(&unknown(&*holder.client, &lease), Retry::Soon, None, advice);
    server.ask(&["CONFIG", "SET", "appendfsync", "always"]);
    assert!(renewed(&mut holder).unwrap().end_ms >= lease.end_ms);
    wait(bench.within(3, 3).acquire(TTL)).expect("it is free");
}

#[test]
fn an_append_only_file_costs_a_lease_no_more_than_its_sync() {
    let server = with_file("no");
    let bench = registry(&server, &[]);
    let client = bench.any();
    let mut took = Vec::new();
    for _ in 0..2 {
        let sent = bench.now_ms();
        wait(client.acquire(TTL)).unwrap();
        took.push(Duration::from_millis((bench.now_ms() - sent) as u64));
    }
    assert!(took[1] < Duration::from_secs(1), "asked again what was not answered: {took:?}");
}

#[test]
fn lua_without_one_of_its_rules_of_persistence_does_not_pass() {
    let server = with_file("no");
    if !confirms(&server) {
        // Each of the checks above has asserted that newcomers wait.
        return;
    }
    rules_are_missed(&[
        (
            "believed for a while",
            &[("return (tonumber(aof) or 0) >= now", "return (tonumber(aof) or 0) > 0")],
            an_old_copy,
        ),
        ("not once copied", &[("durable == '1' or doubted or", "durable == '1' or")], a_replica_was_there),
        ("a copy is noticed", &[("redis.call('HSET', key, 'doubted', doubted)", "")], a_replica_becomes_a_master),
        ("not after a promotion", &[("and former() == ''", "")], a_promotion),
        ("the file was there", &[("not has_file() or not is_alone()", "not is_alone()")], without_the_file),
        ("nothing beside the file", &[("if believed and not writes then return nil, 'unwritten' end", "")], turned_off),
        (
            "not before it is in the file",
            &[("local NOTHING, MUST, MAY = 0, 1, 2", "local NOTHING, MUST, MAY = 0, 0, 2")],
            unconfirmed,
        ),
    ]);
}
