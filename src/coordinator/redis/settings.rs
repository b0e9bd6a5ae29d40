//! Where a Redis or Valkey is and how to get in: a URL, or the same as names and values.

mod hosts;
mod parameters;
mod security;
#[cfg(test)]
mod tests;
mod url;

use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zeroize::Zeroizing;

pub(super) use self::hosts::Host;
use self::parameters::Key;
use crate::coordinator::address::{Parameters, Plain};
use crate::coordinator::beside::{Beside, REGISTRIES, with};
use crate::coordinator::tls::{Tls, TlsOptions};
use crate::error::Error;

/// Where to connect to, as whom, and how. Checked; nothing was read from disk or network yet.
#[derive(Clone)]
pub struct Settings {
    /// The server, the Sentinels, or some nodes of the cluster.
    pub(super) hosts: Vec<Host>,
    pub(super) topology: Topology,
    pub(super) login: Login,
    pub(super) database: u32,
    pub(super) client_name: String,
    pub(super) connect_timeout: Option<Duration>,
    /// How many replicas must have a lease before it is believed.
    pub(super) replicas: u32,
    /// Who else leases there.
    pub(super) beside: Beside,
    pub(super) tls: Tls,
    /// The host to begin with: the one that worked last, or the one after the one that did not.
    pub(super) first: Arc<AtomicUsize>,
    /// The cluster's node that had the key last.
    pub(super) owner: Arc<Mutex<Option<Host>>>,
}

/// How to find the one server that takes writes of a key.
#[derive(Clone)]
pub(super) enum Topology {
    /// It is the only one that was named.
    Single,
    /// The Sentinels know it.
    Sentinel(Sentinel),
    /// The cluster's nodes know it.
    Cluster,
}

/// What the Sentinels are asked, and how.
#[derive(Clone)]
pub(super) struct Sentinel {
    /// What they call the server.
    pub(super) name: String,
    pub(super) login: Login,
    pub(super) tls: bool,
}

/// A user, a password, both or neither.
#[derive(Clone, Default)]
pub(super) struct Login {
    pub(super) user: Option<String>,
    pub(super) password: Option<Zeroizing<String>>,
}

impl Login {
    fn new(given: &Parameters<Key>, user: Key, password: Key) -> Self {
        let password = given.get(password).map(|password| Zeroizing::new(password.to_owned()));
        Self { user: given.get(user).map(str::to_owned), password }
    }
}

const BOOLEANS: &[(&str, bool)] =
    &[("true", true), ("false", false), ("1", true), ("0", false), ("True", true), ("False", false)];

impl Settings {
    /// Reads a URL; `redis/settings/url.rs` says which.
    ///
    /// # Errors
    /// `CONFIG` with option `coordinator` or `tls`; never with any part of the URL but names of parameters and their
    /// harmless values.
    pub fn parse(url: &str, tls: &TlsOptions) -> Result<Self, Error> {
        Self::new(&url::read(url)?, tls)
    }

    /// Reads names and values; the names are those of a URL's parameters, with `host`, `port`, `username`, `password`,
    /// `db`, `path` (of a Unix socket), `sentinels` and `nodes` (`host:port`, separated by commas).
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn from_parameters(given: &[(String, String)], tls: &TlsOptions) -> Result<Self, Error> {
        Self::new(&Parameters::of(given)?, tls)
    }

    fn new(given: &Parameters<Key>, options: &TlsOptions) -> Result<Self, Error> {
        let tls = security::tls(given, options)?;
        let topology = topology(given, &tls)?;
        let hosts = hosts::hosts(given, if matches!(topology, Topology::Sentinel(_)) { 26379 } else { 6379 })?;
        let socket = hosts.iter().any(|host| matches!(host, Host::Socket(_)));
        if matches!(topology, Topology::Single) && hosts.len() > 1 {
            let text =
                format!("coordinator: {} hosts; expected one, or cluster=true, or name=… of Sentinels", hosts.len());
            return Err(Error::config("coordinator", text));
        }
        if socket && !(matches!(topology, Topology::Single) && tls.is_off()) {
            let text = "coordinator: path: a Unix socket is of one server, without TLS";
            return Err(Error::config("coordinator", text));
        }
        Ok(Self {
            hosts,
            topology,
            login: Login::new(given, Key::User, Key::Password),
            database: given.number(Key::Database)?.unwrap_or(0),
            client_name: client_name(given),
            connect_timeout: given
                .number(Key::ConnectTimeout)?
                .filter(|millis| *millis > 0)
                .map(|millis| Duration::from_millis(millis.into())),
            beside: given.word(Key::Registry, REGISTRIES)?.unwrap_or(Beside::Nobody),
            replicas: given.number(Key::Replicas)?.unwrap_or(0),
            tls,
            first: Arc::default(),
            owner: Arc::default(),
        })
    }

    /// Hosts, ports, database and user in one spelling, without the password.
    #[must_use]
    pub fn address(&self) -> String {
        let tls = if self.tls.is_off() { "" } else { "s" };
        let user = self.login.user.as_deref().map(|user| format!("{}@", Plain(user))).unwrap_or_default();
        let hosts = self.hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(",");
        let database = self.database;
        let address = match &self.topology {
            Topology::Single if matches!(self.hosts[..], [Host::Socket(_)]) => {
                format!("redis+unix://{user}{hosts}?db={database}")
            }
            Topology::Single => format!("redis{tls}://{user}{hosts}/{database}"),
            Topology::Sentinel(Sentinel { name, .. }) => {
                format!("redis{tls}+sentinel://{user}{hosts}/{}/{database}", Plain(name))
            }
            Topology::Cluster => format!("redis{tls}+cluster://{user}{hosts}/{database}"),
        };
        with(address, self.beside.parameter())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Settings").field(&self.address()).finish()
    }
}

fn topology(given: &Parameters<Key>, tls: &Tls) -> Result<Topology, Error> {
    let cluster = given.word(Key::Cluster, BOOLEANS)?.unwrap_or(false);
    let sentinel_tls = given.word(Key::SentinelTls, BOOLEANS)?;
    let refused = |what| Err(Error::config("coordinator", format!("coordinator: {what}")));
    if sentinel_tls == Some(true) && tls.is_off() {
        return refused("sentinelTls=true needs TLS: rediss+sentinel://…, or the option tls");
    }
    match given.get(Key::Name) {
        None if given.has(Key::Sentinels) => refused("the Sentinels' name of the server is missing: name=mymaster"),
        Some(_) if cluster => refused("a cluster has no Sentinels: give name or cluster, not both"),
        None => Ok(if cluster { Topology::Cluster } else { Topology::Single }),
        Some(name) => Ok(Topology::Sentinel(Sentinel {
            name: name.to_owned(),
            login: Login::new(given, Key::SentinelUser, Key::SentinelPassword),
            tls: sentinel_tls.unwrap_or(!tls.is_off()),
        })),
    }
}

/// The server takes no other characters.
fn client_name(given: &Parameters<Key>) -> String {
    let name = given.get(Key::ClientName).unwrap_or("mintid");
    name.chars().filter(char::is_ascii_graphic).collect()
}
