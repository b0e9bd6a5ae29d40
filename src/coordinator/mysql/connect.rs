//! From settings to an open connection: hosts in their order, TLS as far as asked for, one that takes writes.

pub(super) mod session;

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::connection::Connection;
use super::failure::{failure, made, of_tls};
use super::protocol::{Account, Channel, Fault, Packets, greet, log_in, secure};
use super::settings::Settings;
use crate::coordinator::socket::{self, Address, Host, Stream};
use crate::coordinator::tls::{Connector, Encrypt, Tls, Verify};
use crate::error::{Error, Fields, Retry};

/// How long one address may take to answer where there is another one to try, if nobody said.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a server has for those who must use TLS, and do not.
const PERHAPS_TLS: &str = "user or password is wrong, or the server wants TLS: ssl-mode=REQUIRED or VERIFY_IDENTITY";

/// About a server that speaks no TLS.
const NO_TLS: &str = "have the server use TLS (ssl_cert, ssl_key), or do without: ssl-mode=DISABLED";

/// Opens a connection to the first host that will do. Hosts that are down or take no writes are passed over; one that
/// refuses us for good ends the search.
///
/// # Errors
/// `COORDINATOR` with the class of retry that fits, or `CONFIG` about a file that cannot be used.
pub async fn connect(settings: &Settings) -> Result<Connection, Error> {
    let tls = connector(settings).await?;
    let dial = Dial { settings, tls: tls.as_ref() };
    let Settings { hosts, first, .. } = settings;
    let (count, start) = (hosts.len(), first.load(Ordering::Relaxed));
    let mut failed = Vec::new();
    for index in (0..count).map(|index| (start + index) % count) {
        // Also where this future is dropped: the next one begins with another host.
        first.store((index + 1) % count, Ordering::Relaxed);
        match dial.host(&hosts[index], failed.len() + 1 < count).await {
            Ok(connection) => {
                first.store(index, Ordering::Relaxed);
                return Ok(connection);
            }
            Err(error) if error.retry() == Retry::Never => return Err(error),
            Err(error) => failed.push((&hosts[index], error)),
        }
    }
    Err(dial.none_will_do(failed))
}

/// Reads certificates on a thread that may wait for a disk; `None` without TLS.
async fn connector(settings: &Settings) -> Result<Option<Connector>, Error> {
    let tls = &settings.tls;
    if tls.is_off() || matches!(settings.hosts[..], [Host::Socket(_)]) {
        return Ok(None);
    }
    if !tls.needs_files() {
        return tls.connector().map(Some);
    }
    let (tls, place) = (tls.clone(), settings.address());
    let read = spawn_blocking(move || tls.connector()).await;
    read.unwrap_or_else(|error| Err(made(&place, &error.to_string(), None, None).retry_as(Retry::Soon))).map(Some)
}

/// What every attempt needs.
struct Dial<'a> {
    settings: &'a Settings,
    tls: Option<&'a Connector>,
}

impl Dial<'_> {
    /// Tries each address of a host; `more` says whether another host comes after it.
    async fn host(&self, host: &Host, more: bool) -> Result<Connection, Error> {
        let found = host.addresses().await;
        let addresses = found.map_err(|error| self.passing(&format!("cannot find the host {host}: {error}")))?;
        let mut error = self.passing(&format!("{host} has no address"));
        for (index, address) in addresses.iter().enumerate() {
            let patience = (more || index + 1 < addresses.len()).then_some(PATIENCE);
            let opening = self.address(host, address);
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

    /// Where TLS is used only if the server offers it, it is done without where it does not work.
    async fn address(&self, host: &Host, address: &Address) -> Result<Connection, Error> {
        let Settings { tls: Tls { encrypt, .. }, .. } = self.settings;
        let opened = match self.once(host, address, self.tls).await {
            Err(Fault::Io(error)) if *encrypt == Encrypt::IfOffered && of_tls(&error).is_some() => {
                self.once(host, address, None).await
            }
            done => done,
        };
        let place = self.settings.address();
        let packets = opened.map_err(|fault| match (&fault, encrypt) {
            (Fault::Server(1045, ..), Encrypt::Never) if matches!(address, Address::Net(_)) => {
                failure(&place, &fault).with(|fields| fields.hint = Some(PERHAPS_TLS.to_owned()))
            }
            _ => failure(&place, &fault),
        })?;
        session::set_up(Connection::over(packets, place)).await
    }

    async fn once(
        &self,
        host: &Host,
        address: &Address,
        tls: Option<&Connector>,
    ) -> Result<Packets<Box<dyn Stream>>, Fault> {
        let Settings { user, password, database, may_take_key, .. } = self.settings;
        let Tls { encrypt, verify, .. } = self.settings.tls;
        let mut packets = Packets::new(socket::open(address).await?);
        let greeting = greet(&mut packets).await?;
        let mut channel = if matches!(host, Host::Socket(_)) { Channel::Socket } else { Channel::Plain };
        match tls {
            Some(connector) if greeting.offers_tls() => {
                secure(&mut packets, &greeting).await?;
                packets = packets.over(|stream| shake_hands(connector, host, stream)).await?;
                channel = Channel::Tls { verified: verify != Verify::Nothing };
            }
            Some(_) if encrypt == Encrypt::Always => {
                return Err(Fault::Refused("the server offers no TLS".to_owned(), NO_TLS));
            }
            _ => {}
        }
        let password = password.as_ref().map_or("", |password| password.as_str());
        let account = Account { user, password, database, may_take_key: *may_take_key };
        log_in(&mut packets, &greeting, &account, channel).await?;
        Ok(packets)
    }

    fn none_will_do(&self, mut failed: Vec<(&Host, Error)>) -> Error {
        let place = self.settings.address();
        let each = failed.iter().map(|(host, error)| {
            let what = error.message();
            format!("{host}: {}", what.strip_prefix(&place).map_or(what, |what| what.trim_start_matches(": ")))
        });
        let all = each.collect::<Vec<_>>().join("; ");
        match (failed.pop(), failed.is_empty()) {
            (Some((_, error)), true) => error,
            (Some((_, last)), false) => {
                let Fields { server_code, hint, .. } = last.fields().clone();
                made(&place, &all, server_code.as_deref(), hint).retry_as(Retry::Soon)
            }
            (None, _) => self.passing("there is no host"),
        }
    }

    fn late(&self, limit: Duration) -> Error {
        self.passing(&format!("no connection within {} ms", limit.as_millis()))
    }

    fn passing(&self, what: &str) -> Error {
        made(&self.settings.address(), what, None, None).retry_as(Retry::Soon)
    }
}

async fn shake_hands(connector: &Connector, host: &Host, stream: Box<dyn Stream>) -> io::Result<Box<dyn Stream>> {
    let shaken = connector.connector().connect(connector.name(&host.name())?, stream).await?;
    Ok(Box::new(shaken))
}
