//! What the registries of all shared coordinators have in common: what their clients must agree on, what is waited for
//! after a registry may have forgotten leases, and what an operator can do about it.

use std::time::Duration;

use super::{Answer, Coordinator};
use crate::error::{Code, Error, Retry};
use crate::layout::Layout;

/// The version of the protocol between a process and a registry; a registry of a newer one is left alone.
pub const PROTOCOL: i32 = 1;

/// What all processes that share a registry must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// Bit widths and epoch.
    pub layout: Layout,
    /// How long a lease lasts, and how long is waited after a reset.
    pub ttl: Duration,
    /// The base key's fingerprint, if there is a key.
    pub fingerprint: Option<[u8; 16]>,
    /// Whether the incarnation is kept where a crash leaves it alone.
    pub durable: bool,
}

impl Agreement {
    /// The layout as registries keep it: `partition/time/machine/sequence@epoch`, the epoch in ms since 1970.
    #[must_use]
    pub fn layout_text(&self) -> String {
        self.layout.to_string()
    }
}

/// The same as a registry has it; `None` where nobody has said it yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Version of the protocol.
    pub protocol: i32,
    /// See [`Agreement::layout_text`].
    pub layout: Option<String>,
    /// In milliseconds.
    pub ttl_ms: Option<u64>,
    /// See [`Agreement::durable`].
    pub durable: Option<bool>,
    /// Of every base key that is in use.
    pub fingerprints: Vec<Vec<u8>>,
}

/// Why a process with `ours` must stay away from a registry with `theirs`, if it must. What nobody has said yet is no
/// disagreement.
#[must_use]
pub fn disagreement(ours: &Agreement, theirs: &Found) -> Option<Error> {
    if theirs.protocol > PROTOCOL {
        let text = format!(
            "the registry speaks protocol {}, this version of mintid up to {PROTOCOL}: update this process",
            theirs.protocol
        );
        return Some(
            Error::new(Code::RegistryVersion, text).with(|fields| fields.command = Some("npm install mintid@latest")),
        );
    }
    let differs = |option: &'static str, found: &str, expected: &str| {
        let text = format!("{option}: {found} here, but {expected} in the registry, which all its processes share");
        Some(Error::config(option, text))
    };
    let (layout, ttl_ms) = (ours.layout_text(), ours.ttl.as_millis() as u64);
    if let Some(theirs) = theirs.layout.as_ref().filter(|theirs| **theirs != layout) {
        return differs("layout", &layout, theirs);
    }
    if let Some(theirs) = theirs.ttl_ms.filter(|theirs| *theirs != ttl_ms) {
        return differs("lease.ttlMs", &ttl_ms.to_string(), &theirs.to_string());
    }
    if let Some(theirs) = theirs.durable.filter(|theirs| *theirs != ours.durable) {
        let name = |durable| if durable { "'durable'" } else { "'volatile'" };
        return differs("incarnation", name(ours.durable), name(theirs));
    }
    let known = |ours: [u8; 16]| theirs.fingerprints.iter().any(|theirs| *theirs == ours);
    if ours.fingerprint.is_some_and(|ours| !theirs.fingerprints.is_empty() && !known(ours)) {
        let text = "key: another one than the registry's processes have: under it every masked ID would be another one";
        return Some(Error::config("key", text));
    }
    None
}

/// Whether a registry has all that a process of `ours` would say, and agrees with it.
#[must_use]
pub fn is_complete(ours: &Agreement, theirs: &Found) -> bool {
    let said = theirs.layout.is_some() && theirs.ttl_ms.is_some() && theirs.durable.is_some();
    let has_key = ours.fingerprint.is_none() || !theirs.fingerprints.is_empty();
    said && has_key && disagreement(ours, theirs).is_none()
}

/// By how much clocks may differ between a registry and the one that takes its place.
#[must_use]
pub fn margin(ttl: Duration) -> Duration {
    Duration::from_secs(2).min(ttl / 5)
}

/// How long a registry that may have forgotten leases grants nothing new.
#[must_use]
pub fn quarantine(ttl: Duration) -> Duration {
    ttl + margin(ttl)
}

/// What newcomers do at a registry that may have forgotten leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnReset {
    /// Wait until every lease that it may have granted has run out.
    Wait,
    /// Lease at once; for development, where nobody else can hold a lease.
    Grant,
}

/// What is told to newcomers while a registry waits.
#[must_use]
pub fn waiting(name: &str, now_ms: u64, not_before_ms: u64) -> Error {
    let left = Duration::from_millis(not_before_ms.saturating_sub(now_ms) + 1);
    let text = format!(
        "{name}: the registry is new, or was restarted, restored or replaced, and may have forgotten leases; \
         new ones are granted in {:.1} s, when all of those have run out (who knows that there are none may end the wait: \
         npx mintid setup --accept-reset)",
        left.as_secs_f64()
    );
    Error::new(Code::RegistryReset, text)
        .with(|fields| {
            fields.not_before_ms = Some(not_before_ms);
            fields.command = Some("npx mintid setup --accept-reset");
        })
        .retry_as(Retry::Later)
        .retry_in(left)
}

/// Who holds a lease, for people: host and process.
#[must_use]
pub fn holder() -> String {
    #[cfg(unix)]
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let host = String::from("windows");
    format!("{host}:{}", std::process::id())
}

/// What an operator asks of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Make what is missing.
    Plain,
    /// The same, on the operator's word that nothing of this namespace ran lately: nothing is waited for, and what its
    /// processes agree on is for the next one to say.
    Fresh,
    /// The operator knows that nothing was forgotten, or that nobody holds what was: end the wait.
    AcceptReset,
    /// The operator says that an earlier copy was put back: newcomers wait for all that it may have forgotten, and
    /// sequences of `mintid ddl --default` move past it.
    Restored,
}

