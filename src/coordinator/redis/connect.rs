//! From settings to an open connection: to the one server that takes writes of a key.

mod cluster;
mod greeting;
mod sentinel;
mod stream;

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use self::greeting::{Greeted, Greeting};
use super::connection::Connection;
use super::failure::{made, said, within_tls};
use super::settings::{Host, Login, Settings, Topology};
use crate::coordinator::socket::Address;
use crate::coordinator::tls::{Connector, Tls};
use crate::error::{Error, Fields, Retry};

/// How long one address may take to answer where there is another one to try, if nobody said.
const PATIENCE: Duration = Duration::from_secs(2);

/// A server with TLS ends a connection without, and says nothing.
const WANTS_TLS: &str = "does that port want TLS? With it, the scheme is rediss:";

/// Opens a connection to the server that takes writes of `key`; only a cluster has more than one.
///
/// # Errors
/// `COORDINATOR` with the class of retry that fits, or `CONFIG` about a file that cannot be used.
pub async fn connect(settings: &Settings, key: &str) -> Result<Connection, Error> {
    let tls = connector(&settings.tls, &settings.address()).await?;
    let dial = Dial { settings, tls: tls.as_ref() };
    match (&settings.topology, &settings.hosts[..]) {
        (Topology::Sentinel(sentinel), _) => dial.master(sentinel).await,
        (Topology::Cluster, _) => dial.owner(key).await,
        (Topology::Single, [host, ..]) => dial.server(host, false).await,
        (Topology::Single, []) => Err(dial.passing("there is no host")),
    }
}

/// Reads certificates on a thread that may wait for a disk; `None` without TLS.
async fn connector(tls: &Tls, place: &str) -> Result<Option<Connector>, Error> {
    if tls.is_off() {
        return Ok(None);
    }
    if !tls.needs_files() {
        return tls.connector().map(Some);
    }
    let tls = tls.clone();
    let read = spawn_blocking(move || tls.connector()).await;
    read.unwrap_or_else(|error| Err(made(place, &error.to_string(), None, None).retry_as(Retry::Soon))).map(Some)
}

/// What every attempt needs.
struct Dial<'a> {
    settings: &'a Settings,
    tls: Option<&'a Connector>,
}

/// What one host after the other is asked.
trait Attempt: Sync {
    type Found: Send;

    /// `more` says whether there is another host to ask.
    fn at(&self, dial: &Dial<'_>, host: &Host, more: bool) -> impl Future<Output = Result<Self::Found, Error>> + Send;
}

impl Dial<'_> {
    /// A server that holds data; `more` says whether there is another one to try.
    async fn server(&self, host: &Host, more: bool) -> Result<Connection, Error> {
        let Settings { login, database, .. } = self.settings;
        self.open(host, self.tls, (login, *database), more).await
    }

    /// Tries each address of a host.
    async fn open(
        &self,
        host: &Host,
        tls: Option<&Connector>,
        login: (&Login, u32),
        more: bool,
    ) -> Result<Connection, Error> {
        let addresses = self.addresses(host).await?;
        let mut error = self.passing(&format!("{host} has no address"));
        for (index, address) in addresses.iter().enumerate() {
            let patience = (more || index + 1 < addresses.len()).then_some(PATIENCE);
            let opening = self.once(host, address, tls, login);
            let opened = match self.settings.connect_timeout.or(patience) {
                None => opening.await,
                Some(limit) => timeout(limit, opening).await.unwrap_or_else(|_| Err(self.late(limit))),
            };
            match opened {
                Err(found) if found.retry() == Retry::Soon => error = found,
                done => return done,
            }
        }
        Err(error)
    }

    async fn addresses(&self, host: &Host) -> Result<Vec<Address>, Error> {
        host.addresses().await.map_err(|error| self.passing(&format!("cannot find the host {host}: {error}")))
    }

    async fn once(
        &self,
        host: &Host,
        address: &Address,
        tls: Option<&Connector>,
        (login, database): (&Login, u32),
    ) -> Result<Connection, Error> {
        let place = self.settings.address();
        let opened = stream::open(host, address, tls).await;
        let stream = opened.map_err(|error| within_tls(&place, &error))?;
        let several = !matches!(self.settings.topology, Topology::Single);
        let greeting = Greeting::default();
        let stream = Greeted { stream, greeting: greeting.clone() };
        let connection = Connection::over(stream, place.clone(), several.then(|| host.clone())).await?;
        match connection.log_in(login, database, &self.settings.client_name).await {
            Ok(()) => Ok(connection),
            Err(error) if error.retry() == Retry::Soon && error.fields().server_code.is_none() => {
                Err(match greeting.refusal() {
                    Some((code, detail)) => said(&place, code, detail),
                    None if tls.is_some() => error,
                    None => error.with(|fields| fields.hint = Some(WANTS_TLS.to_owned())),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Asks one host after the other, the one that worked last first. One that refuses us for good ends the search.
    async fn first_of<A: Attempt>(&self, attempt: A) -> Result<A::Found, Error> {
        let Settings { hosts, first, .. } = self.settings;
        let (count, start) = (hosts.len(), first.load(Ordering::Relaxed));
        let mut failed = Vec::new();
        for index in (0..count).map(|index| (start + index) % count) {
            // Also where this future is dropped: the next one begins with another host.
            first.store((index + 1) % count, Ordering::Relaxed);
            match attempt.at(self, &hosts[index], failed.len() + 1 < count).await {
                Ok(done) => {
                    first.store(index, Ordering::Relaxed);
                    return Ok(done);
                }
                Err(error) if error.retry() == Retry::Never => return Err(error),
                Err(error) => failed.push((&hosts[index], error)),
            }
        }
        Err(self.none_will_do(failed))
    }

    fn none_will_do(&self, mut failed: Vec<(&Host, Error)>) -> Error {
        let place = self.settings.address();
        let each = failed.iter().map(|(host, error)| {
            let what = error.message();
            let what = what.strip_prefix(&place).map_or(what, |what| what.trim_start_matches(": "));
            format!("{host}: {}", what.strip_prefix(&format!("{host}: ")).unwrap_or(what))
        });
        let all = each.collect::<Vec<_>>().join("; ");
        match failed.pop() {
            Some((_, last)) => {
                let Fields { server_code, hint, .. } = last.fields().clone();
                made(&place, &all, server_code.as_deref(), hint).retry_as(Retry::Soon)
            }
            None => self.passing("there is no host"),
        }
    }

    /// The same error, about another server than the address names.
    fn of(&self, server: &str, error: &Error) -> Error {
        let (place, fields) = (self.settings.address(), error.fields().clone());
        let what = error.message();
        let what = what.strip_prefix(&place).map_or(what, |what| what.trim_start_matches(": "));
        made(&place, &format!("{server}: {what}"), fields.server_code.as_deref(), fields.hint).retry_as(error.retry())
    }

    fn late(&self, limit: Duration) -> Error {
        self.passing(&format!("no connection within {} ms", limit.as_millis()))
    }

    fn passing(&self, what: &str) -> Error {
        made(&self.settings.address(), what, None, None).retry_as(Retry::Soon)
    }
}
