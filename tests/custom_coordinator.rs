//! The contract suite on functions of a user's that keep their leases in memory, and what is made of functions that fail
//! or answer what they must not.

#![cfg(feature = "runtime")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::cast_precision_loss, reason = "milliseconds stay far below 2^53")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mintid::clock::{Clock, ManualClock};
use mintid::coordinator::custom::{Custom, Setup};
use mintid::coordinator::functions::{Functions, Granted, Own, Request, Said, Trouble};
use mintid::coordinator::{Answer, Coordinator, Grant, Lease, MachineIds, Renewal, Token};
use mintid::error::{Code, Error, Retry};
use mintid::layout::Layout;
use mintid::nonce::Loss;
use support::T0_MS;
use support::bench::{Bench, Holder, Kind, few_machines, wait};
use support::clock::Skewed;
use support::memory::{Memory, Registry};

mod suite {
    crate::contract::suite!(super::CustomBench::default());
}

const TTL: Duration = Duration::from_secs(60);

fn custom(functions: impl Functions, machine_ids: MachineIds) -> Custom {
    Custom::new(Setup {
        own: Own::new("mine".into(), Arc::new(functions)),
        namespace: "default".into(),
        machine_ids,
        layout: few_machines(),
        fingerprint: Some([0xAB; 16]),
    })
}

/// What a user's functions would do with a table.
struct InMemory {
    registry: Arc<Registry>,
    clock: Arc<dyn Clock>,
}

impl InMemory {
    fn client(&self, first: u32, last: u32) -> Memory {
        let machine_ids = MachineIds::new(&few_machines(), Some((first, last))).unwrap();
        Memory::new(&self.registry, machine_ids, Arc::clone(&self.clock))
    }

    async fn decide(&self, request: Request) -> Said {
        match request {
            Request::Acquire { first, last, ttl_ms, .. } => {
                match self.client(first, last).acquire(Duration::from_millis(ttl_ms)).await {
                    Ok(grant) => granted(&grant),
                    Err(error) => {
                        assert_eq!(error.code(), Code::Exhausted);
                        Said::No
                    }
                }
            }
            Request::Renew { machine, token, ttl_ms, end_ms, .. } => {
                let lease = Lease { machine, token: parsed(&token), start_ms: 0, end_ms };
                match self.client(machine, machine).renew(&lease, Duration::from_millis(ttl_ms)).await {
                    Renewal::Granted(grant) => granted(&grant),
                    Renewal::Lost(_) => Said::No,
                    Renewal::Unknown(error) => panic!("{error}"),
                }
            }
            Request::Release { machine, token, last_used_ms, .. } => {
                let lease = Lease { machine, token: parsed(&token), start_ms: 0, end_ms: 0 };
                self.client(machine, machine).release(&lease, last_used_ms).await.unwrap();
                Said::No
            }
            Request::Query { .. } | Request::Eval { .. } => panic!("nothing is lent"),
        }
    }
}

impl fmt::Debug for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InMemory")
    }
}

impl Functions for InMemory {
    fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
        Box::pin(async move { Ok(self.decide(request).await) })
    }
}

fn granted(grant: &Grant) -> Said {
    let hex = format!("{:032x}", u128::from_be_bytes(grant.lease.token.0));
    let token = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    Said::Grant(Granted {
        machine: Some(f64::from(grant.lease.machine)),
        token: Some(token),
        now_ms: grant.now_ms as f64,
        end_ms: grant.lease.end_ms as f64,
        leased: None,
    })
}

fn parsed(token: &str) -> Token {
    Token(u128::from_str_radix(&token.replace('-', ""), 16).unwrap().to_be_bytes())
}

struct CustomBench {
    clock: Arc<ManualClock>,
    registry: Arc<Registry>,
}

impl Default for CustomBench {
    fn default() -> Self {
        let clock = Arc::new(ManualClock::at(T0_MS));
        Self { registry: Arc::new(Registry::new(few_machines(), clock.clone())), clock }
    }
}

impl Bench for CustomBench {
    fn kind(&self) -> Kind {
        Kind::Renewable
    }

    fn ttl(&self) -> Duration {
        Duration::from_secs(300)
    }

    fn client(&self, machine_ids: MachineIds, skew_ms: i64) -> Arc<dyn Coordinator> {
        let clock = Arc::new(Skewed { true_clock: self.clock.clone(), by_ms: skew_ms });
        Arc::new(custom(InMemory { registry: Arc::clone(&self.registry), clock }, machine_ids))
    }

