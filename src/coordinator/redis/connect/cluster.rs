//! A cluster: our registry is one key, so one node has all of it. Any node tells which.

use std::sync::{MutexGuard, PoisonError};

use super::{Attempt, Dial};
use crate::coordinator::redis::connection::{Connection, Script};
use crate::coordinator::redis::settings::Host;
use crate::error::{Error, Retry};

/// How often one node may send us to another one.
const REDIRECTS: usize = 5;

/// Where a node sends us.
enum Way {
    Here,
    Moved(Host),
    Ask(Host),
}

/// The question for a node: the key.
struct WhoHas<'a>(&'a str);

impl Attempt for WhoHas<'_> {
    type Found = Connection;

    async fn at(&self, dial: &Dial<'_>, host: &Host, more: bool) -> Result<Connection, Error> {
        dial.follow(host.clone(), self.0, more).await
    }
}

impl Dial<'_> {
    /// The node that has `key`: the one that had it last, or what the nodes say.
    pub(super) async fn owner(&self, key: &str) -> Result<Connection, Error> {
        let remembered = self.remembered().take();
        if let Some(host) = remembered {
            // A node that does not answer, or has the key no more, is no reason to give up: the others are asked.
            match self.follow(host, key, true).await {
                Err(error) if error.retry() == Retry::Soon => {}
                done => return done,
            }
        }
        self.first_of(WhoHas(key)).await
    }

    fn remembered(&self) -> MutexGuard<'_, Option<Host>> {
        self.settings.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn follow(&self, start: Host, key: &str, more: bool) -> Result<Connection, Error> {
        let mut connection = self.server(&start, more).await?;
        let mut host = start;
        for _ in 0..REDIRECTS {
            let (next, asking) = match way(&connection, &host, key).await? {
                Way::Here => {
                    *self.remembered() = Some(host).filter(|_| !connection.asking);
                    return Ok(connection);
                }
                Way::Moved(next) => (next, false),
                Way::Ask(next) => (next, true),
            };
            connection = self.server(&next, more).await.map_err(|error| self.of(&next.to_string(), &error))?;
            connection.asking = asking;
            host = next;
        }
        Err(connection.wrong("the nodes send us from one to the other", "the cluster is at work on its slots"))
    }
}

/// Whether the node would run a script with this key. It needs no other right than the scripts of the registry.
async fn way(connection: &Connection, host: &Host, key: &str) -> Result<Way, Error> {
    let Err(error) = connection.eval(&Script::new("return 1"), &[key], &[]).await else { return Ok(Way::Here) };
    let code = error.fields().server_code.as_deref();
    let (Some("MOVED" | "ASK"), Some(next)) = (code, redirection(error.message(), host)) else { return Err(error) };
    Ok(if code == Some("MOVED") { Way::Moved(next) } else { Way::Ask(next) })
}

/// `… 1234 host:port`; without a host it is the one that was asked.
fn redirection(message: &str, asked: &Host) -> Option<Host> {
    let (host, port) = message.rsplit(' ').next()?.rsplit_once(':')?;
    let port = port.parse().ok()?;
    Some(match host {
        "" | "?" => Host::new(&asked.name(), port),
        host => Host::new(host, port),
    })
}
