//! `npx mintid doctor` for MySQL and MariaDB: everything that may stand between a process and its lease.

use super::Tables;
use super::connection::Connection;
use super::protocol::{Fault, Row};
use super::registry::{int, is};
use crate::clock::{Clock, SystemClock};
use crate::coordinator::keeper::examination::{RoundTrips, check, clocks, latency, registry, share};
use crate::coordinator::keeper::{Looked, Store, Terms, restless};
use crate::coordinator::registry::{Check, Examination, Verdict};
use crate::error::Error;

impl Tables {
    pub(super) async fn examined(&self, connection: &Connection, terms: &Terms) -> Result<Examination, Error> {
        let mut round_trips = RoundTrips::default();
        while round_trips.wants_more() {
            let sent = SystemClock.tick();
            self.run(connection, "select 1", &[]).await?;
            round_trips.count(sent);
        }
        let statements = self.statements(connection);
        let answer = self.run(connection, &statements.examine, &[]).await?;
        let row = answer.rows.first().ok_or_else(|| restless(&self.name(), &terms.namespace))?;
        let judge = |fault: Fault| self.judge(&fault);
        let mut checks = server_checks(row).map_err(judge)?;
        let (tables, looked) = self.tables(connection, terms).await?;
        checks.insert(2, tables);
        checks.push(latency(round_trips));
        checks.push(connections(row).map_err(judge)?);
        if let Some(looked) = looked {
            checks.extend(registry(terms, looked.as_ref(), &self.listed(connection, terms).await?));
        }
        let server = row.text("full_version").map_err(judge)?.unwrap_or_default();
        Ok(Examination { server, checks })
    }

    /// Whether they are there and may be used, and then the registry that is in them, if there is one.
    async fn tables(&self, connection: &Connection, terms: &Terms) -> Result<(Check, Option<Option<Looked>>), Error> {
        if !self.made(connection).await? {
            let found = "not made yet, or this user may not see them";
            return Ok((check("tables", Verdict::Warning, found.into()).advise("npx mintid setup"), None));
        }
        match self.looked(connection, terms).await {
            Ok(looked) => Ok((check("tables", Verdict::Fine, "made; may be used".into()), Some(looked))),
            Err(error) if error.fields().server_code.is_some() => {
                let advice = "grant select, insert, update on mintid_registry and mintid_leases to the user";
                Ok((check("tables", Verdict::Error, error.message().to_owned()).advise(advice), None))
            }
            Err(error) => Err(error),
        }
    }
}

fn server_checks(row: &Row) -> Result<Vec<Check>, Fault> {
    let text = |name| Ok::<_, Fault>(row.text(name)?.unwrap_or_default());
    let writable = if is(row, "read_only")? {
        check("writable", Verdict::Error, "read_only is on".into()).advise("name the primary")
    } else {
        check("writable", Verdict::Fine, "yes".into())
    };
    let (flush_log, binlog) = (int(row, "flush_log")?, int(row, "log_bin")? != 0);
    let durability = match (binlog, text("binlog_format")?.as_str(), int(row, "sync_binlog")?) {
        (true, "STATEMENT", _) => check("durability", Verdict::Error, "binlog_format is STATEMENT".into())
            .advise("a replica would make other leases of it than the primary: set it to ROW or MIXED"),
        (_, _, sync) => {
            let found = format!("innodb_flush_log_at_trx_commit {flush_log}, sync_binlog {sync}; a restart is noticed");
            check("durability", Verdict::Fine, found)
        }
    };
    let start = if is(row, "tells_start")? {
        None
    } else {
        let found = "the server does not say since when it runs";
        Some(
            check("restarts", Verdict::Error, found.into())
                .advise("use incarnation 'durable', if no commit can be lost"),
        )
    };
    let zone = match text("time_zone")? {
        zone if zone == "SYSTEM" => text("system_time_zone")?,
        zone => zone,
    };
    let mut checks = vec![check("version", Verdict::Fine, text("version")?), writable, durability];
    checks.extend(start);
    checks.push(clocks(int(row, "now_ms")? as u64, Some(&zone)));
    Ok(checks)
}

fn connections(row: &Row) -> Result<Check, Fault> {
    let (used, most) = (int(row, "connections")? as u64, int(row, "most_connections")?.max(1) as u64);
    Ok(share("connections", used, most, "in use", "raise max_connections, or have others use fewer"))
}
