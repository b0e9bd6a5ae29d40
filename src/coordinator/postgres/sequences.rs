//! The sequences that a database mints IDs from (`mintid ddl --default`). A copy that was put back has them as they were:
//! they would give out again what was given out since.

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::Tables;
use crate::coordinator::registry::Sequence;
use crate::error::Error;
use crate::layout::Layout;

/// What the comment of such a sequence begins with; the layout follows.
const MARK: &str = "mintid ddl --default ";

/// As long as we wait for transactions that took IDs from a sequence; whoever wants more IDs waits behind us.
const PATIENCE: &str = "3s";

struct Marked {
    oid: u32,
    name: String,
    layout: Layout,
}

impl Tables {
    /// Each one past everything that it can have given out by now, unless it is further than the clock.
    pub(super) async fn sequences_moved(&self, client: &Client) -> Result<Vec<Sequence>, Error> {
        let rows = self.execute(client, &self.statements.sequences, &[(&MARK, Type::TEXT)]).await?;
        let mut sequences = Vec::new();
        for row in &rows {
            // Another comment that begins like ours is none of ours.
            let Some(marked) = read(row).map_err(|error| self.failure(&error))? else { continue };
            let moved = self.in_transaction(client, self.moved(client, &marked)).await;
            let moved = moved.map_err(|error| with_hint(error, &marked.name))?;
            sequences.push(Sequence { name: marked.name, moved });
        }
        Ok(sequences)
    }

    async fn moved(&self, client: &Client, Marked { oid, name, layout }: &Marked) -> Result<bool, Error> {
        // Changes nothing, and nobody takes from the sequence until we are done.
        self.run(client, &format!("set local lock_timeout = '{PATIENCE}'; alter sequence {name} no cycle")).await?;
        let parameters: [super::Parameter<'_>; 3] = [
            (oid, Type::OID),
            (&(layout.epoch_ms() as i64), Type::INT8),
            (&(layout.sequence_bits() as i32), Type::INT4),
        ];
        let statement = self.statements.move_sequence.replace("{sequence}", name);
        Ok(!self.execute(client, &statement, &parameters).await?.is_empty())
    }
}

fn read(row: &Row) -> Result<Option<Marked>, tokio_postgres::Error> {
    let layout = row.try_get::<_, &str>("comment")?.strip_prefix(MARK).and_then(Layout::parse);
    let (oid, name) = (row.try_get("oid")?, row.try_get("name")?);
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
