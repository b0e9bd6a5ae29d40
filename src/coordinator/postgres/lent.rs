//! Connections that the user's own program has, lent to us one statement at a time. Each may come over another connection,
//! so that there are no transactions: what takes several statements is one block, which goes by what it sees.
//!
//! Drivers differ in what they make of types. So every parameter is a text, and every answer one column of JSON.

use super::session::{Database, Parameter, Refusal, Row, Session};
use crate::coordinator::functions::{Own, Request, Said, Trouble};
use crate::coordinator::keeper::Ends;
use crate::error::Error;

/// A database that is reached through a function of the user's.
#[derive(Debug, Clone)]
pub struct Lent {
    own: Own,
    schema: String,
}

impl Lent {
    /// Runs statements on the tables in `schema`.
    #[must_use]
    pub fn new(own: Own, schema: String) -> Self {
        Self { own, schema }
    }

    /// An address that nobody else has.
    #[must_use]
    pub fn address(&self) -> String {
        self.own.address()
    }
}

impl Database for Lent {
    type Connection = Self;

    fn address(&self) -> String {
        self.own.name().to_owned()
    }

    fn schema(&self) -> &str {
        &self.schema
    }

    fn theirs<'a>(&self, _namespace: &'a str) -> Option<&'a str> {
        None
    }

    async fn connect(&self) -> Result<Self, Error> {
        Ok(self.clone())
    }
}

impl Ends for Lent {
    fn is_closed(&self) -> bool {
        false
    }

    async fn closed(&self) {
        std::future::pending::<()>().await;
    }
}

impl Session for Lent {
    const IS_ONE_CONNECTION: bool = false;

    async fn rows(&self, statement: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, Refusal> {
        let statement =
            as_json(&placed(statement, |at| parameters.get(at - 1).map_or_else(String::new, |it| it.cast(at))));
        let parameters = parameters.iter().map(Parameter::text).collect();
        match self.own.call(Request::Query { statement, parameters }).await {
            Ok(Said::Rows(rows)) => Ok(rows.into_iter().map(Row::Texts).collect()),
            Ok(Said::No | Said::Grant(_) | Said::List(_)) => {
                let what = "answered what belongs to another function".to_owned();
                Err(Refusal::Lent(Trouble { what, ..Trouble::default() }))
            }
            Err(trouble) => Err(Refusal::Lent(trouble)),
        }
    }

    async fn run(&self, statements: &str) -> Result<(), Refusal> {
        self.rows(statements, &[]).await.map(drop)
    }
}

impl Parameter<'_> {
    fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => text.map(str::to_owned),
            Self::Int4(number) => Some(number.to_string()),
            Self::Int8(number) => number.map(|number| number.to_string()),
            Self::Bytes(bytes) => bytes.map(hex),
            Self::Bool(truth) => truth.map(|truth| truth.to_string()),
        }
    }

    /// The text at a place, as what it stands for.
    fn cast(&self, at: usize) -> String {
        match self {
            Self::Bytes(_) => format!("decode(${at}::text, 'hex')"),
            _ => format!("${at}::text::{}", self.kind()),
        }
    }

    /// The value itself: a block takes no parameters.
    fn literal(&self) -> String {
        let (kind, text) = (self.kind(), self.text());
        match (self, text) {
            (_, None) => format!("null::{kind}"),
            (Self::Text(_), Some(text)) => {
                let plain = text.bytes().all(|letter| letter.is_ascii_alphanumeric() || b" ./@:_-".contains(&letter));
                let bytes = hex(text.as_bytes());
                if plain {
                    format!("'{text}'::text")
                } else {
                    format!("convert_from(decode('{bytes}', 'hex'), 'utf8')")
                }
            }
            (Self::Bytes(_), Some(text)) => format!("decode('{text}', 'hex')"),
            (_, Some(text)) => format!("'{text}'::{kind}"),
        }
    }

    const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Int4(_) => "int4",
            Self::Int8(_) => "int8",
            Self::Bytes(_) => "bytea",
            Self::Bool(_) => "boolean",
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// One statement of a block, and what stands for its places.
pub(super) type Step<'a> = (&'a str, Vec<Parameter<'a>>);

