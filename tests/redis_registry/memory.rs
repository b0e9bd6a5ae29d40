//! Servers that are full, and what they do about it.

use std::sync::Arc;
use std::time::Duration;

use mintid::clock::{Clock, SystemClock};
use mintid::coordinator::Caution;
use mintid::coordinator::registry::Verdict;
use mintid::lease::event::What;
use mintid::lease::manager::{Manager, Setup};
use mintid::lease::state::Timings;
use mintid::lease::waiters::Owner;
use mintid::nonce::Factory;

use crate::registry_suite::{forgets, must_wait, renewed};
use crate::support::bench::{Bench as _, few_machines};
use crate::support::registry::RegistryBench as _;
use crate::*;

#[test]
fn a_full_server_grants_nothing_new_and_keeps_what_it_has() {
    let server = Server::start(&["maxmemory-policy noeviction"]);
    let bench = registry(&server, &[]);
    let (mut holder, released) = (bench.holder(0, 3), bench.holder(0, 3));
    server.ask(&["CONFIG", "SET", "maxmemory", "1"]);
    expect(&wait(bench.any().acquire(TTL)).unwrap_err(), Retry::Soon, Some("OOM"), "raise maxmemory");
    let end_ms = holder.lease().end_ms;
    assert!(renewed(&mut holder).expect("it takes no more memory").end_ms >= end_ms);
    let machine = released.lease().machine;
    released.release(bench.now_ms() as u64);
    assert!(!bench.kept(machine).1);

    // Of what was forgotten nothing can be put back; that is no loss yet.
    server.ask(&["DEL", &bench.key()]);
    expect(&unknown(&*holder.client, &holder.lease()), Retry::Soon, Some("OOM"), "raise maxmemory");
    server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    renewed(&mut holder).expect("put back");
    assert!(must_wait(&*bench.any()));
}

#[test]
fn an_evicted_registry_is_noticed() {
    let server = Server::start(&["maxmemory-policy allkeys-random"]);
    let bench = registry(&server, &[]);
    forgets(&bench, "evicted", |bench| {
        server.ask(&["CONFIG", "SET", "maxmemory", "1"]);
        server.wait_for(&["EXISTS", &bench.key()], "0");
        server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    });
    assert!(server.ask(&["INFO", "stats"]).contains("evicted_keys:"));
}

#[test]
fn a_policy_that_may_evict_the_registry_is_worth_a_caution() {
    let server = Server::start(&[]);
    let bench = registry(&server, &[]);
    for (policy, evicts) in [
        ("noeviction", false),
        ("volatile-lru", false),
        ("volatile-ttl", false),
        ("allkeys-lru", true),
        ("allkeys-lfu", true),
        ("allkeys-random", true),
    ] {
        server.ask(&["CONFIG", "SET", "maxmemory-policy", policy]);
        let client = bench.client_of_all();
        assert_eq!(client.caution(), None);
        wait(client.acquire(TTL)).unwrap();
        match client.caution() {
            Some(Caution { code, message }) => {
                assert!(evicts && code == "REGISTRY_EVICTABLE", "{policy}: {message}");
                assert!(message.contains(policy) && message.contains("noeviction"), "{message}");
            }
            None => assert!(!evicts, "{policy}"),
        }
        let checks = wait(client.examine()).unwrap().checks;
        let check = checks.iter().find(|check| check.name == "eviction").unwrap();
        assert_eq!(check.verdict == Verdict::Warning, evicts, "{policy}");
    }
}

#[test]
fn whoever_leases_hears_of_such_a_policy_once() {
    let server = Server::start(&["maxmemory-policy allkeys-lru"]);
    let bench = registry(&server, &[]);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let long = Duration::from_secs(60);
    let told = crate::support::bench::block_on(async {
        let (manager, actor) = Manager::with_actor(Setup {
            coordinator: Arc::new(bench.client_of_all()),
            factory: Arc::new(Factory::new(few_machines(), Arc::clone(&clock))),
            clock: Arc::clone(&clock),
            timings: Timings { ttl: TTL, first_ttl: long, renew_every: long },
            request_timeout: long,
        });
        let (tell, mut events) = tokio::sync::mpsc::unbounded_channel();
        manager.subscribe(Owner(1), Box::new(move |event| tell.send(event.what.clone()).unwrap_or_default()));
        manager.wait(Owner(1), clock.tick(), None, Box::new(|_| {}));
        let actor = tokio::spawn(actor);
        let mut told = Vec::new();
        let mut leases = 0;
        while leases < 3 {
            let what = tokio::time::timeout(long, events.recv()).await.expect("an event").expect("a manager");
            if matches!(what, What::Acquired { .. }) {
                leases += 1;
                manager.relinquish(manager.emitted(), "another one, please".into());
            }
            told.push(what);
        }
        actor.abort();
        told
    });
    let warnings: Vec<_> = told.iter().filter(|what| matches!(what, What::Warning { .. })).collect();
    let [What::Warning { code: "REGISTRY_EVICTABLE", message }] = &warnings[..] else { panic!("{told:?}") };
    assert!(message.contains("maxmemory-policy is allkeys-lru"), "{message}");
}
