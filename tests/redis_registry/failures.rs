//! What a server says no with, as it reaches whoever leases: what passes is tried again, and nothing of it is a loss.

use mintid::coordinator::redis::Redis;
use mintid::coordinator::{Lease, Token};

use crate::registry_suite::{renewed, settled};
use crate::restarts::follow;
use crate::support::bench::Bench as _;
use crate::support::redis::{RedisBench, settings};
use crate::support::registry::RegistryBench as _;
use crate::*;

/// Both a claim and a renewal say the same.
#[track_caller]
fn both(client: &Redis, lease: &Lease, retry: Retry, server_code: Option<&str>, advice: &str) {
    expect(&wait(client.acquire(TTL)).unwrap_err(), retry, server_code, advice);
    expect(&unknown(client, lease), retry, server_code, advice);
}

fn at(bench: &RedisBench, url: &str) -> Redis {
    bench.client_with(|setup| setup.settings = settings(url))
}

#[test]
fn a_replica_and_one_without_its_master() {
    let primary = Server::start(&[]);
    let bench = registry(&primary, &[]);
    let lease = bench.holder(0, 3).lease();
    let replica = Server::start(&["replica-serve-stale-data no"]);
    follow(&replica, &primary);
    let reader = at(&bench, &url(&replica));
    both(&reader, &lease, Retry::Soon, Some("READONLY"), "the master is needed");
    primary.kill();
    replica.wait_for(&["INFO", "replication"], "master_link_status:down");
    both(&reader, &lease, Retry::Soon, Some("MASTERDOWN"), "without its master");
    both(&at(&bench, &url(&primary)), &lease, Retry::Soon, None, "does the server run");
}

#[test]
fn while_it_reads_its_data() {
    let server = Server::start(&["key-load-delay 100000", "loading-process-events-interval-bytes 1024"]);
    let bench = registry(&server, &[]);
    let holder = bench.holder(0, 3);
    server.ask(&["EVAL", "for i = 1, 300 do redis.call('set', i, string.rep('x', 1000)) end", "0"]);
    server.ask(&["SAVE"]);
    server.kill();
    server.launch();
    both(&bench.client_of_all(), &holder.lease(), Retry::Soon, Some("LOADING"), "reading its data");
}

#[test]
fn who_is_not_let_in() {
    let server = Server::start(&["requirepass secret"]);
    let bench = RedisBench::at(&format!("redis://:secret@127.0.0.1:{}", server.port), OnReset::Grant, &[]);
    let lease = bench.holder(0, 3).lease();
    both(&at(&bench, &url(&server)), &lease, Retry::Never, Some("NOAUTH"), "asks for a password");
    let wrong = format!("redis://:wrong@127.0.0.1:{}", server.port);
    both(&at(&bench, &wrong), &lease, Retry::Never, Some("WRONGPASS"), "user or password is wrong");
    bench.run(&["ACL", "SETUSER", "weak", "on", ">secret", "~*", "+ping"]);
    let weak = format!("redis://weak:secret@127.0.0.1:{}", server.port);
    both(&at(&bench, &weak), &lease, Retry::Never, Some("NOPERM"), "+evalsha");
}

#[test]
fn scripts_that_the_server_forgot_are_sent_again() {
    let server = Server::start(&[]);
    let bench = registry(&server, &[]);
    let mut holder = bench.holder(0, 3);
    server.ask(&["SCRIPT", "FLUSH"]);
    renewed(&mut holder).unwrap();
    server.ask(&["SCRIPT", "FLUSH"]);
    bench.holder(0, 3);
    server.ask(&["SCRIPT", "FLUSH"]);
    holder.release(bench.now_ms() as u64);
}

#[test]
fn a_key_that_another_program_uses() {
    let server = Server::start(&[]);
    let bench = registry(&server, &[]);
    let lease = bench.holder(0, 3).lease();
    server.ask(&["SET", &bench.key(), "mine"]);
    both(&bench.client_of_all(), &lease, Retry::Never, Some("WRONGTYPE"), "another namespace");
}

#[test]
fn too_few_replicas_for_a_server_that_wants_them() {
    let server = Server::start(&[]);
    let bench = registry(&server, &[]);
    let lease = bench.holder(0, 3).lease();
    server.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    both(&bench.client_of_all(), &lease, Retry::Soon, Some("NOREPLICAS"), "min-replicas-to-write");
}

