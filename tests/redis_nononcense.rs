//! NoNoncense's hash beside ours: the recorded steps of the original, and both taking turns on one server. A server without
//! HSETEX is refused with the versions that have it.

#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mintid::coordinator::redis::{Redis, Settings, Setup, Value, connect};
use mintid::coordinator::registry::{Agreement, Mode, OnReset, Registry};
use mintid::coordinator::tls::TlsOptions;
use mintid::coordinator::{Coordinator, Lease, MachineIds, Renewal, Token};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;
use serde_json::Value as Json;

use support::bench::{block_on, wait};
use support::redis::url;

const TTL: Duration = Duration::from_secs(60);

/// A hash of theirs that nobody else uses, and ours beside it; both go with it.
struct Hashes {
    theirs: String,
    number: u32,
}

impl Hashes {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        Self { theirs: format!("theirs-{}-{number}", std::process::id()), number }
    }

    fn ours(&self) -> String {
        format!("mintid:{{{}}}", self.theirs)
    }

    fn client(&self) -> Redis {
        self.client_that(OnReset::Grant)
    }

    fn client_that(&self, on_reset: OnReset) -> Redis {
        let separator = if url().contains('?') { '&' } else { '?' };
        let settings = format!("{}{separator}registry=nononcense", url());
        Redis::new(Setup {
            settings: Settings::parse(&settings, &TlsOptions::default()).unwrap(),
            namespace: self.theirs.clone(),
            machine_ids: MachineIds::new(&Layout::DEFAULT, None).unwrap(),
            agreement: Agreement { layout: Layout::DEFAULT, ttl: TTL, fingerprint: None, durable: false },
            on_reset,
            keep_open: false,
        })
    }

    fn run(&self, parts: &[&str]) -> Value {
        self.try_run(parts).unwrap()
    }

    fn try_run(&self, parts: &[&str]) -> Result<Value, mintid::error::Error> {
        let settings = Settings::parse(&url(), &TlsOptions::default()).unwrap();
        block_on(async {
            let connection = connect(&settings, &self.theirs).await.expect("the Redis of MINTID_TEST_REDIS");
            connection.command(&parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>()).await
        })
    }

    /// Whether the server can do what their hash needs; if not, that a lease says so.
    fn usable(&self) -> bool {
        if self.try_run(&["HSETEX", &self.theirs, "FNX", "PX", "1", "FIELDS", "1", "probe", "1"]).is_ok() {
            return true;
        }
        let error = wait(self.client().acquire(TTL)).unwrap_err();
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Never), "{error}");
        let hint = error.fields().hint.as_deref().unwrap_or_default();
        assert!(hint.contains("Redis 8.0") && hint.contains("Valkey 9.0"), "{hint}");
        false
    }

    /// Every field with its value and its time to live in ms, -1 without one.
    fn fields(&self) -> BTreeMap<String, (String, i64)> {
        let Value::Array(all) = self.run(&["HGETALL", &self.theirs]) else { panic!("no fields") };
        let text = |value: &Value| match value {
            Value::BulkString(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            other => panic!("{other:?}"),
        };
        let each = all.chunks(2).map(|pair| (text(&pair[0]), text(&pair[1])));
        each.map(|(name, value)| {
            let Value::Array(ttl) = self.run(&["HPTTL", &self.theirs, "FIELDS", "1", &name]) else { panic!("no ttl") };
            let Value::Int(ttl) = ttl[0] else { panic!("{ttl:?}") };
            (name, (value, ttl))
        })
        .collect()
    }
}

impl Drop for Hashes {
    fn drop(&mut self) {
        let _ = self.try_run(&["DEL", &self.theirs, &self.ours()]);
    }
}

/// Their spelling of a token: base64url without padding.
fn spelled(token: Token) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let number = u128::from_be_bytes(token.0);
    (0..22)
        .map(|place| {
            let six = if place == 21 { number << 4 } else { number >> (122 - 6 * place) };
            char::from(LETTERS[six as usize & 63])
        })
        .collect()
}

/// The tokens behind the labels of the recording.
#[derive(Default)]
struct Tokens(BTreeMap<String, Token>);

impl Tokens {
    /// `<T1>`, alone or within a field's name, in their spelling.
    fn fill(&mut self, text: &str) -> String {
        let Some((before, rest)) = text.split_once('<') else { return text.to_owned() };
        let (label, after) = rest.split_once('>').unwrap();
        format!("{before}{}{after}", spelled(self.of(label)))
    }

    fn of(&mut self, label: &str) -> Token {
        let next = self.0.len() as u8 + 1;
        *self.0.entry(label.to_owned()).or_insert(Token([next; 16]))
    }
}

fn vectors() -> Json {
    serde_json::from_str(include_str!("vectors/08_leases.json")).unwrap()
}

