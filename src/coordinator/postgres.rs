//! PostgreSQL: the leases of a fleet in three small tables of any database that the fleet shares.
//!
//! Every decision is one statement in `sql/postgres/`, made by the server's clock, under the lock of the registry's row.
//! Statements are unnamed, so that pgbouncer's transaction mode will do.

mod connect;
mod examine;
mod failure;
mod nononcense;
mod registry;
mod sequences;
mod settings;
mod statements;
mod tls;

use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

pub use self::connect::{Connection, connect};
pub use self::failure::failure;
pub use self::settings::Settings;
use self::statements::Statements;
use super::keeper::{self, Adopted, Cause, Claimed, Ends, Keeper, Prolonged, Store, Terms};
use super::registry::{Examination, Listed, PROTOCOL, Sequence, margin};
use super::{Lease, Token};
use crate::error::Error;

/// What a [`Postgres`] coordinator is made of.
pub type Setup = keeper::Setup<Settings>;

/// A coordinator that keeps its leases in PostgreSQL.
pub type Postgres = Keeper<Tables>;

impl Postgres {
    /// Connects to nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let theirs = setup.settings.beside.theirs(&setup.namespace).map(str::to_owned);
        let namespace = theirs.as_ref().map_or(setup.namespace, |table| format!("nononcense:{table}"));
        Self::of(Setup { namespace, ..setup }, |settings| {
            let statements = Statements::new(settings.schema(), theirs.as_deref());
            Tables { settings, statements, theirs }
        })
    }

    /// The same with other statements, for the tests that take a rule out of them or move the server's clock.
    #[doc(hidden)]
    #[must_use]
    pub fn rewritten(self, rewrite: &dyn Fn(&str) -> String) -> Self {
        self.changed(|tables| Tables { statements: tables.statements.rewritten(rewrite), ..tables })
    }
}

/// Registries in the tables of one schema.
pub struct Tables {
    settings: Settings,
    statements: Statements,
    /// The table of other software that leases from it.
    theirs: Option<String>,
}

type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

