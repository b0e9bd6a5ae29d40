//! The registry in its tables: making it, learning that it may have forgotten something, and looking after it. None of
//! this is on the way of an ordinary acquire or renewal.

use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::{Postgres, failure, millis};
use crate::coordinator::registry::{
    Agreement, Examination, Found, Listed, Mode, OnReset, PROTOCOL, Registry, Report, disagreement, is_complete,
    quarantine,
};
use crate::coordinator::{Answer, Token};
use crate::error::Error;
use crate::layout::Layout;

/// Serializes everything that changes a registry, over all namespaces of a database: "mintid" in ASCII.
const LOCK: i64 = 0x6d69_6e74_6964;

impl Registry for Postgres {
    fn setup(&self, mode: Mode) -> Answer<'_, Result<Report, Error>> {
        Box::pin(self.set_up(mode))
    }

    fn list(&self) -> Answer<'_, Result<Vec<Listed>, Error>> {
        Box::pin(self.listed())
    }

    fn script(&self) -> String {
        self.statements.tables.clone()
    }

    fn examine(&self) -> Answer<'_, Result<Examination, Error>> {
        Box::pin(self.examined())
    }
}

/// What makes a registry wait, or stop to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// It is another incarnation than the one it remembers.
    IfStrange,
    /// A holder knows that it forgot something.
    Evidence,
    /// An operator's word ends the wait.
    Word,
    /// The same; and what its processes had agreed on is for the next one to say.
    Fresh,
}

impl Cause {
    fn is_word(self) -> bool {
        matches!(self, Self::Word | Self::Fresh)
    }
}

impl Postgres {
    /// Makes what is missing, says what nobody has said yet, and adopts another incarnation, in one transaction of its own.
    pub(super) async fn enrol(&self, client: &Client, evidence: bool) -> Result<(), Error> {
        let cause = if evidence { Cause::Evidence } else { Cause::IfStrange };
        let adopted = self.in_transaction(client, self.adopt(client, cause, true)).await;
        adopted.map(drop).map_err(|error| self.without_rights(error))
    }

    async fn set_up(&self, mode: Mode) -> Result<Report, Error> {
        let held = self.link.get().await?;
        let cause = match mode {
            Mode::Plain => Cause::IfStrange,
            Mode::AcceptReset => Cause::Word,
            Mode::Fresh => Cause::Fresh,
        };
        let (created, row) = self
            .in_transaction(held.client(), async {
                let created = self.adopt(held.client(), cause, false).await?;
                Ok((created, self.looked(held.client()).await?.ok_or_else(|| self.restless())?))
            })
            .await
            .map_err(|error| self.without_rights(error))?;
        self.link.put(held);
        let agreement = &self.setup.agreement;
        let report = Report {
            created,
            not_before_ms: if row.waiting { row.not_before_ms } else { 0 },
            now_ms: row.now_ms,
            machine_ids: machine_ids(row.found.layout.as_deref().and_then(Layout::parse).unwrap_or(agreement.layout)),
            ttl_ms: row.found.ttl_ms.unwrap_or(agreement.ttl.as_millis() as u64),
        };
        Ok(report)
    }

    /// Read committed, whatever the role's default is: each statement must see what was committed before the lock.
    async fn in_transaction<T>(
        &self,
        client: &Client,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.run(
            client,
            &format!("begin isolation level read committed read write; select pg_advisory_xact_lock({LOCK})"),
        )
        .await?;
        match work.await {
            Ok(done) => {
                self.run(client, "commit").await?;
                Ok(done)
            }
            Err(error) => {
                // The connection is not put back after an error; the server rolls back when it ends.
                let _ = self.run(client, "rollback").await;
                Err(error)
            }
        }
    }

