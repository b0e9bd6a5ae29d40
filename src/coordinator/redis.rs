//! Redis and Valkey: the leases of a fleet in one hash.
//!
//! Every decision is one script in `lua/redis/`, made by the server's clock. The hash keeps the end of each machine ID's last
//! lease, so that no field of it ever expires.

mod answer;
mod confirm;
mod connect;
mod connection;
mod examine;
mod failure;
mod lent;
mod registry;
mod scripts;
mod session;
mod settings;

use std::iter;
use std::sync::OnceLock;
use std::time::Duration;

pub use self::connect::connect;
pub use self::connection::{Argument, Connection, Script};
pub use self::failure::failure;
pub use self::lent::Lent;
pub use self::settings::Settings;
pub use ::redis::Value;

use self::answer::{Answer, hex};
use self::confirm::File;
use self::failure::made;
use self::registry::flag;
use self::scripts::Scripts;
use self::session::{Server, Session};
use super::beside::Beside;
use super::keeper::{self, Adopted, Cause, Claimed, Ends, Keeper, Prolonged, Store, Terms};
use super::registry::{Examination, Listed, PROTOCOL, margin};
use super::{Caution, Lease};
use crate::error::Error;

/// What a [`Redis`] coordinator is made of.
pub type Setup = keeper::Setup<Settings>;

/// A coordinator that keeps its leases in Redis or Valkey.
pub type Redis = Keeper<Hash>;

/// The same over connections that the user's own program has.
pub type LentRedis = Keeper<Hash<Lent>>;

impl<S: Server> Keeper<Hash<S>> {
    /// Connects to nothing yet.
    #[must_use]
    pub fn new(setup: keeper::Setup<S>) -> Self {
        let keys = keys(&setup.namespace, setup.settings.beside());
        Self::of(setup, |server| Hash::new(server, keys))
    }

    /// The same with other scripts, for the tests that take a rule out of them or move the server's clock.
    #[doc(hidden)]
    #[must_use]
    pub fn rewritten(self, rewrite: &dyn Fn(&str) -> String) -> Self {
        self.changed(|hash| Hash { scripts: Scripts::rewritten(hash.server.beside(), S::CAN_WAIT, rewrite), ..hash })
    }
}

/// The registry of one namespace, in one hash.
pub struct Hash<S = Settings> {
    server: S,
    /// Ours, and that of others beside it.
    keys: Vec<String>,
    scripts: Scripts,
    /// What is known of the server's append-only file.
    file: File,
    /// The policy by which the server may drop the registry.
    evicts: OnceLock<String>,
}

/// All keys of a registry are in one slot of a cluster, whatever the namespace is called.
fn keys(namespace: &str, beside: Beside) -> Vec<String> {
    let theirs = beside.theirs(namespace);
    let ours = format!("mintid:{{{}}}", theirs.unwrap_or(namespace));
    iter::once(ours).chain(theirs.map(str::to_owned)).collect()
}

impl<S: Server> Hash<S> {
    fn new(server: S, keys: Vec<String>) -> Self {
        let scripts = Scripts::new(server.beside(), S::CAN_WAIT);
        Self { server, keys, scripts, file: File::default(), evicts: OnceLock::new() }
    }

    async fn run(
        &self,
        connection: &S::Connection,
        script: &Script,
        arguments: &[Argument<'_>],
    ) -> Result<Value, Error> {
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        connection.eval(script, &keys, arguments).await.map_err(|error| self.without_hsetex(error))
    }

    /// Only their hash needs a command of the newest servers.
    fn without_hsetex(&self, error: Error) -> Error {
        let unknown =
            ["nknown Redis", "nknown command", "nknown Valkey"].iter().any(|said| error.message().contains(said));
        if self.server.beside() == Beside::Nobody || !unknown {
            return error;
        }
        error.with(|fields| fields.hint = Some(failure::HSETEX.to_owned()))
    }

    /// Without an identity nobody can tell a registry that remembers from one that does not.
    fn without_identity(&self) -> Error {
        let what = "the server does not say which run it is (run_id in INFO server), so nobody could tell whether it forgot leases";
        made(&self.name(), what, None, Some(failure::DURABLE.to_owned()))
    }
}

impl<S: Server> Store for Hash<S> {
    type Connection = S::Connection;

    fn name(&self) -> String {
        self.server.address()
    }

    async fn connect(&self) -> Result<S::Connection, Error> {
        self.server.connect(&self.keys[0]).await
    }

