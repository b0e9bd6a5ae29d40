//! What becomes of a registry that is new, strange, or known to have forgotten something. Pure: a store looks, asks, and
//! carries it out, all while nobody else changes the registry.

use std::time::Duration;

use super::Terms;
use crate::coordinator::registry::{Agreement, Found, OnReset, disagreement, is_complete, quarantine};
use crate::error::Error;
use crate::layout::Layout;

/// What makes a registry wait, or stop to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It is another incarnation than the one it remembers, or does not know of us.
    IfStrange,
    /// A holder knows that it forgot something.
    Evidence,
    /// An operator's word ends the wait.
    Word,
    /// The same; and what its processes had agreed on is for the next one to say.
    Fresh,
    /// An operator's word that an earlier copy was put back.
    Restored,
}

impl Cause {
    fn is_word(self) -> bool {
        matches!(self, Self::Word | Self::Fresh)
    }
}

/// A registry as it stands.
#[derive(Debug, Clone)]
pub struct Looked {
    /// Its time, in milliseconds since 1970.
    pub now_ms: u64,
    /// Until when it grants nothing new, in milliseconds since 1970.
    pub not_before_ms: u64,
    /// Whether that is still to come.
    pub waiting: bool,
    /// Whether it is the incarnation that it remembers.
    pub same: bool,
    /// How many machine IDs it knows.
    pub rows: u32,
    /// What its processes agreed on.
    pub found: Found,
}

/// What a store has to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoption {
    /// Whether what the processes agreed on is forgotten before anything is said.
    pub forgets: bool,
    /// What is said where nobody has said it yet.
    pub says: Option<Agreement>,
    /// Machine IDs 0 to this one, exclusive, must have a row.
    pub machine_ids: u32,
    /// Whether the incarnation is another one than was remembered.
    pub strange: bool,
    /// Whether the incarnation as it is now is remembered, and from when on newcomers may lease.
    pub remembers: Option<NotBefore>,
}

/// From when on newcomers may lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotBefore {
    /// At once, whatever was to be waited for.
    Lift,
    /// As it was.
    Keep,
    /// Not for this long from now, nor before what was to be waited for.
    Wait(Duration),
}

impl NotBefore {
    /// As statements take it, in milliseconds: `None` lifts, 0 keeps.
    #[must_use]
    pub fn as_millis(self) -> Option<i64> {
        match self {
            Self::Lift => None,
            Self::Keep => Some(0),
            Self::Wait(wait) => Some(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)),
        }
    }
}

impl Adoption {
    /// What there is to do; `None` if another process was quicker, as after a failover that all of them meet. `join`:
    /// whether this process says what nobody has said yet.
    ///
    /// # Errors
    /// `CONFIG` or `REGISTRY_VERSION` if a process that joins disagrees with what the others said.
    pub fn of(before: Option<&Looked>, terms: &Terms, cause: Cause, join: bool) -> Result<Option<Self>, Error> {
        let ours = &terms.agreement;
        let same = before.is_some_and(|before| before.same);
        let forgets = cause == Cause::Fresh;
        let known = before.and_then(|before| before.found.layout.as_deref()).and_then(Layout::parse);
        // Rows that were there once and are not: somebody deleted them, and their holders may live.
        let lacks_rows = known.zip(before).is_some_and(|(layout, before)| before.rows < machine_ids(layout));
        if let Some(before) = before.filter(|_| cause == Cause::IfStrange && join && same && !lacks_rows)
            && is_complete(ours, &before.found)
        {
            return Ok(None);
        }
        let theirs = before.map(|before| &before.found).filter(|_| !forgets);
        if let Some(error) = theirs.filter(|_| join).and_then(|theirs| disagreement(ours, theirs)) {
            return Err(error);
        }
        let waits = before.is_some_and(|before| before.waiting);
        let suspect = !same || lacks_rows || (cause == Cause::Evidence && !waits);
        let ttl = theirs.and_then(|theirs| theirs.ttl_ms).map_or(ours.ttl, Duration::from_millis);
        let becomes_durable = join && ours.durable && theirs.and_then(|theirs| theirs.durable).is_none();
        let remembers = match terms.on_reset {
            _ if cause.is_word() => Some(NotBefore::Lift),
            _ if cause == Cause::Restored => Some(NotBefore::Wait(quarantine(ttl))),
            OnReset::Grant if suspect => Some(NotBefore::Lift),
            OnReset::Wait if suspect => Some(NotBefore::Wait(quarantine(ttl))),
            // What is compared has changed, because a process said for the first time how.
            OnReset::Grant | OnReset::Wait => becomes_durable.then_some(NotBefore::Keep),
        };
        Ok(Some(Self {
            forgets,
            says: join.then(|| ours.clone()),
            machine_ids: machine_ids(known.filter(|_| !forgets).unwrap_or(ours.layout)),
            strange: !same,
            remembers,
        }))
    }
}

