//! What every coordinator on a server does around its store's answers: it enrols where the store does not know it,
//! reports what the store forgot, and keeps one connection. A store decides; each of its decisions is one atomic step,
//! by the server's clock.

mod adoption;
pub(super) mod examination;
mod link;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use self::adoption::{Adoption, Cause, Looked, NotBefore, machine_ids};
pub use self::link::Ends;
use self::link::{Held, Link};
use super::registry::{
    Agreement, Examination, Found, Listed, Mode, OnReset, Registry, Report, Sequence, disagreement, holder, waiting,
};
use super::{Answer, Caution, Coordinator, Grant, Lease, MachineIds, Renewal, Term, Token, Usage, exhausted};
use crate::error::{Code, Error, Retry};
use crate::nonce::Loss;

/// What a coordinator on a server is made of.
#[derive(Debug, Clone)]
pub struct Setup<T> {
    /// Where it is and how to get in.
    pub settings: T,
    /// Which registry of the server.
    pub namespace: String,
    /// Which machine IDs to lease.
    pub machine_ids: MachineIds,
    /// What all who share the registry must agree on.
    pub agreement: Agreement,
    /// What newcomers do at a registry that may have forgotten leases.
    pub on_reset: OnReset,
    /// Whether connections are kept from one request to the next.
    pub keep_open: bool,
}

/// What a store is told about the process that asks.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Which registry of the server.
    pub namespace: String,
    /// Which machine IDs to lease.
    pub machine_ids: MachineIds,
    /// What all who share the registry must agree on.
    pub agreement: Agreement,
    /// What newcomers do at a registry that may have forgotten leases.
    pub on_reset: OnReset,
    /// Who asks, for people.
    pub holder: String,
}

/// A server that keeps registries. Each method is one request, over a connection that is dropped where it fails.
pub trait Store: Send + Sync + 'static {
    /// An open connection, logged in.
    type Connection: Ends;

    /// The address for messages, without credentials; two stores with the same one are the same.
    fn name(&self) -> String;

    /// Opens a connection.
    fn connect(&self) -> impl Future<Output = Result<Self::Connection, Error>> + Send;

    /// Claims a machine ID: `nonce` and the claim's start by the server's clock are its token.
    fn claim(
        &self,
        connection: &Self::Connection,
        terms: &Terms,
        nonce: [u8; 8],
        ttl: Duration,
    ) -> impl Future<Output = Result<Claimed, Error>> + Send;

    /// Prolongs a lease, or puts it back.
    fn prolong(
        &self,
        connection: &Self::Connection,
        terms: &Terms,
        lease: &Lease,
        ttl: Duration,
    ) -> impl Future<Output = Result<Prolonged, Error>> + Send;

    /// Frees a machine ID after `last_used_ms`, if the token is its.
    fn give_back(
        &self,
        connection: &Self::Connection,
        terms: &Terms,
        lease: &Lease,
        last_used_ms: u64,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Makes what is missing, and carries out what [`Adoption::of`] says, as one step for all who look at the registry.
    fn adopt(
        &self,
        connection: &Self::Connection,
        terms: &Terms,
        cause: Cause,
        join: bool,
    ) -> impl Future<Output = Result<Adopted, Error>> + Send;

    /// Moves the sequences of `mintid ddl --default` to the server's time: past whatever an earlier copy forgot.
    fn move_sequences(
        &self,
        _connection: &Self::Connection,
    ) -> impl Future<Output = Result<Vec<Sequence>, Error>> + Send {
        std::future::ready(Ok(Vec::new()))
    }

    /// Every machine ID, ascending; none where there is no registry.
    fn list(
        &self,
        connection: &Self::Connection,
        terms: &Terms,
    ) -> impl Future<Output = Result<Vec<Listed>, Error>> + Send;

    /// Looks at everything that may stand between a process and its lease.
    fn examine(
        &self,
        connection: &Self::Connection,
        terms: &Terms,
    ) -> impl Future<Output = Result<Examination, Error>> + Send;

    /// What someone with the rights runs where the processes lack them.
    fn script(&self) -> String;

    /// What an operator should know of the registry, as of the last claim.
    fn caution(&self) -> Option<Caution> {
        None
    }
}

