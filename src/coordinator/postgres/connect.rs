//! From settings to an open connection: hosts in their order, TLS as far as asked for, one that takes writes.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::sync::{oneshot, watch};
use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use tokio_postgres::config::{ChannelBinding, SslMode, SslNegotiation, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Socket};

use super::failure::{failure, made};
use super::settings::{Host, Keepalives, Place, Settings};
use super::tls::Stream;
use crate::coordinator::tls::{Connector, Encrypt, Tls};
use crate::error::{Error, Fields, Retry};

/// How long one address may take to answer where there is another one to try, if nobody said.
const PATIENCE: Duration = Duration::from_secs(2);

/// The oldest version that has all we use.
const OLDEST: u32 = 12;

/// How long a dropped connection may take to say goodbye.
const FAREWELL: Duration = Duration::from_secs(1);

/// An open connection. Its driver runs on the runtime that it was made on, and ends when this is dropped.
pub struct Connection {
    /// What takes statements.
    pub client: Client,
    driver: AbortHandle,
    /// Why it ended; closed with the driver.
    end: watch::Receiver<Option<Error>>,
    /// The driver waits for its end.
    _wanted: oneshot::Sender<()>,
}

impl Connection {
    /// Whether the server or the network ended it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.client.is_closed() || self.driver.is_finished()
    }

    /// Waits until the server or the network ends it, and says why.
    pub async fn closed(&self) -> Option<Error> {
        let mut end = self.end.clone();
        while end.changed().await.is_ok() {}
        end.borrow().clone()
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}

/// Opens a connection to the first host that will do. Hosts that are down or take no writes are passed over; one that
/// refuses us for good ends the search, as in libpq.
///
/// # Errors
/// `COORDINATOR` with the class of retry that fits, or `CONFIG` about a file that cannot be used.
pub async fn connect(settings: &Settings) -> Result<Connection, Error> {
    let tls = connector(settings).await?;
    let count = settings.hosts.len();
    let mut failed = Vec::new();
    for index in order(settings)? {
        let host = &settings.hosts[index];
        // Also where this future is dropped: the next one begins with another host.
        settings.first.store((index + 1) % count, Ordering::Relaxed);
        match (Attempt { settings, host, tls: &tls }).host(failed.len() + 1 < count).await {
            Ok(connection) => {
                settings.first.store(index, Ordering::Relaxed);
                return Ok(connection);
            }
            Err(error) if error.retry() == Retry::Never => return Err(error),
            Err(error) => failed.push((host, error)),
        }
    }
    Err(none_will_do(&settings.address(), failed))
}

/// Reads certificates on a thread that may wait for a disk.
async fn connector(settings: &Settings) -> Result<Connector, Error> {
    if settings.hosts.iter().all(|host| matches!(host.place, Place::Folder(_))) {
        return Tls::off().connector();
    }
    if !settings.tls.needs_files() {
        return settings.tls.connector();
    }
    let tls = settings.tls.clone();
    spawn_blocking(move || tls.connector()).await.unwrap_or_else(|error| Err(passing(settings, &error.to_string())))
}

/// The hosts in the order in which they are tried.
fn order(settings: &Settings) -> Result<Vec<usize>, Error> {
    let count = settings.hosts.len();
    let first = settings.first.load(Ordering::Relaxed);
    let mut order: Vec<_> = (0..count).map(|index| (first + index) % count).collect();
    if settings.random_order && count > 1 {
        let weights: Result<Vec<u64>, _> = (0..count).map(|_| getrandom::u64()).collect();
        let weights = weights.map_err(|error| passing(settings, &error.to_string()))?;
        order.sort_unstable_by_key(|index| weights[*index]);
    }
    Ok(order)
}

fn none_will_do(place: &str, mut failed: Vec<(&Host, Error)>) -> Error {
    let each = failed.iter().map(|(host, error)| {
        let what = error.message();
        format!("{host}: {}", what.strip_prefix(place).map_or(what, |what| what.trim_start_matches(": ")))
    });
    let all = each.collect::<Vec<_>>().join("; ");
    match (failed.pop(), failed.is_empty()) {
        (Some((_, error)), true) => error,
        (Some((_, last)), false) => {
            let Fields { server_code, hint, .. } = last.fields().clone();
            made(place, &all, server_code.as_deref(), hint).retry_as(Retry::Soon)
        }
        (None, _) => made(place, "there is no host", None, None),
    }
}

fn passing(settings: &Settings, what: &str) -> Error {
    made(&settings.address(), what, None, None).retry_as(Retry::Soon)
}

/// One host, and how to try it.
struct Attempt<'a> {
    settings: &'a Settings,
    host: &'a Host,
    tls: &'a Connector,
}

