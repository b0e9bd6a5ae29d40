//! One handle on the process's lease: the keys and the layout of its ID types, its part in the lease, and what its thread
//! was told last.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::cipher::{BaseKey, Speck64};
use crate::clock::{Clock, SystemClock};
use crate::coordinator::fixed::{Fixed, Identity};
use crate::coordinator::local::{Local, Surroundings, default_directory};
use crate::coordinator::{Coordinator, MachineIds};
use crate::error::{Code, Error};
use crate::id::IdType;
use crate::layout::Layout;
use crate::lease::event::{Event, What};
use crate::lease::manager::{Listener, Snapshot};
use crate::lease::pool::{Agreement, Joining, Key, Member};
use crate::lease::state::Timings;
use crate::nonce::{Source, Space, Watch, Why};

/// Who grants leases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nobody: this process only converts.
    Nowhere,
    /// The user's state directory.
    Local,
    /// A directory.
    Directory(PathBuf),
    /// Nobody; the machine ID was set by hand.
    Fixed(Identity),
}

/// What a generator is made of.
#[derive(Debug)]
pub struct Options {
    /// Who grants leases.
    pub place: Place,
    /// The range of machine IDs to lease from, both included; all of them without one.
    pub machine_ids: Option<(u32, u32)>,
    /// Which registry of the coordinator's.
    pub namespace: String,
    /// How long things may take.
    pub timings: Timings,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// The secret behind masks and encrypted kinds.
    pub key: Option<BaseKey>,
    /// Bit widths and epoch.
    pub layout: Layout,
}