    fn pass(&self, by: Duration) {
        self.clock.advance(by);
    }

    fn step(&self, by_ms: i64) {
        self.clock.set_wall_ms(self.clock.wall_ms().saturating_add_signed(by_ms));
    }

    fn die(&self, holder: Holder) {
        let left_ms = (holder.lease().end_ms + 1).saturating_sub(self.clock.wall_ms());
        self.pass(Duration::from_millis(left_ms));
    }
}

/// Functions that answer one thing after the other, and keep what they were asked.
#[derive(Debug, Clone, Default)]
struct Scripted {
    answers: Arc<Mutex<VecDeque<Result<Said, Trouble>>>>,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Result<Said, Trouble>>) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), asked: Arc::default() }
    }

    fn custom(&self) -> Custom {
        custom(self.clone(), MachineIds::new(&few_machines(), None).unwrap())
    }

    fn asked(&self) -> Vec<Request> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Functions for Scripted {
    fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
        self.asked.lock().unwrap().push(request);
        let answer = self.answers.lock().unwrap().pop_front().expect("nothing more was to be asked");
        Box::pin(async move { answer })
    }
}

#[allow(clippy::unnecessary_wraps, reason = "as functions answer")]
fn grant(now_ms: u64) -> Result<Said, Trouble> {
    Ok(Said::Grant(Granted {
        machine: Some(7.0),
        now_ms: now_ms as f64,
        end_ms: (now_ms + 60_000) as f64,
        ..Granted::default()
    }))
}

fn threw(is_final: bool) -> Result<Said, Trouble> {
    Err(Trouble {
        what: "threw Error: no route".into(),
        code: Some("EHOSTUNREACH".into()),
        hint: Some("thrown at acquire (ids.js:7:9)".into()),
        is_final,
        ..Trouble::default()
    })
}

fn acquired(custom: &Custom) -> Lease {
    wait(custom.acquire(TTL)).unwrap().lease
}

#[test]
fn the_functions_are_told_all_that_a_registry_has_to_know() {
    let functions = Scripted::new([grant(T0_MS), grant(T0_MS), Ok(Said::No)]);
    let custom = functions.custom();
    let lease = acquired(&custom);
    assert!(matches!(wait(custom.renew(&lease, TTL * 5)), Renewal::Granted(_)));
    wait(custom.release(&lease, T0_MS + 9)).unwrap();
    let asked = functions.asked();
    let Request::Acquire { namespace, first, last, ttl_ms, token, holder, layout, fingerprint } = &asked[0] else {
        panic!("{asked:?}")
    };
    assert_eq!((namespace.as_str(), *first, *last, *ttl_ms), ("default", 0, 30, 60_000));
    assert_eq!((layout.as_str(), fingerprint.as_deref()), (&*few_machines().to_string(), Some(&*"ab".repeat(16))));
    assert!(holder.ends_with(&format!(":{}", std::process::id())), "{holder}");
    assert_eq!((token.len(), &token[14..15], parsed(token)), (36, "4", lease.token), "a random UUID");
    let (namespace, token) = (namespace.clone(), token.clone());
    let renew = Request::Renew {
        namespace: namespace.clone(),
        machine: 7,
        token: token.clone(),
        ttl_ms: 300_000,
        end_ms: lease.end_ms,
    };
    assert_eq!(asked[1], renew);
    assert_eq!(asked[2], Request::Release { namespace, machine: 7, token, last_used_ms: T0_MS + 9 });
}

#[test]
fn each_claim_is_offered_a_token_of_its_own() {
    let functions = Scripted::new([Ok(Said::No), Ok(Said::No)]);
    let custom = functions.custom();
    for _ in 0..2 {
        assert_eq!(wait(custom.acquire(TTL)).unwrap_err().fields().capacity, Some(31));
    }
    let tokens: Vec<String> = functions
        .asked()
        .into_iter()
        .map(|request| match request {
            Request::Acquire { token, .. } => token,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_ne!(tokens[0], tokens[1]);
}

#[test]
fn what_a_function_throws_is_tried_again_and_says_which_and_where() {
    let custom = Scripted::new([threw(false)]).custom();
    let error = wait(custom.acquire(TTL)).unwrap_err();
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon));
    assert_eq!(error.message(), "mine: acquire() threw Error: no route");
    let fields = error.fields();
    assert_eq!(fields.coordinator.as_deref(), Some("mine"));
    assert_eq!(fields.server_code.as_deref(), Some("EHOSTUNREACH"));
    assert_eq!(fields.hint.as_deref(), Some("thrown at acquire (ids.js:7:9)"));
}

