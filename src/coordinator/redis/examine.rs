//! `npx mintid doctor` for Redis and Valkey: everything that may stand between a process and its lease.

use std::collections::HashMap;

use super::session::{Server, Session};
use super::{Hash, Value};
use crate::clock::{Clock, SystemClock};
use crate::coordinator::keeper::Terms;
use crate::coordinator::keeper::examination::{RoundTrips, check, clocks, latency, registry, share};
use crate::coordinator::registry::{Check, Examination, Verdict};
use crate::error::Error;

impl<S: Server> Hash<S> {
    pub(super) async fn examined(&self, connection: &S::Connection, terms: &Terms) -> Result<Examination, Error> {
        let told = Told::ask(connection).await?;
        let seen = self.looked(connection, terms).await?;
        let said = seen.looked.as_ref().and_then(|looked| looked.found.durable);
        let mut checks = told.checks(said.unwrap_or(terms.agreement.durable), seen.believed);
        checks.extend(told.replicas(self.server.replicas()));
        checks.push(clocks(seen.now_ms, None));
        let mut round_trips = RoundTrips::default();
        while round_trips.wants_more() {
            let sent = SystemClock.tick();
            connection.command(&[b"TIME"]).await?;
            round_trips.count(sent);
        }
        checks.push(latency(round_trips));
        checks.extend(told.connections());
        checks.extend(registry(terms, seen.looked.as_ref(), &self.listed(connection).await?));
        Ok(Examination { server: told.server(), checks })
    }
}

/// What the server says of itself.
struct Told(HashMap<String, String>);

impl Told {
    /// Section by section, as Redis 6 wants it.
    async fn ask(connection: &impl Session) -> Result<Self, Error> {
        let mut told = HashMap::new();
        for section in ["server", "replication", "persistence", "memory", "clients", "stats", "cluster"] {
            let text = match connection.command(&[b"INFO", section.as_bytes()]).await {
                Ok(Value::BulkString(text)) => text,
                Err(error) if error.fields().server_code.as_deref() != Some("NOPERM") => return Err(error),
                _ => continue,
            };
            for line in String::from_utf8_lossy(&text).lines() {
                if let Some((name, value)) = line.split_once(':') {
                    told.insert(name.to_owned(), value.to_owned());
                }
            }
        }
        Ok(Self(told))
    }

    fn checks(&self, durable: bool, believed: bool) -> Vec<Check> {
        if self.0.is_empty() {
            let found = "this user may not ask for the server's version, role, persistence and eviction policy";
            return vec![check("INFO", Verdict::Warning, found.into()).advise("ACL SETUSER <user> +info")];
        }
        let mut checks = vec![self.version(), self.role()];
        checks.extend(self.persistence(durable, believed));
        checks.extend(self.memory());
        checks
    }

    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name).parse().ok()
    }

    fn server(&self) -> String {
        match (self.get("valkey_version"), self.get("redis_version")) {
            ("", "") => "Redis or Valkey".to_owned(),
            ("", version) => format!("Redis {version}"),
            (version, _) => format!("Valkey {version}"),
        }
    }

    /// Major and minor; Valkey says with which Redis it agrees.
    fn release(&self) -> (u32, u32) {
        let number = |part: Option<&str>| part.and_then(|part| part.parse().ok()).unwrap_or(0);
        let mut parts = self.get("redis_version").split('.');
        (number(parts.next()), number(parts.next()))
    }

    fn version(&self) -> Check {
        if self.release() < (6, 2) {
            check("version", Verdict::Error, self.server()).advise("Redis 6.2 or newer is needed, or Valkey")
        } else {
            check("version", Verdict::Fine, self.server())
        }
    }

    fn role(&self) -> Check {
        match self.get("role") {
            "master" => check("writable", Verdict::Fine, "yes".into()),
            role => check("writable", Verdict::Error, format!("a {role}"))
                .advise("name the master, or the Sentinels: redis+sentinel://host:26379/mymaster"),
        }
    }

    fn persistence(&self, durable: bool, believed: bool) -> Vec<Check> {
        let found = match (self.get("aof_enabled"), believed) {
            ("1", true) => "append-only file, no replicas: after a restart within two thirds of a ttl nobody waits",
            ("1", false) => "append-only file; yet after a restart or failover newcomers wait",
            _ => "no append-only file: after a restart or failover newcomers wait",
        };
        let mut checks = vec![match self.get("aof_last_write_status") {
            "err" => check("persistence", Verdict::Error, "the append-only file cannot be written".into())
                .advise("the server's log says why; no lease is granted or renewed until then"),
            _ if durable => {
                check("persistence", Verdict::Warning, "incarnation 'durable': nobody would notice a loss".into())
                    .advise("only where the server never forgets what it has confirmed")
            }
            _ => check("persistence", Verdict::Fine, found.into()),
        }];
        if self.get("run_id").is_empty() && !durable {
            checks.push(
                check("run ID", Verdict::Error, "the server does not say which run it is".into())
                    .advise(super::failure::DURABLE),
            );
        }
        checks
    }

    /// A master that its replicas cannot reach goes on, beside the replica that takes its place.
    fn replicas(&self, wanted: u32) -> Option<Check> {
        let found = self.number("connected_slaves").filter(|found| *found > 0)?;
        let minds = wanted > 0 || !self.get("min_slaves_good_slaves").is_empty() || self.get("cluster_enabled") == "1";
        let check = check("replicas", if minds { Verdict::Fine } else { Verdict::Warning }, found.to_string());
        let advice = "replicas=… in the address (more than half of them), or min-replicas-to-write 1: else a master that is \
                      cut off would grant leases beside the one that takes its place";
        Some(if minds { check } else { check.advise(advice) })
    }

    fn memory(&self) -> Vec<Check> {
        let policy = self.get("maxmemory_policy");
        let most = self.number("maxmemory").unwrap_or(0);
        let evicts = policy.starts_with("allkeys");
        let mut checks = vec![match (evicts, most) {
            (true, 0) => check("eviction", Verdict::Warning, format!("{policy}, but no maxmemory yet"))
                .advise("use maxmemory-policy volatile-… or noeviction: the registry is a key without a time to live"),
            (true, _) => check("eviction", Verdict::Warning, format!("{policy}: it may evict the registry"))
                .advise("use maxmemory-policy volatile-… or noeviction: the registry is a key without a time to live"),
            (false, _) => check("eviction", Verdict::Fine, format!("{policy}: the registry stays")),
        }];
        if most > 0 {
            let used = self.number("used_memory").unwrap_or(0);
            let advice = "raise maxmemory: a full server refuses every lease";
            checks.push(share("memory", used / 1024, (most / 1024).max(1), "KiB in use", advice));
        }
        checks
    }

    fn connections(&self) -> Option<Check> {
        let (used, most) = (self.number("connected_clients")?, self.number("maxclients")?);
        Some(share(
            "connections",
            used,
            most.max(1),
            "in use",
            "raise maxclients, or have other programs close connections",
        ))
    }
}
