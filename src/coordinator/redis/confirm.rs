//! What was written is relied on when it is where a restart or a failover finds it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::answer::nonsense;
use super::failure::made;
use super::registry::flag;
use super::session::{Server, Session as _};
use super::{Hash, Value};
use crate::clock::{Clock, SystemClock};
use crate::coordinator::keeper::Store as _;
use crate::error::{Error, Retry};

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing.
    Not,
    /// The append-only file: a restart would believe it.
    Must,
    /// The same, to learn whether the server confirms what it writes.
    May,
}

/// What is known of the server's append-only file.
#[derive(Debug, Default)]
pub(super) struct File {
    confirms: AtomicBool,
    asked: AtomicBool,
}

impl File {
    /// Whether the server has confirmed what it wrote to it, for the scripts.
    pub(super) fn confirms(&self) -> &'static str {
        flag(self.confirms.load(Ordering::Relaxed))
    }
}

impl<S: Server> Hash<S> {
    /// How long the append-only file and the replicas may take. Every second is usual.
    const CONFIRMED_WITHIN: Duration = Duration::from_secs(4);

    /// Waits until what was just written is where a restart or a failover will find it: nobody relies on it before.
    pub(super) async fn confirm(&self, connection: &S::Connection, wait: Wait) -> Result<(), Error> {
        let sent = SystemClock.tick();
        self.replicated(connection).await?;
        let left = Self::CONFIRMED_WITHIN.saturating_sub(SystemClock.tick().since(sent));
        match wait {
            Wait::Must => self.written(connection, left).await,
            // Once, beforehand: whoever asks must not have to wait for an answer again and again.
            Wait::May if !self.file.asked.swap(true, Ordering::Relaxed) => {
                let _ = self.written(connection, left / 2).await;
                Ok(())
            }
            Wait::Not | Wait::May => Ok(()),
        }
    }

    async fn replicated(&self, connection: &S::Connection) -> Result<(), Error> {
        let replicas = self.server.replicas();
        if replicas == 0 {
            return Ok(());
        }
        let (wanted, limit) = (replicas.to_string(), Self::CONFIRMED_WITHIN.as_millis().to_string());
        let answer = connection.command(&[b"WAIT", wanted.as_bytes(), limit.as_bytes()]).await?;
        let Value::Int(found) = answer else { return Err(nonsense(&self.name())) };
        if found >= i64::from(replicas) {
            return Ok(());
        }
        let what = format!("{found} of {replicas} replicas have the lease after {limit} ms");
        Err(self.unconfirmed(&what, "do the replicas run, and keep up? Else lower replicas=…"))
    }

    async fn written(&self, connection: &S::Connection, limit: Duration) -> Result<(), Error> {
        // 0 would be for ever.
        let limit = limit.as_millis().max(1).to_string();
        let answer = connection.command(&[b"WAITAOF", b"1", b"0", limit.as_bytes()]).await?;
        let Value::Array(found) = answer else { return Err(nonsense(&self.name())) };
        if matches!(found.first(), Some(Value::Int(1))) {
            self.file.confirms.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let what = format!("the lease is not in the append-only file after {limit} ms");
        let hint =
            "set appendfsync to everysec or always (and no-appendfsync-on-rewrite to no); or is the disk too slow?";
        Err(self.unconfirmed(&what, hint))
    }

    /// A restart would bring back what is in the file, and nothing that was granted since.
    pub(super) fn unwritten(&self) -> Error {
        let what = "its append-only file was turned off, and after a restart would still count as complete";
        self.unconfirmed(what, "CONFIG SET appendonly yes; or wait: in less than a lease's time it counts no more")
    }

    /// For some seconds after somebody else, who can wait for the server's disk, was the last one to lease.
    pub(super) fn unsettled(&self) -> Error {
        let what = "that a restart of the server may forget leases is not on its disk yet";
        made(&self.name(), what, None, None).retry_as(Retry::Soon)
    }

    fn unconfirmed(&self, what: &str, hint: &str) -> Error {
        made(&self.name(), what, None, Some(hint.to_owned())).retry_as(Retry::Soon)
    }
}