/// What a setup came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether the registry was made.
    pub created: bool,
    /// From when on newcomers may lease, in milliseconds since 1970; 0: at once.
    pub not_before_ms: u64,
    /// The registry's time.
    pub now_ms: u64,
    /// How many machine IDs it has.
    pub machine_ids: u32,
    /// How long its leases last, as far as it is known, in milliseconds.
    pub ttl_ms: u64,
    /// The sequences that the database mints from, where a restored one was announced.
    pub sequences: Vec<Sequence>,
}

/// A sequence of `mintid ddl --default` in a database that was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// Its name, quoted as SQL needs it.
    pub name: String,
    /// Whether it now stands at the server's time; not if it was ahead of that, and nothing tells what was forgotten.
    pub moved: bool,
}

/// One machine ID in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Machine ID.
    pub machine: u32,
    /// Who holds it, or held it last: host and process.
    pub holder: Option<String>,
    /// When that one acquired it, in milliseconds since 1970 by the coordinator's clock.
    pub acquired_at_ms: Option<u64>,
    /// When its last lease ends or ended; 0 if there never was one.
    pub expires_at_ms: u64,
    /// Whether it may not be granted yet.
    pub live: bool,
}

/// What an examination found, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// What the server calls itself.
    pub server: String,
    /// One by one.
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// How it is.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Fine,
    /// Worth a look.
    Warning,
    /// mintid cannot work so.
    Error,
}

impl Verdict {
    /// The public word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A coordinator with a registry that an operator can look after.
pub trait Registry: Coordinator {
    /// Makes the registry, or what is missing of it. Plain setup never shortens a wait, and that of a restored registry
    /// begins it anew.
    ///
    /// # Errors
    /// `CONFIG` on a disagreement; `COORDINATOR`, with the SQL to run in its hint where a right is missing.
    fn setup(&self, mode: Mode) -> Answer<'_, Result<Report, Error>>;

    /// Every machine ID of the registry, ascending.
    ///
    /// # Errors
    /// `COORDINATOR`.
    fn list(&self) -> Answer<'_, Result<Vec<Listed>, Error>>;

    /// What [`Registry::setup`] makes, for those who may not let mintid make it.
    fn script(&self) -> String;

    /// Looks at everything that may stand in the way.
    ///
    /// # Errors
    /// `COORDINATOR` when it cannot even be reached.
    fn examine(&self) -> Answer<'_, Result<Examination, Error>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Agreement {
        Agreement { layout: Layout::DEFAULT, ttl: Duration::from_secs(300), fingerprint: Some([7; 16]), durable: false }
    }

    fn theirs() -> Found {
        Found {
            protocol: 1,
            layout: Some("0/42/9/13@1735689600000".into()),
            ttl_ms: Some(300_000),
            durable: Some(false),
            fingerprints: vec![vec![1; 16], vec![7; 16]],
        }
    }

    #[test]
    fn who_agrees_or_is_the_first_to_say_may_lease() {
        let unsaid = Found { layout: None, ttl_ms: None, durable: None, fingerprints: Vec::new(), ..theirs() };
        for theirs in [theirs(), unsaid] {
            assert_eq!(disagreement(&ours(), &theirs), None, "{theirs:?}");
        }
        assert_eq!(disagreement(&Agreement { fingerprint: None, ..ours() }, &theirs()), None);
        assert!(is_complete(&ours(), &theirs()));
        for lacks in [
            Found { layout: None, ..theirs() },
            Found { ttl_ms: None, ..theirs() },
            Found { durable: None, ..theirs() },
            Found { fingerprints: Vec::new(), ..theirs() },
        ] {
            assert!(!is_complete(&ours(), &lacks), "{lacks:?}");
        }
    }

    #[test]
    fn each_disagreement_names_its_option() {
        let other_layout = Layout::new(0, 41, 9, 13, Layout::DEFAULT_EPOCH_MS).unwrap();
        let cases = [
            (Agreement { layout: other_layout, ..ours() }, "layout"),
            (Agreement { ttl: Duration::from_secs(30), ..ours() }, "lease.ttlMs"),
            (Agreement { durable: true, ..ours() }, "incarnation"),
            (Agreement { fingerprint: Some([8; 16]), ..ours() }, "key"),
        ];
        for (ours, option) in cases {
            let error = disagreement(&ours, &theirs()).unwrap();
            assert_eq!((error.code(), error.fields().option), (Code::Config, Some(option)), "{error}");
        }
        let newer = disagreement(&ours(), &Found { protocol: 2, ..theirs() }).unwrap();
        assert_eq!(newer.code(), Code::RegistryVersion);
    }

    #[test]
    fn the_margin_is_two_seconds_or_a_fifth_of_a_short_lease() {
        assert_eq!(margin(Duration::from_secs(300)), Duration::from_secs(2));
        assert_eq!(margin(Duration::from_secs(3)), Duration::from_millis(600));
        assert_eq!(quarantine(Duration::from_secs(3)), Duration::from_millis(3600));
    }

    #[test]
    fn a_wait_says_until_when_and_what_an_operator_can_do() {
        let error = waiting("postgres://db/app", 1000, 3499);
        assert_eq!((error.code(), error.retry()), (Code::RegistryReset, Retry::Later));
        assert_eq!(error.fields().not_before_ms, Some(3499));
        assert_eq!(error.worth_retrying_in(), Some(Duration::from_millis(2500)));
        assert!(error.message().contains("in 2.5 s"), "{error}");
    }
}
