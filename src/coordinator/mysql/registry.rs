//! The registry in its tables: making it, learning that it may have forgotten something, and looking after it. None of
//! this is on the way of an ordinary acquire or renewal.

use super::connect::session::server_of;
use super::connection::{Connection, Value};
use super::failure::failure;
use super::protocol::{Answer, Fault, Row};
use super::{Tables, flag, millis, number};
use crate::coordinator::keeper::{Adopted, Adoption, Cause, Claimed, Looked, Prolonged, Store, Terms, restless};
use crate::coordinator::registry::{Agreement, Found, Listed, PROTOCOL};
use crate::error::{Error, Retry};

impl Tables {
    /// How often we look again after somebody else was quicker.
    const ROUNDS: usize = 8;

    /// Why there was nothing to acquire; `None` where nothing speaks against it.
    pub(super) async fn refused(
        &self,
        connection: &Connection,
        values: &[Value<'_>],
        terms: &Terms,
    ) -> Result<Option<Claimed>, Error> {
        let answer = self.ask(connection, &self.statements(connection).refused, values).await?;
        let Some(row) = answer.as_ref().and_then(|answer| answer.rows.first()) else {
            return Ok(Some(Claimed::Strange));
        };
        let read = || -> Result<_, Fault> {
            if !is(row, "agreed")? {
                return Ok(Some(Claimed::Disagreed(found(row)?)));
            }
            // Machine IDs without a row are as little to be had as those of another incarnation.
            let capacity = i64::from(terms.machine_ids.capacity());
            if !is(row, "same")? || int(row, "known")? < capacity {
                return Ok(Some(Claimed::Strange));
            }
            if is(row, "waiting")? {
                let (now_ms, not_before_ms) = (int(row, "now_ms")? as u64, int(row, "not_before_ms")? as u64);
                return Ok(Some(Claimed::Waiting { now_ms, not_before_ms }));
            }
            Ok((int(row, "leased")? >= capacity).then_some(Claimed::Exhausted))
        };
        self.must_be_fit(connection, row)?;
        read().map_err(|fault| self.judge(&fault))
    }

    /// Why there was nothing to renew; `None` where nothing speaks against it.
    pub(super) async fn lost(&self, connection: &Connection, values: &[Value<'_>]) -> Result<Option<Prolonged>, Error> {
        let answer = self.ask(connection, &self.statements(connection).lost, values).await?;
        let Some(row) = answer.as_ref().and_then(|answer| answer.rows.first()) else {
            return Ok(Some(Prolonged::Strange));
        };
        let read = || -> Result<_, Fault> {
            Ok(if !is(row, "same")? {
                Some(Prolonged::Strange)
            } else if is(row, "alive")? {
                None
            } else if is(row, "forgot")? && !is(row, "waiting")? {
                Some(Prolonged::Forgotten)
            } else {
                Some(Prolonged::Lost)
            })
        };
        self.must_be_fit(connection, row)?;
        read().map_err(|fault| self.judge(&fault))
    }

    /// What there is after a renewal that may have written; `None` where nothing speaks against another one.
    pub(super) async fn kept(&self, connection: &Connection, values: &[Value<'_>]) -> Result<Option<Prolonged>, Error> {
        let answer = self.ask(connection, &self.statements(connection).kept, values).await?;
        let Some(row) = answer.as_ref().and_then(|answer| answer.rows.first()) else {
            return Ok(Some(Prolonged::Strange));
        };
        let read = || -> Result<_, Fault> {
            let (same, alive, kept) = (is(row, "same")?, is(row, "alive")?, is(row, "kept")?);
            let forgot = is(row, "forgot")? && !is(row, "waiting")?;
            Ok(match (same, alive) {
                (false, _) => Some(Prolonged::Strange),
                (true, true) if kept => {
                    let (now_ms, end_ms) = (int(row, "now_ms")? as u64, int(row, "end_ms")? as u64);
                    Some(Prolonged::Granted { now_ms, end_ms })
                }
                (true, true) => None,
                (true, false) => Some(if forgot { Prolonged::Forgotten } else { Prolonged::Lost }),
            })
        };
        self.must_be_fit(connection, row)?;
        read().map_err(|fault| self.judge(&fault))
    }

    /// Tables are made before, since that ends a transaction; whatever else changes holds the registry's row until it is
    /// committed. A process that falls asleep meanwhile is not waited for: its session ends, and nothing was changed.
    pub(super) async fn adopt_in(
        &self,
        connection: &Connection,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> Result<Adopted, Error> {
        const PATIENCE: &str = "set wait_timeout = 10";
        const ANY_MORE: &str = "set wait_timeout = 180";
        let statements = self.statements(connection);
        if !connection.is_one() {
            server_of(connection).await?;
        }
        if !self.made(connection).await? {
            for table in self.statements.tables.split(';').filter(|table| !table.trim().is_empty()) {
                self.run(connection, table, &[]).await?;
            }
        }
        if !connection.is_one() {
            return self.adopt_by_steps(connection, terms, cause, join).await;
        }
        self.run(connection, PATIENCE, &[]).await?;
        self.run(connection, "start transaction", &[]).await?;
        let namespace = Value::Text(&terms.namespace);
        self.run(connection, &statements.lock, &[namespace, Value::Number(PROTOCOL.into())]).await?;
        // After an error the connection is not put back, and what it has begun ends with it.
        let (incarnation, looked) = self.looked_at(connection, terms).await?.ok_or_else(|| self.restless(terms))?;
        let untouched = incarnation.is_none();
        let before = (!untouched).then_some(looked);
        let adopted = match (Adoption::of(before.as_ref(), terms, cause, join)?, before) {
            (None, Some(looked)) => Adopted { created: untouched, looked },
            (adoption, _) => {
                if let Some(adoption) = adoption {
                    self.carry_out(connection, terms, &adoption, incarnation.as_deref()).await?;
                }
                let (_, looked) = self.looked_at(connection, terms).await?.ok_or_else(|| self.restless(terms))?;
                if !looked.same {
                    return Err(without_identity(connection));
                }
                Adopted { created: untouched, looked }
            }
        };
        self.run(connection, "commit", &[]).await?;
        self.run(connection, ANY_MORE, &[]).await?;
        Ok(adopted)
    }

    /// That the row was read in a session and from a server that leases could go by.
    fn must_be_fit(&self, connection: &Connection, row: &Row) -> Result<(), Error> {
        let is = |name| is(row, name).map_err(|fault| self.judge(&fault));
        match (is("fit")?, is("settled")?) {
            (false, _) => Err(unfit(connection)),
            (true, false) => Err(connection.wrong("the server has just started", None)),
            (true, true) => Ok(()),
        }
    }

    /// Whether the tables are there, as far as this user sees.
    pub(super) async fn made(&self, connection: &Connection) -> Result<bool, Error> {
        let answer = self.run(connection, &self.statements(connection).made, &[]).await?;
        Ok(answer.rows.first().and_then(Row::first).as_deref() == Some("1"))
    }

    /// Without a transaction, in an order in which nothing is granted too early: first what newcomers have to wait for, then
    /// the rows that they could lease. Who comes second finds what the first one said, and goes by it.
    async fn adopt_by_steps(
        &self,
        connection: &Connection,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> Result<Adopted, Error> {
        let lock = &self.statements(connection).lock;
        self.run(connection, lock, &[Value::Text(&terms.namespace), Value::Number(PROTOCOL.into())]).await?;
        let mut created = false;
        for _ in 0..Self::ROUNDS {
            let seen = self.looked_at(connection, terms).await?.ok_or_else(|| self.restless(terms))?;
            let (incarnation, looked) = seen;
            created |= incarnation.is_none();
            let before = incarnation.is_some().then_some(&looked);
            let Some(adoption) = Adoption::of(before, terms, cause, join)? else {
                return Ok(Adopted { created, looked });
            };
            self.carry_out(connection, terms, &adoption, incarnation.as_deref()).await?;
            // An operator's word, or a holder's, counts once.
            if cause != Cause::IfStrange || !join {
                let (_, looked) = self.looked_at(connection, terms).await?.ok_or_else(|| self.restless(terms))?;
                return Ok(Adopted { created, looked });
            }
        }
        let (_, looked) = self.looked_at(connection, terms).await?.ok_or_else(|| self.restless(terms))?;
        Err(if looked.same { self.restless(terms) } else { without_identity(connection) })
    }

    /// `seen`: the incarnation that was looked at. One that is remembered, and not waited for, must still be that one.
    async fn carry_out(
        &self,
        connection: &Connection,
        terms: &Terms,
        adoption: &Adoption,
        seen: Option<&str>,
    ) -> Result<(), Error> {
        let statements = self.statements(connection);
        let namespace = Value::Text(&terms.namespace);
        if adoption.forgets {
            self.run(connection, &statements.forget, &[namespace]).await?;
        }
        if let Some(says) = &adoption.says {
            let Agreement { ttl, fingerprint, durable, .. } = says;
            let layout = says.layout_text();
            let key = fingerprint.as_ref().map_or(Value::Null, |key| Value::Bytes(key));
            let values = [namespace, Value::Text(&layout), millis(*ttl), flag(*durable), key];
            self.run(connection, &statements.enrol, &values).await?;
        }
        if let Some(not_before) = adoption.remembers {
            let wait = not_before.as_millis().map_or(Value::Null, Value::Number);
            let seen = seen.map_or(Value::Null, Value::Text);
            self.run(connection, &statements.adopt, &[namespace, wait, seen]).await?;
        }
        self.run(connection, &statements.rows, &[namespace, number(adoption.machine_ids)]).await?;
        Ok(())
    }

    pub(super) async fn looked(&self, connection: &Connection, terms: &Terms) -> Result<Option<Looked>, Error> {
        Ok(self.looked_at(connection, terms).await?.map(|(_, looked)| looked))
    }

    /// And the incarnation that it remembers; `None` if nobody has ever adopted it.
    async fn looked_at(
        &self,
        connection: &Connection,
        terms: &Terms,
    ) -> Result<Option<(Option<String>, Looked)>, Error> {
        let look = &self.statements(connection).look;
        let answer = self.run(connection, look, &[Value::Text(&terms.namespace)]).await?;
        let Some(row) = answer.rows.first() else { return Ok(None) };
        if !is(row, "fit").map_err(|fault| self.judge(&fault))? {
            return Err(unfit(connection));
        }
        read(row).map(Some).map_err(|fault| self.judge(&fault))
    }

    pub(super) async fn listed(&self, connection: &Connection, terms: &Terms) -> Result<Vec<Listed>, Error> {
        let list = &self.statements(connection).list;
        let answer = self.ask(connection, list, &[Value::Text(&terms.namespace)]).await?;
        let rows = answer.map(|answer| answer.rows).unwrap_or_default();
        rows.iter().map(|row| listed(row).map_err(|fault| self.judge(&fault))).collect()
    }

    pub(super) async fn run(
        &self,
        connection: &Connection,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Answer, Error> {
        connection.query(statement, values).await.map_err(|error| self.without_rights(error))
    }

    /// Who may not make the tables, or use them, is shown what to run.
    pub(super) fn without_rights(&self, error: Error) -> Error {
        // Of a statement over several tables MySQL says it of a column.
        if !matches!(error.fields().server_code.as_deref(), Some("1142" | "1143")) {
            return error;
        }
        let beside = self.theirs.as_ref().map(|theirs| format!(", select and update on {theirs}")).unwrap_or_default();
        let sql = format!(
            "have someone who may run this (`npx mintid setup --print`), and grant this user select, insert and update on \
             both tables{beside}:\n{}",
            self.statements.tables.trim()
        );
        error.with(|fields| fields.hint = Some(sql))
    }

    fn restless(&self, terms: &Terms) -> Error {
        restless(&self.name(), &terms.namespace)
    }

    pub(super) fn judge(&self, fault: &Fault) -> Error {
        failure(&self.name(), fault).retry_as(Retry::Soon)
    }
}

/// A session that is not as it was set up, or a server that has become read-only.
fn unfit(connection: &Connection) -> Error {
    let what =
        "the server takes no writes any more, or the session's time zone was changed, or it does not commit by itself";
    connection.wrong(what, Some("the primary is needed; and does a proxy in between keep what a session sets?"))
}

/// Without an identity nobody can tell a registry that remembers from one that does not.
fn without_identity(connection: &Connection) -> Error {
    let what = "the server does not say which one it is, since when it runs, or when the tables were made, so nobody could \
                tell whether it forgot leases";
    connection.wrong(what, Some("npx mintid doctor says which")).retry_as(Retry::Never)
}

fn read(row: &Row) -> Result<(Option<String>, Looked), Fault> {
    let looked = Looked {
        now_ms: int(row, "now_ms")? as u64,
        not_before_ms: int(row, "not_before_ms")? as u64,
        waiting: is(row, "waiting")?,
        same: is(row, "same")?,
        rows: int(row, "known")? as u32,
        found: found(row)?,
    };
    Ok((row.text("incarnation")?, looked))
}

/// What a registry's clients have agreed on.
fn found(row: &Row) -> Result<Found, Fault> {
    const LENGTH: usize = 16;
    Ok(Found {
        protocol: int(row, "protocol")? as i32,
        layout: row.text("layout")?,
        ttl_ms: row.number("ttl_ms")?.map(|ms| ms as u64),
        durable: row.number("durable")?.map(|durable| durable != 0),
        fingerprints: row.bytes("fingerprints")?.unwrap_or_default().chunks(LENGTH).map(<[u8]>::to_vec).collect(),
    })
}

fn listed(row: &Row) -> Result<Listed, Fault> {
    Ok(Listed {
        machine: int(row, "id")? as u32,
        holder: row.text("holder")?,
        acquired_at_ms: row.number("acquired_ms")?.map(|ms| ms as u64),
        expires_at_ms: int(row, "end_ms")? as u64,
        live: is(row, "live")?,
    })
}

pub(super) fn int(row: &Row, name: &str) -> Result<i64, Fault> {
    row.number(name)?.ok_or(Fault::Strange)
}

/// A condition; what is unknown is not so.
pub(super) fn is(row: &Row, name: &str) -> Result<bool, Fault> {
    Ok(row.number(name)?.is_some_and(|number| number != 0))
}