/// Puts the fields of a recorded state into their hash, and what we would know of our own leases into ours.
fn prepare(hashes: &Hashes, client: &Redis, tokens: &mut Tokens, before: &Json) {
    wait(client.setup(Mode::Fresh)).unwrap();
    // The first process says what is agreed on; what it took it gives back.
    let first = wait(client.acquire(TTL)).unwrap();
    wait(client.release(&first.lease, 0)).unwrap();
    hashes.run(&["DEL", &hashes.theirs]);
    hashes.run(&["HSET", &hashes.ours(), "e0", "0"]);
    for field in before.as_array().unwrap() {
        let (name, ttl) = (tokens.fill(field["field"].as_str().unwrap()), field["ttl_ms"].as_i64().unwrap());
        let label = field["value"].as_str().unwrap();
        let value = tokens.fill(label);
        hashes.run(&["HSET", &hashes.theirs, &name, &value]);
        if ttl > 0 {
            hashes.run(&["HPEXPIRE", &hashes.theirs, &ttl.to_string(), "FIELDS", "1", &name]);
        }
        if let (Ok(machine), Some(label)) = (name.parse::<u32>(), label.strip_prefix('<')) {
            let token = tokens.of(label.trim_end_matches('>'));
            let hex = token.0.map(|byte| format!("{byte:02x}")).concat();
            let end = (now_ms(hashes) + ttl).to_string();
            hashes.run(&["HSET", &hashes.ours(), &format!("e{machine}"), &end, &format!("t{machine}"), &hex]);
        }
    }
}

fn now_ms(hashes: &Hashes) -> i64 {
    let Value::Array(time) = hashes.run(&["TIME"]) else { panic!("no time") };
    let Value::BulkString(seconds) = &time[0] else { panic!("no time") };
    std::str::from_utf8(seconds).unwrap().parse::<i64>().unwrap() * 1000
}

/// `renew(lease 0,120000)`, `release(old lease 1)`: the machine ID, and how long. The labels follow from the states.
fn lease_of(hashes: &Hashes, tokens: &mut Tokens, action: &str) -> (Lease, Duration) {
    let inner = action.split_once('(').unwrap().1.trim_end_matches(')');
    let (which, ttl) = inner.split_once(',').unwrap_or((inner, "60000"));
    let machine = which.rsplit(' ').next().unwrap().parse().unwrap();
    // T1 held 0 and T2 held 1 in the recording; "old" leases are of before.
    let token = tokens.of(if machine == 0 { "T1" } else { "T2" });
    let now_ms = now_ms(hashes) as u64;
    // What our own hash says of the end is what a holder would know.
    let end_ms = match hashes.run(&["HGET", &hashes.ours(), &format!("e{machine}")]) {
        Value::BulkString(end) => std::str::from_utf8(&end).unwrap().parse().unwrap(),
        _ => 0,
    };
    (Lease { machine, token, start_ms: now_ms, end_ms }, Duration::from_millis(ttl.parse().unwrap()))
}

#[test]
fn the_recorded_steps_of_the_original_come_out_the_same() {
    let mut done = 0;
    for row in vectors()["redis_state_table"].as_array().unwrap() {
        let hashes = Hashes::new();
        if !hashes.usable() {
            return;
        }
        let what = format!("{} ({})", row["desc"].as_str().unwrap(), hashes.number);
        let (client, mut tokens) = (hashes.client(), Tokens::default());
        prepare(&hashes, &client, &mut tokens, &row["before"]);
        let (action, result) = (row["action"].as_str().unwrap(), &row["result"]);
        if action.starts_with("acquire") {
            match wait(client.acquire(TTL)) {
                Ok(grant) => {
                    assert_eq!(u64::from(grant.lease.machine), result[1]["id"].as_u64().unwrap(), "{what}");
                    let taken = format!("{}", grant.lease.machine);
                    let after = row["after"].as_array().unwrap();
                    let label = after.iter().find(|field| field["field"] == taken.as_str()).unwrap();
                    let label = label["value"].as_str().unwrap().trim_matches(['<', '>']).to_owned();
                    tokens.0.insert(label, grant.lease.token);
                }
                Err(error) => {
                    assert_eq!((error.code(), result[1].as_str()), (Code::Exhausted, Some(":exhausted")), "{what}");
                }
            }
        } else {
            let (lease, ttl) = lease_of(&hashes, &mut tokens, action);
            if action.starts_with("renew") {
                let renewal = wait(client.renew(&lease, ttl));
                let granted = matches!(renewal, Renewal::Granted(_));
                assert_eq!(granted, result[0] == "ok", "{what}: {renewal:?}");
            } else {
                wait(client.release(&lease, lease.start_ms)).unwrap();
            }
        }
        compare(&hashes, &mut tokens, &row["after"], &what);
        done += 1;
    }
    assert_eq!(done, 14);
}

