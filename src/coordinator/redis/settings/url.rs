//! A URL as users of Redis have it. Where user and password end in it, `address/url.rs` says.
//!
//! - `redis://[user:password@]host[:port][/db]`, with `valkey:` for `redis:`, and with TLS `rediss:` or `valkeys:`
//! - `redis+sentinel://…host[:port],host[:port]…/name[/db]`: of Sentinels; the name also as `?name=` or behind `#`
//! - `redis+cluster://…host[:port],host[:port]…`: of a cluster; `redis://…?cluster=true` is the same
//! - `redis+unix://[user:password@]/path/of/the/socket[?db=1]`, and `unix:`
//!
//! `-` will do for `+`, and `#insecure` turns verification off, as in the Rust client.

use zeroize::Zeroizing;

use super::parameters::Key;
use crate::coordinator::address::Parameters;
use crate::coordinator::address::url::{self, Reading, decoded, refused};
use crate::error::Error;

/// What stands behind the scheme's `+`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Sentinel,
    Cluster,
    Socket,
}

/// The parameters that a URL stands for.
pub(super) fn read(url: &str) -> Result<Parameters<Key>, Error> {
    let url = url.trim_ascii();
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (form, tls) = read_scheme(&scheme.to_ascii_lowercase())?;
    let mut parts = url::split(rest, |rest| read_rest(rest, form))?;
    let parameters = &mut parts.parameters;
    for (key, value) in [(Key::User, parts.user), (Key::Password, parts.password)] {
        if let Some(value) = value {
            parameters.set_default(key, value);
        }
    }
    let mut say = |key, word: &str| parameters.set_default(key, Zeroizing::new(word.to_owned()));
    if tls {
        say(Key::Tls, "true");
    }
    if form == Form::Cluster {
        say(Key::Cluster, "true");
    }
    Ok(parts.parameters)
}

fn read_scheme(scheme: &str) -> Result<(Form, bool), Error> {
    let (base, form) = scheme.split_once(['+', '-']).unwrap_or((scheme, ""));
    let form = match (base, form) {
        ("unix", "") => return Ok((Form::Socket, false)),
        (_, "") => Form::Plain,
        (_, "sentinel") => Form::Sentinel,
        (_, "cluster") => Form::Cluster,
        ("redis" | "valkey", "unix" | "socket") => Form::Socket,
        _ => return Err(unknown_scheme()),
    };
    match base {
        "redis" | "valkey" => Ok((form, false)),
        "rediss" | "valkeys" => Ok((form, true)),
        _ => Err(unknown_scheme()),
    }
}

fn unknown_scheme() -> Error {
    refused("expected redis://user:password@host:6379/0, or rediss://… with TLS")
}

/// `hosts[/path][?parameters][#fragment]`.
fn read_rest(rest: &str, form: Form) -> Reading<Key> {
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (start, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut parameters = Parameters::default();
    let place = if form == Form::Socket {
        read_socket(start, &mut parameters)
    } else {
        read_place(start, form, &mut parameters)
    };
    let read = place.and_then(|()| read_fragment(fragment, form, &mut parameters));
    match read.and_then(|()| url::read_query(query, &mut parameters)) {
        Ok(None) => Reading::Good(parameters),
        Ok(Some(unknown)) => Reading::Unknown(unknown),
        Err(error) => Reading::Bad(error),
    }
}

fn read_socket(path: &str, parameters: &mut Parameters<Key>) -> Result<(), Error> {
    if !path.starts_with('/') || path.contains('@') {
        return Err(refused("expected the path of a Unix socket: redis+unix:///run/redis.sock?db=0"));
    }
    parameters.set(Key::Path, decoded(path));
    Ok(())
}

/// `hosts[/db]`, or `hosts[/name][/db]` of Sentinels.
fn read_place(start: &str, form: Form, parameters: &mut Parameters<Key>) -> Result<(), Error> {
    let (hosts, path) = start.split_once('/').unwrap_or((start, ""));
    let hosts = url::read_hosts(hosts)?;
    if !hosts.is_empty() {
        let names: Vec<_> = hosts.iter().map(|(name, _)| name.as_str()).collect();
        let ports: Vec<_> = hosts.iter().map(|(_, port)| *port).collect();
        parameters.set(Key::Host, Zeroizing::new(names.join(",")));
        parameters.set(Key::Port, Zeroizing::new(ports.join(",")));
    }
    if form == Form::Sentinel {
        parameters.set(Key::Sentinels, Zeroizing::default());
    }
    let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let (name, database) = match path.split_once('/') {
        None if is_number(path) => ("", path),
        None => (path, ""),
        Some(parts) => parts,
    };
    if !is_number(database) {
        return Err(refused("expected a database's number after the '/'"));
    }
    if !name.is_empty() {
        if form != Form::Sentinel || !is_word(name) {
            return Err(refused("expected a database's number after the '/'; a password is best percent-encoded"));
        }
        parameters.set(Key::Name, decoded(name));
    }
    if !database.is_empty() {
        parameters.set(Key::Database, decoded(database));
    }
    Ok(())
}

fn read_fragment(fragment: &str, form: Form, parameters: &mut Parameters<Key>) -> Result<(), Error> {
    match fragment {
        "" => {}
        "insecure" => parameters.set(Key::SkipVerify, Zeroizing::new("true".to_owned())),
        name if form == Form::Sentinel && is_word(name) => parameters.set(Key::Name, decoded(name)),
        _ => return Err(refused("nothing but 'insecure' is known behind a '#'")),
    }
    Ok(())
}

fn is_word(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || "-._~%".contains(c))
}
