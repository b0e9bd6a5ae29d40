//! Where a PostgreSQL is and how to get in: a URL, or the same as names and values.

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

use tokio_postgres::config::ChannelBinding;
use zeroize::Zeroizing;

pub(super) use self::hosts::{Host, Place};
use self::parameters::Key;
use crate::coordinator::address::{Parameters, Plain};
use crate::coordinator::beside::{Beside, REGISTRIES, with};
use crate::coordinator::tls::{Tls, TlsOptions};
use crate::error::Error;

/// Where to connect to, as whom, and how. Checked; nothing was read from disk or network yet.
#[derive(Clone)]
pub struct Settings {
    pub(super) hosts: Vec<Host>,
    pub(super) user: String,
    pub(super) password: Option<Zeroizing<String>>,
    pub(super) database: String,
    schema: String,
    /// Who else leases there.
    pub(super) beside: Beside,
    pub(super) options: Option<String>,
    pub(super) application_name: String,
    pub(super) connect_timeout: Option<Duration>,
    /// Whether a server that takes no writes is passed over.
    pub(super) read_write: bool,
    pub(super) random_order: bool,
    pub(super) keepalives: Option<Keepalives>,
    pub(super) tcp_user_timeout: Option<Duration>,
    pub(super) channel_binding: ChannelBinding,
    pub(super) tls: Tls,
    /// The host to begin with: the one that worked last, or the one after the one that did not.
    pub(super) first: Arc<AtomicUsize>,
}

/// When to ask a silent peer whether it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keepalives {
    pub(super) idle: Duration,
    pub(super) interval: Duration,
    pub(super) count: u32,
}

impl Settings {
    /// Reads a URL in libpq's form; `postgres/settings/url.rs` says how.
    ///
    /// # Errors
    /// `CONFIG` with option `coordinator` or `tls`; never with any part of the URL but names of parameters and their
    /// harmless values.
    pub fn parse(url: &str, tls: &TlsOptions) -> Result<Self, Error> {
        Self::new(&url::read(url)?, tls)
    }

    /// Reads names and values; the names are those of a URL's parameters.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn from_parameters(given: &[(String, String)], tls: &TlsOptions) -> Result<Self, Error> {
        Self::new(&Parameters::of(given)?, tls)
    }

    fn new(given: &Parameters<Key>, options: &TlsOptions) -> Result<Self, Error> {
        let hosts = hosts::hosts(given)?;
        let user = given.get(Key::User).ok_or_else(|| {
            Error::config(
                "coordinator",
                "coordinator: the user is missing; expected postgres://user:password@host/database",
            )
        })?;
        let channel_binding = [
            ("prefer", ChannelBinding::Prefer),
            ("require", ChannelBinding::Require),
            ("disable", ChannelBinding::Disable),
        ];
        let channel_binding = given.word(Key::ChannelBinding, &channel_binding)?.unwrap_or(ChannelBinding::Prefer);
        let tls = security::tls(given, options)?;
        if channel_binding == ChannelBinding::Require && tls.is_off() {
            return Err(Error::config(
                "coordinator",
                "coordinator: channel_binding=require needs TLS, and sslmode=disable",
            ));
        }
        Ok(Self {
            read_write: read_write(given, hosts.len())?,
            random_order: given.word(Key::LoadBalanceHosts, &[("disable", false), ("random", true)])?.unwrap_or(false),
            hosts,
            user: user.to_owned(),
            password: given.get(Key::Password).map(|password| Zeroizing::new(password.to_owned())),
            database: given.get(Key::Database).unwrap_or(user).to_owned(),
            schema: schema(given),
            beside: given.word(Key::Registry, REGISTRIES)?.unwrap_or(Beside::Nobody),
            options: given.get(Key::Options).map(str::to_owned),
            application_name: given.get(Key::ApplicationName).unwrap_or("mintid").to_owned(),
            connect_timeout: duration(given.number(Key::ConnectTimeout)?, Duration::from_secs),
            keepalives: keepalives(given)?,
            tcp_user_timeout: match given.number(Key::TcpUserTimeout)? {
                None => Some(Duration::from_secs(30)),
                found => duration(found, Duration::from_millis),
            },
            channel_binding,
            tls,
            first: Arc::default(),
        })
    }

    /// Hosts, ports, database, schema and user in one spelling, without the password.
    #[must_use]
    pub fn address(&self) -> String {
        let hosts: Vec<_> = self.hosts.iter().map(Host::to_string).collect();
        let named = Some(&self.schema).filter(|schema| *schema != DEFAULT_SCHEMA);
        let schema = named.map(|schema| format!("?schema={}", Plain(schema))).unwrap_or_default();
        let address = format!("postgres://{}@{}/{}{schema}", Plain(&self.user), hosts.join(","), Plain(&self.database));
        with(address, self.beside.parameter())
    }

    /// The schema that holds the tables: the one that was named, or `public`. Never whatever a session's search path says,
    /// which behind a pooler may be another client's: two processes would lease from two registries.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.schema
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Settings").field(&self.address()).finish()
    }
}

/// Whether to look for a server that takes writes: where somebody asks for it, and where there is a choice.
fn read_write(given: &Parameters<Key>, hosts: usize) -> Result<bool, Error> {
    let words = [
        ("any", Some(false)),
        ("read-write", Some(true)),
        ("primary", Some(true)),
        ("standby", None),
        ("read-only", None),
        ("prefer-standby", None),
    ];
    match given.word(Key::TargetSessionAttrs, &words)? {
        Some(None) => {
            let text =
                "coordinator: target_session_attrs: a lease needs a server that takes writes; expected read-write";
            Err(Error::config("coordinator", text))
        }
        found => Ok(found.flatten() == Some(true) || hosts > 1),
    }
}

/// Where nobody names a schema.
const DEFAULT_SCHEMA: &str = "public";

/// Prisma names one schema, a search path begins with it.
fn schema(given: &Parameters<Key>) -> String {
    let path = || {
        let names = given.get(Key::SearchPath)?.split(',');
        names.map(|name| name.trim().trim_matches('"')).find(|name| !name.is_empty() && *name != "$user")
    };
    given.get(Key::Schema).or_else(path).unwrap_or(DEFAULT_SCHEMA).to_owned()
}

fn keepalives(given: &Parameters<Key>) -> Result<Option<Keepalives>, Error> {
    let on = given.number(Key::Keepalives)? != Some(0);
    let seconds = |key, default| {
        Ok::<_, Error>(Duration::from_secs(given.number(key)?.filter(|found| *found > 0).unwrap_or(default).into()))
    };
    let keepalives = Keepalives {
        idle: seconds(Key::KeepalivesIdle, 15)?,
        interval: seconds(Key::KeepalivesInterval, 5)?,
        count: given.number(Key::KeepalivesCount)?.filter(|found| *found > 0).unwrap_or(3),
    };
    Ok(on.then_some(keepalives))
}

/// Nothing where 0 was given.
fn duration(number: Option<u32>, unit: fn(u64) -> Duration) -> Option<Duration> {
    number.filter(|number| *number > 0).map(|number| unit(number.into()))
}