/// How many machine IDs a layout leaves to processes: all but the highest.
#[must_use]
pub fn machine_ids(layout: Layout) -> u32 {
    layout.machines() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::MachineIds;

    const TTL: Duration = Duration::from_secs(300);

    fn terms(on_reset: OnReset) -> Terms {
        Terms {
            namespace: "default".into(),
            machine_ids: MachineIds::new(&Layout::DEFAULT, None).unwrap(),
            agreement: Agreement { layout: Layout::DEFAULT, ttl: TTL, fingerprint: None, durable: false },
            on_reset,
            holder: "host:1".into(),
        }
    }

    fn looked() -> Looked {
        Looked {
            now_ms: 1_000_000,
            not_before_ms: 0,
            waiting: false,
            same: true,
            rows: 511,
            found: Found {
                protocol: 1,
                layout: Some(Layout::DEFAULT.to_string()),
                ttl_ms: Some(300_000),
                durable: Some(false),
                fingerprints: Vec::new(),
            },
        }
    }

    fn remembers(before: Option<&Looked>, on_reset: OnReset, cause: Cause) -> Option<NotBefore> {
        Adoption::of(before, &terms(on_reset), cause, true).unwrap().and_then(|adoption| adoption.remembers)
    }

    #[test]
    fn whatever_may_have_forgotten_leases_waits_for_all_of_them() {
        let wait = Some(NotBefore::Wait(TTL + Duration::from_secs(2)));
        assert_eq!(remembers(None, OnReset::Wait, Cause::IfStrange), wait, "a new one");
        let strange = Looked { same: false, ..looked() };
        assert_eq!(remembers(Some(&strange), OnReset::Wait, Cause::IfStrange), wait, "another incarnation");
        let shorter = Looked { rows: 510, ..looked() };
        assert_eq!(remembers(Some(&shorter), OnReset::Wait, Cause::IfStrange), wait, "a row was deleted");
        assert_eq!(remembers(Some(&looked()), OnReset::Wait, Cause::Evidence), wait, "a holder knows");
        let waiting = Looked { waiting: true, ..looked() };
        assert_eq!(remembers(Some(&waiting), OnReset::Wait, Cause::Evidence), None, "it waits already");
        assert_eq!(remembers(None, OnReset::Grant, Cause::IfStrange), Some(NotBefore::Lift), "for development");
    }

    #[test]
    fn a_word_ends_the_wait_and_nothing_else_does() {
        let waiting = Looked { waiting: true, same: false, ..looked() };
        for cause in [Cause::Word, Cause::Fresh] {
            assert_eq!(remembers(Some(&waiting), OnReset::Wait, cause), Some(NotBefore::Lift));
        }
        let plain = Adoption::of(Some(&looked()), &terms(OnReset::Wait), Cause::IfStrange, false).unwrap().unwrap();
        assert_eq!((plain.remembers, plain.says), (None, None), "an operator who says nothing changes nothing");
    }

    #[test]
    fn a_restored_registry_waits_from_now_whatever_else_it_looks_like() {
        let wait = Some(NotBefore::Wait(TTL + Duration::from_secs(2)));
        let waiting = Looked { waiting: true, ..looked() };
        for before in [Some(&looked()), Some(&waiting), None] {
            for on_reset in [OnReset::Wait, OnReset::Grant] {
                assert_eq!(remembers(before, on_reset, Cause::Restored), wait, "{before:?}");
            }
        }
    }

    #[test]
    fn another_process_was_quicker() {
        assert_eq!(Adoption::of(Some(&looked()), &terms(OnReset::Wait), Cause::IfStrange, true).unwrap(), None);
    }

    #[test]
    fn the_wait_is_as_long_as_the_leases_that_the_others_agreed_on() {
        let mut strange = Looked { same: false, ..looked() };
        strange.found.ttl_ms = Some(9000);
        let adoption = Adoption::of(Some(&strange), &terms(OnReset::Wait), Cause::IfStrange, false).unwrap().unwrap();
        assert_eq!(adoption.remembers, Some(NotBefore::Wait(Duration::from_millis(9000 + 1800))));
        let error = Adoption::of(Some(&strange), &terms(OnReset::Wait), Cause::IfStrange, true).unwrap_err();
        assert_eq!(error.fields().option, Some("lease.ttlMs"));
        let fresh = Adoption::of(Some(&strange), &terms(OnReset::Wait), Cause::Fresh, false).unwrap().unwrap();
        assert!(fresh.forgets);
    }

    #[test]
    fn who_says_durable_first_has_it_remembered_without_a_wait() {
        let mut unsaid = looked();
        unsaid.found.durable = None;
        let mut terms = terms(OnReset::Wait);
        terms.agreement.durable = true;
        let adoption = Adoption::of(Some(&unsaid), &terms, Cause::IfStrange, true).unwrap().unwrap();
        assert_eq!(adoption.remembers, Some(NotBefore::Keep));
        assert_eq!([NotBefore::Lift, NotBefore::Keep].map(NotBefore::as_millis), [None, Some(0)]);
    }
}
