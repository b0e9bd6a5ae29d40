//! The registry in its tables: making it, learning that it may have forgotten something, and looking after it. None of
//! this is on the way of an ordinary acquire or renewal.

use super::lent::{Step, block};
use super::session::{Database, Parameter, Refusal, Row, Session};
use super::{Tables, failure, millis};
use crate::coordinator::Token;
use crate::coordinator::keeper::{Adopted, Adoption, Cause, Looked, Terms, restless};
use crate::coordinator::registry::{Agreement, Found, Listed, PROTOCOL};
use crate::error::Error;

/// Serializes everything that changes a registry, over all namespaces of a database: "mintid" in ASCII.
const LOCK: i64 = 0x6d69_6e74_6964;

/// A registry as it was when it was looked at.
pub(super) struct Seen {
    version: String,
    pub(super) looked: Looked,
}

impl<D: Database> Tables<D> {
    /// How often we look again after somebody else was quicker.
    const ROUNDS: usize = 8;

    /// Under a lock, or as often as somebody else is quicker.
    pub(super) async fn adopted(
        &self,
        session: &D::Connection,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> Result<Adopted, Error> {
        let restless = || restless(&self.database.address(), &terms.namespace);
        if D::Connection::IS_ONE_CONNECTION {
            let adopted = self.in_transaction(session, self.adopt_in(session, terms, cause, join)).await?;
            return adopted.ok_or_else(restless);
        }
        for _ in 0..Self::ROUNDS {
            if let Some(adopted) = self.adopt_in(session, terms, cause, join).await? {
                return Ok(adopted);
            }
        }
        Err(restless())
    }

    /// Read committed, whatever the role's default is: each statement must see what was committed before the lock.
    pub(super) async fn in_transaction<T>(
        &self,
        session: &D::Connection,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.run(
            session,
            &format!("begin isolation level read committed read write; select pg_advisory_xact_lock({LOCK})"),
        )
        .await?;
        match work.await {
            Ok(done) => {
                self.run(session, "commit").await?;
                Ok(done)
            }
            Err(error) => {
                // The connection is not put back after an error; the server rolls back when it ends.
                let _ = self.run(session, "rollback").await;
                Err(error)
            }
        }
    }

    /// `None` if the registry was changed meanwhile.
    async fn adopt_in(
        &self,
        session: &D::Connection,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> Result<Option<Adopted>, Error> {
        let made = self.execute(session, &self.statements.made, &[]).await?;
        if made.first().and_then(|row| row.get("made").ok()) != Some(true) {
            self.refuse_others(session).await?;
            self.make(session).await?;
        }
        let before = self.looked(session, terms).await?;
        let created = before.is_none();
        let version = before.as_ref().map(|seen| seen.version.clone());
        let before = before.map(|seen| seen.looked);
        match (Adoption::of(before.as_ref(), terms, cause, join)?, before) {
            (None, Some(looked)) => return Ok(Some(Adopted { created, looked })),
            (None, None) => {}
            (Some(adoption), _) => {
                if !self.carry_out(session, terms, &adoption, version.as_deref()).await? {
                    return Ok(None);
                }
            }
        }
        Ok(self.looked(session, terms).await?.map(|seen| Adopted { created, looked: seen.looked }))
    }

    async fn make(&self, session: &D::Connection) -> Result<(), Error> {
        let tables = &self.statements.tables;
        if D::Connection::IS_ONE_CONNECTION {
            return self.run(session, tables).await;
        }
        self.run(session, &block(LOCK, None, &[(tables, Vec::new())])).await
    }

    /// Whether it was done; not if the registry is another one than was seen.
    async fn carry_out(
        &self,
        session: &D::Connection,
        terms: &Terms,
        adoption: &Adoption,
        version: Option<&str>,
    ) -> Result<bool, Error> {
        let statements = &self.statements;
        let namespace = Parameter::Text(Some(&terms.namespace));
        let says = adoption.says.as_ref();
        let layout = says.map(Agreement::layout_text);
        let boot = Token::random_part::<16>()?.map(|byte| format!("{byte:02x}")).concat();
        let mut steps: Vec<Step<'_>> = Vec::new();
        if adoption.forgets {
            steps.push((&statements.forget, vec![namespace]));
        }
        let said = vec![
            namespace,
            Parameter::Int4(PROTOCOL),
            Parameter::Text(layout.as_deref()),
            Parameter::Int8(says.map(|says| millis(says.ttl))),
            Parameter::Bool(says.map(|says| says.durable)),
            Parameter::Bytes(says.and_then(|says| says.fingerprint.as_ref()).map(<[u8; 16]>::as_slice)),
        ];
        steps.push((&statements.enrol, said));
        steps.push((&statements.rows, vec![namespace, Parameter::Int4(adoption.machine_ids as i32)]));
        if adoption.strange {
            steps.push((&statements.boot, vec![namespace, Parameter::Text(Some(&boot))]));
        }
        if let Some(not_before) = adoption.remembers {
            steps.push((&statements.adopt, vec![namespace, Parameter::Int8(not_before.as_millis())]));
        }
        if D::Connection::IS_ONE_CONNECTION {
            for (statement, parameters) in steps {
                self.execute(session, statement, &parameters).await?;
            }
            return Ok(true);
        }
        let guard: Step<'_> = (&statements.guard, vec![namespace]);
        match session.run(&block(LOCK, Some((guard, version)), &steps)).await {
            Ok(()) => Ok(true),
            Err(refusal) if failure::is_overtaken(&refusal) => Ok(false),
            Err(refusal) => Err(self.failure(&refusal)),
        }
    }

    pub(super) async fn looked(&self, session: &D::Connection, terms: &Terms) -> Result<Option<Seen>, Error> {
        let rows = self.execute(session, &self.statements.look, &[Parameter::Text(Some(&terms.namespace))]).await?;
        rows.first().map(read).transpose().map_err(|refusal| self.failure(&refusal))
    }

    pub(super) async fn listed(&self, session: &D::Connection, terms: &Terms) -> Result<Vec<Listed>, Error> {
        let rows = match session.rows(&self.statements.list, &[Parameter::Text(Some(&terms.namespace))]).await {
            Err(refusal) if failure::is_missing_table(&refusal) => Vec::new(),
            rows => rows.map_err(|refusal| self.failure(&refusal))?,
        };
        rows.iter().map(|row| listed(row).map_err(|refusal| self.failure(&refusal))).collect()
    }

    /// Servers that speak the protocol but have no one clock.
    async fn refuse_others(&self, session: &D::Connection) -> Result<(), Error> {
        let rows = self.execute(session, "select version() as version", &[]).await?;
        let version: String = rows.first().and_then(|row| row.get("version").ok()).unwrap_or_default();
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
        session: &D::Connection,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Error> {
        session.rows(statement, parameters).await.map_err(|refusal| self.failure(&refusal))
    }

    pub(super) async fn run(&self, session: &D::Connection, statements: &str) -> Result<(), Error> {
        session.run(statements).await.map_err(|refusal| self.failure(&refusal))
    }
}

fn read(row: &Row) -> Result<Seen, Refusal> {
    let looked = Looked {
        now_ms: row.get::<i64>("now_ms")? as u64,
        not_before_ms: row.get::<i64>("not_before_ms")? as u64,
        waiting: row.get("waiting")?,
        same: row.get("same")?,
        rows: row.get::<i64>("rows")? as u32,
        found: found(row)?,
    };
    Ok(Seen { version: row.get("version")?, looked })
}

/// What a registry's clients have agreed on.
pub(super) fn found(row: &Row) -> Result<Found, Refusal> {
    let keys: Vec<String> = row.get("fingerprints")?;
    Ok(Found {
        protocol: row.get("protocol")?,
        layout: row.get("layout")?,
        ttl_ms: row.get::<Option<i64>>("ttl_ms")?.map(|ms| ms as u64),
        durable: row.get("durable")?,
        fingerprints: keys.iter().filter_map(|key| unhex(key)).collect(),
    })
}

fn listed(row: &Row) -> Result<Listed, Refusal> {
    Ok(Listed {
        machine: row.get::<i32>("id")? as u32,
        holder: row.get("holder")?,
        acquired_at_ms: row.get::<Option<i64>>("acquired_ms")?.map(|ms| ms as u64),
        expires_at_ms: row.get::<i64>("end_ms")? as u64,
        live: row.get("live")?,
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..text.len()).step_by(2).map(digit).collect()
}
