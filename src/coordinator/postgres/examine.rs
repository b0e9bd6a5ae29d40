//! `npx mintid doctor` for PostgreSQL: everything that may stand between a process and its lease.

use super::Tables;
use super::session::{Database, Parameter, Refusal, Row};
use crate::clock::{Clock, SystemClock};
use crate::coordinator::keeper::examination::{RoundTrips, check, clocks, latency, registry, share};
use crate::coordinator::keeper::{Terms, restless};
use crate::coordinator::registry::{Check, Examination, Verdict};
use crate::error::Error;

impl<D: Database> Tables<D> {
    pub(super) async fn examined(&self, session: &D::Connection, terms: &Terms) -> Result<Examination, Error> {
        let mut round_trips = RoundTrips::default();
        while round_trips.wants_more() {
            let sent = SystemClock.tick();
            self.execute(session, "select 1", &[]).await?;
            round_trips.count(sent);
        }
        let latency = latency(round_trips);
        let rows =
            self.execute(session, &self.statements.examine, &[Parameter::Text(Some(self.database.schema()))]).await?;
        let row = rows.first().ok_or_else(|| restless(&self.database.address(), &terms.namespace))?;
        let mut checks = server_checks(row, latency).map_err(|refusal| self.failure(&refusal))?;
        let may_use = row.get("may_use").map_err(|refusal| self.failure(&refusal))?;
        if may_use {
            let looked = self.looked(session, terms).await?;
            checks.extend(registry(
                terms,
                looked.as_ref().map(|seen| &seen.looked),
                &self.listed(session, terms).await?,
            ));
        }
        let server = row.get("full_version").map_err(|refusal| self.failure(&refusal))?;
        Ok(Examination { server, checks })
    }
}

fn server_checks(row: &Row, latency: Check) -> Result<Vec<Check>, Refusal> {
    let (standby, read_only): (bool, bool) = (row.get("standby")?, row.get("read_only")?);
    let (made, may_create, may_use): (bool, bool, bool) =
        (row.get("made")?, row.get("may_create")?, row.get("may_use")?);
    let fsync: String = row.get("fsync")?;
    let synchronous_commit: String = row.get("synchronous_commit")?;
    let mut checks = vec![check("version", Verdict::Fine, row.get::<String>("version")?)];
    checks.push(match (standby, read_only) {
        (true, _) => check("writable", Verdict::Error, "a standby".into())
            .advise("name the primary, or all servers and target_session_attrs=read-write"),
        (false, true) => check("writable", Verdict::Error, "default_transaction_read_only is on".into())
            .advise("use a role or a database without it"),
        (false, false) => check("writable", Verdict::Fine, "yes".into()),
    });
    checks.push(match (made, may_use, may_create) {
        (true, true, _) => check("tables", Verdict::Fine, "made; may be used".into()),
        (true, false, _) => check("tables", Verdict::Error, "made, but this role may not use them".into())
            .advise("grant select, insert, update on mintid_registry, mintid_leases, mintid_incarnation to the role"),
        (false, _, true) => {
            check("tables", Verdict::Warning, "not made yet; this role may make them".into()).advise("npx mintid setup")
        }
        (false, _, false) => check("tables", Verdict::Error, "not made, and this role may not make them".into())
            .advise("have someone who may run what npx mintid setup --print prints"),
    });
    checks.push(match (fsync.as_str(), synchronous_commit.as_str()) {
        ("off", _) => check("durability", Verdict::Warning, "fsync is off".into())
            .advise("a crash of the host may damage the database as a whole: turn it on"),
        (_, commit) => check("durability", Verdict::Fine, format!("synchronous_commit {commit}; a crash is noticed")),
    });
    checks.push(clocks(row.get::<i64>("now_ms")? as u64, Some(&row.get::<String>("time_zone")?)));
    checks.push(latency);
    let (used, most) = (row.get::<i64>("connections")? as u64, row.get::<i32>("most_connections")?);
    checks.push(share(
        "connections",
        used,
        most.max(1) as u64,
        "in use",
        "put pgbouncer in front, or raise max_connections",
    ));
    Ok(checks)
}