fn compare(hashes: &Hashes, tokens: &mut Tokens, after: &Json, what: &str) {
    const TOLERANCE_MS: i64 = 10_000;
    let found = hashes.fields();
    let expected = after.as_array().unwrap();
    let names: Vec<String> = expected.iter().map(|field| tokens.fill(field["field"].as_str().unwrap())).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(found.keys().cloned().collect::<Vec<_>>(), sorted, "{what}");
    for (name, field) in names.iter().zip(expected) {
        let (value, ttl) = &found[name];
        assert_eq!(*value, tokens.fill(field["value"].as_str().unwrap()), "{what}: {name}");
        assert!((ttl - field["ttl_ms"].as_i64().unwrap()).abs() <= TOLERANCE_MS, "{what}: {name} lives for {ttl} ms");
    }
}

/// What NoNoncense's own acquire does, by its recorded operations; the machine ID and the token.
fn their_acquire(hashes: &Hashes, round: usize) -> Option<(u32, String)> {
    let Value::Array(names) = hashes.run(&["HKEYS", &hashes.theirs]) else { panic!("no names") };
    let leased: Vec<u32> = names
        .iter()
        .filter_map(|name| match name {
            Value::BulkString(name) => std::str::from_utf8(name).ok()?.parse().ok(),
            _ => None,
        })
        .collect();
    let id = (0..512).find(|id| !leased.contains(id))?;
    let (field, token) = (id.to_string(), format!("their-token-{round:010}"));
    let marker = format!("token.{id}.{token}");
    let said =
        hashes.run(&["HSETEX", &hashes.theirs, "FNX", "PX", "60000", "FIELDS", "2", &field, &token, &marker, &field]);
    (said == Value::Int(1)).then_some((id, token))
}

fn their_release(hashes: &Hashes, id: u32, token: &str) -> bool {
    let (field, marker) = (id.to_string(), format!("token.{id}.{token}"));
    let release = ["HSETEX", &hashes.theirs, "FXX", "PX", "0", "FIELDS", "2", &field, token, &marker, &field];
    hashes.run(&release) == Value::Int(1)
}

#[test]
fn theirs_and_ours_take_turns_on_one_hash_and_never_hold_the_same() {
    let hashes = Hashes::new();
    if !hashes.usable() {
        return;
    }
    let client = hashes.client();
    let (mut ours, mut others): (Vec<Lease>, Vec<(u32, String)>) = (Vec::new(), Vec::new());
    for round in 0..60 {
        match round % 6 {
            0 | 3 => ours.push(wait(client.acquire(TTL)).unwrap().lease),
            1 | 2 => others.extend(their_acquire(&hashes, round)),
            4 => {
                let (id, token) = others.remove(round % others.len());
                assert!(their_release(&hashes, id, &token), "their lease on {id} was gone");
            }
            _ => {
                let lease = ours.remove(round % ours.len());
                assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Granted(_)), "ours on {}", lease.machine);
                wait(client.release(&lease, lease.start_ms)).unwrap();
            }
        }
        let mut held: Vec<u32> =
            ours.iter().map(|lease| lease.machine).chain(others.iter().map(|(id, _)| *id)).collect();
        held.sort_unstable();
        let count = held.len();
        held.dedup();
        assert_eq!(held.len(), count, "two hold one machine ID after round {round}");
    }
    assert!(ours.len() + others.len() >= 15, "{} and {}", ours.len(), others.len());
}

#[test]
fn what_was_released_ahead_of_time_is_theirs_when_its_last_use_is_over() {
    let hashes = Hashes::new();
    if !hashes.usable() {
        return;
    }
    let client = hashes.client();
    let lease = wait(client.acquire(TTL)).unwrap().lease;
    wait(client.release(&lease, lease.start_ms + 30_000)).unwrap();
    let left = hashes.fields()[&lease.machine.to_string()].1;
    assert!((25_000..=30_001).contains(&left), "{left} ms");
}

#[test]
fn a_lease_that_their_hash_forgot_is_put_back_while_newcomers_wait() {
    let hashes = Hashes::new();
    if !hashes.usable() {
        return;
    }
    let client = hashes.client_that(OnReset::Wait);
    wait(client.setup(Mode::Fresh)).unwrap();
    let lease = wait(client.acquire(TTL)).unwrap().lease;
    hashes.run(&["DEL", &hashes.theirs]);
    assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Granted(_)), "put back");
    let fields = hashes.fields();
    assert_eq!(fields[&lease.machine.to_string()].0, spelled(lease.token));
    assert_eq!(fields.len(), 2);
    assert_eq!(wait(client.acquire(TTL)).unwrap_err().code(), Code::RegistryReset);
    // Somebody else took it meanwhile: it is lost.
    hashes.run(&["DEL", &hashes.theirs]);
    hashes.run(&["HSET", &hashes.theirs, &lease.machine.to_string(), "their-token"]);
    assert!(matches!(wait(client.renew(&lease, TTL)), Renewal::Lost(_)));
}
