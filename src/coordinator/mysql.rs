//! MySQL and MariaDB: the leases of a fleet in two small tables of any database that the fleet shares.
//!
//! Every decision is one statement in `sql/mysql/`, made by the server's clock, under the lock of the registry's row. A write
//! answers with one number, its insert ID, which carries the time and the machine ID; only a refusal takes a second statement,
//! to learn why.
//!
//! The clock is `SYSDATE(6)`: read when it is reached, behind the locks. A server with `sysdate-is-now` has the statement's start
//! there. What was waited for makes that earlier than it is, and an earlier time grants less: a row must have been free before,
//! and a fence ends sooner. What changes a registry takes its lock in a statement before.

mod connect;
mod connection;
mod examine;
mod failure;
mod lent;
mod nononcense;
mod protocol;
mod registry;
mod sequences;
mod settings;
mod statements;

use std::time::Duration;

pub use self::connect::connect;
pub use self::connection::{Connection, Value};
pub use self::lent::Lent;
pub use self::protocol::{Answer, Row};
pub use self::settings::Settings;

use self::protocol::Fault;
use self::registry::int;
use self::statements::{Kinds, Statements};
use super::keeper::{self, Adopted, Cause, Claimed, Ends, Keeper, Prolonged, Store, Terms};
use super::registry::{Examination, Listed, PROTOCOL, Sequence, margin};
use super::{Lease, Token};
use crate::error::Error;

/// What a [`MySql`] coordinator is made of.
pub type Setup = keeper::Setup<Settings>;

/// A coordinator that keeps its leases in MySQL or MariaDB.
pub type MySql = Keeper<Tables>;

impl MySql {
    /// Connects to nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let theirs = setup.settings.beside.theirs(&setup.namespace).map(str::to_owned);
        let namespace = theirs.as_ref().map_or(setup.namespace, |table| format!("nononcense:{table}"));
        Self::of(keeper::Setup { namespace, ..setup }, |settings| Tables {
            statements: Kinds::new(settings.database(), theirs.as_deref()),
            way: Way::Ours(Box::new(settings)),
            theirs,
        })
    }

    /// The same over connections that the user's own program has.
    #[must_use]
    pub fn lent(setup: keeper::Setup<Lent>) -> Self {
        Self::of(setup, |lent| Tables {
            statements: Kinds::new(lent.database(), None),
            way: Way::Lent(lent),
            theirs: None,
        })
    }

    /// The same with other statements, for the tests that take a rule out of them or move the server's clock.
    #[doc(hidden)]
    #[must_use]
    pub fn rewritten(self, rewrite: &dyn Fn(&str) -> String) -> Self {
        self.changed(|tables| Tables { statements: tables.statements.rewritten(rewrite), ..tables })
    }
}

/// Registries in the tables of one database.
pub struct Tables {
    way: Way,
    statements: Kinds,
    /// The table of other software that leases from it.
    theirs: Option<String>,
}

/// How there are connections.
enum Way {
    Ours(Box<Settings>),
    Lent(Lent),
}

/// How often a claim or a renewal is tried that nothing speaks against: others were at the same rows.
const TRIES: usize = 5;

impl Tables {
    fn statements(&self, connection: &Connection) -> &Statements {
        self.statements.of(connection.kind)
    }

