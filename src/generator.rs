//! One handle on the process's lease: the keys and the layout of its ID types, its part in the lease, and what its thread
//! was told last.

mod counting;
mod gate;
mod nonces;
mod options;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

pub use self::counting::Counting;
use self::gate::Gate;
pub use self::nonces::CountingNonces;
pub use self::options::{Options, Place};
use crate::cipher::Keyring;
use crate::clock::{Clock, SystemClock};
use crate::error::{Code, Error};
use crate::layout::Layout;
use crate::lease::event::{Event, What};
use crate::lease::manager::{Listener, Snapshot};
use crate::lease::pool::{Agreement, Joining, Key, Member};
use crate::nonce::{Watch, Why};

/// One handle; see the module. All methods may be called from any thread.
#[derive(Debug)]
pub struct Generator {
    options: Options,
    member: Mutex<Membership>,
    gate: Gate,
    watcher: OnceLock<Arc<dyn Watch>>,
}

#[derive(Debug)]
enum Membership {
    Not,
    Joined(Member),
    Left,
}

impl Generator {
    /// A handle that has no part in any lease yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, member: Mutex::new(Membership::Not), gate: Gate::new(), watcher: OnceLock::new() }
    }

    /// The layout of its nonces.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.options.layout
    }

    /// The ciphers of masks and encrypted kinds.
    #[must_use]
    pub fn keys(&self) -> &Keyring {
        &self.options.keys
    }

    /// Joins the process's lease; the first one makes it. Does nothing when it was done before.
    ///
    /// # Errors
    /// `CONFIG` when an option does not fit the host, the layout, or those who share the lease; `CLOSED` after
    /// [`Generator::close`]; what making the listener fails with.
    pub fn start(&self, listener: impl FnOnce() -> Result<Listener, Error>) -> Result<(), Error> {
        let mut member = self.member();
        match &*member {
            Membership::Joined(_) => return Ok(()),
            Membership::Left => return Err(Why::Closed.error()),
            Membership::Not if self.only_converts() => return Ok(()),
            Membership::Not => {}
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (address, coordinator) = self.options.coordinator(&clock)?;
        let joining = Joining {
            key: Key { coordinator: address, namespace: self.options.namespace.clone() },
            agreement: Agreement {
                layout: self.options.layout,
                fingerprint: self.options.keys.fingerprint(),
                machine_ids: self.options.machine_ids,
                ttl: self.options.longest_ttl,
            },
            timings: self.options.timings,
            request_timeout: self.options.request_timeout,
            clock,
            listener: listener()?,
        };
        let joined = Member::join(joining, || Ok(coordinator))?;
        if let Some(watcher) = self.watcher.get() {
            joined.factory().watch(Arc::downgrade(watcher));
        }
        *member = Membership::Joined(joined);
        Ok(())
    }

    /// Tells `watcher`, from now on, whenever what this handle counted ahead is not to be given out any more. The first
    /// watcher stays.
    pub fn watch(&self, watcher: Arc<dyn Watch>) {
        let member = self.member();
        let watcher = self.watcher.get_or_init(|| watcher);
        if let Membership::Joined(member) = &*member {
            member.factory().watch(Arc::downgrade(watcher));
        }
    }

    /// Waits for a lease, for `timeout` at the most; [`Generator::start`] must have been called. The answer carries the
    /// number of the event it is as new as, for [`Generator::told_held`]. Where nobody grants leases it comes at once.
    pub fn wait(&self, timeout: Option<Duration>, reply: impl FnOnce(Result<u64, Error>) + Send + 'static) {
        match &*self.member() {
            Membership::Joined(member) => member.wait(timeout, reply),
            Membership::Not if self.only_converts() => reply(Ok(0)),
            Membership::Not => reply(Err(Why::NotReady.error())),
            Membership::Left => reply(Err(Why::Closed.error())),
        }
    }

    /// Gives up this handle's waits.
    pub fn cancel(&self) {
        if let Membership::Joined(member) = &*self.member() {
            member.cancel();
        }
    }

    /// Gives the lease that this thread knows of up as lost, for all who share it, and takes another.
    pub fn relinquish(&self, why: String) {
        if let Membership::Joined(member) = &*self.member() {
            member.relinquish(self.gate.heard().number, why);
        }
    }

    /// The lease that is held.
    #[must_use]
    pub fn lease(&self) -> Option<Snapshot> {
        match &*self.member() {
            Membership::Joined(member) => member.lease(),
            Membership::Not | Membership::Left => None,
        }
    }

    /// Whether this handle's thread may count: it was told that a lease is held, and that is still so. Were the second
    /// left out, a thread that asks again and again would never hear of the loss.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.gate.is_open() && self.lease().is_some()
    }

    /// Counts no more from here on, and leaves the lease; the last one of the process releases it. `done` is called when
    /// that is through, after 5 s at the latest.
    pub fn close(&self, done: Box<dyn FnOnce() + Send>) {
        self.gate.close();
        self.tell_watcher();
        let left = std::mem::replace(&mut *self.member(), Membership::Left);
        match left {
            Membership::Joined(mut member) => member.leave(done),
            Membership::Not | Membership::Left => done(),
        }
    }

    /// This handle's thread is about to learn of an event.
    pub fn told(&self, event: &Event) {
        match &event.what {
            What::Acquired { .. } => self.gate.hear(event.number, Ok(())),
            What::Lost { machine, loss, .. } => {
                self.gate.hear(event.number, Err(Why::Lost { machine: *machine, loss: *loss }));
                self.tell_watcher();
            }
            What::Conflict { machine } => self.gate.hear(event.number, Err(Why::Conflict { machine: *machine })),
            What::Renewed { .. }
            | What::Retry { .. }
            | What::Released { .. }
            | What::Overflow { .. }
            | What::Warning { .. } => {}
        }
    }

    /// This handle's thread is about to learn that a wait succeeded, as of event `number`.
    pub fn told_held(&self, number: u64) {
        if !self.only_converts() {
            self.gate.hear(number, Ok(()));
        }
    }

    fn only_converts(&self) -> bool {
        matches!(self.options.place, Place::Nowhere)
    }

    fn tell_watcher(&self) {
        if let Some(watcher) = self.watcher.get() {
            watcher.changed();
        }
    }

    fn member(&self) -> MutexGuard<'_, Membership> {
        self.member.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generator {
    #[cold]
    fn refusal(&self) -> Error {
        match self.gate.why() {
            Why::NotReady if self.only_converts() => only_converts(),
            why => why.error(),
        }
    }
}

fn only_converts() -> Error {
    Error::new(Code::NotReady, "coordinator is 'none': this process only converts IDs")
}
