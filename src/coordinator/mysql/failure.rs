//! What the server, the network or TLS said, as an error of ours: whether to try again, and what to do.

mod hint;
#[cfg(test)]
mod tests;

use std::io;

use super::protocol::Fault;
use crate::coordinator::tls::trouble;
use crate::error::{Code, Error, Retry};

/// `ERR_MINTID_COORDINATOR` about the server at `place`, with the server's number, a hint and the class of retry.
pub(super) fn failure(place: &str, fault: &Fault) -> Error {
    match fault {
        Fault::Server(code, state, message) => said(place, *code, state, message),
        Fault::Io(error) => on_the_way(place, error),
        Fault::Strange => {
            let hint = "is that the port of a MySQL or MariaDB server?";
            made(place, "the answer is not that of a MySQL server", None, Some(hint.to_owned()))
        }
        Fault::Refused(what, hint) => made(place, what, None, Some((*hint).to_owned())),
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
fn said(place: &str, code: u16, state: &str, message: &str) -> Error {
    let (retry, hint) = hint::of_server(code, state, message);
    made(place, message, Some(&code.to_string()), hint.map(str::to_owned)).retry_as(retry)
}

/// Sockets, names, TLS.
fn on_the_way(place: &str, error: &io::Error) -> Error {
    let (retry, hint) = judge_io(error);
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => "the server ended the connection".to_owned(),
        _ => error.to_string(),
    };
    // The library shows the bytes of some things.
    made(place, what.split(" {").next().unwrap_or_default(), None, hint).retry_as(retry)
}

fn judge_io(error: &io::Error) -> (Retry, Option<String>) {
    if let Some(tls) = of_tls(error) {
        return trouble(tls, &hint::TLS);
    }
    let hint = match error.kind() {
        io::ErrorKind::ConnectionRefused => "does the server run, and is that its port?",
        io::ErrorKind::NotFound => "is there a server, and is that the path of its Unix socket?",
        io::ErrorKind::PermissionDenied => "may this user use the server's Unix socket?",
        io::ErrorKind::TimedOut => "is there a firewall in between?",
        io::ErrorKind::InvalidInput => return (Retry::Never, Some("is that the host's name?".to_owned())),
        _ => return (Retry::Soon, None),
    };
    (Retry::Soon, Some(hint.to_owned()))
}

/// What TLS said, if it was TLS.
pub(super) fn of_tls(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}
