//! The actor that lives a lease's life. What happens next is decided by [`super::state`]; here it is done.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};

use super::event::{Event as Notice, Operation, What};
use super::manager::{Command, Listener, Setup, Shown, Snapshot};
use super::requests::{answered, expiry, no_answer};
use super::state::{Effect, Event, Moment, Phase, State, Timer, step};
use super::waiters::{Owner, Waiters};
use super::warnings::Warnings;
use crate::clock::{Clock, Tick};
use crate::coordinator::{Grant, Lease, Renewal, Term, Usage};
use crate::error::Error;
use crate::nonce::{Doubt, Fence, Opening, Why};

/// How long a close may take, whatever the coordinator does.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

pub(super) struct Actor {
    setup: Setup,
    state: State,
    commands: Option<UnboundedReceiver<Command>>,
    /// Weak, so that the inbox ends with the last handle.
    doubts: WeakUnboundedSender<Command>,
    answers: UnboundedReceiver<Answer>,
    answer_to: UnboundedSender<Answer>,
    unanswered: usize,
    timers: Vec<(Tick, u64, Timer)>,
    waiters: Waiters,
    listeners: Vec<(Owner, Listener)>,
    shown: Arc<Shown>,
    /// When the grant at hand arrived.
    arrived: Tick,
    /// What closing the factory yielded: a timestamp of the layout.
    last_used: Option<u64>,
    close_by: Option<Tick>,
    closing: Vec<Box<dyn FnOnce() + Send>>,
    warnings: Warnings,
}

/// What comes back from a request that ran beside the actor.
enum Answer {
    Acquired(u64, Result<Grant, Error>, Tick),
    Renewed(u64, Renewal, Tick),
    Released { machine: u32, announce: bool, took: Duration },
}

enum Input {
    Command(Option<Command>),
    Answer(Answer),
    Wake,
}

impl Actor {
    pub(super) fn new(
        setup: Setup,
        commands: UnboundedReceiver<Command>,
        doubts: WeakUnboundedSender<Command>,
        shown: Arc<Shown>,
    ) -> Self {
        let (answer_to, answers) = unbounded_channel();
        let arrived = setup.clock.tick();
        Self {
            setup,
            state: State::new(),
            commands: Some(commands),
            doubts,
            answers,
            answer_to,
            unanswered: 0,
            timers: Vec::new(),
            waiters: Waiters::default(),
            listeners: Vec::new(),
            shown,
            arrived,
            last_used: None,
            close_by: None,
            closing: Vec::new(),
            warnings: Warnings::default(),
        }
    }

    pub(super) async fn run(mut self) {
        let commands = self.doubts.clone();
        self.setup.coordinator.on_disconnect(Arc::new(move || {
            let _ = commands.upgrade().map(|commands| commands.send(Command::Disconnected));
        }));
        while !self.is_done() {
            match self.next().await {
                Input::Command(command) => self.command(command),
                Input::Answer(answer) => self.answer(answer),
                Input::Wake => self.wake(),
            }
        }
        for reply in self.closing.drain(..) {
            reply();
        }
        // Whoever sent before the inbox was shut is answered like whoever sends after.
        if let Some(mut commands) = self.commands.take() {
            commands.close();
            while let Some(command) = commands.recv().await {
                command.refuse();
            }
        }
    }

    fn is_done(&self) -> bool {
        let late = self.close_by.is_some_and(|close_by| close_by <= self.now());
        self.state.phase == Phase::Closed && (self.unanswered == 0 || late)
    }

