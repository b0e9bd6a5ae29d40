//! The statements, as they are sent: with the identity in its place, their tables qualified, and without comments.

use super::nononcense;

/// Every statement of the coordinator, for one schema.
pub(super) struct Statements {
    pub(super) acquire: String,
    pub(super) renew: String,
    pub(super) release: String,
    pub(super) list: String,
    pub(super) tables: String,
    pub(super) enrol: String,
    pub(super) rows: String,
    pub(super) look: String,
    pub(super) boot: String,
    pub(super) adopt: String,
    pub(super) forget: String,
    pub(super) examine: String,
    pub(super) made: String,
    pub(super) theirs: String,
    pub(super) sequences: String,
    pub(super) move_sequence: String,
    pub(super) guard: String,
}

impl Statements {
    /// Those for the tables in `schema`; `theirs` is the table of other software that leases from it.
    pub(super) fn new(schema: &str, theirs: Option<&str>) -> Self {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let schema = format!("{}.", quoted(schema));
        let hooks = if theirs.is_some() { nononcense::HOOKS } else { nononcense::ALONE };
        let theirs = theirs.map(|table| format!("{schema}{}", quoted(table))).unwrap_or_default();
        let identity = bare(include_str!("../sql/postgres/identity.sql"));
        let version = bare(include_str!("../sql/postgres/version.sql"));
        let statement = |text: &str| {
            let text = bare(text)
                .replace("{version}", &version)
                .replace("{identity}", &identity)
                .replace("'{theirs}'", &format!("'{}'", theirs.replace('\'', "''")));
            let text =
                hooks.iter().fold(text, |text, (place, hook)| text.replace(place, hook)).replace("{theirs}", &theirs);
            // In a quoted text, too, where a quote of the schema's own has to be doubled.
            let quoted = schema.replace('\'', "''");
            ["mintid_registry", "mintid_leases", "mintid_incarnation"].iter().fold(text, |text, table| {
                let text = text.replace(&format!("'{table}'"), &format!("'{quoted}\u{0}'"));
                text.replace(table, &format!("{schema}{table}")).replace('\u{0}', table)
            })
        };
        Self {
            acquire: statement(include_str!("../sql/postgres/acquire.sql")),
            renew: statement(include_str!("../sql/postgres/renew.sql")),
            release: statement(include_str!("../sql/postgres/release.sql")),
            list: statement(include_str!("../sql/postgres/list.sql")),
            tables: statement(include_str!("../sql/postgres/tables.sql")),
            enrol: statement(include_str!("../sql/postgres/enrol.sql")),
            rows: statement(include_str!("../sql/postgres/rows.sql")),
            look: statement(include_str!("../sql/postgres/look.sql")),
            boot: statement(include_str!("../sql/postgres/boot.sql")),
            adopt: statement(include_str!("../sql/postgres/adopt.sql")),
            forget: statement(include_str!("../sql/postgres/forget.sql")),
            examine: statement(include_str!("../sql/postgres/examine.sql")),
            made: statement(include_str!("../sql/postgres/made.sql")),
            theirs: statement(include_str!("../sql/postgres/theirs.sql")),
            sequences: statement(include_str!("../sql/postgres/sequences.sql")),
            move_sequence: statement(include_str!("../sql/postgres/move_sequence.sql")),
            guard: statement(include_str!("../sql/postgres/guard.sql")),
        }
    }

    /// For tests that take a rule out, or move the clock.
    pub(super) fn rewritten(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        let all =
            [&mut self.acquire, &mut self.renew, &mut self.release, &mut self.list, &mut self.look, &mut self.adopt];
        for statement in all {
            *statement = rewrite(statement);
        }
        self
    }
}

/// A text without its lines of comment.
fn bare(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>().join("\n")
}
