//! `replicas=k`: what is granted is on k replicas before anybody relies on it.

use mintid::coordinator::redis::Redis;

use crate::registry_suite::{notices, renewed};
use crate::restarts::{follow, moved};
use crate::support::bench::{Bench as _, Holder};
use crate::support::redis::{RedisBench, settings};
use crate::support::registry::RegistryBench as _;
use crate::*;

const ADVICE: &str = "lower replicas=";

fn wanting(bench: &RedisBench, server: &Server, replicas: u32) -> Redis {
    bench.client_with(|setup| setup.settings = settings(&format!("{}?replicas={replicas}", url(server))))
}

#[test]
fn a_lease_is_on_a_replica_before_it_is_relied_on() {
    let (primary, replica) = (Server::start(&[]), Server::start(&[]));
    let bench = registry(&primary, &[]);
    let client = wanting(&bench, &primary, 1);
    expect(&wait(client.acquire(TTL)).unwrap_err(), Retry::Soon, None, ADVICE);
    follow(&replica, &primary);
    let grant = wait(client.acquire(TTL)).unwrap();
    let field = format!("e{}", grant.lease.machine);
    assert_eq!(replica.ask(&["HGET", &bench.key(), &field]), grant.lease.end_ms.to_string());

    // No answer yet, no more time; and no loss either.
    replica.pause();
    let error = unknown(&client, &grant.lease);
    expect(&error, Retry::Soon, None, ADVICE);
    assert!(error.message().contains("0 of 1 replicas have the lease"), "{error}");
    let error = wait(client.acquire(TTL)).unwrap_err();
    expect(&error, Retry::Soon, None, ADVICE);
    let leased = (0..31).filter(|machine| bench.kept(*machine).1).count();
    assert_eq!(leased, 1, "what nobody relies on is given back");
    replica.resume();
    let Renewal::Granted(renewed) = wait(client.renew(&grant.lease, TTL)) else { panic!("a live lease") };
    assert!(renewed.lease.end_ms >= grant.lease.end_ms);

    expect(&wait(wanting(&bench, &primary, 2).acquire(TTL)).unwrap_err(), Retry::Soon, None, ADVICE);
}

#[test]
fn a_failover_to_a_replica_that_has_every_lease_is_a_failover_all_the_same() {
    let (primary, replica) = (Server::start(&[]), Server::start(&[]));
    let bench = registry(&primary, &[]);
    follow(&replica, &primary);
    let grant = wait(wanting(&bench, &primary, 1).acquire(TTL)).unwrap();
    let mut holder = Holder { client: bench.any(), grant };
    let before = renewed(&mut holder).unwrap();
    primary.kill();
    replica.ask(&["REPLICAOF", "NO", "ONE"]);
    let bench = bench.at_another(&url(&replica));
    notices(&bench, "a failover", moved(holder, &bench), before);
}
