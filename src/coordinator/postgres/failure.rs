//! What the server, the network or TLS said, as an error of ours: whether to try again, and what to do.

mod hint;
#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::io;

use tokio_postgres::error::SqlState;

use super::session::Refusal;
use crate::coordinator::functions::Trouble;
use crate::coordinator::tls::trouble;
use crate::error::{Code, Error, Retry};

/// `ERR_MINTID_COORDINATOR` about the server at `place`, with the server's code, a hint and the class of retry.
#[must_use]
pub fn failure(place: &str, error: &tokio_postgres::Error) -> Error {
    let (what, retry, hint) = if let Some(server) = error.as_db_error() {
        return said(place, server.code().code(), server.message(), server.schema(), server.hint());
    } else if error.is_closed() {
        ("the server ended the connection".to_owned(), Retry::Soon, None)
    } else if let Some(error) = error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
        let (retry, hint) = judge_io(error);
        // The library shows the bytes of some things.
        let what = error.to_string();
        (what.split(" {").next().unwrap_or_default().to_owned(), retry, hint)
    } else {
        judge_driver(error)
    };
    made(place, &what, None, hint).retry_as(retry)
}

/// The same about what a function says that lends a connection.
pub(super) fn lent(place: &str, trouble: &Trouble) -> Error {
    if trouble.is_final {
        return Error::config("coordinator", format!("coordinator: query() {}", trouble.what));
    }
    match (&trouble.code, &trouble.said) {
        (Some(code), Some(message)) if is_sql_state(code) => said(place, code, message, None, None),
        (code, _) => made(place, &format!("query() {}", trouble.what), code.as_deref(), trouble.hint.clone())
            .retry_as(Retry::Soon),
    }
}

fn is_sql_state(code: &str) -> bool {
    code.len() == 5 && code.bytes().all(|letter| letter.is_ascii_digit() || letter.is_ascii_uppercase())
}

/// Whether a statement found one of our tables missing.
pub(super) fn is_missing_table(refusal: &Refusal) -> bool {
    code_of(refusal) == Some(SqlState::UNDEFINED_TABLE.code())
}

/// Whether somebody else changed meanwhile what was to be changed.
pub(super) fn is_overtaken(refusal: &Refusal) -> bool {
    code_of(refusal) == Some(SqlState::T_R_SERIALIZATION_FAILURE.code())
}

fn code_of(refusal: &Refusal) -> Option<&str> {
    match refusal {
        Refusal::Native(error) => error.code().map(SqlState::code),
        Refusal::Lent(trouble) => trouble.code.as_deref(),
    }
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
fn said(place: &str, code: &str, message: &str, schema: Option<&str>, hint: Option<&str>) -> Error {
    let hint = hint::of_server(code, message).or(hint).map(str::to_owned);
    let retry = if may_pass(code, message, schema) { Retry::Soon } else { Retry::Never };
    made(place, message, Some(code), hint).retry_as(retry)
}

/// Whether what an SQLSTATE says may be otherwise soon.
fn may_pass(code: &str, message: &str, schema: Option<&str>) -> bool {
    match code {
        // Two that create the same table or schema at once: the loser finds it there.
        "42P01" | "42P06" | "42P07" | "42710" => true,
        "23505" => schema == Some("pg_catalog"),
        // pgbouncer's code for everything it has to say itself, and what hosted poolers make of an unknown tenant.
        "08P01" | "XX000" => !hint::is_final(message),
        // Not supported, wrong data, a constraint, not let in, no such database, schema or object, a program's limit.
        _ => !["0A", "22", "23", "28", "3D", "3F", "42", "54", "P0"].iter().any(|class| code.starts_with(class)),
    }
}

/// Below the protocol: sockets, names, TLS.
fn judge_io(error: &io::Error) -> (Retry, Option<String>) {
    if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return trouble(tls, &hint::TLS);
    }
    let hint = match error.kind() {
        io::ErrorKind::ConnectionRefused => "does the server run, and is that its port?",
        io::ErrorKind::NotFound => "is there a server, and is that the folder of its Unix socket?",
        io::ErrorKind::TimedOut => "is there a firewall in between?",
        io::ErrorKind::PermissionDenied if error.to_string() == READ_ONLY => {
            "it may be a replica; name the primary, or all"
        }
        _ => return (Retry::Soon, None),
    };
    (Retry::Soon, Some(hint.to_owned()))
}

/// The driver's words for a server that takes no writes where one was looked for.
const READ_ONLY: &str = "database does not allow writes";

/// What the driver found by itself.
fn judge_driver(error: &tokio_postgres::Error) -> (String, Retry, Option<String>) {
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    let hint = match source.as_str() {
        "password missing" => "the server asks for a password; put it into the URL",
        "server does not support TLS" => "turn ssl on at the server, or do without: sslmode=disable",
        "server did not use channel binding" => {
            "channel_binding=require needs TLS and scram-sha-256 at the server, and no pgbouncer"
        }
        "unsupported authentication method" | "unsupported SASL mechanism" => {
            "use scram-sha-256, md5 or cert in pg_hba.conf"
        }
        _ => "",
    };
    let what = if source.is_empty() { error.to_string() } else { source };
    // A password, TLS or a method that is missing stays missing; an answer that nobody understands may be a passing one.
    let retry = if hint.is_empty() && error.to_string() == "unexpected message from server" {
        Retry::Soon
    } else {
        Retry::Never
    };
    (what, retry, (!hint.is_empty()).then(|| hint.to_owned()))
}
