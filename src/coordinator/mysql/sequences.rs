//! What a database mints IDs from (`mintid ddl --default`): a sequence in MariaDB, the `auto_increment` of an empty table in
//! MySQL. A copy that was put back has it as it was: it would give out again what was given out since.

use super::Tables;
use super::connection::{Connection, Kind, Value};
use super::protocol::{Fault, Row};
use super::registry::int;
use super::statements::quoted;
use crate::coordinator::registry::Sequence;
use crate::error::Error;
use crate::layout::Layout;

/// What the comment of such a sequence begins with; the layout follows.
const MARK: &str = "mintid ddl --default ";

/// As `information_schema` calls them.
const SEQUENCE: &str = "SEQUENCE";
const TABLE: &str = "BASE TABLE";

impl Tables {
    /// Each one past everything that it can have given out by now, unless it is further than the clock.
    pub(super) async fn sequences_moved(&self, connection: &Connection) -> Result<Vec<Sequence>, Error> {
        if !connection.is_one() {
            let text =
                "coordinator: expected the database's URL: connections that are lent do not say what they counted";
            return Err(Error::config("coordinator", text));
        }
        let kind = if connection.kind == Kind::MariaDb { SEQUENCE } else { TABLE };
        let statement = &self.statements(connection).sequences;
        let found = connection.query(statement, &[Value::Text(MARK), Value::Text(kind)]).await?;
        let mut sequences = Vec::new();
        for row in &found.rows {
            // Another comment that begins like ours is none of ours.
            let Some((name, layout)) = read(row).map_err(|fault| self.judge(&fault))? else { continue };
            let moved = self.moved(connection, &name, &layout).await.map_err(|error| with_hint(error, &name))?;
            sequences.push(Sequence { name, moved });
        }
        Ok(sequences)
    }

    async fn moved(&self, connection: &Connection, name: &str, layout: &Layout) -> Result<bool, Error> {
        let ask = async |statement: String| connection.query(&statement, &[]).await;
        if connection.kind == Kind::MariaDb {
            // It never sets back, whoever takes from it meanwhile, and says so.
            let floor = self.floor(connection, layout).await?;
            let set = ask(format!("select setval({name}, {floor}, 0)")).await?;
            return Ok(set.rows.first().and_then(Row::first).is_some());
        }
        // Taken first: what the counter would have given out next, and now will not.
        let taken = ask(format!("insert into {name} values ()")).await?.insert_id;
        let floor = self.floor(connection, layout).await?;
        let moved = u64::try_from(floor).is_ok_and(|floor| floor > taken);
        if moved {
            ask(format!("insert ignore into {name} (v) values ({floor})")).await?;
        }
        ask(format!("delete from {name} where v in ({taken}, {floor})")).await?;
        Ok(moved)
    }

    async fn floor(&self, connection: &Connection, layout: &Layout) -> Result<i64, Error> {
        let values = [Value::Number(layout.epoch_ms() as i64), Value::Number(layout.sequence_bits().into())];
        let answer = connection.query(&self.statements(connection).floor, &values).await?;
        let row = answer.rows.first().ok_or(Fault::Strange);
        row.and_then(|row| int(row, "floor")).map_err(|fault| self.judge(&fault))
    }
}

fn read(row: &Row) -> Result<Option<(String, Layout)>, Fault> {
    let text = |name| row.text(name)?.ok_or(Fault::Strange);
    let name = format!("{}.{}", quoted(&text("place")?), quoted(&text("name")?));
    Ok(text("mark")?.strip_prefix(MARK).and_then(Layout::parse).map(|layout| (name, layout)))
}

fn with_hint(error: Error, name: &str) -> Error {
    const DENIED: &[&str] = &["1142", "1143", "1044"];
    if !error.fields().server_code.as_deref().is_some_and(|code| DENIED.contains(&code)) {
        return error;
    }
    let hint = format!("newcomers wait already; run it again as a user with select, insert and delete on {name}");
    error.with(|fields| fields.hint = Some(hint))
}
