//! Where user and password end in a URL as people have it, passwords included that nobody encoded.
//!
//! A password may hold `/ @ # : ?` and `%` as they are: the part before the hosts ends at the first `@` whose rest reads
//! as the driver's `hosts[/database][?parameters]`, with parameters we know. Without any such `@` the whole must read so,
//! or the URL is refused. The user ends at the first `:`. A `%` that is not followed by two hexadecimal digits stands for
//! itself, and so does every `%` of a part that would not be UTF-8 after decoding.

use zeroize::Zeroizing;

use super::parameters::{Names, Parameters, find};
use crate::error::Error;

/// What is found after a `@`, or in a whole URL.
pub(in crate::coordinator) enum Reading<K> {
    Good(Parameters<K>),
    /// It would be good, but for a parameter that nobody knows.
    Unknown(Error),
    Bad(Error),
}

/// User, password and the parameters of what comes after them.
pub(in crate::coordinator) struct Parts<K> {
    pub(in crate::coordinator) user: Option<Zeroizing<String>>,
    pub(in crate::coordinator) password: Option<Zeroizing<String>>,
    pub(in crate::coordinator) parameters: Parameters<K>,
}

/// Finds the `@` in what follows the scheme.
pub(in crate::coordinator) fn split<K>(rest: &str, read: impl Fn(&str) -> Reading<K>) -> Result<Parts<K>, Error> {
    let whole = match read(rest) {
        Reading::Good(parameters) => return Ok(Parts { user: None, password: None, parameters }),
        Reading::Unknown(error) | Reading::Bad(error) => error,
    };
    let mut error = (!rest.contains('@')).then_some(whole);
    let mut unknown = false;
    for (at, _) in rest.match_indices('@') {
        match read(&rest[at + 1..]) {
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

fn with_user<K>(parameters: Parameters<K>, user: &str) -> Parts<K> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let some = |text: &str| (!text.is_empty()).then(|| decoded(text));
    Parts { user: some(user), password: some(password), parameters }
}

/// What comes after the scheme, where it is this one.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(in crate::coordinator) fn strip_scheme<'a>(url: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = url.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// Reads `name=value&…` into `parameters`; the first name that nobody knows is left as an error.
pub(in crate::coordinator) fn read_query<K: Names>(
    query: &str,
    parameters: &mut Parameters<K>,
) -> Result<Option<Error>, Error> {
    let mut unknown = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(|| refused("a parameter after '?' has no '='"))?;
        let name = decoded(name);
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
            return Err(refused("a parameter after '?' has a name that is no word"));
        }
        match find(&name) {
            Ok(Some(key)) => parameters.set(key, decoded(value)),
            Ok(None) => {}
            Err(error) => unknown = unknown.or(Some(error)),
        }
    }
    Ok(unknown)
}

/// Names and ports of `host[:port][,host[:port]…]`, IPv6 in brackets. A port that was left out is empty.
pub(in crate::coordinator) fn read_hosts(hosts: &str) -> Result<Vec<(Zeroizing<String>, &str)>, Error> {
    hosts.split(',').filter(|_| !hosts.is_empty()).map(read_host).collect()
}

fn read_host(host: &str) -> Result<(Zeroizing<String>, &str), Error> {
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
    Ok((decoded(name), port))
}

/// Percent-decoding that leaves alone what is not encoded.
pub(in crate::coordinator) fn decoded(text: &str) -> Zeroizing<String> {
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
pub(in crate::coordinator) fn refused(what: &str) -> Error {
    Error::config("coordinator", format!("coordinator: the URL cannot be read: {what}"))
}

fn unclear() -> Error {
    refused("it can be read in more than one way; percent-encode user and password (encodeURIComponent)")
}
