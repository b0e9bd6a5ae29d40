//! PostgreSQL: the leases of a fleet in three small tables of any database that the fleet shares.
//!
//! Every decision is one statement in `sql/postgres/`, made by the server's clock, under the lock of the registry's row.
//! Statements are unnamed, so that pgbouncer's transaction mode will do.

mod connect;
mod examine;
mod failure;
mod lent;
mod nononcense;
mod registry;
mod sequences;
mod session;
mod settings;
mod statements;
mod tls;

use std::time::Duration;

pub use self::connect::{Connection, connect};
pub use self::failure::failure;
pub use self::lent::Lent;
use self::session::{Database, Parameter, Refusal, Row, Session};
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

/// The same over connections that the user's own program has.
pub type LentPostgres = Keeper<Tables<Lent>>;

impl<D: Database> Keeper<Tables<D>> {
    /// Connects to nothing yet.
    #[must_use]
    pub fn new(setup: keeper::Setup<D>) -> Self {
        let theirs = setup.settings.theirs(&setup.namespace).map(str::to_owned);
        let namespace = theirs.as_ref().map_or(setup.namespace, |table| format!("nononcense:{table}"));
        Self::of(keeper::Setup { namespace, ..setup }, |database| {
            let statements = Statements::new(database.schema(), theirs.as_deref());
            Tables { database, statements, theirs }
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
pub struct Tables<D = Settings> {
    database: D,
    statements: Statements,
    /// The table of other software that leases from it.
    theirs: Option<String>,
}

impl<D: Database> Tables<D> {
    /// One statement in one round trip; `None` where it has no row, or no table.
    async fn one(
        &self,
        session: &D::Connection,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<Row>, Error> {
        match session.rows(statement, parameters).await {
            Ok(rows) => Ok(rows.into_iter().next()),
            Err(refusal) if failure::is_missing_table(&refusal) => Ok(None),
            Err(refusal) => Err(self.failure(&refusal)),
        }
    }

    fn claimed(row: &Row) -> Result<Claimed, Refusal> {
        if !row.get("agreed")? {
            return Ok(Claimed::Disagreed(registry::found(row)?));
        }
        if !row.get::<bool>("same")? {
            return Ok(Claimed::Strange);
        }
        let now_ms = row.get::<i64>("now_ms")? as u64;
        if row.get("waiting")? {
            return Ok(Claimed::Waiting { now_ms, not_before_ms: row.get::<i64>("not_before_ms")? as u64 });
        }
        let Some(machine) = row.get::<Option<i32>>("machine")? else { return Ok(Claimed::Exhausted) };
        let Some(token) = token_of(&row.get::<String>("token")?) else { return Ok(Claimed::Strange) };
        Ok(Claimed::Granted {
            machine: machine as u32,
            token,
            now_ms,
            end_ms: row.get::<i64>("end_ms")? as u64,
            leased: row.get::<i64>("leased")? as u32 + 1,
        })
    }

    fn failure(&self, refusal: &Refusal) -> Error {
        match refusal {
            Refusal::Native(error) => failure(&self.database.address(), error),
            Refusal::Lent(trouble) => failure::lent(&self.database.address(), trouble),
        }
    }
}

fn prolonged(row: &Row) -> Result<Prolonged, Refusal> {
    if !row.get::<bool>("same")? {
        return Ok(Prolonged::Strange);
    }
    if let Some(end_ms) = row.get::<Option<i64>>("end_ms")? {
        let now_ms = row.get::<i64>("now_ms")? as u64;
        return Ok(Prolonged::Granted { now_ms, end_ms: end_ms as u64 });
    }
    let forgot = row.get("forgot")? && !row.get::<bool>("waiting")?;
    Ok(if forgot { Prolonged::Forgotten } else { Prolonged::Lost })
}

impl<D: Database> Store for Tables<D> {
    type Connection = D::Connection;

    fn name(&self) -> String {
        self.database.address()
    }

    async fn connect(&self) -> Result<D::Connection, Error> {
        self.database.connect().await
    }

    async fn claim(
        &self,
        session: &D::Connection,
        terms: &Terms,
        nonce: [u8; 8],
        ttl: Duration,
    ) -> Result<Claimed, Error> {
        let Terms { namespace, machine_ids, agreement, holder, .. } = terms;
        let layout = agreement.layout_text();
        let parameters: [Parameter<'_>; 11] = [
            Parameter::Text(Some(namespace)),
            Parameter::Int4(machine_ids.first as i32),
            Parameter::Int4(machine_ids.last as i32),
            Parameter::Bytes(Some(&nonce)),
            Parameter::Int8(Some(millis(ttl))),
            Parameter::Text(Some(&layout)),
            Parameter::Int8(Some(millis(agreement.ttl))),
            Parameter::Bytes(agreement.fingerprint.as_ref().map(<[u8; 16]>::as_slice)),
            Parameter::Text(Some(holder)),
            Parameter::Int4(PROTOCOL),
            Parameter::Bool(Some(agreement.durable)),
        ];
        self.refuse_other_clocks(session).await?;
        let answer = self.one(session, &self.statements.acquire, &parameters).await;
        let Some(row) = answer.map_err(|error| self.without_rights(error))? else { return Ok(Claimed::Strange) };
        Self::claimed(&row).map_err(|error| self.failure(&error))
    }

    async fn prolong(
        &self,
        session: &D::Connection,
        terms: &Terms,
        lease: &Lease,
        ttl: Duration,
    ) -> Result<Prolonged, Error> {
        let parameters: [Parameter<'_>; 6] = [
            Parameter::Text(Some(&terms.namespace)),
            Parameter::Int4(lease.machine as i32),
            Parameter::Bytes(Some(&lease.token.0)),
            Parameter::Int8(Some(millis(ttl))),
            Parameter::Int8(Some(lease.end_ms as i64)),
            Parameter::Int8(Some(millis(margin(terms.agreement.ttl)))),
        ];
        match self.one(session, &self.statements.renew, &parameters).await? {
            Some(row) => prolonged(&row).map_err(|error| self.failure(&error)),
            None => Ok(Prolonged::Strange),
        }
    }

    async fn give_back(
        &self,
        session: &D::Connection,
        terms: &Terms,
        lease: &Lease,
        last_used_ms: u64,
    ) -> Result<(), Error> {
        let parameters: [Parameter<'_>; 4] = [
            Parameter::Text(Some(&terms.namespace)),
            Parameter::Int4(lease.machine as i32),
            Parameter::Bytes(Some(&lease.token.0)),
            Parameter::Int8(Some(last_used_ms as i64)),
        ];
        // Without its table there is nothing to give back.
        self.one(session, &self.statements.release, &parameters).await.map(drop)
    }

    async fn adopt(&self, session: &D::Connection, terms: &Terms, cause: Cause, join: bool) -> Result<Adopted, Error> {
        self.adopted(session, terms, cause, join).await.map_err(|error| self.without_rights(error))
    }

    async fn move_sequences(&self, session: &D::Connection) -> Result<Vec<Sequence>, Error> {
        self.sequences_moved(session).await
    }

    async fn list(&self, session: &D::Connection, terms: &Terms) -> Result<Vec<Listed>, Error> {
        self.listed(session, terms).await
    }

    async fn examine(&self, session: &D::Connection, terms: &Terms) -> Result<Examination, Error> {
        self.examined(session, terms).await
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

impl Database for Settings {
    type Connection = Connection;

    fn address(&self) -> String {
        Settings::address(self)
    }

    fn schema(&self) -> &str {
        Settings::schema(self)
    }

    fn theirs<'a>(&self, namespace: &'a str) -> Option<&'a str> {
        self.beside.theirs(namespace)
    }

    async fn connect(&self) -> Result<Connection, Error> {
        connect(self).await
    }
}

fn token_of(hex: &str) -> Option<Token> {
    (hex.len() == 32).then(|| u128::from_str_radix(hex, 16).ok().map(|token| Token(token.to_be_bytes())))?
}

/// Milliseconds for the server.
fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
