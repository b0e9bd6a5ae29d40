//! One lease for all generators of a process that name the same coordinator and namespace: all Workers, an ESM and a
//! `CommonJS` copy, a hot-reloaded module, Jest's module registries.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::manager::{Listener, Manager, Setup, Snapshot};
use super::state::Timings;
use super::waiters::{Owner, Reply};
use crate::clock::Clock;
use crate::coordinator::Coordinator;
use crate::error::Error;
use crate::layout::Layout;
use crate::nonce::{Factory, Why};

/// What makes two generators share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The coordinator, as one spelling of its address.
    pub coordinator: String,
    /// The namespace in it.
    pub namespace: String,
}

/// What those who share must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// Bit widths and epoch.
    pub layout: Layout,
    /// The base key's fingerprint, if there is a key.
    pub fingerprint: Option<[u8; 16]>,
    /// The machine IDs asked for, if not all.
    pub machine_ids: Option<(u32, u32)>,
    /// How long a lease lasts.
    pub ttl: Duration,
}

/// What a generator brings when it joins.
pub struct Joining {
    /// With whom to share.
    pub key: Key,
    /// What must agree.
    pub agreement: Agreement,
    /// The newest generator's timings are in force.
    pub timings: Timings,
    /// Likewise.
    pub request_timeout: Duration,
    /// When it is.
    pub clock: Arc<dyn Clock>,
    /// Called with each event.
    pub listener: Listener,
}

/// One generator's part in a shared lease. Dropping it leaves.
#[derive(Debug)]
pub struct Member {
    owner: Owner,
    key: Key,
    shared: Arc<Shared>,
    left: bool,
}

#[derive(Debug)]
struct Shared {
    agreement: Agreement,
    tuning: Mutex<(Timings, Duration)>,
    factory: Arc<Factory>,
    manager: Manager,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct Entry {
    shared: Arc<Shared>,
    members: usize,
}

impl Member {
    /// Joins the lease of `joining.key`, or makes it with `coordinator`.
    ///
    /// # Errors
    /// `CONFIG` with the option that disagrees with the others'; `COORDINATOR` when there is no thread to be had; what
    /// `coordinator` fails with.
    pub fn join(
        joining: Joining,
        coordinator: impl FnOnce() -> Result<Arc<dyn Coordinator>, Error>,
    ) -> Result<Self, Error> {
        static OWNERS: AtomicU64 = AtomicU64::new(0);
        let owner = Owner(OWNERS.fetch_add(1, Ordering::Relaxed));
        let Joining { key, agreement, timings, request_timeout, clock, listener } = joining;
        let mut pool = pool();
        let shared = if let Some(entry) = pool.get_mut(&key) {
            agree(&entry.shared.agreement, &agreement)?;
            entry.members += 1;
            Arc::clone(&entry.shared)
        } else {
            let factory = Arc::new(Factory::new(agreement.layout, Arc::clone(&clock)));
            let setup = Setup {
                coordinator: coordinator()?,
                factory: Arc::clone(&factory),
                clock: Arc::clone(&clock),
                timings,
                request_timeout,
            };
            let manager = Manager::spawn(setup)?;
            let tuning = Mutex::new((timings, request_timeout));
            let shared = Arc::new(Shared { agreement, tuning, factory, manager, clock });
            pool.insert(key.clone(), Entry { shared: Arc::clone(&shared), members: 1 });
            shared
        };
        drop(pool);
        shared.manager.subscribe(owner, listener);
        shared.tune(owner, (timings, request_timeout));
        Ok(Self { owner, key, shared, left: false })
    }

    /// What counts under the lease.
    #[must_use]
    pub fn factory(&self) -> &Arc<Factory> {
        &self.shared.factory
    }

    /// The lease that is held.
    #[must_use]
    pub fn lease(&self) -> Option<Snapshot> {
        self.shared.manager.lease()
    }

    /// Waits for a lease, for `timeout` at the most. The answer comes with the number of the latest event before it.
    pub fn wait(&self, timeout: Option<Duration>, reply: impl FnOnce(Result<u64, Error>) + Send + 'static) {
        let manager = self.shared.manager.clone();
        let reply: Reply = Box::new(move |result| reply(result.map(|()| manager.emitted())));
        self.shared.manager.wait(self.owner, self.shared.clock.tick(), timeout, reply);
    }

    /// Gives up this member's waits.
    pub fn cancel(&self) {
        self.shared.manager.cancel(self.owner);
    }

    /// Gives the lease up as lost, for all, and takes another.
    /// Only a lease that event number `heard`, or an earlier one, told of.
    pub fn relinquish(&self, heard: u64, why: String) {
        self.shared.manager.relinquish(heard, why);
    }

    /// Leaves, once. The last one to leave closes the factory before this returns and releases the lease; `done` is
    /// called when that is through, after 5 s at the latest.
    pub fn leave(&mut self, done: Box<dyn FnOnce() + Send>) {
        if std::mem::replace(&mut self.left, true) {
            return done();
        }
        let mut pool = pool();
        let Some(entry) = pool.get_mut(&self.key) else { return done() };
        entry.members -= 1;
        if entry.members > 0 {
            drop(pool);
            self.shared.manager.unsubscribe(self.owner);
            return done();
        }
        // Under the pool's lock: who joins next finds a factory that counts no more.
        let last_used = self.shared.factory.close(Why::Closed);
        pool.remove(&self.key);
        drop(pool);
        // Still subscribed: it hears of the release.
        self.shared.manager.close(last_used, done);
    }
}

/// Closes everything and releases every lease, as far as that takes no longer than `at_most` each: for the end of the
/// process. Members may leave afterwards; there is nothing left for them to do.
pub fn close_all(at_most: Duration) {
    let (done, all_done) = std::sync::mpsc::channel();
    for (_, Entry { shared, .. }) in pool().drain() {
        let done = done.clone();
        let last_used = shared.factory.close(Why::Closed);
        shared.manager.close(last_used, Box::new(move || done.send(()).unwrap_or_default()));
    }
    drop(done);
    while all_done.recv_timeout(at_most).is_ok() {}
}

impl Drop for Member {
    fn drop(&mut self) {
        self.leave(Box::new(|| {}));
    }
}

impl Shared {
    fn tune(&self, owner: Owner, newer: (Timings, Duration)) {
        let mut tuning = self.tuning.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *tuning, newer) != newer {
            self.manager.tune(newer.0, newer.1);
            let text =
                "another generator of this process shares the lease with other timings; the newer ones are in force";
            self.manager.warn(owner, "OPTIONS_REPLACED", text.into());
        }
    }
}

fn pool() -> MutexGuard<'static, HashMap<Key, Entry>> {
    static POOL: LazyLock<Mutex<HashMap<Key, Entry>>> = LazyLock::new(Mutex::default);
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn agree(theirs: &Agreement, ours: &Agreement) -> Result<(), Error> {
    let disagreement = if theirs.layout != ours.layout {
        Some("layout")
    } else if theirs.fingerprint != ours.fingerprint {
        Some("key")
    } else if theirs.machine_ids != ours.machine_ids {
        Some("machineIds")
    } else if theirs.ttl != ours.ttl {
        Some("lease.ttlMs")
    } else {
        None
    };
    match disagreement {
        None => Ok(()),
        Some(option) => {
            let text = format!(
                "{option}: differs from that of another generator of this process, with which this one shares its lease"
            );
            Err(Error::config(option, text))
        }
    }
}
