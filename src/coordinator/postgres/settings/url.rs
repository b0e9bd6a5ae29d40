//! A URL as people have it: libpq's form, passwords included that nobody encoded.
//!
//! **Where the user and the password end.** A password may hold `/ @ # : ?` and `%` as they are: the part before the hosts
//! ends at the first `@` whose rest reads as `hosts[/database][?parameters]`: hosts with numbers for ports, a database
//! without `@` and `/`, and parameters we know. Without any such `@` the whole must read so, or the URL is refused. The
//! user ends at the first `:`. A `%` that is not followed by two hexadecimal digits stands for itself, and so does every
//! `%` of a part that would not be UTF-8 after decoding.

use zeroize::Zeroizing;

use super::parameters::{self, Key, Parameters};
use crate::error::Error;

/// What is found after a `@`, or in a whole URL.
enum Reading {
    Good(Parameters),
    /// It would be good, but for a parameter that nobody knows.
    Unknown(Error),
    Bad(Error),
}

/// The parameters that a URL stands for. Its scheme, `postgres:` or `postgresql:`, was looked at before.
pub(super) fn read(url: &str) -> Result<Parameters, Error> {
    let url = url.trim_ascii();
    let rest = ["postgres://", "postgresql://"].iter().find_map(|scheme| strip_scheme(url, scheme));
    let rest = rest.ok_or_else(|| refused("expected postgres://user:password@host:5432/database"))?;
    let whole = match read_rest(rest) {
        Reading::Good(parameters) => return Ok(parameters),
        Reading::Unknown(error) | Reading::Bad(error) => error,
    };
    let mut error = (!rest.contains('@')).then_some(whole);
    let mut unknown = false;
    for (at, _) in rest.match_indices('@') {
        match read_rest(&rest[at + 1..]) {
            Reading::Good(parameters) if !unknown => return Ok(with_user(parameters, &rest[..at])),
            Reading::Good(_) => return Err(unclear()),
            Reading::Unknown(found) => (unknown, error) = (true, Some(found)),
            // What follows the last `@` holds no part of a password.
            Reading::Bad(found) if !unknown && !rest[at + 1..].contains('@') => error = Some(found),
            Reading::Bad(_) if unknown => return Err(unclear()),
            Reading::Bad(_) => {}
        }
    }
    Err(error.unwrap_or_else(unclear))
}

fn strip_scheme<'a>(url: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = url.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

fn with_user(mut parameters: Parameters, user: &str) -> Parameters {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    // Those of the query have the last word, as in libpq.
    if !user.is_empty() {
        parameters.set_default(Key::User, decoded(user));
    }
    if !password.is_empty() {
        parameters.set_default(Key::Password, decoded(password));
    }
    parameters
}

/// `hosts[/database][?parameters]`.
fn read_rest(rest: &str) -> Reading {
    let (start, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (hosts, database) = start.split_once('/').unwrap_or((start, ""));
    if database.contains(['@', '/']) {
        return Reading::Bad(refused("the database's name holds '@' or '/'; percent-encode it, or the password"));
    }
    let mut parameters = Parameters::default();
    if let Err(error) = read_hosts(hosts, &mut parameters) {
        return Reading::Bad(error);
    }
    if !database.is_empty() {
        parameters.set(Key::Database, decoded(database));
    }
    let mut unknown = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let Some((name, value)) = pair.split_once('=') else {
            return Reading::Bad(refused("a parameter after '?' has no '='"));
        };
        let name = decoded(name);
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
            return Reading::Bad(refused("a parameter after '?' has a name that is no word"));
        }
        match parameters::find(&name) {
            Ok(Some(key)) => parameters.set(key, decoded(value)),
            Ok(None) => {}
            Err(error) => unknown = unknown.or(Some(error)),
        }
    }
    unknown.map_or(Reading::Good(parameters), Reading::Unknown)
}

/// `host[:port][,host[:port]…]`, IPv6 in brackets.
fn read_hosts(hosts: &str, parameters: &mut Parameters) -> Result<(), Error> {
    if hosts.is_empty() {
        return Ok(());
    }
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for host in hosts.split(',') {
        let (name, port) = if let Some(bracketed) = host.strip_prefix('[') {
            let (name, rest) = bracketed.split_once(']').ok_or_else(|| refused("a '[' of a host has no ']'"))?;
            let port = rest.strip_prefix(':').or(rest.is_empty().then_some(""));
            (name, port.ok_or_else(|| refused("a host's ']' is followed by something else than a port"))?)
        } else {
            host.split_once(':').unwrap_or((host, ""))
        };
        if !name.chars().all(|c| c.is_alphanumeric() || "-._~%".contains(c) || (c == ':' && host.starts_with('['))) {
            return Err(refused("a host holds a character that host names do not have"));
        }
        if !port.is_empty() && port.parse::<u16>().is_err() {
            return Err(refused("a port is not a number from 1 to 65535"));
        }
        names.push(decoded(name));
        ports.push(port);
    }
    parameters.set(Key::Host, Zeroizing::new(join(&names)));
    if ports.iter().any(|port| !port.is_empty()) {
        parameters.set(Key::Port, Zeroizing::new(ports.join(",")));
    }
    Ok(())
}

fn join(parts: &[Zeroizing<String>]) -> String {
    parts.iter().map(|part| part.as_str()).collect::<Vec<_>>().join(",")
}

/// Percent-decoding that leaves alone what is not encoded.
pub(super) fn decoded(text: &str) -> Zeroizing<String> {
    let bytes = text.as_bytes();
    let mut out = Zeroizing::new(Vec::with_capacity(bytes.len()));
    let mut at = 0;
    while at < bytes.len() {
        let digits = if bytes[at] == b'%' { bytes.get(at + 1..at + 3) } else { None };
        let value = digits.and_then(|digits| Some(hex(digits[0])? << 4 | hex(digits[1])?));
        out.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    Zeroizing::new(std::str::from_utf8(&out).unwrap_or(text).to_owned())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// About the URL as a whole: nothing of it is shown.
fn refused(what: &str) -> Error {
    Error::config("coordinator", format!("coordinator: the URL cannot be read: {what}"))
}

fn unclear() -> Error {
    refused("it can be read in more than one way; percent-encode user and password (encodeURIComponent)")
}