#[test]
fn a_node_that_has_the_key_no_more() {
    let nodes = crate::redis_server::cluster(&[]);
    let bench = RedisBench::at(&format!("redis+cluster://127.0.0.1:{}", nodes[0].port), OnReset::Wait, &[]);
    let mut holder = settled(&bench);
    let slot = nodes[0].ask(&["CLUSTER", "KEYSLOT", &bench.key()]);
    let owner = slot.parse::<usize>().unwrap() * 3 / 16384;
    let next = (owner + 1) % 3;
    let alone = at(&bench, &url(&nodes[next]));
    both(&alone, &holder.lease(), Retry::Soon, Some("MOVED"), "cluster=true");

    // The slot moves, with the registry: another server has it, whose run is another one.
    let before = renewed(&mut holder).unwrap();
    let ids = nodes.each_ref().map(|node| node.ask(&["CLUSTER", "MYID"]));
    nodes[next].ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[owner]]);
    nodes[owner].ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[next]]);
    let keys = nodes[owner].ask(&["CLUSTER", "GETKEYSINSLOT", &slot, "10"]);
    let port = nodes[next].port.to_string();
    for key in keys.lines() {
        nodes[owner].ask(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]);
    }
    for node in [next, owner, (owner + 2) % 3] {
        nodes[node].ask(&["CLUSTER", "SETSLOT", &slot, "NODE", &ids[next]]);
    }
    crate::registry_suite::notices(&bench, "migrated", holder, before);
}

#[test]
fn a_kept_connection_that_the_server_closed_is_no_loss() {
    let server = Server::start(&[]);
    let bench = registry(&server, &[]);
    let client = bench.client_with(|setup| setup.keep_open = true);
    let (ended, told) = std::sync::mpsc::channel();
    client.on_disconnect(std::sync::Arc::new(move || ended.send(()).unwrap_or_default()));
    crate::support::bench::block_on(async {
        let lease = client.acquire(TTL).await.unwrap().lease;
        server.ask(&["CONFIG", "SET", "timeout", "1"]);
        let closed = async {
            while told.try_recv().is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), closed).await.expect("closed by the server");
        assert!(matches!(client.renew(&lease, TTL).await, Renewal::Granted(_)));
        // Closed while its answer is awaited, it is a retry.
        server.ask(&["CONFIG", "SET", "timeout", "0"]);
        assert!(matches!(client.renew(&lease, TTL).await, Renewal::Granted(_)));
        server.ask(&["CLIENT", "PAUSE", "60000", "WRITE"]);
        let (renewal, ()) = tokio::join!(client.renew(&lease, TTL), async {
            let waits = || server.ask(&["CLIENT", "LIST"]).lines().any(|line| line.contains(" name=mintid "));
            assert!(waits());
            server.ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        });
        let Renewal::Unknown(error) = renewal else { panic!("{renewal:?}") };
        assert_eq!(error.retry(), Retry::Soon, "{error:?}");
        server.ask(&["CLIENT", "UNPAUSE"]);
        assert!(matches!(client.renew(&lease, TTL).await, Renewal::Granted(_)));
    });
}

#[test]
fn servers_without_one_clock_are_refused_by_name() {
    for change in [
        ("info('replication', 'role'),\n", "'active-replica',\n"),
        ("string.find(section('modules'), 'name=crdt', 1, true) and 1 or 0", "1"),
    ] {
        let bench = RedisBench::of(OnReset::Grant, &[change]);
        let error = wait(bench.any().acquire(TTL)).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some("coordinator")), "{error}");
        assert!(error.message().contains("active-active"), "{error}");
    }
}

#[test]
fn a_lease_that_nobody_ever_had_is_lost() {
    let bench = RedisBench::granting();
    wait(bench.any().acquire(TTL)).unwrap();
    let now_ms = bench.now_ms() as u64;
    let lease = Lease { machine: 5, token: Token([1; 16]), start_ms: now_ms, end_ms: now_ms };
    assert!(matches!(wait(bench.any().renew(&lease, TTL)), Renewal::Lost(_)));
}
