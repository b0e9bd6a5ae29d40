//! Connections that the user's own program has, lent to us one statement at a time. Each may come over another connection,
//! so that there are no transactions; and each says for itself what our own sessions are set up for: that its clock is UTC.

use super::connection::{Kind, Value, written};
use super::failure::{failure, made};
use super::protocol::{Answer, Fault, Row};
use crate::coordinator::functions::{Own, Request, Said, Trouble};
use crate::error::{Error, Retry};

/// A database that is reached through a function of the user's.
#[derive(Debug, Clone)]
pub struct Lent {
    own: Own,
    database: String,
    pub(super) kind: Kind,
}

impl Lent {
    /// Runs statements on the tables in `database` of a MySQL, or of a MariaDB.
    #[must_use]
    pub fn new(own: Own, database: String, is_maria_db: bool) -> Self {
        Self { own, database, kind: if is_maria_db { Kind::MariaDb } else { Kind::MySql } }
    }

    /// An address that nobody else has.
    #[must_use]
    pub fn address(&self) -> String {
        self.own.address()
    }

    pub(super) fn name(&self) -> &str {
        self.own.name()
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }

    pub(super) async fn query(&self, statement: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let statement = in_utc(&written(statement, values), self.kind);
        match self.own.call(Request::Query { statement, parameters: Vec::new() }).await {
            Ok(Said::Rows(rows)) => Ok(Answer { rows: rows.into_iter().map(Row::of).collect(), ..Answer::default() }),
            Ok(Said::No | Said::Grant(_) | Said::List(_)) => {
                let what = "answered what belongs to another function".to_owned();
                Err(self.judge(&Trouble { what, ..Trouble::default() }))
            }
            Err(trouble) => Err(self.judge(&trouble)),
        }
    }

    /// `ERR_MINTID_COORDINATOR` with the server's own words, where it was one that spoke.
    fn judge(&self, trouble: &Trouble) -> Error {
        if trouble.is_final {
            return Error::config("coordinator", format!("coordinator: query() {}", trouble.what));
        }
        let words = trouble.code.as_deref().and_then(|code| code.split_once('/')).zip(trouble.said.as_deref());
        if let Some(((code, state), message)) = words
            && let Ok(code) = code.parse()
        {
            let error = failure(self.name(), &Fault::Server(code, state.to_owned(), message.to_owned()));
            return match self.mistaken(code) {
                None => error,
                Some(hint) => error.with(|fields| fields.hint = Some(hint.to_owned())),
            };
        }
        let what = format!("query() {}", trouble.what);
        made(self.name(), &what, trouble.code.as_deref(), trouble.hint.clone()).retry_as(Retry::Soon)
    }
}

impl Lent {
    /// What the other kind of server says to what is only known to this one.
    fn mistaken(&self, code: u16) -> Option<&'static str> {
        const UNKNOWN_VARIABLE: u16 = 1193;
        const SYNTAX: u16 = 1064;
        match (self.kind, code) {
            (Kind::MySql, UNKNOWN_VARIABLE) => Some("is it a MariaDB? Then dialect: 'mariadb'"),
            (Kind::MariaDb, SYNTAX) => Some("is it a MySQL? Then dialect: 'mysql'"),
            _ => None,
        }
    }
}

/// A statement for which the session's time zone is UTC. What makes tables has no times in it.
fn in_utc(statement: &str, kind: Kind) -> String {
    let statement = statement.trim();
    let verb = ["select", "insert", "update"].into_iter().find(|verb| statement.starts_with(verb));
    match (kind, verb) {
        (_, None) => statement.to_owned(),
        (Kind::MariaDb, Some(_)) => format!("set statement time_zone = '+00:00' for {statement}"),
        (Kind::MySql, Some(verb)) => {
            format!("{verb} /*+ SET_VAR(time_zone = '+00:00') */{}", &statement[verb.len()..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_a_clock_reads_it_in_utc() {
        let hinted = "update /*+ SET_VAR(time_zone = '+00:00') */ a set b = 1";
        assert_eq!(in_utc("\nupdate a set b = 1\n", Kind::MySql), hinted);
        assert_eq!(in_utc("select 1", Kind::MariaDb), "set statement time_zone = '+00:00' for select 1");
        assert_eq!(in_utc("create table a (b int)", Kind::MySql), "create table a (b int)");
    }
}
