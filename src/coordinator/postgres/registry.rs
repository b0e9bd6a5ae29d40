//! The registry in its tables: making it, learning that it may have forgotten something, and looking after it. None of
//! this is on the way of an ordinary acquire or renewal.

use std::slice;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::{Tables, failure, millis};
use crate::coordinator::Token;
use crate::coordinator::keeper::{Adopted, Adoption, Cause, Looked, Terms, restless};
use crate::coordinator::registry::{Agreement, Found, Listed, PROTOCOL};
use crate::error::Error;

/// Serializes everything that changes a registry, over all namespaces of a database: "mintid" in ASCII.
const LOCK: i64 = 0x6d69_6e74_6964;

impl Tables {
    /// Read committed, whatever the role's default is: each statement must see what was committed before the lock.
    pub(super) async fn in_transaction<T>(
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

    /// Under the lock.
    pub(super) async fn adopt_in(
        &self,
        client: &Client,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> Result<Adopted, Error> {
        let made = self.execute(client, &self.statements.made, &[]).await?;
        if made.first().and_then(|row| row.try_get(0).ok()) != Some(true) {
            self.refuse_others(client).await?;
            self.run(client, &self.statements.tables).await?;
        }
        let before = self.looked(client, terms).await?;
        let created = before.is_none();
        match (Adoption::of(before.as_ref(), terms, cause, join)?, before) {
            (None, Some(looked)) => return Ok(Adopted { created, looked }),
            (None, None) => {}
            (Some(adoption), _) => self.carry_out(client, terms, &adoption).await?,
        }
        let after = self.looked(client, terms).await?;
        let looked = after.ok_or_else(|| restless(&self.settings.address(), &terms.namespace))?;
        Ok(Adopted { created, looked })
    }

    async fn carry_out(&self, client: &Client, terms: &Terms, adoption: &Adoption) -> Result<(), Error> {
        let namespace = (&terms.namespace as &(dyn ToSql + Sync), Type::TEXT);
        if adoption.forgets {
            self.execute(client, &self.statements.forget, slice::from_ref(&namespace)).await?;
        }
        let says = adoption.says.as_ref();
        let fingerprint = says.and_then(|says| says.fingerprint.as_ref()).map(<[u8; 16]>::as_slice);
        let parameters: [(&(dyn ToSql + Sync), Type); 6] = [
            namespace.clone(),
            (&PROTOCOL, Type::INT4),
            (&says.map(Agreement::layout_text), Type::TEXT),
            (&says.map(|says| millis(says.ttl)), Type::INT8),
            (&says.map(|says| says.durable), Type::BOOL),
            (&fingerprint, Type::BYTEA),
        ];
        self.execute(client, &self.statements.enrol, &parameters).await?;
        let machines = adoption.machine_ids as i32;
        self.execute(client, &self.statements.rows, &[namespace.clone(), (&machines, Type::INT4)]).await?;
        if adoption.strange {
            let boot = Token::random_part::<16>()?.map(|byte| format!("{byte:02x}")).concat();
            self.execute(client, &self.statements.boot, &[namespace.clone(), (&boot, Type::TEXT)]).await?;
        }
        if let Some(not_before) = adoption.remembers {
            let wait = not_before.as_millis();
            self.execute(client, &self.statements.adopt, &[namespace, (&wait, Type::INT8)]).await?;
        }
        Ok(())
    }

    pub(super) async fn looked(&self, client: &Client, terms: &Terms) -> Result<Option<Looked>, Error> {
        let rows = self.execute(client, &self.statements.look, &[(&terms.namespace, Type::TEXT)]).await?;
        rows.first().map(read).transpose().map_err(|error| self.failure(&error))
    }

    pub(super) async fn listed(&self, client: &Client, terms: &Terms) -> Result<Vec<Listed>, Error> {
        let parameters: [(&(dyn ToSql + Sync), Type); 1] = [(&terms.namespace, Type::TEXT)];
        let rows = match client.query_typed(&self.statements.list, &parameters).await {
            Err(error) if failure::is_missing_table(&error) => Vec::new(),
            rows => rows.map_err(|error| self.failure(&error))?,
        };
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

    pub(super) async fn run(&self, client: &Client, statement: &str) -> Result<(), Error> {
        client.batch_execute(statement).await.map_err(|error| self.failure(&error))
    }
}

fn read(row: &Row) -> Result<Looked, tokio_postgres::Error> {
    Ok(Looked {
        now_ms: row.try_get::<_, i64>("now_ms")? as u64,
        not_before_ms: row.try_get::<_, i64>("not_before_ms")? as u64,
        waiting: row.try_get("waiting")?,
        same: row.try_get("same")?,
        rows: row.try_get::<_, i64>("rows")? as u32,
        found: found(row)?,
    })
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