    /// `join`: whether this process says what nobody has said yet. Returns whether the registry was made.
    async fn adopt(&self, client: &Client, cause: Cause, join: bool) -> Result<bool, Error> {
        let made = self.execute(client, &self.statements.made, &[]).await?;
        if made.first().and_then(|row| row.try_get(0).ok()) != Some(true) {
            self.refuse_others(client).await?;
            self.run(client, &self.statements.tables).await?;
        }
        let before = self.looked(client).await?;
        let is_same = before.as_ref().is_some_and(|before| before.same);
        // Another process was quicker, as after a failover that all of them meet.
        let knows_us = |found: &Found| is_complete(&self.setup.agreement, found);
        if cause == Cause::IfStrange && join && is_same && before.as_ref().is_some_and(|before| knows_us(&before.found))
        {
            return Ok(false);
        }
        if cause == Cause::Fresh {
            self.execute(client, &self.statements.forget, &[(&self.setup.namespace, Type::TEXT)]).await?;
        }
        let known = before.as_ref().and_then(|before| before.found.layout.as_deref()).and_then(Layout::parse);
        let layout = known.filter(|_| cause != Cause::Fresh).unwrap_or(self.setup.agreement.layout);
        // Rows that were there once and are not: somebody deleted them, and their holders may live.
        let lacked_rows = self.introduce(client, layout, join).await? > 0 && known.is_some();
        let after = self.looked(client).await?.ok_or_else(|| self.restless())?;
        if let Some(error) = disagreement(&self.setup.agreement, &after.found).filter(|_| join) {
            return Err(error);
        }
        if !is_same {
            let boot = Token::random_part::<16>()?.map(|byte| format!("{byte:02x}")).concat();
            self.execute(client, &self.statements.boot, &[(&self.setup.namespace, Type::TEXT), (&boot, Type::TEXT)])
                .await?;
        }
        let suspect = !is_same || lacked_rows || (cause == Cause::Evidence && !after.waiting);
        let ttl = after.found.ttl_ms.map_or(self.setup.agreement.ttl, Duration::from_millis);
        let wait = match self.setup.on_reset {
            _ if cause.is_word() => None,
            OnReset::Grant if suspect => None,
            OnReset::Wait if suspect => Some(quarantine(ttl)),
            OnReset::Grant | OnReset::Wait => Some(Duration::ZERO),
        };
        // Also when what is compared has changed because a process said for the first time how.
        if suspect || cause.is_word() || !after.same {
            let wait = wait.map(millis);
            self.execute(client, &self.statements.adopt, &[(&self.setup.namespace, Type::TEXT), (&wait, Type::INT8)])
                .await?;
        }
        Ok(before.is_none())
    }

    /// Adds what nobody has said yet, and the rows that `layout` has machine IDs for. Returns how many there were none of.
    async fn introduce(&self, client: &Client, layout: Layout, join: bool) -> Result<usize, Error> {
        let agreement = Some(&self.setup.agreement).filter(|_| join);
        let fingerprint = agreement.and_then(|agreement| agreement.fingerprint.as_ref()).map(<[u8; 16]>::as_slice);
        let parameters: [(&(dyn ToSql + Sync), Type); 6] = [
            (&self.setup.namespace, Type::TEXT),
            (&PROTOCOL, Type::INT4),
            (&agreement.map(Agreement::layout_text), Type::TEXT),
            (&agreement.map(|agreement| millis(agreement.ttl)), Type::INT8),
            (&agreement.map(|agreement| agreement.durable), Type::BOOL),
            (&fingerprint, Type::BYTEA),
        ];
        self.execute(client, &self.statements.enrol, &parameters).await?;
        let machines = machine_ids(layout) as i32;
        let added = [(&self.setup.namespace as &(dyn ToSql + Sync), Type::TEXT), (&machines, Type::INT4)];
        Ok(self.execute(client, &self.statements.rows, &added).await?.len())
    }