impl Tables {
    /// One statement in one round trip; `None` where it has no row, or no table.
    async fn one(&self, client: &Client, statement: &str, parameters: &[Parameter<'_>]) -> Result<Option<Row>, Error> {
        match client.query_typed(statement, parameters).await {
            Ok(rows) => Ok(rows.into_iter().next()),
            Err(error) if failure::is_missing_table(&error) => Ok(None),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn claimed(row: &Row) -> Result<Claimed, tokio_postgres::Error> {
        if !row.try_get::<_, bool>("agreed")? {
            return Ok(Claimed::Disagreed(registry::found(row)?));
        }
        if !row.try_get::<_, bool>("same")? {
            return Ok(Claimed::Strange);
        }
        let now_ms = row.try_get::<_, i64>("now_ms")? as u64;
        if row.try_get("waiting")? {
            return Ok(Claimed::Waiting { now_ms, not_before_ms: row.try_get::<_, i64>("not_before_ms")? as u64 });
        }
        let Some(machine) = row.try_get::<_, Option<i32>>("machine")? else { return Ok(Claimed::Exhausted) };
        let Ok(token) = <[u8; 16]>::try_from(row.try_get::<_, &[u8]>("token")?) else { return Ok(Claimed::Strange) };
        Ok(Claimed::Granted {
            machine: machine as u32,
            token: Token(token),
            now_ms,
            end_ms: row.try_get::<_, i64>("end_ms")? as u64,
            leased: row.try_get::<_, i64>("leased")? as u32 + 1,
        })
    }

    fn failure(&self, error: &tokio_postgres::Error) -> Error {
        failure(&self.name(), error)
    }
}

fn prolonged(row: &Row) -> Result<Prolonged, tokio_postgres::Error> {
    if !row.try_get::<_, bool>("same")? {
        return Ok(Prolonged::Strange);
    }
    if let Some(end_ms) = row.try_get::<_, Option<i64>>("end_ms")? {
        let now_ms = row.try_get::<_, i64>("now_ms")? as u64;
        return Ok(Prolonged::Granted { now_ms, end_ms: end_ms as u64 });
    }
    let forgot = row.try_get("forgot")? && !row.try_get::<_, bool>("waiting")?;
    Ok(if forgot { Prolonged::Forgotten } else { Prolonged::Lost })
}

impl Store for Tables {
    type Connection = Connection;

    fn name(&self) -> String {
        self.settings.address()
    }

    async fn connect(&self) -> Result<Connection, Error> {
        connect(&self.settings).await
    }

    async fn claim(
        &self,
        Connection { client, .. }: &Connection,
        terms: &Terms,
        nonce: [u8; 8],
        ttl: Duration,
    ) -> Result<Claimed, Error> {
        let Terms { namespace, machine_ids, agreement, holder, .. } = terms;
        let fingerprint = agreement.fingerprint.as_ref().map(<[u8; 16]>::as_slice);
        let parameters: [Parameter<'_>; 11] = [
            (namespace, Type::TEXT),
            (&(machine_ids.first as i32), Type::INT4),
            (&(machine_ids.last as i32), Type::INT4),
            (&nonce.as_slice(), Type::BYTEA),
            (&millis(ttl), Type::INT8),
            (&agreement.layout_text(), Type::TEXT),
            (&millis(agreement.ttl), Type::INT8),
            (&fingerprint, Type::BYTEA),
            (holder, Type::TEXT),
            (&PROTOCOL, Type::INT4),
            (&agreement.durable, Type::BOOL),
        ];
        self.refuse_other_clocks(client).await?;
        let answer = self.one(client, &self.statements.acquire, &parameters).await;
        let Some(row) = answer.map_err(|error| self.without_rights(error))? else { return Ok(Claimed::Strange) };
        Self::claimed(&row).map_err(|error| self.failure(&error))
    }

    async fn prolong(
        &self,
        Connection { client, .. }: &Connection,
        terms: &Terms,
        lease: &Lease,
        ttl: Duration,
    ) -> Result<Prolonged, Error> {
        let parameters: [Parameter<'_>; 6] = [
            (&terms.namespace, Type::TEXT),
            (&(lease.machine as i32), Type::INT4),
            (&lease.token.0.as_slice(), Type::BYTEA),
            (&millis(ttl), Type::INT8),
            (&(lease.end_ms as i64), Type::INT8),
            (&millis(margin(terms.agreement.ttl)), Type::INT8),
        ];
        match self.one(client, &self.statements.renew, &parameters).await? {
            Some(row) => prolonged(&row).map_err(|error| self.failure(&error)),
            None => Ok(Prolonged::Strange),
        }
    }

    async fn give_back(
        &self,
        Connection { client, .. }: &Connection,
        terms: &Terms,
        lease: &Lease,
        last_used_ms: u64,
    ) -> Result<(), Error> {
        let parameters: [Parameter<'_>; 4] = [
            (&terms.namespace, Type::TEXT),
            (&(lease.machine as i32), Type::INT4),
            (&lease.token.0.as_slice(), Type::BYTEA),
            (&(last_used_ms as i64), Type::INT8),
        ];
        // Without its table there is nothing to give back.
        self.one(client, &self.statements.release, &parameters).await.map(drop)
    }

    async fn adopt(
        &self,
        Connection { client, .. }: &Connection,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> Result<Adopted, Error> {
        let adopted = self.in_transaction(client, self.adopt_in(client, terms, cause, join)).await;
        adopted.map_err(|error| self.without_rights(error))
    }

    async fn move_sequences(&self, connection: &Connection) -> Result<Vec<Sequence>, Error> {
        self.sequences_moved(&connection.client).await
    }

    async fn list(&self, connection: &Connection, terms: &Terms) -> Result<Vec<Listed>, Error> {
        self.listed(&connection.client, terms).await
    }

    async fn examine(&self, connection: &Connection, terms: &Terms) -> Result<Examination, Error> {
        self.examined(&connection.client, terms).await
    }

    fn script(&self) -> String {
        self.statements.tables.clone()
    }
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
