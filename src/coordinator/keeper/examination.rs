//! `npx mintid doctor`: what is the same for every server that may stand between a process and its lease.

use std::time::Duration;

use super::{Looked, Terms};
use crate::clock::{Clock, SystemClock, Tick};
use crate::coordinator::registry::{Check, Listed, Verdict};

/// How often the way there and back is measured.
const ROUND_TRIPS: usize = 5;
/// From here on a renewal's round trip is worth a look.
const SLOW: Duration = Duration::from_millis(250);
/// Clocks further apart than this make people wonder about timestamps.
const CLOCKS_APART_MS: u64 = 2000;
/// In percent of the machine IDs, or of the server's connections.
const NEARLY_ALL: u64 = 80;

/// How long each of a few round trips took.
#[derive(Default)]
pub(in crate::coordinator) struct RoundTrips(Vec<Duration>);

impl RoundTrips {
    /// Whether there are not enough yet.
    pub(in crate::coordinator) fn wants_more(&self) -> bool {
        self.0.len() < ROUND_TRIPS
    }

    /// One more, from `sent` until now.
    pub(in crate::coordinator) fn count(&mut self, sent: Tick) {
        self.0.push(SystemClock.tick().since(sent));
    }
}

/// The median of a few round trips.
pub(in crate::coordinator) fn latency(RoundTrips(mut took): RoundTrips) -> Check {
    took.sort_unstable();
    let latency = took[ROUND_TRIPS / 2];
    let round_trip = format!("{:.1} ms a round trip", latency.as_secs_f64() * 1000.0);
    if latency > SLOW {
        check("latency", Verdict::Warning, round_trip).advise("lease from a registry that is nearer")
    } else {
        check("latency", Verdict::Fine, round_trip)
    }
}

/// The server's clock beside this host's.
pub(in crate::coordinator) fn clocks(server_ms: u64, time_zone: Option<&str>) -> Check {
    let apart_ms = SystemClock.wall_ms().abs_diff(server_ms);
    let zone = time_zone.map(|zone| format!("; time zone {zone} (no matter)")).unwrap_or_default();
    let found = format!("{apart_ms} ms apart from this host's{zone}");
    if apart_ms > CLOCKS_APART_MS {
        check("clock", Verdict::Warning, found)
            .advise("run NTP on both: timestamps in IDs follow the server; uniqueness does not depend on it")
    } else {
        check("clock", Verdict::Fine, found)
    }
}

/// The registry itself, and how many of its machine IDs are leased.
pub(in crate::coordinator) fn registry(terms: &Terms, looked: Option<&Looked>, listed: &[Listed]) -> Vec<Check> {
    let mut checks = Vec::new();
    match looked {
        None => {
            let found = format!("no namespace {} yet", terms.namespace);
            checks.push(check("registry", Verdict::Warning, found).advise(
                "npx mintid setup --fresh, if nothing of it ran lately; else the first process makes it, and waits",
            ));
        }
        Some(looked) => checks.extend(incarnation(looked)),
    }
    let within = listed.iter().filter(|lease| terms.machine_ids.contains(lease.machine));
    let (leased, capacity) = (within.filter(|lease| lease.live).count() as u64, terms.machine_ids.capacity());
    checks.push(share("machine IDs", leased, u64::from(capacity), "leased", "use a layout with more machine bits"));
    checks
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

pub(in crate::coordinator) fn share(name: &'static str, used: u64, all: u64, word: &str, advice: &str) -> Check {
    let found = format!("{used} of {all} {word}");
    match used * 100 / all.max(1) {
        0..NEARLY_ALL => check(name, Verdict::Fine, found),
        NEARLY_ALL..100 => check(name, Verdict::Warning, found).advise(advice),
        _ => check(name, Verdict::Error, found).advise(advice),
    }
}

pub(in crate::coordinator) fn check(name: &'static str, verdict: Verdict, found: String) -> Check {
    Check { name, verdict, found, advice: None }
}

impl Check {
    pub(in crate::coordinator) fn advise(self, advice: &str) -> Self {
        Self { advice: Some(advice.to_owned()), ..self }
    }
}