    async fn next(&mut self) -> Input {
        /// A sleeping runtime does not notice that the machine was suspended; looking once a second does.
        const LONGEST_SLEEP: Duration = Duration::from_secs(1);
        let timers = self.timers.iter().map(|(at, ..)| *at);
        let wake = timers.chain(self.waiters.next_deadline()).chain(self.close_by).min();
        let sleep = wake.map(|at| at.since(self.now()).min(LONGEST_SLEEP));
        let woken = async {
            match sleep {
                Some(duration) => tokio::time::sleep(duration).await,
                None => std::future::pending().await,
            }
        };
        let command = async {
            match &mut self.commands {
                Some(commands) => commands.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(answer) = self.answers.recv() => Input::Answer(answer),
            command = command => Input::Command(command),
            () = woken => Input::Wake,
        }
    }

    fn command(&mut self, command: Option<Command>) {
        match command {
            Some(Command::Wait(waiter)) => {
                self.waiters.add(waiter);
                self.apply(Event::Wanted);
                if self.state.phase == Phase::Closed {
                    self.waiters.settle(&Err(Why::Closed.error()));
                }
            }
            Some(Command::Cancel(owner)) => self.waiters.cancel(owner),
            Some(Command::Subscribe(owner, listener)) => self.subscribe(owner, listener),
            Some(Command::Unsubscribe(owner)) => {
                self.waiters.cancel(owner);
                self.listeners.retain(|(other, _)| *other != owner);
            }
            Some(Command::Warn(owner, code, message)) => {
                let notice = self.notice(What::Warning { code, message });
                self.listeners.iter().filter(|(other, _)| *other == owner).for_each(|(_, listener)| listener(&notice));
            }
            Some(Command::Tune(timings, request_timeout)) => {
                self.setup.timings = timings;
                self.setup.request_timeout = request_timeout;
            }
            Some(Command::Overflow { space, partition }) => self.emit(What::Overflow { space, partition }),
            Some(Command::Doubt) => self.apply(Event::Doubted),
            Some(Command::Disconnected) => self.apply(Event::Disconnected),
            Some(Command::Relinquish(lease, why)) => {
                if self.lease().is_some_and(|held| held.announced == lease.announced) {
                    self.apply(Event::Relinquished(why));
                }
            }
            Some(Command::Close { last_used, reply }) => {
                self.closing.push(reply);
                self.close(last_used);
            }
            None => {
                self.commands = None;
                self.close(None);
            }
        }
    }

    fn subscribe(&mut self, owner: Owner, listener: Listener) {
        if let Some(what) = self.state.news() {
            listener(&self.notice(what));
        }
        self.listeners.push((owner, listener));
    }

    fn close(&mut self, last_used: Option<u64>) {
        self.last_used = last_used.or(self.last_used);
        self.close_by.get_or_insert(self.setup.clock.tick().after(CLOSE_WITHIN));
        self.apply(Event::Closing);
    }

    fn answer(&mut self, answer: Answer) {
        self.unanswered -= 1;
        match answer {
            Answer::Acquired(generation, Ok(grant), arrived) => match self.opening(&grant, arrived) {
                Ok(_) => {
                    self.arrived = arrived;
                    let usage = grant.usage;
                    self.apply(Event::Acquired(generation, grant));
                    self.warn(usage);
                    self.watch_layout();
                }
                Err(error) => {
                    self.release(grant.lease, None, false);
                    self.apply(Event::Refused(generation, error));
                }
            },
            Answer::Acquired(generation, Err(error), _) => self.apply(Event::Refused(generation, error)),
            Answer::Renewed(generation, renewal, arrived) => {
                self.arrived = arrived;
                self.apply(match renewal {
                    Renewal::Granted(grant) => Event::Renewed(generation, grant),
                    Renewal::Lost(loss) => Event::Rejected(generation, loss),
                    Renewal::Unknown(error) => Event::Unknown(generation, error),
                });
                self.watch_layout();
            }
            Answer::Released { machine, announce: true, took } => self.emit(What::Released { machine, took }),
            Answer::Released { announce: false, .. } => {}
        }
    }

    fn wake(&mut self) {
        let now = self.now();
        let due: Vec<_> = self.timers.extract_if(.., |(at, ..)| *at <= now).collect();
        for (_, generation, timer) in due {
            self.apply(Event::Fired(generation, timer));
        }
        self.waiters.expire(now, self.state.asking());
    }

    fn apply(&mut self, event: Event) {
        let timings = self.setup.timings;
        // Without randomness the whole fleet would come back at once; half of the range is as good as any then.
        let random = getrandom::u32().unwrap_or(u32::MAX / 2);
        let moment = Moment { now: self.now(), random, timings: &timings };
        let (state, effects) = step(std::mem::take(&mut self.state), event, moment);
        self.state = state;
        let generation = self.state.generation;
        self.timers.retain(|(_, of, _)| *of == generation);
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Acquire(generation) => self.acquire(generation),
            Effect::Renew(generation, lease) => self.renew(generation, lease),
            Effect::Release { lease, announce } => {
                let last_used = self.last_used.take();
                self.release(lease, last_used, announce);
            }
            Effect::Decline(lease) => self.release(lease, None, false),
            Effect::Open(grant) => self.open(&grant),
            Effect::Grow(grant) => self.grow(&grant),
            Effect::Close(why) => {
                self.last_used = self.setup.factory.close(why).or(self.last_used);
                self.show(None);
            }
            Effect::SetTimer(generation, timer, at) => self.timers.push((at, generation, timer)),
            Effect::Emit(what) => self.emit(what),
            Effect::Settle(result) => self.waiters.settle(&result),
        }
    }

    fn acquire(&mut self, generation: u64) {
        let (coordinator, ttl) = (Arc::clone(&self.setup.coordinator), self.setup.timings.first_ttl);
        self.request(move |clock, limit| async move {
            let asked = Arc::clone(&coordinator);
            let result = answered(limit, async move { asked.acquire(ttl).await }).await;
            let result = result.unwrap_or_else(|| Err(no_answer(&*coordinator, Some(Operation::Acquire), limit)));
            Answer::Acquired(generation, result, clock.tick())
        });
    }