impl Attempt<'_> {
    /// Tries each address of the host; `more` says whether another host comes after it.
    async fn host(&self, more: bool) -> Result<Connection, Error> {
        let addresses = self.addresses().await?;
        let mut error = passing(self.settings, &format!("{} has no address", self.host));
        for (index, address) in addresses.iter().enumerate() {
            let patience = (more || index + 1 < addresses.len()).then_some(PATIENCE);
            match self.address(*address, patience).await {
                Err(found) if found.retry() == Retry::Soon => error = found,
                done => return done,
            }
        }
        Err(error)
    }

    /// Nothing for a Unix socket.
    async fn addresses(&self) -> Result<Vec<Option<IpAddr>>, Error> {
        match &self.host.place {
            Place::Folder(_) => Ok(vec![None]),
            Place::Address(address, _) => Ok(vec![Some(*address)]),
            Place::Name(name) => match lookup_host((name.as_str(), self.host.port)).await {
                Ok(found) => Ok(found.map(|address| Some(address.ip())).collect()),
                Err(error) => Err(passing(self.settings, &format!("cannot find the host {}: {error}", self.host))),
            },
        }
    }

    /// Tries one address, for no longer than `connect_timeout`.
    async fn address(&self, address: Option<IpAddr>, patience: Option<Duration>) -> Result<Connection, Error> {
        let connecting = self.with_or_without_tls(address, patience);
        let Ok(connected) = within(self.settings.connect_timeout, connecting).await else {
            return Err(passing(self.settings, "no connection within connect_timeout"));
        };
        let place = self.settings.address();
        let (client, driver) = connected.map_err(|error| failure(&place, &error))?;
        if let Some(version) = driver.parameter("server_version").filter(|version| is_too_old(version)) {
            let text = format!("the server is PostgreSQL {version}; expected {OLDEST} or newer");
            return Err(made(&place, &text, None, None));
        }
        let (why, end) = watch::channel(None);
        let (wanted, dropped) = oneshot::channel();
        let driver = tokio::spawn(drive(driver, place, why, dropped)).abort_handle();
        Ok(Connection { client, driver, end, _wanted: wanted })
    }

    /// `sslmode=prefer` does without TLS where it does not work, or where the server lets nobody in who uses it.
    async fn with_or_without_tls(&self, address: Option<IpAddr>, patience: Option<Duration>) -> Result<Pair, Failed> {
        let mode = match (&self.host.place, self.settings.tls.encrypt) {
            (Place::Folder(_), _) | (_, Encrypt::Never) => SslMode::Disable,
            (_, Encrypt::IfOffered) => SslMode::Prefer,
            (_, Encrypt::Always) => SslMode::Require,
        };
        let bound = self.settings.channel_binding == ChannelBinding::Require;
        match self.once(address, patience, mode).await {
            Err(error) if mode == SslMode::Prefer && !bound && (is_about_tls(&error) || is_not_let_in(&error)) => {
                match self.once(address, patience, SslMode::Disable).await {
                    // The server wants TLS: what came before is what matters.
                    Err(plain) if is_not_let_in(&plain) => Err(error),
                    done => done,
                }
            }
            done => done,
        }
    }

    async fn once(&self, address: Option<IpAddr>, patience: Option<Duration>, mode: SslMode) -> Result<Pair, Failed> {
        let settings = self.settings;
        let mut config = Config::new();
        match (&self.host.place, address) {
            (Place::Name(name) | Place::Address(_, Some(name)), Some(address)) => config.host(name).hostaddr(address),
            (Place::Address(address, None), _) => config.host(address.to_string()),
            (Place::Name(text) | Place::Folder(text) | Place::Address(_, Some(text)), _) => config.host(text),
        };
        config.port(self.host.port).user(&settings.user).dbname(&settings.database).ssl_mode(mode);
        config.application_name(&settings.application_name).channel_binding(settings.channel_binding);
        if let Some(password) = &settings.password {
            config.password(password.as_bytes());
        }
        if let Some(options) = &settings.options {
            config.options(options);
        }
        if settings.tls.protocol.is_some() && mode == SslMode::Require {
            config.ssl_negotiation(SslNegotiation::Direct);
        }
        if settings.read_write {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        if let Some(limit) = settings.connect_timeout.or(patience) {
            config.connect_timeout(limit);
        }
        if let Some(limit) = settings.tcp_user_timeout {
            config.tcp_user_timeout(limit);
        }
        match settings.keepalives {
            None => config.keepalives(false),
            Some(Keepalives { idle, interval, count }) => {
                config.keepalives_idle(idle).keepalives_interval(interval).keepalives_retries(count)
            }
        };
        config.connect(self.tls.clone()).await
    }
}

/// Moves bytes until the connection ends, or until nobody wants it any more. Then the server is told, or it would note each
/// such end in its log; one that does not listen is left.
async fn drive(driver: Driver, place: String, why: watch::Sender<Option<Error>>, dropped: oneshot::Receiver<()>) {
    let mut driver = pin!(driver);
    tokio::select! {
        ended = &mut driver => {
            if let Err(error) = ended {
                let _ = why.send(Some(failure(&place, &error)));
            }
        }
        _ = dropped => {
            let _ = timeout(FAREWELL, driver).await;
        }
    }
}

async fn within<T>(limit: Option<Duration>, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    match limit {
        Some(limit) => timeout(limit, future).await,
        None => Ok(future.await),
    }
}

type Driver = tokio_postgres::Connection<Socket, Stream>;
type Pair = (Client, Driver);
type Failed = tokio_postgres::Error;

fn is_about_tls(error: &Failed) -> bool {
    error.to_string() == "error performing TLS handshake"
}

fn is_not_let_in(error: &Failed) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

/// Versions are `15.18 (Debian 15.18-0+deb12u1)`, `18beta1`, and so on.
fn is_too_old(version: &str) -> bool {
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u32>().is_ok_and(|major| major < OLDEST)
}
