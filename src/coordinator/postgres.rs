//! PostgreSQL: the leases of a fleet in three small tables of any database that the fleet shares.
//!
//! Every decision is one statement in `sql/postgres/`, made by the server's clock, under the lock of the registry's row.
//! Statements are unnamed, so that pgbouncer's transaction mode will do.

mod connect;
mod examine;
mod failure;
mod link;
mod registry;
mod settings;
mod statements;
mod tls;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

pub use self::connect::{Connection, connect};
pub use self::failure::failure;
use self::link::Link;
pub use self::settings::Settings;
use self::statements::Statements;
use super::registry::{Agreement, OnReset, PROTOCOL, disagreement, margin, waiting};
use super::{Answer, Coordinator, Grant, Lease, MachineIds, Renewal, Term, Token, Usage, exhausted};
use crate::error::{Code, Error, Retry};
use crate::nonce::Loss;

/// What a [`Postgres`] coordinator is made of.
pub struct Setup {
    /// Where it is and how to get in.
    pub settings: Settings,
    /// Which registry of the database.
    pub namespace: String,
    /// Which machine IDs to lease.
    pub machine_ids: MachineIds,
    /// What all who share the registry must agree on.
    pub agreement: Agreement,
    /// What newcomers do at a registry that may have forgotten leases.
    pub on_reset: OnReset,
    /// Whether connections are kept from one request to the next.
    pub keep_open: bool,
}

/// A coordinator that keeps its leases in PostgreSQL.
pub struct Postgres {
    setup: Setup,
    statements: Statements,
    link: Link,
    holder: String,
    /// The last tokens that a release was sent for. What the registry does not know of them, it was told to forget.
    released: Mutex<VecDeque<Token>>,
}

