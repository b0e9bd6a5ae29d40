//! Servers that come back with less than they had, or with nothing, or in another's place.

use crate::registry_suite::{forgets, must_wait, notices, renewed};
use crate::support::bench::{Bench as _, Change, Holder};
use crate::support::redis::RedisBench;
use crate::support::registry::RegistryBench as _;
use crate::*;

#[test]
fn a_restart_without_persistence() {
    let server = Server::start(&[]);
    let bench = registry(&server, &[]);
    forgets(&bench, "killed", |_| crash(&server));
    let bench = registry(&server, &[]);
    forgets(&bench, "stopped", |_| {
        server.stop();
        server.launch();
    });
}

#[test]
fn everything_is_flushed() {
    let server = Server::start(&[]);
    for command in [&["FLUSHALL"][..], &["FLUSHDB"], &["FLUSHALL", "ASYNC"], &["SWAPDB", "0", "1"]] {
        let bench = registry(&server, &[]);
        forgets(&bench, &command.join(" "), |_| drop(server.ask(command)));
    }
}

#[test]
fn a_restart_with_a_copy_of_before() {
    with_a_copy_of_before(&[]);
}

fn with_a_copy_of_before(changes: &[Change]) {
    let server = Server::start(&[]);
    let bench = registry(&server, changes);
    server.ask(&["SAVE"]);
    let mut holder = bench.holder(0, 3);
    let before = renewed(&mut holder).unwrap();
    crash(&server);
    assert_eq!(bench.kept(before.machine), (0, false), "the copy knows nothing of the lease");
    notices(&bench, "a copy of before", holder, before);
}

#[test]
fn a_restart_that_lost_nothing_is_none_that_anybody_could_tell() {
    let server = Server::start(&[]);
    let bench = registry(&server, &[]);
    forgets(&bench, "stopped, and saved", |_| {
        server.ask(&["SAVE"]);
        crash(&server);
    });
}

/// A primary with a registry, and a replica that has caught up with it.
fn pair(configuration: &[&str], changes: &[Change]) -> (Server, Server, RedisBench) {
    let primary = Server::start(configuration);
    let bench = registry(&primary, changes);
    let replica = Server::start(configuration);
    follow(&replica, &primary);
    assert_eq!(replica.ask(&["HGET", &bench.key(), "not_before"]), "0");
    (primary, replica, bench)
}

/// Makes a server a replica, and waits until it has all that the other has.
pub(crate) fn follow(replica: &Server, primary: &Server) {
    replica.ask(&["REPLICAOF", "127.0.0.1", &primary.port.to_string()]);
    replica.wait_for(&["INFO", "replication"], "master_link_status:up");
    primary.wait_for(&["INFO", "replication"], "state=online");
}

/// The same holder, whose connections lead to another server from now on.
pub(crate) fn moved(holder: Holder, to: &RedisBench) -> Holder {
    Holder { client: to.any(), ..holder }
}

#[test]
fn a_replica_is_promoted_that_missed_the_last_writes() {
    let (_primary, replica, bench) = pair(&[], &[]);
    replica.ask(&["REPLICAOF", "NO", "ONE"]);
    let mut holder = bench.holder(0, 3);
    let before = renewed(&mut holder).unwrap();
    let bench = bench.at_another(&url(&replica));
    assert_eq!(bench.kept(before.machine), (0, false), "the replica knows nothing of the lease");
    notices(&bench, "promoted", moved(holder, &bench), before);
}

#[test]
fn a_failover_forth_and_back() {
    forth_and_back(&[]);
}

/// A master that becomes a replica loses what its replica missed, and is the same run when it becomes the master again.
fn forth_and_back(changes: &[Change]) {
    let (primary, replica, bench) = pair(&[], changes);
    replica.ask(&["REPLICAOF", "NO", "ONE"]);
    let mut holder = bench.holder(0, 3);
    let before = renewed(&mut holder).unwrap();
    follow(&primary, &replica);
    primary.ask(&["REPLICAOF", "NO", "ONE"]);
    assert_eq!(bench.kept(before.machine), (0, false), "what the replica missed is lost");
    notices(&bench, "forth and back", holder, before);
}

#[test]
fn an_hour_after_its_last_replica_a_promoted_server_is_still_the_same() {
    let (_primary, replica, bench) = pair(&["repl-backlog-ttl 1"], &[]);
    replica.ask(&["REPLICAOF", "NO", "ONE"]);
    let bench = bench.at_another(&url(&replica));
    wait(bench.client_of_all().setup(Mode::AcceptReset)).unwrap();
    assert!(!must_wait(&*bench.any()));
    assert_eq!(bench.field("incarnation").unwrap().len(), 81, "two IDs and what is between them");
    // Nobody follows it: after `repl-backlog-ttl` it forgets whom it followed.
    let third = Server::start(&[]);
    follow(&third, &replica);
    third.kill();
    replica.wait_for(&["INFO", "replication"], "master_replid2:0000000000");
    assert!(!must_wait(&*bench.any()));
}

#[test]
fn lua_that_does_not_compare_runs_and_promotions_does_not_pass() {
    rules_are_missed(&[
        ("run_id", &[("local run = info('server', 'run_id')", "local run = 'the same'")], with_a_copy_of_before),
        ("master_replid2", &[("return run == '' and '' or run .. former()", "return run")], forth_and_back),
    ]);
}

#[test]
fn behind_a_sentinel_the_wait_reaches_past_what_a_former_master_may_still_grant() {
    let server = Server::start(&[]);
    let sentinel = Server::sentinel(&server, &[]);
    let url = format!("redis+sentinel://127.0.0.1:{}/mymaster", sentinel.port);
    let bench = RedisBench::at(&url, OnReset::Wait, &[]);
    let error = wait(bench.client_of_all().acquire(TTL)).unwrap_err();
    assert_eq!(error.code(), Code::RegistryReset, "{error}");
    let left_ms = error.fields().not_before_ms.unwrap() as i64 - bench.now_ms();
    assert!((317_000..=322_000).contains(&left_ms), "{left_ms} ms");
}
