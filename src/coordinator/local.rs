//! Leases among the processes that share one directory: one file and one lock a machine ID.
//!
//! Holding a machine ID is an exclusive lock of the operating system's on its file. The kernel drops it when the process
//! ends, however it ends, so a killed holder's machine ID is free at once. The file keeps the end of the last fence, so
//! that the next fence starts after everything that may have been used, also when the wall clock went back meanwhile.
//!
//! While the lock is held nothing is ever lost: after a pause of any length the fence is simply moved on. Assumed: nobody
//! removes the directory while it is in use, and it lies on a file system of this host (network ones are refused where
//! they can be told).

mod file;
mod place;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use place::{Surroundings, default_directory};

use self::file::LeaseFile;
use super::{Answer, Coordinator, Grant, Lease, MachineIds, Renewal, Term, Token};
use crate::clock::Clock;
use crate::error::{Code, Error, Retry};
use crate::layout::Layout;
use crate::nonce::{Extend, Loss};

/// How far ahead of its use an end is promised.
const AHEAD_MS: u64 = 1000;

/// A coordinator on a directory of this host.
pub struct Local {
    /// The namespace's own directory.
    directory: PathBuf,
    machines: MachineIds,
    layout: Layout,
    clock: Arc<dyn Clock>,
    held: Mutex<HashMap<Token, Arc<Hold>>>,
}

/// One machine ID that this process holds. Dropping it drops the lock.
struct Hold {
    file: LeaseFile,
    state: Mutex<Promised>,
}

struct Promised {
    end_ms: u64,
    given_back: bool,
}

impl Local {
    /// A coordinator on `directory/namespace`, which is made at the first acquire.
    #[must_use]
    pub fn new(directory: &Path, namespace: &str, machines: MachineIds, layout: Layout, clock: Arc<dyn Clock>) -> Self {
        Self { directory: directory.join(namespace), machines, layout, clock, held: Mutex::default() }
    }

    fn claim(&self) -> Result<Grant, Error> {
        place::prepare(&self.directory, &self.layout)?;
        let mut trouble = None;
        for machine in self.longest_free_first()? {
            match self.lock(machine) {
                Ok(Some((file, last_end_ms))) => return self.hold(machine, file, last_end_ms),
                Ok(None) => {}
                // One file that cannot be used (another user's, say) must not keep the others from being tried.
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
        Err(trouble.unwrap_or_else(|| self.exhausted()))
    }

    /// The file of a machine ID that is free, locked, and the end of its last fence.
    fn lock(&self, machine: u32) -> Result<Option<(LeaseFile, u64)>, Error> {
        let Some(file) = LeaseFile::lock(&self.directory, machine)? else { return Ok(None) };
        // Read under the lock: whoever held it may have moved the end since the directory was listed.
        Ok(file.end_ms()?.map(|last_end_ms| (file, last_end_ms)))
    }

    fn exhausted(&self) -> Error {
        let capacity = self.machines.capacity();
        Error::new(Code::Exhausted, format!("all {capacity} machine IDs of {} are leased", self.name()))
            .with(|fields| fields.capacity = Some(capacity))
    }

    fn hold(&self, machine: u32, file: LeaseFile, last_end_ms: u64) -> Result<Grant, Error> {
        let decided_ms = self.clock.wall_ms().max(last_end_ms);
        self.layout.timestamp(decided_ms)?;
        let (start_ms, end_ms) = (decided_ms + 1, decided_ms + 1 + AHEAD_MS);
        file.promise(end_ms)?;
        // Again, after the disk took its time: lease time begins here, and should not lag behind by that.
        let now_ms = self.clock.wall_ms().max(decided_ms);
        let lease = Lease { machine, token: Token::random()?, start_ms, end_ms };
        let hold = Arc::new(Hold { file, state: Mutex::new(Promised { end_ms, given_back: false }) });
        self.held().insert(lease.token, Arc::clone(&hold));
        Ok(Grant { lease, now_ms, term: Term::WhileHeld(hold), usage: None })
    }

    /// Machine IDs by the end of their last fence. Files of holders are listed too; their locks tell.
    fn longest_free_first(&self) -> Result<Vec<u32>, Error> {
        let mut ends = file::ends(&self.directory)?;
        let mut machines: Vec<(u64, u32)> =
            self.machines.iter().map(|machine| (ends.remove(&machine).unwrap_or(0), machine)).collect();
        machines.sort_unstable();
        Ok(machines.into_iter().map(|(_, machine)| machine).collect())
    }

    fn confirm(&self, lease: &Lease) -> Renewal {
        let Some(hold) = self.held().get(&lease.token).cloned() else { return Renewal::Lost(Loss::Rejected) };
        let now_ms = self.clock.wall_ms().max(lease.start_ms);
        match hold.extend(now_ms) {
            Ok(end_ms) => Renewal::Granted(Grant {
                lease: Lease { end_ms, ..*lease },
                now_ms,
                term: Term::WhileHeld(hold),
                usage: None,
            }),
            Err(error) if error.retry() == Retry::Never => {
                self.held().remove(&lease.token);
                hold.let_go();
                Renewal::Lost(Loss::Rejected)
            }
            Err(error) => Renewal::Unknown(error),
        }
    }

    fn give_back(&self, lease: &Lease, last_used_ms: u64) -> Result<(), Error> {
        let Some(hold) = self.held().remove(&lease.token) else { return Ok(()) };
        // Never before this lease's start: the file may have told of later uses than the wall clock.
        hold.give_back(last_used_ms.max(lease.start_ms.saturating_sub(1)))
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Token, Arc<Hold>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Coordinator for Local {
    fn name(&self) -> String {
        self.directory.display().to_string()
    }

    fn acquire(&self, _ttl: Duration) -> Answer<'_, Result<Grant, Error>> {
        Box::pin(async { self.claim() })
    }

    fn renew(&self, lease: &Lease, _ttl: Duration) -> Answer<'_, Renewal> {
        let lease = *lease;
        Box::pin(async move { self.confirm(&lease) })
    }

    fn release(&self, lease: &Lease, last_used_ms: u64) -> Answer<'_, Result<(), Error>> {
        let lease = *lease;
        Box::pin(async move { self.give_back(&lease, last_used_ms) })
    }
}

impl Hold {
    /// The last use becomes the end. Nothing may be promised afterwards, even by a count that is still under way.
    fn give_back(&self, last_used_ms: u64) -> Result<(), Error> {
        let mut promised = self.promised();
        promised.given_back = true;
        let result = self.file.promise(last_used_ms.min(promised.end_ms));
        self.file.unlock();
        result
    }

    /// As after giving back, but the file may be anybody's by now.
    fn let_go(&self) {
        self.promised().given_back = true;
        self.file.unlock();
    }

    fn promised(&self) -> MutexGuard<'_, Promised> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Extend for Hold {
    fn extend(&self, unix_ms: u64) -> Result<u64, Error> {
        let mut promised = self.promised();
        if promised.given_back {
            return Err(Error::new(Code::Coordinator, "the lease was given back"));
        }
        self.file.check_in_place()?;
        let end_ms = promised.end_ms.max(unix_ms.saturating_add(AHEAD_MS));
        self.file.promise(end_ms)?;
        promised.end_ms = end_ms;
        Ok(end_ms)
    }
}