    async fn claim(
        &self,
        connection: &S::Connection,
        terms: &Terms,
        nonce: [u8; 8],
        ttl: Duration,
    ) -> Result<Claimed, Error> {
        let Terms { machine_ids, agreement, holder, .. } = terms;
        let (nonce, layout) = (hex(&nonce), agreement.layout_text());
        let (agreed_ttl, fingerprint) =
            (millis(agreement.ttl).to_string(), agreement.fingerprint.map(|key| hex(&key)).unwrap_or_default());
        let arguments: [Argument<'_>; 11] = [
            i64::from(machine_ids.first).into(),
            i64::from(machine_ids.last).into(),
            nonce.as_str().into(),
            millis(ttl).into(),
            layout.as_str().into(),
            agreed_ttl.as_str().into(),
            fingerprint.as_str().into(),
            holder.as_str().into(),
            i64::from(PROTOCOL).into(),
            flag(agreement.durable).into(),
            self.file.confirms().into(),
        ];
        let place = self.name();
        let answer = self.run(connection, &self.scripts.acquire, &arguments).await?;
        let Some(answer) = Answer::read(&place, answer)? else { return Ok(Claimed::Strange) };
        match answer.text(1)? {
            "unwritten" => return Err(self.unwritten()),
            "unsettled" => return Err(self.unsettled()),
            _ => {}
        }
        let claimed = claimed(&answer)?;
        if let Claimed::Granted { machine, token, now_ms, end_ms, .. } = claimed {
            if let Some(policy) = answer.said(9)?.filter(|policy| policy.starts_with("allkeys-")) {
                let _ = self.evicts.set(policy.to_owned());
            }
            if let Err(error) = self.confirm(connection, answer.wait(8)?).await {
                // Nobody has used it.
                let orphan = Lease { machine, token, start_ms: now_ms + 1, end_ms };
                let _ = self.give_back(connection, terms, &orphan, now_ms).await;
                return Err(error);
            }
        }
        Ok(claimed)
    }

    async fn prolong(
        &self,
        connection: &S::Connection,
        terms: &Terms,
        lease: &Lease,
        ttl: Duration,
    ) -> Result<Prolonged, Error> {
        let token = hex(&lease.token.0);
        let arguments: [Argument<'_>; 7] = [
            i64::from(lease.machine).into(),
            token.as_str().into(),
            millis(ttl).into(),
            (lease.end_ms as i64).into(),
            millis(margin(terms.agreement.ttl)).into(),
            millis(terms.agreement.ttl).into(),
            self.file.confirms().into(),
        ];
        let place = self.name();
        let answer = self.run(connection, &self.scripts.renew, &arguments).await?;
        let Some(answer) = Answer::read(&place, answer)? else { return Ok(Prolonged::Strange) };
        match answer.text(1)? {
            "granted" => {
                self.confirm(connection, answer.wait(4)?).await?;
                Ok(Prolonged::Granted { now_ms: answer.number(2)?, end_ms: answer.number(3)? })
            }
            "strange" => Ok(Prolonged::Strange),
            "unwritten" => Err(self.unwritten()),
            "forgotten" => Ok(Prolonged::Forgotten),
            "lost" => Ok(Prolonged::Lost),
            "unsettled" => Err(self.unsettled()),
            _ => Err(answer.nonsense()),
        }
    }

    async fn give_back(
        &self,
        connection: &S::Connection,
        _terms: &Terms,
        lease: &Lease,
        last_used_ms: u64,
    ) -> Result<(), Error> {
        let token = hex(&lease.token.0);
        let arguments: [Argument<'_>; 3] =
            [i64::from(lease.machine).into(), token.as_str().into(), (last_used_ms as i64).into()];
        self.run(connection, &self.scripts.release, &arguments).await.map(drop)
    }

    async fn adopt(
        &self,
        connection: &S::Connection,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> Result<Adopted, Error> {
        self.adopt_in(connection, terms, cause, join).await
    }

    async fn list(&self, connection: &S::Connection, _terms: &Terms) -> Result<Vec<Listed>, Error> {
        self.listed(connection).await
    }

    async fn examine(&self, connection: &S::Connection, terms: &Terms) -> Result<Examination, Error> {
        self.examined(connection, terms).await
    }

    fn script(&self) -> String {
        failure::acl_line(&self.keys)
    }

    fn caution(&self) -> Option<Caution> {
        let policy = self.evicts.get()?;
        let message = format!(
            "{}: maxmemory-policy is {policy}: the server may evict the registry, and newcomers would wait; use volatile-… \
             or noeviction",
            self.name()
        );
        Some(Caution { code: "REGISTRY_EVICTABLE", message })
    }
}

fn claimed(answer: &Answer<'_>) -> Result<Claimed, Error> {
    Ok(match answer.text(1)? {
        "granted" => Claimed::Granted {
            machine: answer.number(4)? as u32,
            token: answer.token(5)?,
            now_ms: answer.number(2)?,
            end_ms: answer.number(6)?,
            leased: answer.number(7)? as u32,
        },
        "disagreed" => Claimed::Disagreed(answer.found(4)?),
        "waiting" => Claimed::Waiting { now_ms: answer.number(2)?, not_before_ms: answer.number(3)? },
        "exhausted" => Claimed::Exhausted,
        "strange" => Claimed::Strange,
        _ => return Err(answer.nonsense()),
    })
}

impl Ends for Connection {
    fn is_closed(&self) -> bool {
        Connection::is_closed(self)
    }

    async fn closed(&self) {
        Connection::closed(self).await;
    }
}

/// Milliseconds for the server.
fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