impl Postgres {
    /// Connects to nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let statements = Statements::new(setup.settings.schema());
        let link = Link::new(setup.settings.clone(), setup.keep_open);
        Self { setup, statements, link, holder: super::registry::holder(), released: Mutex::default() }
    }

    /// The same with other statements, for the tests that take a rule out of them or move the server's clock.
    #[doc(hidden)]
    #[must_use]
    pub fn rewritten(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        self.statements = self.statements.rewritten(rewrite);
        self
    }

    /// How many released tokens are remembered: more than can have a renewal on its way.
    const RELEASED: usize = 16;

    /// How often a request is made again after the registry was made, adopted, or told of us.
    const ROUNDS: usize = 4;

    async fn claim(&self, ttl: Duration) -> Result<Grant, Error> {
        let held = self.link.get().await?;
        for _ in 0..Self::ROUNDS {
            match self.try_claim(held.client(), ttl).await.map_err(|error| self.without_rights(error))? {
                Claim::Granted(grant) => {
                    self.link.put(held);
                    return Ok(grant);
                }
                Claim::Refused(error) => {
                    self.link.put(held);
                    return Err(error);
                }
                Claim::NotEnrolled => self.enrol(held.client(), false).await?,
            }
        }
        Err(self.restless())
    }

    async fn try_claim(&self, client: &Client, ttl: Duration) -> Result<Claim, Error> {
        let Setup { namespace, machine_ids, agreement, .. } = &self.setup;
        let nonce: [u8; 8] = Token::random_part()?;
        let fingerprint = agreement.fingerprint.as_ref().map(<[u8; 16]>::as_slice);
        let parameters: [(&(dyn ToSql + Sync), Type); 11] = [
            (namespace, Type::TEXT),
            (&(machine_ids.first as i32), Type::INT4),
            (&(machine_ids.last as i32), Type::INT4),
            (&nonce.as_slice(), Type::BYTEA),
            (&millis(ttl), Type::INT8),
            (&agreement.layout_text(), Type::TEXT),
            (&millis(agreement.ttl), Type::INT8),
            (&fingerprint, Type::BYTEA),
            (&self.holder, Type::TEXT),
            (&PROTOCOL, Type::INT4),
            (&agreement.durable, Type::BOOL),
        ];
        let Some(row) = self.one(client, &self.statements.acquire, &parameters).await? else {
            return Ok(Claim::NotEnrolled);
        };
        self.judge(&row).map_err(|error| self.failure(&error))
    }

    fn judge(&self, row: &Row) -> Result<Claim, tokio_postgres::Error> {
        if !row.try_get::<_, bool>("agreed")? {
            let found = registry::found(row)?;
            return Ok(disagreement(&self.setup.agreement, &found).map_or(Claim::NotEnrolled, Claim::Refused));
        }
        if !row.try_get::<_, bool>("same")? {
            return Ok(Claim::NotEnrolled);
        }
        let now_ms = row.try_get::<_, i64>("now_ms")? as u64;
        if row.try_get("waiting")? {
            let not_before_ms = row.try_get::<_, i64>("not_before_ms")? as u64;
            return Ok(Claim::Refused(waiting(&self.name(), now_ms, not_before_ms)));
        }
        let leased = row.try_get::<_, i64>("leased")? as u32;
        let capacity = self.setup.machine_ids.capacity();
        let Some(machine) = row.try_get::<_, Option<i32>>("machine")? else {
            return Ok(Claim::Refused(exhausted(capacity)));
        };
        let Ok(token) = <[u8; 16]>::try_from(row.try_get::<_, &[u8]>("token")?) else {
            return Ok(Claim::Refused(self.restless()));
        };
        let end_ms = row.try_get::<_, i64>("end_ms")? as u64;
        let lease = Lease { machine: machine as u32, token: Token(token), start_ms: now_ms + 1, end_ms };
        let usage = Some(Usage { leased: leased + 1, capacity });
        Ok(Claim::Granted(Grant { lease, now_ms, term: Term::Renewable, usage }))
    }

    async fn prolong(&self, lease: Lease, ttl: Duration) -> Renewal {
        match self.try_prolong(lease, ttl).await {
            Ok(renewal) => renewal,
            Err(error) => Renewal::Unknown(error),
        }
    }

    async fn try_prolong(&self, lease: Lease, ttl: Duration) -> Result<Renewal, Error> {
        let held = self.link.get().await?;
        let mut told = false;
        for _ in 0..Self::ROUNDS {
            let parameters: [(&(dyn ToSql + Sync), Type); 6] = [
                (&self.setup.namespace, Type::TEXT),
                (&(lease.machine as i32), Type::INT4),
                (&lease.token.0.as_slice(), Type::BYTEA),
                (&millis(ttl), Type::INT8),
                (&(lease.end_ms as i64), Type::INT8),
                (&millis(margin(self.setup.agreement.ttl)), Type::INT8),
            ];
            let renewed = match self.one(held.client(), &self.statements.renew, &parameters).await? {
                Some(row) => prolonged(lease, &row).map_err(|error| self.failure(&error))?,
                None => Prolonged::Strange,
            };
            match renewed {
                Prolonged::Decided(renewal) => {
                    self.link.put(held);
                    return Ok(renewal);
                }
                Prolonged::Strange => self.enrol(held.client(), false).await?,
                Prolonged::Forgotten if self.waits_for_what_was_forgotten(lease.token) && !told => {
                    told = true;
                    self.enrol(held.client(), true).await?;
                }
                Prolonged::Forgotten => {
                    self.link.put(held);
                    return Ok(Renewal::Lost(Loss::Rejected));
                }
            }
        }
        Err(self.restless())
    }

    /// Whether a lease that the registry does not know is evidence that it forgot, which newcomers must wait for.
    fn waits_for_what_was_forgotten(&self, token: Token) -> bool {
        self.setup.on_reset == OnReset::Wait && !self.released().contains(&token)
    }

    fn released(&self) -> MutexGuard<'_, VecDeque<Token>> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn give_back(&self, lease: Lease, last_used_ms: u64) -> Result<(), Error> {
        // Before it is sent: a renewal that is on its way may find its effect.
        {
            let mut released = self.released();
            released.truncate(Self::RELEASED - 1);
            released.push_front(lease.token);
        }
        let held = self.link.get().await?;
        let parameters: [(&(dyn ToSql + Sync), Type); 4] = [
            (&self.setup.namespace, Type::TEXT),
            (&(lease.machine as i32), Type::INT4),
            (&lease.token.0.as_slice(), Type::BYTEA),
            (&(last_used_ms as i64), Type::INT8),
        ];
        // Without its table there is nothing to give back.
        self.one(held.client(), &self.statements.release, &parameters).await?;
        self.link.put(held);
        Ok(())
    }

    /// One statement in one round trip; `None` where it has no row, or no table.
    async fn one(
        &self,
        client: &Client,
        statement: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Option<Row>, Error> {
        match client.query_typed(statement, parameters).await {
            Ok(rows) => Ok(rows.into_iter().next()),
            Err(error) if failure::is_missing_table(&error) => Ok(None),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn failure(&self, error: &tokio_postgres::Error) -> Error {
        failure(&self.name(), error)
    }

    /// The registry was another one each time we looked: somebody is at work on it.
    fn restless(&self) -> Error {
        let name = self.name();
        Error::new(
            Code::Coordinator,
            format!("{name}: the registry of namespace {} keeps changing", self.setup.namespace),
        )
        .with(|fields| fields.coordinator = Some(name))
        .retry_as(Retry::Soon)
    }
}

enum Claim {
    Granted(Grant),
    Refused(Error),
    /// There is no registry, it does not know of us, or it may have forgotten leases.
    NotEnrolled,
}

enum Prolonged {
    Decided(Renewal),
    /// The registry is another one than it remembers to be.
    Strange,
    /// It lacks what it had confirmed.
    Forgotten,
}

fn prolonged(lease: Lease, row: &Row) -> Result<Prolonged, tokio_postgres::Error> {
    if !row.try_get::<_, bool>("same")? {
        return Ok(Prolonged::Strange);
    }
    let now_ms = row.try_get::<_, i64>("now_ms")? as u64;
    if let Some(end_ms) = row.try_get::<_, Option<i64>>("end_ms")? {
        let lease = Lease { end_ms: end_ms as u64, ..lease };
        return Ok(Prolonged::Decided(Renewal::Granted(Grant { lease, now_ms, term: Term::Renewable, usage: None })));
    }
    if row.try_get("forgot")? && !row.try_get::<_, bool>("waiting")? {
        return Ok(Prolonged::Forgotten);
    }
    Ok(Prolonged::Decided(Renewal::Lost(Loss::Rejected)))
}

impl Coordinator for Postgres {
    fn name(&self) -> String {
        self.setup.settings.address()
    }

    fn acquire(&self, ttl: Duration) -> Answer<'_, Result<Grant, Error>> {
        Box::pin(self.claim(ttl))
    }

    fn renew(&self, lease: &Lease, ttl: Duration) -> Answer<'_, Renewal> {
        Box::pin(self.prolong(*lease, ttl))
    }

    fn release(&self, lease: &Lease, last_used_ms: u64) -> Answer<'_, Result<(), Error>> {
        Box::pin(self.give_back(*lease, last_used_ms))
    }

    fn on_disconnect(&self, tell: Arc<dyn Fn() + Send + Sync>) {
        self.link.on_disconnect(tell);
    }
}

/// Milliseconds for the server.
fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
