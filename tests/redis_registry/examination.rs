//! What `npx mintid doctor` finds.

use mintid::coordinator::redis::Redis;
use mintid::coordinator::registry::{Check, Verdict};

use crate::restarts::follow;
use crate::support::bench::Bench as _;
use crate::support::redis::settings;
use crate::support::registry::RegistryBench as _;
use crate::*;

fn check(client: &Redis, name: &str) -> Option<Check> {
    let examination = wait(client.examine()).unwrap();
    assert!(examination.server.starts_with("Redis ") || examination.server.starts_with("Valkey "), "{examination:?}");
    examination.checks.into_iter().find(|check| check.name == name)
}

#[track_caller]
fn finds(client: &Redis, name: &str, verdict: Verdict, found: &str, advice: &str) {
    let check = check(client, name).unwrap();
    assert_eq!(check.verdict, verdict, "{check:?}");
    assert!(check.found.contains(found), "{check:?}");
    assert_eq!(check.advice.is_some(), verdict != Verdict::Fine, "{check:?}");
    assert!(check.advice.as_deref().unwrap_or_default().contains(advice), "{check:?}");
}

#[test]
fn a_registry_is_fine_or_it_is_said_what_to_do() {
    let bench = RedisBench::waiting();
    let operator = bench.client_of_all();
    finds(&operator, "registry", Verdict::Warning, "no namespace", "npx mintid setup");
    wait(operator.setup(Mode::Plain)).unwrap();
    finds(&operator, "registry", Verdict::Fine, "layout not said yet", "");
    finds(&operator, "incarnation", Verdict::Warning, "newcomers wait for another 30", "--accept-reset");
    wait(operator.setup(Mode::AcceptReset)).unwrap();
    bench.holder(0, 3);
    finds(&operator, "registry", Verdict::Fine, "ttl 300000 ms, keys 0, incarnation volatile", "");
    finds(&operator, "incarnation", Verdict::Fine, "known", "");
    finds(&operator, "machine IDs", Verdict::Fine, "1 of 31 leased", "");
    for name in ["version", "writable", "clock", "latency", "connections"] {
        finds(&operator, name, Verdict::Fine, "", "");
    }
    bench.change_incarnation();
    finds(&operator, "incarnation", Verdict::Warning, "not the one", "--accept-reset");
    assert_eq!(bench.not_before_ms(), 0, "looking changes nothing");
}

#[test]
fn what_a_restart_would_bring_back() {
    let server = Server::start(&["appendfsync always"]);
    let bench = registry(&server, &[]);
    let operator = bench.client_of_all();
    finds(&operator, "persistence", Verdict::Fine, "no append-only file", "");
    server.ask(&["CONFIG", "SET", "appendonly", "yes"]);
    let waits = "append-only file; yet after a restart or failover newcomers wait";
    finds(&operator, "persistence", Verdict::Fine, waits, "");
    let mut holder = bench.holder(0, 3);
    holder.renew(TTL);
    let believed = if append_only::confirms(&server) { "two thirds of a ttl nobody waits" } else { waits };
    finds(&operator, "persistence", Verdict::Fine, believed, "");
    assert!(check(&operator, "replicas").is_none());

    let replica = Server::start(&[]);
    follow(&replica, &server);
    holder.renew(TTL);
    finds(&operator, "persistence", Verdict::Fine, waits, "");
    finds(&operator, "replicas", Verdict::Warning, "1", "min-replicas-to-write 1");
    let careful = bench.client_with(|setup| setup.settings = settings(&format!("{}?replicas=1", url(&server))));
    finds(&careful, "replicas", Verdict::Fine, "1", "");
    server.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    finds(&operator, "replicas", Verdict::Fine, "1", "");
    let reader = bench.client_with(|setup| setup.settings = settings(&url(&replica)));
    finds(&reader, "writable", Verdict::Error, "a slave", "name the master");
}

#[test]
fn memory_that_is_nearly_full() {
    let server = Server::start(&[]);
    let bench = registry(&server, &[]);
    let operator = bench.client_of_all();
    assert!(check(&operator, "memory").is_none(), "no limit");
    server.ask(&["CONFIG", "SET", "maxmemory", "1gb"]);
    finds(&operator, "memory", Verdict::Fine, "KiB in use", "");
    server.ask(&["CONFIG", "SET", "maxmemory", "1kb"]);
    finds(&operator, "memory", Verdict::Error, "KiB in use", "raise maxmemory");
}