    fn renew(&mut self, generation: u64, lease: Lease) {
        let (coordinator, ttl) = (Arc::clone(&self.setup.coordinator), self.setup.timings.ttl);
        self.request(move |clock, limit| async move {
            let asked = Arc::clone(&coordinator);
            let renewal = answered(limit, async move { asked.renew(&lease, ttl).await }).await;
            let renewal =
                renewal.unwrap_or_else(|| Renewal::Unknown(no_answer(&*coordinator, Some(Operation::Renew), limit)));
            Answer::Renewed(generation, renewal, clock.tick())
        });
    }

    /// `last_used`: a timestamp of the layout; without one nothing was used.
    fn release(&mut self, lease: Lease, last_used: Option<u64>, announce: bool) {
        let coordinator = Arc::clone(&self.setup.coordinator);
        let last_used_ms =
            last_used.map_or(lease.start_ms.saturating_sub(1), |used| self.setup.factory.layout().unix_ms(used));
        self.request(move |clock, limit| async move {
            let sent = clock.tick();
            // An unknown outcome is left to the lease's end.
            let _ = answered(limit, async move { coordinator.release(&lease, last_used_ms).await }).await;
            Answer::Released { machine: lease.machine, announce, took: clock.tick().since(sent) }
        });
    }

    fn request<F>(&mut self, make: impl FnOnce(Arc<dyn Clock>, Duration) -> F)
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        self.unanswered += 1;
        let request = make(Arc::clone(&self.setup.clock), self.setup.request_timeout);
        let answer_to = self.answer_to.clone();
        // Nobody is left to hear an answer that comes after the actor's end.
        tokio::spawn(async move { answer_to.send(request.await).unwrap_or_default() });
    }

    fn open(&mut self, grant: &Grant) {
        let Ok(opening) = self.opening(grant, self.arrived) else { return };
        if self.setup.factory.open(opening) {
            self.last_used = None;
            self.show(Some(Snapshot {
                announced: self.shown.emitted.load(Ordering::Acquire) + 1,
                machine: grant.lease.machine,
                acquired_at_ms: self.setup.clock.wall_ms(),
                expires_at_ms: expiry(grant),
                ends: self.deadline(),
            }));
        }
    }

    fn grow(&mut self, grant: &Grant) {
        if let Ok(opening) = self.opening(grant, self.arrived) {
            self.setup.factory.renew(&opening);
        }
        self.show(self.lease().map(|snapshot| Snapshot {
            expires_at_ms: expiry(grant),
            ends: self.deadline(),
            ..snapshot
        }));
    }

    fn deadline(&self) -> Option<Tick> {
        match &self.state.phase {
            Phase::Held(holding) => holding.deadline,
            _ => None,
        }
    }

    fn opening(&self, grant: &Grant, arrived: Tick) -> Result<Opening, Error> {
        let layout = self.setup.factory.layout();
        let Lease { machine, start_ms, end_ms, .. } = grant.lease;
        let doubts = self.doubts.clone();
        Ok(Opening {
            fence: Fence::new(layout, machine, start_ms, end_ms)?,
            now: grant.now_ms.saturating_sub(layout.epoch_ms()),
            arrived,
            extend: match &grant.term {
                Term::WhileHeld(extend) => Some(Arc::clone(extend)),
                Term::Renewable | Term::Unlimited => None,
            },
            doubt: Doubt::new(move || {
                // An actor that has ended has no lease to doubt.
                let _ = doubts.upgrade().map(|commands| commands.send(Command::Doubt));
            }),
        })
    }

    fn warn(&mut self, usage: Option<Usage>) {
        for warning in self.warnings.after(usage, self.setup.coordinator.caution()) {
            self.emit(warning);
        }
    }

    fn watch_layout(&mut self) {
        if let Some(warning) = self.warnings.ending(self.setup.factory.layout(), self.setup.clock.wall_ms()) {
            self.emit(warning);
        }
    }

    fn emit(&self, what: What) {
        let notice = self.notice(what);
        for (_, listener) in &self.listeners {
            listener(&notice);
        }
    }

    fn notice(&self, what: What) -> Notice {
        let number = self.shown.emitted.fetch_add(1, Ordering::AcqRel) + 1;
        Notice { number, at_ms: self.setup.clock.wall_ms(), what }
    }

    fn lease(&self) -> Option<Snapshot> {
        *self.shown.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, snapshot: Option<Snapshot>) {
        *self.shown.lease.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }

    fn now(&self) -> Tick {
        self.setup.clock.tick()
    }
}
