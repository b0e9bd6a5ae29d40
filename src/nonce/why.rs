//! Why there is nothing to count with.

use crate::error::{Code, Error};

/// How a lease was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// The fence's end passed without a renewal.
    Expired,
    /// The coordinator says it is not ours any more.
    Rejected,
    /// Another process claims the same machine ID.
    Conflict,
    /// The application gave it up.
    Relinquished,
}

impl Loss {
    /// The public word for it, as in the event `leaseLost`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Rejected => "rejected",
            Self::Conflict => "conflict",
            Self::Relinquished => "relinquished",
        }
    }
}

/// Why a factory without a lease has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// None was granted yet.
    NotReady,
    /// The last one was lost.
    Lost {
        /// Its machine ID.
        machine: u32,
        /// How.
        loss: Loss,
    },
    /// Another process holds the one machine ID that is claimed.
    Conflict {
        /// Which.
        machine: u32,
    },
    /// The owner is done.
    Closed,
}

impl Why {
    /// The error that counting ends in.
    #[must_use]
    pub fn error(self) -> Error {
        match self {
            Self::NotReady => Error::new(Code::NotReady, "no lease yet: wait for `await ids.ready()`"),
            Self::Lost { machine, loss } => {
                let text = format!(
                    "the lease of machine ID {machine} was lost ({}); no IDs until the next one",
                    loss.as_str()
                );
                Error::new(Code::LeaseLost, text).with(|fields| {
                    fields.machine_id = Some(machine);
                    fields.reason = Some(loss.as_str());
                })
            }
            Self::Conflict { machine } => {
                let text = format!("machine ID {machine} is held by another process; no IDs until it is free");
                Error::new(Code::Conflict, text).with(|fields| fields.machine_id = Some(machine))
            }
            Self::Closed => Error::new(Code::Closed, "the generator is closed"),
        }
    }
}