    /// One statement in one round trip; `None` where a table is missing.
    async fn ask(
        &self,
        connection: &Connection,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Option<Answer>, Error> {
        const NO_SUCH_TABLE: &str = "1146";
        match connection.query(statement, values).await {
            Err(error) if error.fields().server_code.as_deref() == Some(NO_SUCH_TABLE) => Ok(None),
            answer => answer.map(Some).map_err(|error| self.without_rights(error)),
        }
    }

    /// The time and the machine ID that a write went by, if it wrote.
    fn decided(&self, answer: &Answer) -> Option<(u64, u32)> {
        const ID_BITS: u32 = 16;
        let rows = if self.theirs.is_some() { 2 } else { 1 };
        (answer.affected == rows).then_some((answer.insert_id >> ID_BITS, (answer.insert_id & 0xFFFF) as u32))
    }

    /// The same of a claim. What a driver makes of an insert ID differs, so over one that is lent the row is looked at.
    async fn claimed(
        &self,
        connection: &Connection,
        answer: &Answer,
        values: &[Value<'_>],
    ) -> Result<Option<(u64, u32)>, Error> {
        if connection.is_one() {
            return Ok(self.decided(answer));
        }
        let answer = self.run(connection, &self.statements(connection).claimed, &values[..4]).await?;
        answer.rows.first().map(claim_of).transpose().map_err(|fault| self.judge(&fault))
    }

    /// How many of the wanted machine IDs are leased. Nobody's lease depends on it.
    async fn leased(&self, connection: &Connection, terms: &Terms) -> Option<u32> {
        let Terms { namespace, machine_ids, .. } = terms;
        let values = [Value::Text(namespace), number(machine_ids.first), number(machine_ids.last)];
        let answer = connection.query(&self.statements(connection).leased, &values).await.ok()?;
        answer.rows.first()?.number("leased").ok()?.map(|leased| leased as u32)
    }
}

/// Others were at the same rows, each time.
fn contended(connection: &Connection) -> Error {
    connection.wrong("others were at the same rows each time", None)
}

impl Store for Tables {
    type Connection = Connection;

    fn name(&self) -> String {
        match &self.way {
            Way::Ours(settings) => settings.address(),
            Way::Lent(lent) => lent.name().to_owned(),
        }
    }

    async fn connect(&self) -> Result<Connection, Error> {
        match &self.way {
            Way::Ours(settings) => connect(settings).await,
            Way::Lent(lent) => Ok(Connection::lent(lent.clone())),
        }
    }

    async fn claim(
        &self,
        connection: &Connection,
        terms: &Terms,
        nonce: [u8; 8],
        ttl: Duration,
    ) -> Result<Claimed, Error> {
        let Terms { namespace, machine_ids, agreement, holder, .. } = terms;
        let layout = agreement.layout_text();
        let values = [
            Value::Text(namespace),
            number(machine_ids.first),
            number(machine_ids.last),
            Value::Bytes(&nonce),
            millis(ttl),
            Value::Text(&layout),
            millis(agreement.ttl),
            agreement.fingerprint.as_ref().map_or(Value::Null, |key| Value::Bytes(key)),
            Value::Text(holder),
            Value::Number(i64::from(PROTOCOL)),
            flag(agreement.durable),
        ];
        self.refuse_other_clocks(connection).await?;
        for _ in 0..TRIES {
            let Some(answer) = self.ask(connection, &self.statements(connection).acquire, &values).await? else {
                return Ok(Claimed::Strange);
            };
            if let Some((now_ms, machine)) = self.claimed(connection, &answer, &values).await? {
                let token = token(nonce, now_ms + 1);
                let end_ms = now_ms + ttl.as_millis() as u64;
                let leased = self.leased(connection, terms).await.unwrap_or(1);
                return Ok(Claimed::Granted { machine, token, now_ms, end_ms, leased });
            }
            if let Some(refused) = self.refused(connection, &values, terms).await? {
                return Ok(refused);
            }
        }
        Err(contended(connection))
    }

    async fn prolong(
        &self,
        connection: &Connection,
        terms: &Terms,
        lease: &Lease,
        ttl: Duration,
    ) -> Result<Prolonged, Error> {
        let values = [
            Value::Text(&terms.namespace),
            number(lease.machine),
            Value::Bytes(&lease.token.0),
            millis(ttl),
            Value::Number(lease.end_ms as i64),
            millis(margin(terms.agreement.ttl)),
        ];
        for _ in 0..TRIES {
            let Some(answer) = self.ask(connection, &self.statements(connection).renew, &values).await? else {
                return Ok(Prolonged::Strange);
            };
            if !connection.is_one() {
                match self.kept(connection, &values).await? {
                    Some(prolonged) => return Ok(prolonged),
                    None => continue,
                }
            }
            if let Some((now_ms, _)) = self.decided(&answer) {
                // The row may end later; that is for the next renewal to confirm.
                let end_ms = lease.end_ms.max(now_ms + ttl.as_millis() as u64);
                return Ok(Prolonged::Granted { now_ms, end_ms });
            }
            if let Some(lost) = self.lost(connection, &values).await? {
                return Ok(lost);
            }
        }
        Err(contended(connection))
    }

    async fn give_back(
        &self,
        connection: &Connection,
        terms: &Terms,
        lease: &Lease,
        last_used_ms: u64,
    ) -> Result<(), Error> {
        let values = [
            Value::Text(&terms.namespace),
            number(lease.machine),
            Value::Bytes(&lease.token.0),
            Value::Number(last_used_ms as i64),
        ];
        // Without its table there is nothing to give back.
        self.ask(connection, &self.statements(connection).release, &values).await.map(drop)
    }

    async fn adopt(&self, connection: &Connection, terms: &Terms, cause: Cause, join: bool) -> Result<Adopted, Error> {
        self.adopt_in(connection, terms, cause, join).await
    }

    async fn move_sequences(&self, connection: &Connection) -> Result<Vec<Sequence>, Error> {
        self.sequences_moved(connection).await
    }

    async fn list(&self, connection: &Connection, terms: &Terms) -> Result<Vec<Listed>, Error> {
        self.listed(connection, terms).await
    }

    async fn examine(&self, connection: &Connection, terms: &Terms) -> Result<Examination, Error> {
        self.examined(connection, terms).await
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

/// When a row's claim was made, and its machine ID.
fn claim_of(row: &Row) -> Result<(u64, u32), Fault> {
    let token = row.text("token")?.ok_or(Fault::Strange)?;
    let start_ms = token.get(16..).and_then(|start| u64::from_str_radix(start, 16).ok()).ok_or(Fault::Strange)?;
    Ok((start_ms.saturating_sub(1), int(row, "id")? as u32))
}

/// As the statement makes it.
fn token(nonce: [u8; 8], start_ms: u64) -> Token {
    let mut bytes = [0; 16];
    let (random, start) = bytes.split_at_mut(nonce.len());
    random.copy_from_slice(&nonce);
    start.copy_from_slice(&start_ms.to_be_bytes());
    Token(bytes)
}

/// Milliseconds for the server.
fn millis(duration: Duration) -> Value<'static> {
    Value::Number(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

fn number(number: u32) -> Value<'static> {
    Value::Number(number.into())
}

fn flag(flag: bool) -> Value<'static> {
    Value::Number(flag.into())
}
