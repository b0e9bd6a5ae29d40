//! A real manager over the memory coordinator, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use mintid::clock::Clock;
use mintid::coordinator::guarded::{Claims, Guarded};
use mintid::coordinator::{Coordinator, Lease, MachineIds, Term};
use mintid::error::{Code, Error, Retry};
use mintid::layout::{Layout, Parts};
use mintid::lease::event::{Event, What};
use mintid::lease::manager::{Manager, Setup};
use mintid::lease::state::Timings;
use mintid::lease::waiters::Owner;
use mintid::nonce::{Factory, Order, Source, Space};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::T0_MS;
use crate::support::clock::VirtualClock;
use crate::support::memory::{Memory, Registry};
use crate::support::unreliable::Unreliable;

/// Those of a generator without options.
pub(crate) const TIMINGS: Timings = Timings { ttl: secs(300), first_ttl: secs(60), renew_every: secs(60) };
/// Those of a guarded one.
pub(crate) const GUARDED: Timings = Timings { ttl: secs(60), first_ttl: secs(60), renew_every: secs(12) };
pub(crate) const REQUEST_TIMEOUT: Duration = secs(5);

/// Tokio rounds its timers up to a millisecond.
pub(crate) const ROUNDED_MS: u64 = 2;

/// Who waits and listens, unless a test says otherwise.
pub(crate) const ME: Owner = Owner(1);

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// An event, and what came of a count inside its listener where that matters: at a loss.
pub(crate) type Heard = (What, Option<Result<u64, Error>>);

/// What one test looks at.
pub(crate) struct Life {
    pub(crate) clock: Arc<VirtualClock>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) coordinator: Arc<Unreliable>,
    pub(crate) factory: Arc<Factory>,
    pub(crate) manager: Manager,
    pub(crate) source: Source,
    events: UnboundedReceiver<Heard>,
    actor: JoinHandle<()>,
}

/// What can differ from one test to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) wall_ms: u64,
    /// What the registry counts machine IDs by; the factory has the default.
    pub(crate) registry: Layout,
    pub(crate) machine_ids: Option<(u32, u32)>,
    pub(crate) request_timeout: Duration,
}

impl Default for Start {
    fn default() -> Self {
        Self { wall_ms: T0_MS, registry: Layout::DEFAULT, machine_ids: None, request_timeout: REQUEST_TIMEOUT }
    }
}

impl Life {
    /// An actor that runs, and nobody who wants a lease yet.
    pub(crate) fn begin(start: Start) -> Self {
        let Start { wall_ms, registry: layout, machine_ids, request_timeout } = start;
        let clock = Arc::new(VirtualClock::at(wall_ms));
        let registry = Arc::new(Registry::new(layout, clock.clone()));
        let machine_ids = MachineIds::new(&layout, machine_ids).unwrap();
        let memory = Arc::new(Memory::new(&registry, machine_ids, clock.clone()));
        let coordinator = Arc::new(Unreliable::new(memory, clock.clone()));
        let asked = Arc::clone(&coordinator) as Arc<dyn Coordinator>;
        Self::over(registry, clock, coordinator, asked, TIMINGS, request_timeout)
    }

    /// The same in process `process`, for the guarded machine ID 7; what it claimed before is in `claims`.
    pub(crate) fn guarded(
        registry: &Arc<Registry>,
        clock: &Arc<VirtualClock>,
        process: u32,
        claims: Arc<Claims>,
    ) -> Self {
        let machine_ids = MachineIds::only(&Layout::DEFAULT, 7).unwrap();
        let memory = Arc::new(Memory::new(registry, machine_ids, clock.clone()).of_process(process));
        let coordinator = Arc::new(Unreliable::new(memory.clone(), clock.clone()));
        let asked = Guarded::new(7, coordinator.clone(), claims, clock.clone()).looking_at(Some(memory));
        Self::over(registry.clone(), clock.clone(), coordinator, Arc::new(asked), GUARDED, REQUEST_TIMEOUT)
    }

    /// `asked` is asked, and `coordinator` is what fails behind it.
    fn over(
        registry: Arc<Registry>,
        clock: Arc<VirtualClock>,
        coordinator: Arc<Unreliable>,
        asked: Arc<dyn Coordinator>,
        timings: Timings,
        request_timeout: Duration,
    ) -> Self {
        let factory = Arc::new(Factory::new(Layout::DEFAULT, clock.clone()));
        let (manager, actor) = Manager::with_actor(Setup {
            coordinator: asked,
            factory: Arc::clone(&factory),
            clock: clock.clone(),
            timings,
            request_timeout,
        });
        let actor = tokio::spawn(actor);
        let source = factory.source(Space::new(Order::Counter, *factory.layout())).unwrap();
        let (heard, events) = unbounded_channel();
        let life = Self { clock, registry, coordinator, factory, manager, source, events, actor };
        life.listen(ME, heard);
        life
    }