/// One handle; see the module. All methods may be called from any thread.
#[derive(Debug)]
pub struct Generator {
    options: Options,
    cipher: OnceLock<Arc<Speck64>>,
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
        Self {
            options,
            cipher: OnceLock::new(),
            member: Mutex::new(Membership::Not),
            gate: Gate::new(),
            watcher: OnceLock::new(),
        }
    }

    /// The layout of its nonces.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.options.layout
    }

    /// The cipher of masks and encrypted kinds, derived at first need; `None` without a key.
    #[must_use]
    pub fn cipher(&self) -> Option<Arc<Speck64>> {
        let key = self.options.key.as_ref()?;
        Some(Arc::clone(self.cipher.get_or_init(|| Arc::new(Speck64::derived(key)))))
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
            Membership::Not if self.options.place == Place::Nowhere => return Ok(()),
            Membership::Not => {}
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (address, coordinator) = self.coordinator(&clock)?;
        let joining = Joining {
            key: Key { coordinator: address, namespace: self.options.namespace.clone() },
            agreement: Agreement {
                layout: self.options.layout,
                fingerprint: self.options.key.as_ref().map(BaseKey::fingerprint),
                machine_ids: self.options.machine_ids,
                ttl: self.options.timings.ttl,
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
            Membership::Not if self.options.place == Place::Nowhere => reply(Ok(0)),
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
            What::Renewed { .. } | What::Retry { .. } | What::Released { .. } | What::Warning { .. } => {}
        }
    }

    /// This handle's thread is about to learn that a wait succeeded, as of event `number`.
    pub fn told_held(&self, number: u64) {
        if self.options.place != Place::Nowhere {
            self.gate.hear(number, Ok(()));
        }
    }

    fn coordinator(&self, clock: &Arc<dyn Clock>) -> Result<(String, Arc<dyn Coordinator>), Error> {
        let Options { layout, namespace, .. } = &self.options;
        let local = |directory: PathBuf| -> Result<(String, Arc<dyn Coordinator>), Error> {
            let machines = MachineIds::new(layout, self.options.machine_ids)?;
            // Two spellings of one directory are one lease. What cannot be made fails when it is asked for a lease.
            let made = std::fs::create_dir_all(&directory).and_then(|()| std::fs::canonicalize(&directory));
            let directory = made.unwrap_or(directory);
            let local = Local::new(&directory, namespace, machines, *layout, Arc::clone(clock));
            Ok((format!("file://{}", directory.display()), Arc::new(local)))
        };
        match &self.options.place {
            Place::Nowhere => Err(only_converts()),
            Place::Local => local(default_directory(&Surroundings::of_this_process())?),
            Place::Directory(directory) => local(directory.clone()),
            Place::Fixed(identity) => {
                let machine = identity.resolve(layout)?;
                let fixed = Fixed::new(machine, namespace, *layout, Arc::clone(clock));
                Ok((format!("machineId {machine}"), Arc::new(fixed)))
            }
        }
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

/// What counts the nonces of one ID type for one handle.
#[derive(Debug)]
pub struct Counting {
    generator: Arc<Generator>,
    space: Space,
    source: OnceLock<Source>,
}

impl Counting {
    /// For `id_type`, under the lease of `generator`.
    #[must_use]
    pub fn new(generator: Arc<Generator>, id_type: &IdType) -> Self {
        Self { generator, space: id_type.space(), source: OnceLock::new() }
    }

    /// The next nonce.
    ///
    /// # Errors
    /// `NOT_READY`, `LEASE_LOST` or `CLOSED` as this handle's thread was told; those of [`Source::next`].
    #[inline]
    pub fn next(&self) -> Result<u64, Error> {
        self.source()?.next()
    }

    /// Fills `nonces` in ascending order, or gives none out.
    ///
    /// # Errors
    /// As [`Counting::next`].
    pub fn fill(&self, nonces: &mut [u64]) -> Result<(), Error> {
        self.source()?.fill(nonces)
    }

    #[inline]
    fn source(&self) -> Result<&Source, Error> {
        if !self.generator.gate.is_open() {
            return Err(self.generator.refusal());
        }
        match self.source.get() {
            Some(source) => Ok(source),
            None => self.find_source(),
        }
    }

    #[cold]
    fn find_source(&self) -> Result<&Source, Error> {
        match &*self.generator.member() {
            Membership::Joined(member) => Ok(self.source.get_or_init(|| member.factory().source(self.space.clone()))),
            Membership::Not | Membership::Left => Err(self.generator.refusal()),
        }
    }
}

impl Generator {
    #[cold]
    fn refusal(&self) -> Error {
        match self.gate.why() {
            Why::NotReady if self.options.place == Place::Nowhere => only_converts(),
            why => why.error(),
        }
    }
}

fn only_converts() -> Error {
    Error::new(Code::NotReady, "coordinator is 'none': this process only converts IDs")
}

/// What this handle's thread may do, as far as it was told. Between a `leaseLost` that it heard and the next
/// `leaseAcquired` it counts nothing, although the factory may be open again already.
#[derive(Debug)]
struct Gate {
    open: AtomicU8,
    heard: Mutex<Heard>,
}

#[derive(Debug)]
struct Heard {
    number: u64,
    state: Result<(), Why>,
}

impl Gate {
    const OPEN: u8 = 1;
    const SHUT: u8 = 0;

    fn new() -> Self {
        Self { open: AtomicU8::new(Self::SHUT), heard: Mutex::new(Heard { number: 0, state: Err(Why::NotReady) }) }
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire) == Self::OPEN
    }

    /// News of an earlier number than what was heard already changes nothing.
    fn hear(&self, number: u64, state: Result<(), Why>) {
        let mut heard = self.heard();
        if number >= heard.number && heard.state != Err(Why::Closed) {
            *heard = Heard { number, state };
            self.open.store(if state.is_ok() { Self::OPEN } else { Self::SHUT }, Ordering::Release);
        }
    }

    fn close(&self) {
        self.heard().state = Err(Why::Closed);
        self.open.store(Self::SHUT, Ordering::Release);
    }

    fn why(&self) -> Why {
        self.heard().state.err().unwrap_or(Why::NotReady)
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonce::Loss;

    const LOST: Why = Why::Lost { machine: 7, loss: Loss::Expired };

    #[test]
    fn the_gate_follows_the_newest_news_and_stays_closed_once_closed() {
        let gate = Gate::new();
        assert_eq!((gate.is_open(), gate.why()), (false, Why::NotReady));
        gate.hear(2, Ok(()));
        assert!(gate.is_open());
        gate.hear(3, Err(LOST));
        gate.hear(2, Ok(()));
        assert_eq!((gate.is_open(), gate.why()), (false, LOST));
        gate.hear(5, Ok(()));
        gate.hear(4, Ok(()));
        assert!(gate.is_open());
        gate.close();
        gate.hear(9, Ok(()));
        assert_eq!((gate.is_open(), gate.why()), (false, Why::Closed));
    }
}