#[test]
fn a_function_can_say_that_trying_again_cannot_help() {
    let custom = Scripted::new([threw(true)]).custom();
    let error = wait(custom.acquire(TTL)).unwrap_err();
    assert_eq!((error.code(), error.retry()), (Code::Config, Retry::Never));
    assert_eq!(error.fields().option, Some("coordinator"));
    assert_eq!(error.message(), "coordinator: acquire() threw Error: no route");
}

#[test]
fn no_renewal_that_fails_is_a_loss() {
    let short = Granted { now_ms: T0_MS as f64, end_ms: (T0_MS + 59_999) as f64, ..Granted::default() };
    let functions = Scripted::new([
        grant(T0_MS),
        threw(false),
        threw(true),
        Ok(Said::Grant(Granted::default())),
        Ok(Said::Grant(short)),
        Ok(Said::No),
    ]);
    let custom = functions.custom();
    let lease = acquired(&custom);
    for says in ["threw Error: no route", "threw Error: no route", "answered now 0;", "answered end 1764500059999;"] {
        match wait(custom.renew(&lease, TTL)) {
            Renewal::Unknown(error) => assert!(error.message().contains(&format!("renew() {says}")), "{error}"),
            other => panic!("{says}: {other:?}"),
        }
    }
    assert!(matches!(wait(custom.renew(&lease, TTL)), Renewal::Lost(Loss::Rejected)), "what it says clearly is one");
}

#[test]
fn a_release_that_fails_is_told() {
    let custom = Scripted::new([grant(T0_MS), threw(false)]).custom();
    let lease = acquired(&custom);
    let error = wait(custom.release(&lease, lease.start_ms)).unwrap_err();
    assert_eq!(error.message(), "mine: release() threw Error: no route");
}

/// As from a registry whose clock is the wall clock of a host, and is set back.
#[test]
fn no_lease_reaches_back_into_an_earlier_one_of_its_machine_id() {
    let functions = Scripted::new([grant(T0_MS), grant(T0_MS + 59_998), Ok(Said::No), grant(T0_MS + 59_999)]);
    let custom = functions.custom();
    let first = acquired(&custom);
    let error = wait(custom.acquire(TTL)).unwrap_err();
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon));
    assert!(error.message().contains("expected a time not before 1764500060000"), "{error}");
    let asked = functions.asked();
    let Request::Release { machine: 7, token, last_used_ms, .. } = &asked[2] else { panic!("{asked:?}") };
    assert_eq!(*last_used_ms, first.end_ms - 1, "given back as used up to where the earlier one ends");
    assert_ne!(parsed(token), first.token, "its own token");
    assert_eq!(acquired(&custom).start_ms, first.end_ms);
}

#[test]
fn what_was_renewed_counts_and_what_was_given_back_does_not() {
    let later = Granted { now_ms: (T0_MS + 1) as f64, end_ms: (T0_MS + 90_000) as f64, ..Granted::default() };
    let functions = Scripted::new([
        grant(T0_MS),
        Ok(Said::Grant(later)),
        grant(T0_MS + 80_000),
        Ok(Said::No),
        Ok(Said::No),
        grant(T0_MS + 1000),
    ]);
    let custom = functions.custom();
    let lease = acquired(&custom);
    wait(custom.renew(&lease, TTL));
    let error: Error = wait(custom.acquire(TTL)).unwrap_err();
    assert!(error.message().contains("expected a time not before 1764500090000"), "{error}");
    wait(custom.release(&lease, T0_MS + 1000)).unwrap();
    assert_eq!(acquired(&custom).start_ms, T0_MS + 1001);
}

#[test]
fn a_coordinator_of_ones_own_is_nobody_elses() {
    let functions: Arc<dyn Functions> = Arc::new(Scripted::default());
    let [one, other] = [0, 1].map(|_| Own::new("mine".into(), Arc::clone(&functions)));
    assert_ne!(one.address(), other.address());
    assert_eq!(one.address(), one.clone().address());
    assert_eq!(Layout::parse(&few_machines().to_string()), Some(few_machines()), "what they are told can be read back");
}