    /// The same, with a lease that was granted just now.
    pub(crate) async fn held(start: Start) -> Self {
        let mut life = Self::begin(start);
        life.ready().await.unwrap();
        assert!(matches!(life.next_event().await, What::Acquired { .. }));
        life
    }

    /// Has `owner` hear every event from now on.
    pub(crate) fn listen(&self, owner: Owner, heard: UnboundedSender<Heard>) {
        let source = self.source.clone();
        let listener = move |event: &Event| {
            let counted = matches!(event.what, What::Lost { .. }).then(|| source.next());
            // A test that has ended hears no more.
            let _ = heard.send((event.what.clone(), counted));
        };
        self.manager.subscribe(owner, Box::new(listener));
    }

    /// The outcome of a wait, once there is one.
    pub(crate) fn wait(&self, owner: Owner, timeout: Option<Duration>) -> oneshot::Receiver<Result<(), Error>> {
        let (reply, outcome) = oneshot::channel();
        // Whoever does not await the outcome does not need it.
        let reply = Box::new(move |result| reply.send(result).unwrap_or_default());
        self.manager.wait(owner, self.clock.tick(), timeout, reply);
        outcome
    }

    /// Waits as long as it takes.
    pub(crate) async fn ready(&self) -> Result<(), Error> {
        self.wait(ME, None).await.expect("a wait without an answer")
    }

    /// The process is killed.
    pub(crate) fn crash(&self) {
        self.actor.abort();
    }

    /// Settles when the manager says that it is closed.
    pub(crate) fn close(&self) -> oneshot::Receiver<()> {
        self.close_after(None)
    }

    /// The same by an owner that closed the factory before, with the last use that this yielded.
    pub(crate) fn close_after(&self, last_used: Option<u64>) -> oneshot::Receiver<()> {
        let (reply, closed) = oneshot::channel();
        // Whoever does not await the answer does not need it.
        self.manager.close(last_used, Box::new(move || reply.send(()).unwrap_or_default()));
        closed
    }

    /// The next event, whenever it comes.
    pub(crate) async fn next_event(&mut self) -> What {
        self.next_heard().await.0
    }

    /// The next event with the count in its listener.
    pub(crate) async fn next_heard(&mut self) -> Heard {
        let heard = tokio::time::timeout(secs(86_400), self.events.recv()).await;
        heard.expect("no event within a day").expect("the listener was dropped")
    }

    /// Lets time pass and tells the events that happened in it.
    pub(crate) async fn pass(&mut self, duration: Duration) -> Vec<What> {
        tokio::time::sleep(duration).await;
        std::iter::from_fn(|| self.events.try_recv().ok()).map(|(what, _)| what).collect()
    }

    /// Lets the actor do all that it can without time passing.
    pub(crate) async fn settle(&mut self) -> Vec<What> {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        std::iter::from_fn(|| self.events.try_recv().ok()).map(|(what, _)| what).collect()
    }

    /// The parts of the next nonce. A millisecond passes first: a counter waits until its lease has begun.
    pub(crate) async fn count(&self) -> Result<Parts, Error> {
        tokio::time::sleep(Duration::from_millis(2)).await;
        self.source.next().map(|nonce| Layout::DEFAULT.unpack(nonce))
    }

    /// Milliseconds since the beginning.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.tick().millis()
    }

    /// Another process takes every machine ID there is.
    pub(crate) async fn lease_all_to_others(&self, ttl: Duration) -> Vec<Lease> {
        let others = Memory::new(&self.registry, MachineIds::new(&Layout::DEFAULT, None).unwrap(), self.clock.clone());
        let mut leases = Vec::new();
        while let Ok(grant) = others.acquire(ttl).await {
            assert!(matches!(grant.term, Term::Renewable));
            leases.push(grant.lease);
        }
        leases
    }
}

/// An error that passes.
pub(crate) fn passing() -> Error {
    Error::new(Code::Coordinator, "connection reset").retry_as(Retry::Soon)
}

/// An error that does not.
pub(crate) fn fatal() -> Error {
    Error::new(Code::Coordinator, "wrong password")
}

/// That two moments differ by no more than what timers are rounded by.
#[track_caller]
pub(crate) fn assert_about(found_ms: u64, expected_ms: u64) {
    let early = found_ms < expected_ms;
    assert!(!early && found_ms - expected_ms <= ROUNDED_MS, "expected {expected_ms} ms, found {found_ms} ms");
}
