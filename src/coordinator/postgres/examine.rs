//! `npx mintid doctor` for PostgreSQL: everything that may stand between a process and its lease.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::Postgres;
use super::registry::Looked;
use crate::clock::{Clock, SystemClock};
use crate::coordinator::registry::{Check, Examination, Verdict};
use crate::error::Error;

/// How often the way there and back is measured.
const ROUND_TRIPS: usize = 5;
/// From here on a renewal's round trip is worth a look.
const SLOW: Duration = Duration::from_millis(250);
/// Clocks further apart than this make people wonder about timestamps.
const CLOCKS_APART_MS: u64 = 2000;
/// In percent of the machine IDs, or of the server's connections.
const NEARLY_ALL: u64 = 80;

impl Postgres {
    pub(super) async fn examined(&self) -> Result<Examination, Error> {
        let held = self.link.get().await?;
        let client = held.client();
        let latency = self.latency(client).await?;
        let schema = self.setup.settings.schema();
        let rows = self.execute(client, &self.statements.examine, &[(&schema, Type::TEXT)]).await?;
        let row = rows.first().ok_or_else(|| self.restless())?;
        let mut checks = server_checks(row, latency).map_err(|error| self.failure(&error))?;
        let may_use = row.try_get("may_use").map_err(|error| self.failure(&error))?;
        if may_use {
            checks.extend(self.registry_checks(client).await?);
        }
        let server = row.try_get("full_version").map_err(|error| self.failure(&error))?;
        self.link.put(held);
        Ok(Examination { server, checks })
    }

    /// The median of a few round trips.
    async fn latency(&self, client: &Client) -> Result<Duration, Error> {
        let mut took = Vec::with_capacity(ROUND_TRIPS);
        for _ in 0..ROUND_TRIPS {
            let sent = SystemClock.tick();
            self.execute(client, "select 1", &[]).await?;
            took.push(SystemClock.tick().since(sent));
        }
        took.sort_unstable();
        Ok(took[ROUND_TRIPS / 2])
    }

    async fn registry_checks(&self, client: &Client) -> Result<Vec<Check>, Error> {
        let mut checks = Vec::new();
        match self.looked(client).await? {
            None => checks.push(
                check("registry", Verdict::Warning, format!("no namespace {} yet", self.setup.namespace)).advise(
                    "npx mintid setup --fresh, if nothing of it ran lately; else the first process makes it, and waits",
                ),
            ),
            Some(looked) => checks.extend(incarnation(&looked)),
        }
        let listed = self.listed().await?;
        let within = listed.iter().filter(|lease| self.setup.machine_ids.contains(lease.machine));
        let (leased, capacity) = (within.filter(|lease| lease.live).count() as u64, self.setup.machine_ids.capacity());
        checks.push(share("machine IDs", leased, u64::from(capacity), "leased", "use a layout with more machine bits"));
        Ok(checks)
    }
}

fn server_checks(row: &Row, latency: Duration) -> Result<Vec<Check>, tokio_postgres::Error> {
    let (standby, read_only): (bool, bool) = (row.try_get("standby")?, row.try_get("read_only")?);
    let (made, may_create, may_use): (bool, bool, bool) =
        (row.try_get("made")?, row.try_get("may_create")?, row.try_get("may_use")?);
    let fsync: String = row.try_get("fsync")?;
    let synchronous_commit: String = row.try_get("synchronous_commit")?;
    let apart_ms = SystemClock.wall_ms().abs_diff(row.try_get::<_, i64>("now_ms")? as u64);
    let time_zone: String = row.try_get("time_zone")?;
    let mut checks = vec![check("version", Verdict::Fine, row.try_get::<_, String>("version")?)];
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
    let clocks = format!("{apart_ms} ms apart from this host's; time zone {time_zone} (no matter)");
    checks.push(if apart_ms > CLOCKS_APART_MS {
        check("clock", Verdict::Warning, clocks)
            .advise("run NTP on both: timestamps in IDs follow the server; uniqueness does not depend on it")
    } else {
        check("clock", Verdict::Fine, clocks)
    });
    let round_trip = format!("{:.1} ms a round trip", latency.as_secs_f64() * 1000.0);
    checks.push(if latency > SLOW {
        check("latency", Verdict::Warning, round_trip).advise("lease from a registry that is nearer")
    } else {
        check("latency", Verdict::Fine, round_trip)
    });
    let (used, most) = (row.try_get::<_, i64>("connections")? as u64, row.try_get::<_, i32>("most_connections")?);
    checks.push(share(
        "connections",
        used,
        most.max(1) as u64,
        "in use",
        "put pgbouncer in front, or raise max_connections",
    ));
    Ok(checks)
}

fn incarnation(looked: &Looked) -> [Check; 2] {
    let found = &looked.found;
    let said = format!(
        "layout {}, ttl {}, keys {}, incarnation {}",
        found.layout.as_deref().unwrap_or("not said yet"),
        found.ttl_ms.map_or("not said yet".into(), |ms| format!("{ms} ms")),
        found.fingerprints.len(),
        if found.durable == Some(true) { "durable" } else { "volatile" },
    );
    let left = looked.not_before_ms.saturating_sub(looked.now_ms) / 1000;
    let incarnation = if !looked.same {
        check("incarnation", Verdict::Warning, "not the one that the leases were granted under".into())
            .advise("newcomers will wait; if you know that nothing was lost: npx mintid setup --accept-reset")
    } else if looked.waiting {
        check("incarnation", Verdict::Warning, format!("new; newcomers wait for another {left} s"))
            .advise("if you know that nothing was lost: npx mintid setup --accept-reset")
    } else {
        check("incarnation", Verdict::Fine, "known".into())
    };
    [check("registry", Verdict::Fine, said), incarnation]
}

fn share(name: &'static str, used: u64, all: u64, word: &str, advice: &str) -> Check {
    let found = format!("{used} of {all} {word}");
    match used * 100 / all.max(1) {
        0..NEARLY_ALL => check(name, Verdict::Fine, found),
        NEARLY_ALL..100 => check(name, Verdict::Warning, found).advise(advice),
        _ => check(name, Verdict::Error, found).advise(advice),
    }
}

fn check(name: &'static str, verdict: Verdict, found: String) -> Check {
    Check { name, verdict, found, advice: None }
}

impl Check {
    fn advise(self, advice: &str) -> Self {
        Self { advice: Some(advice.to_owned()), ..self }
    }
}
