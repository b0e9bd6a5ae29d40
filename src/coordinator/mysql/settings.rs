//! Where a MySQL or MariaDB is and how to get in: a URL, or the same as names and values.

mod hosts;
mod parameters;
mod security;
#[cfg(test)]
mod tests;
mod url;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use zeroize::Zeroizing;

use self::parameters::Key;
use crate::coordinator::address::{Parameters, Plain};
use crate::coordinator::beside::{Beside, REGISTRIES, with};
use crate::coordinator::socket::Host;
use crate::coordinator::tls::{Tls, TlsOptions};
use crate::error::Error;

/// Where to connect to, as whom, and how. Checked; nothing was read from disk or network yet.
#[derive(Clone)]
pub struct Settings {
    pub(super) hosts: Vec<Host>,
    pub(super) user: String,
    pub(super) password: Option<Zeroizing<String>>,
    pub(super) database: String,
    pub(super) beside: Beside,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) tls: Tls,
    /// Whether a server without TLS may say with which key the password is encrypted.
    pub(super) may_take_key: bool,
    /// The host to begin with: the one that worked last, or the one after the one that did not.
    pub(super) first: Arc<AtomicUsize>,
}

const BOOLEANS: &[(&str, bool)] = &[("true", true), ("false", false), ("1", true), ("0", false)];

impl Settings {
    /// Reads a URL; `mysql/settings/url.rs` says which.
    ///
    /// # Errors
    /// `CONFIG` with option `coordinator` or `tls`; never with any part of the URL but names of parameters and their
    /// harmless values.
    pub fn parse(url: &str, tls: &TlsOptions) -> Result<Self, Error> {
        Self::new(&url::read(url)?, tls)
    }

    /// Reads names and values; the names are those of a URL's parameters, with `host`, `port`, `user`, `password`,
    /// `database` and `socketPath`.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn from_parameters(given: &[(String, String)], tls: &TlsOptions) -> Result<Self, Error> {
        Self::new(&Parameters::of(given)?, tls)
    }

    fn new(given: &Parameters<Key>, options: &TlsOptions) -> Result<Self, Error> {
        let needed = |key, what| {
            given.get(key).map(str::to_owned).ok_or_else(|| {
                let text = format!("coordinator: {what} is missing; expected mysql://user:password@host/database");
                Error::config("coordinator", text)
            })
        };
        let hosts = hosts::hosts(given)?;
        let (user, database) = (needed(Key::User, "the user")?, needed(Key::Database, "the database")?);
        if user.contains('\0') || database.contains('\0') {
            return Err(Error::config("coordinator", "coordinator: a name holds a zero byte"));
        }
        let millis = given.number(Key::ConnectTimeoutMillis)?.map(u64::from);
        let seconds = given.number(Key::ConnectTimeoutSeconds)?.map(|seconds| u64::from(seconds) * 1000);
        Ok(Self {
            hosts,
            user,
            password: given.get(Key::Password).map(|password| Zeroizing::new(password.to_owned())),
            database,
            beside: given.word(Key::Registry, REGISTRIES)?.unwrap_or(Beside::Nobody),
            connect_timeout: millis.or(seconds).filter(|millis| *millis > 0).map(Duration::from_millis),
            tls: security::tls(given, options)?,
            may_take_key: given.word(Key::MayTakeKey, BOOLEANS)?.unwrap_or(true),
            first: Arc::default(),
        })
    }

    /// Hosts, ports, database and user in one spelling, without the password.
    #[must_use]
    pub fn address(&self) -> String {
        let (user, database) = (Plain(&self.user), Plain(&self.database));
        let address = if let [Host::Socket(_)] = self.hosts[..] {
            format!("mysql://{user}@localhost/{database}?socket={}", self.hosts[0])
        } else {
            let hosts = self.hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(",");
            format!("mysql://{user}@{hosts}/{database}")
        };
        with(address, self.beside.parameter())
    }

    /// The database that holds the tables. They are always called by it: behind a proxy a session's default may be
    /// another client's.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Settings").field(&self.address()).finish()
    }
}
