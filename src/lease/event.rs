//! What an application is told of its lease.

use std::time::Duration;

use crate::error::Error;
use crate::nonce::Loss;

/// One event and when it happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Which event of its manager this is; later ones have greater numbers.
    pub number: u64,
    /// Milliseconds since 1970 by this machine's wall clock.
    pub at_ms: u64,
    /// What happened.
    pub what: What,
}

/// What happened to a lease.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// `leaseAcquired`: IDs from here on.
    Acquired {
        /// Machine ID.
        machine: u32,
        /// What it was acquired for.
        source: Source,
        /// From asking to the answer.
        took: Duration,
    },
    /// `leaseRenewed`.
    Renewed {
        /// Machine ID.
        machine: u32,
        /// Why it was renewed now.
        source: Source,
        /// From asking to the answer.
        took: Duration,
    },
    /// `leaseRetry`: an attempt failed and is made again.
    Retry {
        /// Which.
        operation: Operation,
        /// What made it happen.
        source: Source,
        /// From asking to the answer, or to giving up on one.
        took: Duration,
        /// How many attempts in a row have failed.
        attempt: u32,
        /// How long until the next one.
        delay: Duration,
        /// Why it failed.
        error: Error,
    },
    /// `leaseLost`: no IDs from here on.
    Lost {
        /// Machine ID.
        machine: u32,
        /// How it was lost.
        loss: Loss,
        /// What the application said when it gave the lease up.
        detail: Option<String>,
    },
    /// `conflict`: another process holds the one machine ID that is claimed.
    Conflict {
        /// Machine ID.
        machine: u32,
    },
    /// `leaseReleased`: given back on purpose.
    Released {
        /// Machine ID.
        machine: u32,
        /// From asking to the answer.
        took: Duration,
    },
    /// `overflow`: a sequence counts ahead of time.
    Overflow {
        /// The name of its space, '' where it has none.
        space: String,
        /// Its partition.
        partition: u64,
    },
    /// `warning`.
    Warning {
        /// A stable word for it.
        code: &'static str,
        /// The sentence for people.
        message: String,
    },
}

/// What made an operation happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The first lease of a generator.
    Initial,
    /// A lease after a lost one.
    Reacquire,
    /// The timer of the renewals.
    Scheduled,
    /// A connection that ended by itself.
    Reconnect,
}

/// What was asked of a coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A new lease.
    Acquire,
    /// More time.
    Renew,
}

impl Source {
    /// The public word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Reacquire => "reacquire",
            Self::Scheduled => "scheduled",
            Self::Reconnect => "reconnect",
        }
    }
}

impl Operation {
    /// The public word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Renew => "renew",
        }
    }
}