    pub(super) async fn looked(&self, client: &Client) -> Result<Option<Looked>, Error> {
        let rows = self.execute(client, &self.statements.look, &[(&self.setup.namespace, Type::TEXT)]).await?;
        rows.first().map(Looked::read).transpose().map_err(|error| self.failure(&error))
    }

    pub(super) async fn listed(&self) -> Result<Vec<Listed>, Error> {
        let held = self.link.get().await?;
        let parameters: [(&(dyn ToSql + Sync), Type); 1] = [(&self.setup.namespace, Type::TEXT)];
        let rows = match held.client().query_typed(&self.statements.list, &parameters).await {
            Err(error) if failure::is_missing_table(&error) => Vec::new(),
            rows => rows.map_err(|error| self.failure(&error))?,
        };
        self.link.put(held);
        rows.iter().map(|row| listed(row).map_err(|error| self.failure(&error))).collect()
    }

    /// Servers that speak the protocol but have no one clock.
    async fn refuse_others(&self, client: &Client) -> Result<(), Error> {
        let rows = self.execute(client, "select version()", &[]).await?;
        let version: String = rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default();
        let other = ["CockroachDB", "YB-", "Yugabyte"].iter().find(|name| version.contains(*name));
        let Some(other) = other else { return Ok(()) };
        let name = if other.starts_with('Y') { "YugabyteDB" } else { other };
        let text =
            format!("coordinator: {name} has no one clock that leases could be compared by; use PostgreSQL or Redis");
        Err(Error::config("coordinator", text))
    }

    /// Who may not make the tables, or use them, is shown what to run.
    pub(super) fn without_rights(&self, error: Error) -> Error {
        if error.fields().server_code.as_deref() != Some("42501") {
            return error;
        }
        let sql = format!(
            "have someone who may run this (`npx mintid setup --print`), and grant this role select, insert and update on \
             the three tables:\n{}",
            self.statements.tables.trim()
        );
        error.with(|fields| fields.hint = Some(sql))
    }

    pub(super) async fn execute(
        &self,
        client: &Client,
        statement: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, Error> {
        client.query_typed(statement, parameters).await.map_err(|error| self.failure(&error))
    }

    async fn run(&self, client: &Client, statement: &str) -> Result<(), Error> {
        client.batch_execute(statement).await.map_err(|error| self.failure(&error))
    }
}

/// How many machine IDs a layout leaves to processes: all but the highest.
fn machine_ids(layout: Layout) -> u32 {
    layout.machines() - 1
}

/// A registry as it stands.
pub(super) struct Looked {
    pub(super) now_ms: u64,
    pub(super) not_before_ms: u64,
    pub(super) waiting: bool,
    pub(super) same: bool,
    pub(super) found: Found,
}

impl Looked {
    pub(super) fn read(row: &Row) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            now_ms: row.try_get::<_, i64>("now_ms")? as u64,
            not_before_ms: row.try_get::<_, i64>("not_before_ms")? as u64,
            waiting: row.try_get("waiting")?,
            same: row.try_get("same")?,
            found: found(row)?,
        })
    }
}

/// What a registry's clients have agreed on.
pub(super) fn found(row: &Row) -> Result<Found, tokio_postgres::Error> {
    Ok(Found {
        protocol: row.try_get("protocol")?,
        layout: row.try_get("layout")?,
        ttl_ms: row.try_get::<_, Option<i64>>("ttl_ms")?.map(|ms| ms as u64),
        durable: row.try_get("durable")?,
        fingerprints: row.try_get("fingerprints")?,
    })
}

fn listed(row: &Row) -> Result<Listed, tokio_postgres::Error> {
    Ok(Listed {
        machine: row.try_get::<_, i32>("id")? as u32,
        holder: row.try_get("holder")?,
        acquired_at_ms: row.try_get::<_, Option<i64>>("acquired_ms")?.map(|ms| ms as u64),
        expires_at_ms: row.try_get::<_, i64>("end_ms")? as u64,
        live: row.try_get("live")?,
    })
}
