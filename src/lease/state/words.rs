//! The words in which [`super::step`] is told and tells: states, events, effects.

use std::time::Duration;

use crate::clock::Tick;
use crate::coordinator::{Grant, Lease};
use crate::error::Error;
use crate::lease::event::{Source, What};
use crate::nonce::{Loss, Why};

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timings {
    /// What a renewal asks for.
    pub ttl: Duration,
    /// What an acquire asks for: who crashes young gives its ID back soon.
    pub first_ttl: Duration,
    /// From one renewal to the next.
    pub renew_every: Duration,
}

/// A state and its generation, which changes whenever earlier answers and timers stop to matter.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Where in its life the lease is.
    pub phase: Phase,
    /// Counts up.
    pub generation: u64,
}

/// Where in its life a lease is.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Nobody asked for a lease yet, or the last one to ask was told that it cannot be had.
    Idle,
    /// Asking for the first lease.
    Acquiring(Asking),
    /// Held.
    Held(Holding),
    /// Lost; asking for another one.
    Lost(Asking),
    /// Another process holds the one machine ID that is claimed; asking until it is free.
    Conflict {
        /// Which.
        machine: u32,
        /// As before the conflict.
        asking: Asking,
    },
    /// The end.
    Closed,
}

/// An acquire that goes on until it succeeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    /// What it is for: the first lease, or one after a loss.
    pub source: Source,
    /// When the attempt under way, or the last one, was sent.
    pub sent: Tick,
    /// How many attempts were made.
    pub asked: u32,
    /// How many attempts failed.
    pub failed: u32,
    /// Why the last one failed.
    pub last_error: Option<Error>,
}

/// A lease that is ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holding {
    /// As last confirmed.
    pub lease: Lease,
    /// When it ends, if it does.
    pub deadline: Option<Tick>,
    /// When the renewal under way was sent.
    pub renewal_sent: Option<Tick>,
    /// What made that one happen, or the one before.
    pub source: Source,
    /// How many renewals in a row had an unknown outcome.
    pub unknown: u32,
}

/// What can happen.
#[derive(Debug, Clone)]
pub enum Event {
    /// Somebody waits for a lease.
    Wanted,
    /// An acquire was granted.
    Acquired(u64, Grant),
    /// An acquire failed.
    Refused(u64, Error),
    /// A renewal was granted.
    Renewed(u64, Grant),
    /// A renewal proved that the lease is not ours any more.
    Rejected(u64, Loss),
    /// A renewal's outcome is unknown.
    Unknown(u64, Error),
    /// A timer fired.
    Fired(u64, Timer),
    /// A count found the lease to be over, or could not move the fence on: look.
    Doubted,
    /// The connection to the coordinator ended by itself.
    Disconnected,
    /// The application gives the lease up, and says why.
    Relinquished(String),
    /// The application is done.
    Closing,
}

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timer {
    /// Try to acquire again.
    Retry,
    /// Renew.
    Renew,
    /// The lease ends.
    Deadline,
}

/// What is to be done, in order.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Ask for a lease; the answer carries this generation.
    Acquire(u64),
    /// Ask for more time; the answer carries this generation.
    Renew(u64, Lease),
    /// Give a lease back to its last use, as told by the close before.
    Release {
        /// Which.
        lease: Lease,
        /// Whether the application is told, with a `leaseReleased`.
        announce: bool,
    },
    /// Give a lease back that was never used.
    Decline(Lease),
    /// Let the factory count under this grant.
    Open(Grant),
    /// Move the factory's fence on.
    Grow(Grant),
    /// Stop the factory.
    Close(Why),
    /// Set a timer.
    SetTimer(u64, Timer, Tick),
    /// Tell the application.
    Emit(What),
    /// Answer everybody who waits for a lease.
    Settle(Result<(), Error>),
}

impl State {
    /// The beginning.
    #[must_use]
    pub const fn new() -> Self {
        Self { phase: Phase::Idle, generation: 0 }
    }

    /// The attempts that failed in a row and the last error, while a lease is asked for.
    #[must_use]
    pub fn asking(&self) -> Option<&Asking> {
        match &self.phase {
            Phase::Acquiring(asking) | Phase::Lost(asking) | Phase::Conflict { asking, .. } => Some(asking),
            Phase::Idle | Phase::Held(_) | Phase::Closed => None,
        }
    }

    /// What whoever listens from now on has to know.
    #[must_use]
    pub fn news(&self) -> Option<What> {
        match &self.phase {
            Phase::Held(Holding { lease, .. }) => {
                Some(What::Acquired { machine: lease.machine, source: Source::Initial, took: Duration::ZERO })
            }
            Phase::Conflict { machine, .. } => Some(What::Conflict { machine: *machine }),
            Phase::Idle | Phase::Acquiring(_) | Phase::Lost(_) | Phase::Closed => None,
        }
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

impl Event {
    /// Of which state it is an answer or a timer, if it is one.
    pub(super) fn generation(&self) -> Option<u64> {
        match self {
            Self::Acquired(generation, _)
            | Self::Refused(generation, _)
            | Self::Renewed(generation, _)
            | Self::Rejected(generation, _)
            | Self::Unknown(generation, _)
            | Self::Fired(generation, _) => Some(*generation),
            Self::Wanted | Self::Doubted | Self::Disconnected | Self::Relinquished(_) | Self::Closing => None,
        }
    }
}
