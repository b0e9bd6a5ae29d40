//! The registry in its hash: making it, learning that it may have forgotten something, and looking after it. None of this
//! is on the way of an ordinary acquire or renewal.

use super::answer::{Answer, hex, nonsense};
use super::session::Server;
use super::{Argument, Hash};
use crate::coordinator::keeper::{Adopted, Adoption, Cause, Looked, NotBefore, Terms, restless};
use crate::coordinator::registry::{Agreement, Listed, PROTOCOL};
use crate::error::Error;

/// A registry as it was when it was looked at; it is changed only if it still is the same.
pub(super) struct Seen {
    version: String,
    identity: String,
    /// The server's time.
    pub(super) now_ms: u64,
    /// Whether a restart would count as the same incarnation.
    pub(super) believed: bool,
    /// `None` without a registry.
    pub(super) looked: Option<Looked>,
}

impl<S: Server> Hash<S> {
    /// How often we look again after somebody else was quicker.
    const ROUNDS: usize = 8;

    pub(super) async fn adopt_in(
        &self,
        connection: &S::Connection,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> Result<Adopted, Error> {
        for _ in 0..Self::ROUNDS {
            let seen = self.looked(connection, terms).await?;
            let created = seen.looked.is_none();
            match (Adoption::of(seen.looked.as_ref(), terms, cause, join)?, &seen.looked) {
                (None, Some(looked)) => return Ok(Adopted { created, looked: looked.clone() }),
                (None, None) => {}
                (Some(adoption), _) => {
                    if self.carry_out(connection, terms, &seen, &adoption).await?
                        && let Some(looked) = self.looked(connection, terms).await?.looked
                    {
                        return Ok(Adopted { created, looked });
                    }
                }
            }
        }
        Err(restless(&self.server.address(), &terms.namespace))
    }

    /// Whether it was done; not if the registry is another one than was seen.
    async fn carry_out(
        &self,
        connection: &S::Connection,
        terms: &Terms,
        seen: &Seen,
        adoption: &Adoption,
    ) -> Result<bool, Error> {
        let says = adoption.says.as_ref();
        let layout = says.map(Agreement::layout_text).unwrap_or_default();
        let ttl = says.map(|says| says.ttl.as_millis().to_string()).unwrap_or_default();
        let durable = says.map_or("", |says| flag(says.durable));
        let fingerprint = says.and_then(|says| says.fingerprint).map(|key| hex(&key)).unwrap_or_default();
        let wait = match adoption.remembers {
            None => String::new(),
            Some(NotBefore::Lift) => "lift".to_owned(),
            Some(NotBefore::Keep) => "0".to_owned(),
            Some(NotBefore::Wait(wait)) => {
                (wait + self.server.former_master_goes_on(terms.agreement.ttl)).as_millis().to_string()
            }
        };
        let arguments: [Argument<'_>; 10] = [
            seen.version.as_str().into(),
            seen.identity.as_str().into(),
            flag(adoption.forgets).into(),
            i64::from(PROTOCOL).into(),
            layout.as_str().into(),
            ttl.as_str().into(),
            durable.into(),
            fingerprint.as_str().into(),
            i64::from(adoption.machine_ids).into(),
            wait.as_str().into(),
        ];
        let place = self.server.address();
        let answer = self.run(connection, &self.scripts.adopt, &arguments).await?;
        let answer = Answer::read(&place, answer)?.ok_or_else(|| nonsense(&place))?;
        if !answer.flag(1)? {
            return Ok(false);
        }
        self.confirm(connection, answer.wait(2)?).await?;
        Ok(true)
    }

    pub(super) async fn looked(&self, connection: &S::Connection, terms: &Terms) -> Result<Seen, Error> {
        let place = self.server.address();
        let answer = self.run(connection, &self.scripts.look, &[]).await?;
        let answer = Answer::read(&place, answer)?.ok_or_else(|| nonsense(&place))?;
        refuse_others(&answer)?;
        let identity = answer.text(2)?.to_owned();
        if identity.is_empty() && !terms.agreement.durable {
            return Err(self.without_identity());
        }
        let version = answer.text(3)?.to_owned();
        let looked = if version.is_empty() { None } else { Some(read(&answer)?) };
        Ok(Seen { version, identity, now_ms: answer.number(1)?, believed: answer.flag(14)?, looked })
    }

    pub(super) async fn listed(&self, connection: &S::Connection) -> Result<Vec<Listed>, Error> {
        const EACH: usize = 4;
        let place = self.server.address();
        let answer = self.run(connection, &self.scripts.list, &[]).await?;
        let Some(answer) = Answer::read(&place, answer)? else { return Ok(Vec::new()) };
        let now_ms = answer.number(1)?;
        if answer.len() % EACH != 1 {
            return Err(answer.nonsense());
        }
        let each = (2..=answer.len()).step_by(EACH);
        each.map(|at| {
            let expires_at_ms = answer.number(at + 1)?;
            Ok(Listed {
                machine: answer.number(at)? as u32,
                holder: answer.said(at + 2)?.map(str::to_owned),
                acquired_at_ms: answer.said(at + 3)?.and_then(|since| since.parse().ok()),
                expires_at_ms,
                live: expires_at_ms >= now_ms,
            })
        })
        .collect()
    }
}

/// Servers that speak the protocol but have no one clock.
fn refuse_others(answer: &Answer<'_>) -> Result<(), Error> {
    let others = answer.text(12)? == "active-replica" || answer.flag(13)?;
    if !others {
        return Ok(());
    }
    let text = "coordinator: an active-active Redis has no one clock that leases could be compared by; use one with a single \
                master, or PostgreSQL";
    Err(Error::config("coordinator", text))
}

fn read(answer: &Answer<'_>) -> Result<Looked, Error> {
    let (now_ms, not_before_ms) = (answer.number(1)?, answer.number(4)?);
    Ok(Looked {
        now_ms,
        not_before_ms,
        waiting: not_before_ms >= now_ms,
        same: answer.flag(5)?,
        rows: answer.number(6)? as u32,
        found: answer.found(7)?,
    })
}

/// How a truth is written in the hash.
pub(super) fn flag(truth: bool) -> &'static str {
    if truth { "1" } else { "0" }
}
