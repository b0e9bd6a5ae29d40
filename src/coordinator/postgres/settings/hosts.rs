//! The servers of an address.

use std::fmt;
use std::net::IpAddr;

use super::parameters::Key;
use crate::coordinator::address::parameters::wrong;
use crate::coordinator::address::{Parameters, Plain};
use crate::error::Error;

const PORT: u16 = 5432;

/// One server that may be the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::coordinator::postgres) struct Host {
    pub(in crate::coordinator::postgres) place: Place,
    pub(in crate::coordinator::postgres) port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::coordinator::postgres) enum Place {
    /// A name that is to be looked up.
    Name(String),
    /// An address, and where it was given the name that the server's certificate has.
    Address(IpAddr, Option<String>),
    /// A folder with a Unix socket.
    Folder(String),
}

/// Each host with its port and address; `localhost` where there is none.
pub(super) fn hosts(given: &Parameters<Key>) -> Result<Vec<Host>, Error> {
    let list = |key| given.get(key).map(|text| text.split(',').map(str::trim).collect::<Vec<_>>()).unwrap_or_default();
    let (names, addresses, ports) = (list(Key::Host), list(Key::HostAddr), list(Key::Port));
    let count = names.len().max(addresses.len()).max(1);
    if !names.is_empty() && !addresses.is_empty() && names.len() != addresses.len() {
        let text = format!("{} hosts and {} hostaddr; expected as many", names.len(), addresses.len());
        return Err(Error::config("coordinator", format!("coordinator: {text}")));
    }
    if ports.len() > 1 && ports.len() != count {
        let text = format!("{} ports for {count} hosts; expected one for all or one for each", ports.len());
        return Err(Error::config("coordinator", format!("coordinator: {text}")));
    }
    let host = |index: usize| {
        let name = names.get(index).copied().unwrap_or_default();
        let address = addresses.get(index).copied().filter(|address| !address.is_empty());
        let port = ports.get(index).or(ports.first()).copied().unwrap_or_default();
        Ok(Host { place: place(name, address)?, port: number(port)? })
    };
    (0..count).map(host).collect()
}

fn place(name: &str, address: Option<&str>) -> Result<Place, Error> {
    if let Some(address) = address {
        let address = address.parse().map_err(|_| wrong(Key::HostAddr, "an IP address", address))?;
        return Ok(Place::Address(address, (!name.is_empty()).then(|| name.to_owned())));
    }
    if name.starts_with('/') {
        return folder(name);
    }
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if name.contains(|c: char| c.is_whitespace() || c.is_control() || "/@[]".contains(c)) {
        return Err(wrong(Key::Host, "host names, IP addresses or folders of Unix sockets", name));
    }
    Ok(match (name, name.parse()) {
        ("", _) => Place::Name("localhost".to_owned()),
        (_, Ok(address)) => Place::Address(address, None),
        (name, Err(_)) => Place::Name(name.to_lowercase()),
    })
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it is an error")]
fn folder(name: &str) -> Result<Place, Error> {
    let trimmed = name.trim_end_matches('/');
    Ok(Place::Folder((if trimmed.is_empty() { "/" } else { trimmed }).to_owned()))
}

#[cfg(not(unix))]
fn folder(name: &str) -> Result<Place, Error> {
    Err(wrong(Key::Host, "a host name or an IP address: this system has no Unix sockets", name))
}

fn number(port: &str) -> Result<u16, Error> {
    match port.parse() {
        _ if port.is_empty() => Ok(PORT),
        Ok(port) if port > 0 => Ok(port),
        _ => Err(wrong(Key::Port, "a number from 1 to 65535", port)),
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Name(name) if name.contains(':') => write!(f, "[{}]", name.escape_debug())?,
            Place::Name(name) => write!(f, "{}", Plain(name))?,
            Place::Address(IpAddr::V4(address), _) => write!(f, "{address}")?,
            Place::Address(IpAddr::V6(address), _) => write!(f, "[{address}]")?,
            Place::Folder(folder) => write!(f, "{}", folder.escape_debug())?,
        }
        write!(f, ":{}", self.port)
    }
}
