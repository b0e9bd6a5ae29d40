//! What the server, the network or TLS said, as an error of ours: whether to try again, and what to do.

mod hint;
#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::io;
use std::sync::Arc;

use redis::{ErrorKind, RedisError};

pub(super) use self::hint::{DURABLE, HSETEX, acl_line};
use crate::coordinator::tls::trouble;
use crate::error::{Code, Error, Retry};

/// `ERR_MINTID_COORDINATOR` about the server at `place`, with the first word of what it said as the server's code, a hint
/// and the class of retry.
#[must_use]
pub fn failure(place: &str, error: &RedisError) -> Error {
    if let Some(code) = error.code() {
        return said(place, code, error.detail().unwrap_or_default());
    }
    if error.kind() == ErrorKind::Parse {
        let hint = "is that the port of a Redis or Valkey server?";
        return made(place, "the answer is not that of a Redis server", None, Some(hint.to_owned()));
    }
    match io(error) {
        Some(error) if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>) => {
            within_tls(place, error)
        }
        _ if error.is_connection_dropped() => {
            made(place, "the server ended the connection", None, None).retry_as(Retry::Soon)
        }
        _ => made(place, &error.to_string(), None, None).retry_as(Retry::Soon),
    }
}

/// What the system said, through the library.
fn io(error: &RedisError) -> Option<&io::Error> {
    let shared = error.source()?.downcast_ref::<Arc<dyn std::error::Error + Send + Sync>>()?;
    shared.downcast_ref()
}

/// Below the protocol: sockets, names, TLS.
pub(super) fn within_tls(place: &str, error: &io::Error) -> Error {
    let (retry, hint) = judge_io(error);
    // The library shows the bytes of some things.
    let what = error.to_string();
    made(place, what.split(" {").next().unwrap_or_default(), None, hint).retry_as(retry)
}

/// `ERR_MINTID_COORDINATOR`; what is shown of the server's text cannot break a line of a log.
pub(super) fn made(place: &str, what: &str, server_code: Option<&str>, hint: Option<String>) -> Error {
    const LONGEST: usize = 300;
    let what: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    Error::new(Code::Coordinator, format!("{place}: {what}")).with(|fields| {
        fields.coordinator = Some(place.to_owned());
        fields.server_code = server_code.map(str::to_owned);
        fields.hint = hint;
    })
}

/// The server's own words.
pub(super) fn said(place: &str, code: &str, detail: &str) -> Error {
    let (code, detail) = of_script(code, detail).unwrap_or((code, detail));
    let (retry, hint) = hint::of_server(code, detail);
    made(place, format!("{code} {detail}").trim_end(), Some(code), hint.map(str::to_owned)).retry_as(retry)
}

/// Before Redis 7, what a command said to a script stands inside of the script's error.
fn of_script<'a>(code: &str, detail: &'a str) -> Option<(&'a str, &'a str)> {
    let inner = detail.strip_prefix("Error running script").filter(|_| code == "ERR")?;
    let (_, said) = inner.split_once(": -")?;
    let (code, detail) = said.split_once(' ').unwrap_or((said, ""));
    code.bytes().all(|letter| letter.is_ascii_uppercase()).then_some((code, detail))
}

fn judge_io(error: &io::Error) -> (Retry, Option<String>) {
    if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return match tls {
            rustls::Error::InvalidMessage(_) => (Retry::Never, Some(hint::NO_TLS.to_owned())),
            tls => trouble(tls, &hint::TLS),
        };
    }
    let hint = match error.kind() {
        io::ErrorKind::ConnectionRefused => "does the server run, and is that its port?",
        io::ErrorKind::NotFound => "is there a server, and is that the path of its Unix socket?",
        io::ErrorKind::PermissionDenied => "may this user use the server's Unix socket (unixsocketperm)?",
        io::ErrorKind::TimedOut if error.get_ref().is_some() => hint::NO_TLS,
        io::ErrorKind::TimedOut => "is there a firewall in between?",
        io::ErrorKind::InvalidInput => return (Retry::Never, Some("is that the host's name?".to_owned())),
        _ => return (Retry::Soon, None),
    };
    (Retry::Soon, Some(hint.to_owned()))
}
