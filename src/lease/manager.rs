//! The handle of a lease manager: it only sends; the actor behind it owns all state.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::actor::Actor;
use super::event::Event;
use super::runtime;
use super::state::Timings;
use super::waiters::{Owner, Reply, Waiter};
use crate::clock::{Clock, Tick};
use crate::coordinator::Coordinator;
use crate::error::Error;
use crate::nonce::{Factory, Why};

/// Called with each event, on the manager's thread; it must not block.
pub type Listener = Box<dyn Fn(&Event) + Send>;

/// What a manager works with.
pub struct Setup {
    /// Whom to ask.
    pub coordinator: Arc<dyn Coordinator>,
    /// What counts under the lease.
    pub factory: Arc<Factory>,
    /// When it is.
    pub clock: Arc<dyn Clock>,
    /// How long things may take.
    pub timings: Timings,
    /// How long one request may take.
    pub request_timeout: Duration,
}

/// A lease as an application may look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of the event that tells of it.
    pub announced: u64,
    /// Machine ID.
    pub machine: u32,
    /// When it was acquired, in milliseconds since 1970 by this machine's wall clock.
    pub acquired_at_ms: u64,
    /// When it ends unless it is renewed, by the coordinator's clock; `None` if it ends with the process.
    pub expires_at_ms: Option<u64>,
    /// The same by this machine's clock that runs through suspend.
    pub ends: Option<Tick>,
}

/// Sends to the actor. It ends when it was closed.
#[derive(Clone)]
pub struct Manager {
    commands: UnboundedSender<Command>,
    shown: Arc<Shown>,
}

/// What the actor shows to everybody.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) lease: Mutex<Option<Snapshot>>,
    pub(super) emitted: AtomicU64,
}

pub(super) enum Command {
    Wait(Waiter),
    Cancel(Owner),
    Subscribe(Owner, Listener),
    Unsubscribe(Owner),
    Warn(Owner, &'static str, String),
    Tune(Timings, Duration),
    Doubt,
    Overflow { space: String, partition: u64 },
    Disconnected,
    Relinquish(Snapshot, String),
    Close { last_used: Option<u64>, reply: Box<dyn FnOnce() + Send> },
}

impl Manager {
    /// Starts the actor on the process's lease thread.
    ///
    /// # Errors
    /// `COORDINATOR` when there is no thread to be had.
    pub fn spawn(setup: Setup) -> Result<Self, Error> {
        let (manager, actor) = Self::with_actor(setup);
        runtime::spawn(actor)?;
        Ok(manager)
    }

    /// The handle and the actor to run, for whoever has a runtime of their own.
    pub fn with_actor(setup: Setup) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (commands, inbox) = unbounded_channel();
        let manager = Self { commands, shown: Arc::default() };
        let told = manager.commands.downgrade();
        setup.factory.on_ahead(move |space| {
            let overflow = Command::Overflow { space: space.name().to_owned(), partition: space.partition() };
            let _ = told.upgrade().map(|commands| commands.send(overflow));
        });
        let actor = Actor::new(setup, inbox, manager.commands.downgrade(), Arc::clone(&manager.shown));
        (manager, actor.run())
    }

    /// Waits for a lease, for `timeout` at the most; starts to acquire one if nobody did.
    pub fn wait(&self, owner: Owner, now: Tick, timeout: Option<Duration>, reply: Reply) {
        let deadline = timeout.map(|timeout| now.after(timeout));
        self.send(Command::Wait(Waiter { owner, since: now, deadline, reply }));
    }

    /// Gives up the waits of one handle.
    pub fn cancel(&self, owner: Owner) {
        self.send(Command::Cancel(owner));
    }

    /// Sends a handle every event from now on, beginning with the lease that is held, if one is.
    pub fn subscribe(&self, owner: Owner, listener: Listener) {
        self.send(Command::Subscribe(owner, listener));
    }

    /// Sends a handle no more events and gives up its waits.
    pub fn unsubscribe(&self, owner: Owner) {
        self.send(Command::Unsubscribe(owner));
    }

    /// Sends one handle a `warning`.
    pub fn warn(&self, owner: Owner, code: &'static str, message: String) {
        self.send(Command::Warn(owner, code, message));
    }

    /// Puts other timings in force, from the next timer on.
    pub fn tune(&self, timings: Timings, request_timeout: Duration) {
        self.send(Command::Tune(timings, request_timeout));
    }

    /// Has the lease looked at: a count could not go on.
    pub fn doubt(&self) {
        self.send(Command::Doubt);
    }

    /// Gives the lease that is held up as lost, and takes another; the event says why. Does nothing without a lease, nor
    /// to one that was acquired after event number `heard`: whoever asks cannot mean that one.
    pub fn relinquish(&self, heard: u64, why: String) {
        if let Some(lease) = self.lease().filter(|lease| lease.announced <= heard) {
            self.send(Command::Relinquish(lease, why));
        }
    }

    /// Ends everything and releases the lease; replies when that is done, after 5 s at the latest. `last_used` is what
    /// closing the factory yielded, if the caller has closed it.
    pub fn close(&self, last_used: Option<u64>, reply: Box<dyn FnOnce() + Send>) {
        self.send(Command::Close { last_used, reply });
    }

    /// The lease that is held.
    #[must_use]
    pub fn lease(&self) -> Option<Snapshot> {
        *self.shown.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the latest event. Read in a [`Reply`], it tells which events the answer is newer than.
    #[must_use]
    pub fn emitted(&self) -> u64 {
        self.shown.emitted.load(Ordering::Acquire)
    }

    fn send(&self, command: Command) {
        if let Err(unsent) = self.commands.send(command) {
            unsent.0.refuse();
        }
    }
}

impl Command {
    /// Answers for an actor that has ended, as a closed one does.
    pub(super) fn refuse(self) {
        match self {
            Self::Wait(waiter) => (waiter.reply)(Err(Why::Closed.error())),
            Self::Close { reply, .. } => reply(),
            _ => {}
        }
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("lease", &self.lease()).finish_non_exhaustive()
    }
}
