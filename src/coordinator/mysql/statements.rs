//! The statements, as they are sent: with their parts in their places, their tables qualified, and without comments.

use super::connection::{Kind, Value};
use super::nononcense;

/// The statements for both kinds of server, which differ in how a server says who it is and since when it runs.
pub(super) struct Kinds {
    my_sql: Statements,
    maria_db: Statements,
    /// What someone with the rights runs; the same for both.
    pub(super) tables: String,
}

impl Kinds {
    /// Those for the tables in `database`; `theirs` is the table of other software that leases from it.
    pub(super) fn new(database: &str, theirs: Option<&str>) -> Self {
        let my_sql = Texts { database, theirs, server: "@@server_uuid", status: "performance_schema.global_status" };
        // Before 10.6.19, 10.11.9 and 11.4.3 it had none.
        let server = "coalesce((select known.variable_value from information_schema.global_variables known \
                      where known.variable_name = 'SERVER_UID'), concat(@@hostname, ':', @@port)), '/', @@server_id";
        let maria_db = Texts { database, theirs, server, status: "information_schema.global_status" };
        Self {
            tables: my_sql.statement(include_str!("../sql/mysql/tables.sql")),
            my_sql: Statements::new(&my_sql),
            maria_db: Statements::new(&maria_db),
        }
    }

    pub(super) fn of(&self, kind: Kind) -> &Statements {
        match kind {
            Kind::MySql => &self.my_sql,
            Kind::MariaDb => &self.maria_db,
        }
    }

    /// For tests that take a rule out, or move the clock.
    pub(super) fn rewritten(self, rewrite: &dyn Fn(&str) -> String) -> Self {
        Self { my_sql: self.my_sql.rewritten(rewrite), maria_db: self.maria_db.rewritten(rewrite), ..self }
    }
}

/// Every statement of the coordinator.
pub(super) struct Statements {
    pub(super) acquire: String,
    pub(super) refused: String,
    pub(super) leased: String,
    pub(super) renew: String,
    pub(super) lost: String,
    pub(super) release: String,
    pub(super) list: String,
    pub(super) made: String,
    pub(super) lock: String,
    pub(super) look: String,
    pub(super) enrol: String,
    pub(super) rows: String,
    pub(super) adopt: String,
    pub(super) forget: String,
    pub(super) examine: String,
    pub(super) claimed: String,
    pub(super) kept: String,
    pub(super) theirs: String,
    pub(super) sequences: String,
    pub(super) floor: String,
}

impl Statements {
    fn new(texts: &Texts<'_>) -> Self {
        let statement = |text| texts.statement(text);
        Self {
            acquire: statement(include_str!("../sql/mysql/acquire.sql")),
            refused: statement(include_str!("../sql/mysql/refused.sql")),
            leased: statement(include_str!("../sql/mysql/leased.sql")),
            renew: statement(include_str!("../sql/mysql/renew.sql")),
            lost: statement(include_str!("../sql/mysql/lost.sql")),
            release: statement(include_str!("../sql/mysql/release.sql")),
            list: statement(include_str!("../sql/mysql/list.sql")),
            made: statement(include_str!("../sql/mysql/made.sql")),
            lock: statement(include_str!("../sql/mysql/lock.sql")),
            look: statement(include_str!("../sql/mysql/look.sql")),
            enrol: statement(include_str!("../sql/mysql/enrol.sql")),
            rows: statement(include_str!("../sql/mysql/rows.sql")),
            adopt: statement(include_str!("../sql/mysql/adopt.sql")),
            forget: statement(include_str!("../sql/mysql/forget.sql")),
            examine: statement(include_str!("../sql/mysql/examine.sql")),
            claimed: statement(include_str!("../sql/mysql/claimed.sql")),
            kept: statement(include_str!("../sql/mysql/kept.sql")),
            theirs: statement(include_str!("../sql/mysql/theirs.sql")),
            sequences: statement(include_str!("../sql/mysql/sequences.sql")),
            floor: statement(include_str!("../sql/mysql/floor.sql")),
        }
    }

    fn rewritten(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        let all = [
            &mut self.acquire,
            &mut self.refused,
            &mut self.leased,
            &mut self.renew,
            &mut self.lost,
            &mut self.release,
            &mut self.list,
            &mut self.look,
            &mut self.adopt,
            &mut self.kept,
        ];
        for statement in all {
            *statement = rewrite(statement);
        }
        self
    }
}

/// What stands in the places of a file of `sql/mysql/`.
struct Texts<'a> {
    database: &'a str,
    theirs: Option<&'a str>,
    server: &'static str,
    status: &'static str,
}

impl Texts<'_> {
    fn statement(&self, text: &str) -> String {
        let parts = [
            ("{decided}", include_str!("../sql/mysql/decided.sql")),
            ("{judged}", include_str!("../sql/mysql/candidate.sql")),
            ("{registry}", include_str!("../sql/mysql/registry.sql")),
            ("{identity}", include_str!("../sql/mysql/identity.sql")),
            ("{fit}", include_str!("../sql/mysql/fit.sql")),
            ("{settled}", include_str!("../sql/mysql/settled.sql")),
        ];
        let text = parts.iter().fold(bare(text), |text, (place, part)| text.replace(place, &bare(part)));
        let text = nononcense::HOOKS
            .iter()
            .fold(text, |text, (place, hook)| text.replace(place, if self.theirs.is_some() { hook } else { "" }));
        let text = ["registry", "leases"].iter().fold(text, |text, table| {
            // A name in quotes, and that of an index, stand for themselves.
            let (name, quoted, index) =
                (format!("mintid_{table}"), format!("'mintid_{table}'"), format!("mintid_{table}_"));
            let kept = text.replace(&quoted, "\u{1}").replace(&index, "\u{2}");
            kept.replace(&name, &format!("\u{3}{name}")).replace('\u{1}', &quoted).replace('\u{2}', &index)
        });
        let theirs = self.theirs.unwrap_or_default();
        text.replace('\u{3}', &format!("{}.", quoted(self.database)))
            .replace("{theirs}", &format!("{}.{}", quoted(self.database), quoted(theirs)))
            .replace("{theirs name}", &Value::Text(theirs).to_string())
            .replace("{database}", &Value::Text(self.database).to_string())
            .replace("{server}", self.server)
            .replace("{status}", self.status)
    }
}

/// A name as SQL writes it.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text without its lines of comment.
fn bare(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_filled_and_every_table_qualified() {
        let kinds = Kinds::new("my`db", None);
        let theirs = [None, Some("no`noncense")];
        for (kind, theirs) in [Kind::MySql, Kind::MariaDb].into_iter().flat_map(|kind| theirs.map(|name| (kind, name)))
        {
            let all = std::cell::RefCell::new(String::new());
            let statements = Kinds::new("my`db", theirs).rewritten(&|text| {
                all.borrow_mut().push_str(text);
                text.to_owned()
            });
            let all = all.into_inner() + &statements.of(kind).rows + &statements.of(kind).made + &kinds.tables;
            assert!(!all.contains('{') && !all.contains("--"), "{all}");
            let bare = all.replace("'mintid_", "").replace("mintid_leases_", "").replace("`my``db`.mintid_", "");
            assert!(!bare.contains("mintid_"), "{bare}");
            assert_eq!(all.contains("`my``db`.`no``noncense`"), theirs.is_some(), "{all}");
        }
        assert!(
            kinds.tables.contains("create table if not exists `my``db`.mintid_leases (")
                && kinds.tables.contains("key mintid_leases_free (")
        );
    }
}