/// Several statements as one, which all take effect or none, one process after the other. With a `guard`, a statement that
/// must give just this value, they fail with a serialization failure where it gives another one.
pub(super) fn block(lock: i64, guard: Option<(Step<'_>, Option<&str>)>, steps: &[Step<'_>]) -> String {
    let filled = |(statement, parameters): &Step<'_>| {
        placed(statement, |at| parameters.get(at - 1).map_or_else(String::new, Parameter::literal))
    };
    let mut body = format!("begin\nperform pg_advisory_xact_lock({lock});\n");
    if let Some((step, expected)) = guard {
        let (found, expected) = (filled(&step), Parameter::Text(expected).literal());
        let overtaken =
            "raise exception using errcode = 'serialization_failure', message = 'the registry was changed meanwhile'";
        body.extend(["if (", &found, ") is distinct from ", &expected, " then\n", overtaken, ";\nend if;\n"]);
    }
    for step in steps {
        body.extend([filled(step).trim().trim_end_matches(';'), ";\n"]);
    }
    let mut quote = "$mintid$".to_owned();
    while body.contains(&quote) {
        quote.insert(1, 'x');
    }
    format!("do {quote}\n{body}end {quote}")
}

/// A statement with something else in each of its places.
fn placed(statement: &str, place: impl Fn(usize) -> String) -> String {
    let mut parts = statement.split('$');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        match part[..digits].parse() {
            Ok(at) => text + &place(at) + &part[digits..],
            Err(_) => text + "$" + part,
        }
    })
}

/// A statement that answers the same in one column. One that gives no rows stays as it is.
fn as_json(statement: &str) -> String {
    const ANSWER: &str = "select row_to_json(answer)::text as answer from answer";
    let statement = statement.trim();
    if let Some((common, select)) = statement.rsplit_once("\nselect") {
        if common.starts_with("with") {
            return format!("{common}, answer as (\nselect{select}\n)\n{ANSWER}");
        }
    } else if statement.starts_with("select") {
        return format!("with answer as (\n{statement}\n)\n{ANSWER}");
    }
    statement.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_a_text_and_stands_for_what_it_is() {
        let parameters = [Parameter::Text(Some("a")), Parameter::Int8(None), Parameter::Bytes(Some(&[0xAB, 1]))];
        let statement = placed("select $1, $3 || $2 from $12", |at| {
            parameters.get(at - 1).map_or_else(|| format!("<{at}>"), |parameter| parameter.cast(at))
        });
        assert_eq!(statement, "select $1::text::text, decode($3::text, 'hex') || $2::text::int8 from <12>");
        assert_eq!(parameters.map(|parameter| parameter.text()), [Some("a".into()), None, Some("ab01".into())]);
    }

    #[test]
    fn what_gives_rows_gives_them_in_one_column() {
        let answer = "select row_to_json(answer)::text as answer from answer";
        let with = as_json("with a as (\n  select 1 as b\n)\nselect\n  b\nfrom a\n");
        assert_eq!(with, format!("with a as (\n  select 1 as b\n), answer as (\nselect\n  b\nfrom a\n)\n{answer}"));
        assert_eq!(as_json("select 1 as b"), format!("with answer as (\nselect 1 as b\n)\n{answer}"));
        for none in ["update a set b = 1", "insert into a\nselect 1\non conflict do nothing", "do $$ begin end $$"] {
            assert_eq!(as_json(none), none);
        }
    }

    #[test]
    fn a_block_holds_what_it_was_given_and_nothing_gets_out_of_it() {
        let hostile = "'; drop table x; -- \\ $mintid$";
        let steps: [Step<'_>; 2] = [
            (
                "insert into a values ($1, $2, $3)",
                vec![Parameter::Text(Some(hostile)), Parameter::Int8(Some(-1)), Parameter::Bool(Some(true))],
            ),
            ("update \"odd $mintid$ name\" set b = $1;\n", vec![Parameter::Bytes(None)]),
        ];
        let block = block(7, Some((("select $1", vec![Parameter::Text(Some("default"))]), Some("1/(0,1)"))), &steps);
        assert!(!block.contains("drop table"), "{block}");
        let begins = "do $xmintid$\nbegin\nperform pg_advisory_xact_lock(7);\n\
                      if (select 'default'::text) is distinct from convert_from(";
        assert!(block.starts_with(begins), "{block}");
        let ends = "'-1'::int8, 'true'::boolean);\nupdate \"odd $mintid$ name\" set b = null::bytea;\nend $xmintid$";
        assert!(block.ends_with(ends), "{block}");
    }
}
