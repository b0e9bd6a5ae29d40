//! The sequences that a database mints IDs from (`mintid ddl --default`). A copy that was put back has them as they were:
//! they would give out again what was given out since.

use super::Tables;
use super::session::{Database, Parameter, Refusal, Row, Session};
use crate::coordinator::registry::Sequence;
use crate::error::Error;
use crate::layout::Layout;

/// What the comment of such a sequence begins with; the layout follows.
const MARK: &str = "mintid ddl --default ";

/// As long as we wait for transactions that took IDs from a sequence; whoever wants more IDs waits behind us.
const PATIENCE: &str = "3s";

struct Marked {
    oid: i64,
    name: String,
    layout: Layout,
}

impl<D: Database> Tables<D> {
    /// Each one past everything that it can have given out by now, unless it is further than the clock.
    pub(super) async fn sequences_moved(&self, session: &D::Connection) -> Result<Vec<Sequence>, Error> {
        if !D::Connection::IS_ONE_CONNECTION {
            let text =
                "coordinator: expected the database's URL: over connections that are lent there are no transactions";
            return Err(Error::config("coordinator", text));
        }
        let rows = self.execute(session, &self.statements.sequences, &[Parameter::Text(Some(MARK))]).await?;
        let mut sequences = Vec::new();
        for row in &rows {
            // Another comment that begins like ours is none of ours.
            let Some(marked) = read(row).map_err(|refusal| self.failure(&refusal))? else { continue };
            let moved = self.in_transaction(session, self.moved(session, &marked)).await;
            let moved = moved.map_err(|error| with_hint(error, &marked.name))?;
            sequences.push(Sequence { name: marked.name, moved });
        }
        Ok(sequences)
    }

    async fn moved(&self, session: &D::Connection, Marked { oid, name, layout }: &Marked) -> Result<bool, Error> {
        // Changes nothing, and nobody takes from the sequence until we are done.
        self.run(session, &format!("set local lock_timeout = '{PATIENCE}'; alter sequence {name} no cycle")).await?;
        let parameters = [
            Parameter::Int8(Some(*oid)),
            Parameter::Int8(Some(layout.epoch_ms() as i64)),
            Parameter::Int4(layout.sequence_bits() as i32),
        ];
        let statement = self.statements.move_sequence.replace("{sequence}", name);
        Ok(!self.execute(session, &statement, &parameters).await?.is_empty())
    }
}

fn read(row: &Row) -> Result<Option<Marked>, Refusal> {
    let layout = row.get::<String>("comment")?.strip_prefix(MARK).and_then(Layout::parse);
    let (oid, name) = (row.get("oid")?, row.get("name")?);
    Ok(layout.map(|layout| Marked { oid, name, layout }))
}

fn with_hint(error: Error, name: &str) -> Error {
    let hint = match error.fields().server_code.as_deref() {
        Some("42501") => format!("newcomers wait already; run it again as the owner of the sequence {name}"),
        Some("55P03") => {
            format!(
                "newcomers wait already; a transaction that took IDs from {name} is still open: end it, and run it again"
            )
        }
        _ => return error,
    };
    error.with(|fields| fields.hint = Some(hint))
}
