//! Connections to real Redis servers, as users have them: passwords, TLS, sockets, Sentinel, Cluster, each refusal.

#![cfg(all(feature = "redis", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/certificates.rs"]
#[allow(dead_code, reason = "each test crate uses its own part of this")]
mod certificates;
mod life;
mod login;
#[path = "../support/redis_server.rs"]
mod redis_server;
mod tls;
mod topologies;

use std::time::Duration;

use mintid::coordinator::redis::{Connection, Script, Settings, Value, connect};
use mintid::coordinator::tls::TlsOptions;
use mintid::error::{Code, Error, Retry};
use tokio::time::timeout;

use redis_server::Server;

/// The password of every user whose password does not matter.
const PASSWORD: &str = "pa/s@s#w:o%r?d";

/// The key of every test.
const KEY: &str = "mintid:test";

/// Long enough for a busy machine, and never waited for in full.
const LONG: Duration = Duration::from_secs(30);

async fn open(url: &str) -> Result<Connection, Error> {
    connect(&Settings::parse(url, &TlsOptions::default())?, KEY).await
}

/// What a script with the key of every test returns, as text.
async fn eval(connection: &Connection, script: &str) -> Result<String, Error> {
    connection.eval(&Script::new(script), &[KEY], &[]).await.map(text)
}

async fn ask(connection: &Connection, parts: &[&str]) -> String {
    let parts: Vec<_> = parts.iter().map(|part| part.as_bytes()).collect();
    text(connection.command(&parts).await.unwrap())
}

fn text(value: Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).unwrap(),
        Value::SimpleString(text) => text,
        Value::Int(number) => number.to_string(),
        Value::Okay => "OK".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Connects until it works; every failure before must be a passing one.
async fn open_soon(settings: &Settings) -> Connection {
    let opened = async {
        loop {
            match connect(settings, KEY).await {
                Ok(connection) => break connection,
                Err(error) => assert_eq!(error.retry(), Retry::Soon, "{error:?}"),
            }
        }
    };
    timeout(LONG, opened).await.unwrap()
}

/// What an error of a connection must be, and that it shows no password.
#[track_caller]
fn expect(error: &Error, retry: Retry, server_code: Option<&str>, advice: &str) {
    let shown = format!("{error} {error:?}");
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, retry), "{shown}");
    assert_eq!(error.fields().server_code.as_deref(), server_code, "{shown}");
    assert!(error.fields().hint.as_deref().unwrap_or_default().contains(advice), "{shown}");
    let place = error.fields().coordinator.as_deref().unwrap_or_default();
    assert!(place.starts_with("redis") && error.message().starts_with(place), "{shown}");
    assert!(!shown.contains("pa/s") && !shown.contains("o%r?d"), "{shown}");
}