/// What came of a claim.
#[derive(Debug)]
pub enum Claimed {
    /// There is no registry, or it may have forgotten leases.
    Strange,
    /// Its processes agreed on something else, or on less.
    Disagreed(Found),
    /// Nothing is granted to newcomers yet.
    Waiting {
        /// The registry's time.
        now_ms: u64,
        /// When that will be over.
        not_before_ms: u64,
    },
    /// Every machine ID is leased.
    Exhausted,
    /// A lease.
    Granted {
        /// Machine ID.
        machine: u32,
        /// Proof of the claim.
        token: Token,
        /// The registry's time; the lease starts after it.
        now_ms: u64,
        /// First moment that may not be used.
        end_ms: u64,
        /// How many of the wanted machine IDs are leased, this one included.
        leased: u32,
    },
}

/// What came of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prolonged {
    /// The registry is another one than it remembers to be, or there is none.
    Strange,
    /// Still ours.
    Granted {
        /// The registry's time.
        now_ms: u64,
        /// First moment that may not be used.
        end_ms: u64,
    },
    /// The registry lacks what it had confirmed, and does not wait yet.
    Forgotten,
    /// Not ours any more.
    Lost,
}

/// What an adoption came to.
#[derive(Debug)]
pub struct Adopted {
    /// Whether the registry was made.
    pub created: bool,
    /// The registry as it is now.
    pub looked: Looked,
}

/// A coordinator that keeps its leases in a store.
pub struct Keeper<S: Store> {
    store: S,
    terms: Terms,
    link: Link<S::Connection>,
    /// The last tokens that a release was sent for. What the registry does not know of them, it was told to forget.
    released: Mutex<VecDeque<Token>>,
}

impl<S: Store> Keeper<S> {
    /// How many released tokens are remembered: more than can have a renewal on its way.
    const RELEASED: usize = 16;

    /// How often a request is made again after the registry was made, adopted, or told of us.
    const ROUNDS: usize = 4;

    /// Connects to nothing yet.
    pub(super) fn of<T>(setup: Setup<T>, store: impl FnOnce(T) -> S) -> Self {
        let Setup { settings, namespace, machine_ids, agreement, on_reset, keep_open } = setup;
        let terms = Terms { namespace, machine_ids, agreement, on_reset, holder: holder() };
        Self { store: store(settings), terms, link: Link::new(keep_open), released: Mutex::default() }
    }

    /// The same with another store in its place.
    pub(super) fn changed(self, change: impl FnOnce(S) -> S) -> Self {
        Self { store: change(self.store), ..self }
    }

    async fn connection(&self) -> Result<Held<S::Connection>, Error> {
        self.link.get(|| self.store.connect()).await
    }

    async fn claim(&self, ttl: Duration) -> Result<Grant, Error> {
        let held = self.connection().await?;
        for _ in 0..Self::ROUNDS {
            let claimed = self.store.claim(held.get(), &self.terms, Token::random_part()?, ttl).await?;
            let answer = match claimed {
                Claimed::Granted { machine, token, now_ms, end_ms, leased } => {
                    let lease = Lease { machine, token, start_ms: now_ms + 1, end_ms };
                    let usage = Some(Usage { leased, capacity: self.terms.machine_ids.capacity() });
                    Ok(Grant { lease, now_ms, term: Term::Renewable, usage })
                }
                Claimed::Exhausted => Err(exhausted(self.terms.machine_ids.capacity())),
                Claimed::Waiting { now_ms, not_before_ms } => Err(waiting(&self.store.name(), now_ms, not_before_ms)),
                Claimed::Disagreed(found) => {
                    let Some(error) = disagreement(&self.terms.agreement, &found) else {
                        self.enrol(&held, Cause::IfStrange).await?;
                        continue;
                    };
                    Err(error)
                }
                Claimed::Strange => {
                    self.enrol(&held, Cause::IfStrange).await?;
                    continue;
                }
            };
            self.link.put(held);
            return answer;
        }
        Err(self.restless())
    }

    async fn prolong(&self, lease: Lease, ttl: Duration) -> Result<Renewal, Error> {
        let held = self.connection().await?;
        let mut told = false;
        for _ in 0..Self::ROUNDS {
            let renewal = match self.store.prolong(held.get(), &self.terms, &lease, ttl).await? {
                Prolonged::Granted { now_ms, end_ms } => {
                    let lease = Lease { end_ms, ..lease };
                    Renewal::Granted(Grant { lease, now_ms, term: Term::Renewable, usage: None })
                }
                Prolonged::Strange => {
                    self.enrol(&held, Cause::IfStrange).await?;
                    continue;
                }
                Prolonged::Forgotten if self.waits_for_what_was_forgotten(lease.token) && !told => {
                    told = true;
                    self.enrol(&held, Cause::Evidence).await?;
                    continue;
                }
                Prolonged::Forgotten | Prolonged::Lost => Renewal::Lost(Loss::Rejected),
            };
            self.link.put(held);
            return Ok(renewal);
        }
        Err(self.restless())
    }

    async fn enrol(&self, held: &Held<S::Connection>, cause: Cause) -> Result<(), Error> {
        self.store.adopt(held.get(), &self.terms, cause, true).await.map(drop)
    }

    /// Whether a lease that the registry does not know is evidence that it forgot, which newcomers must wait for.
    fn waits_for_what_was_forgotten(&self, token: Token) -> bool {
        self.terms.on_reset == OnReset::Wait && !self.released().contains(&token)
    }

    fn released(&self) -> MutexGuard<'_, VecDeque<Token>> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn give_back(&self, lease: Lease, last_used_ms: u64) -> Result<(), Error> {
        // Before it is sent: a renewal that is on its way may find its effect.
        {
            let mut released = self.released();
            released.truncate(Self::RELEASED - 1);
            released.push_front(lease.token);
        }
        let held = self.connection().await?;
        self.store.give_back(held.get(), &self.terms, &lease, last_used_ms).await?;
        self.link.put(held);
        Ok(())
    }

    async fn set_up(&self, mode: Mode) -> Result<Report, Error> {
        let held = self.connection().await?;
        let cause = match mode {
            Mode::Plain => Cause::IfStrange,
            Mode::AcceptReset => Cause::Word,
            Mode::Fresh => Cause::Fresh,
            Mode::Restored => Cause::Restored,
        };
        let Adopted { created, looked } = self.store.adopt(held.get(), &self.terms, cause, false).await?;
        let sequences = match mode {
            Mode::Restored => self.store.move_sequences(held.get()).await?,
            Mode::Plain | Mode::AcceptReset | Mode::Fresh => Vec::new(),
        };
        self.link.put(held);
        let ours = &self.terms.agreement;
        let layout = looked.found.layout.as_deref().and_then(crate::layout::Layout::parse);
        Ok(Report {
            created,
            not_before_ms: if looked.waiting { looked.not_before_ms } else { 0 },
            now_ms: looked.now_ms,
            machine_ids: machine_ids(layout.unwrap_or(ours.layout)),
            ttl_ms: looked.found.ttl_ms.unwrap_or(ours.ttl.as_millis() as u64),
            sequences,
        })
    }

    async fn listed(&self) -> Result<Vec<Listed>, Error> {
        let held = self.connection().await?;
        let listed = self.store.list(held.get(), &self.terms).await?;
        self.link.put(held);
        Ok(listed)
    }

    async fn examined(&self) -> Result<Examination, Error> {
        let held = self.connection().await?;
        let examination = self.store.examine(held.get(), &self.terms).await?;
        self.link.put(held);
        Ok(examination)
    }

    fn restless(&self) -> Error {
        restless(&self.store.name(), &self.terms.namespace)
    }
}

/// The registry was another one each time we looked: somebody is at work on it.
pub(super) fn restless(name: &str, namespace: &str) -> Error {
    Error::new(Code::Coordinator, format!("{name}: the registry of namespace {namespace} keeps changing"))
        .with(|fields| fields.coordinator = Some(name.to_owned()))
        .retry_as(Retry::Soon)
}

impl<S: Store> Coordinator for Keeper<S> {
    fn name(&self) -> String {
        self.store.name()
    }

    fn acquire(&self, ttl: Duration) -> Answer<'_, Result<Grant, Error>> {
        Box::pin(self.claim(ttl))
    }

    fn renew(&self, lease: &Lease, ttl: Duration) -> Answer<'_, Renewal> {
        let lease = *lease;
        Box::pin(async move { self.prolong(lease, ttl).await.unwrap_or_else(Renewal::Unknown) })
    }

    fn release(&self, lease: &Lease, last_used_ms: u64) -> Answer<'_, Result<(), Error>> {
        Box::pin(self.give_back(*lease, last_used_ms))
    }

    fn caution(&self) -> Option<Caution> {
        self.store.caution()
    }

    fn on_disconnect(&self, tell: Arc<dyn Fn() + Send + Sync>) {
        self.link.on_disconnect(tell);
    }
}

impl<S: Store> Registry for Keeper<S> {
    fn setup(&self, mode: Mode) -> Answer<'_, Result<Report, Error>> {
        Box::pin(self.set_up(mode))
    }

    fn list(&self) -> Answer<'_, Result<Vec<Listed>, Error>> {
        Box::pin(self.listed())
    }

    fn script(&self) -> String {
        self.store.script()
    }

    fn examine(&self) -> Answer<'_, Result<Examination, Error>> {
        Box::pin(self.examined())
    }
}
