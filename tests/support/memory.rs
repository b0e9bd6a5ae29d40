//! A registry in memory that keeps every rule of the design's section 2, and can be told to leave one out: that is how
//! the contract suite is tested.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mintid::clock::Clock;
use mintid::coordinator::registry::{Examination, Listed, Mode, Registry as Rows, Report, holder};
use mintid::coordinator::{Answer, Coordinator, Grant, Lease, MachineIds, Renewal, Term, Token, exhausted};
use mintid::error::Error;
use mintid::layout::Layout;
use mintid::nonce::Loss;

/// What the registry keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A lease starts after the moment at which its row was seen to be free.
    StartAfterEverythingBefore,
    /// A row is granted again only when it has run out.
    GrantOnlyWhatIsFree,
    /// A row that has run out is free.
    FreeWhatRanOut,
    /// A row that was released is free after its last use.
    FreeWhatIsReleased,
    /// A row that has run out is not renewed.
    RenewOnlyWhatIsAlive,
    /// A renewal for less time leaves the end where it is.
    NeverShorten,
    /// A released row is not free before the last use.
    ReleaseToTheLastUse,
    /// A released row's token is dead.
    ReleaseEndsTheToken,
    /// Renewing and releasing need the claim's token.
    AskForTheToken,
    /// Each claim has another token.
    TokenOfItsOwn,
    /// A row is kept when its lease has run out.
    RowsOutliveTheirLease,
    /// The client's clock does not count.
    OneClock,
    /// The machine ID that has been free longest comes first.
    LongestFreeFirst,
    /// Only the client's machine IDs are granted.
    KeepToTheRange,
}

/// The rows of all machine IDs.
pub(crate) struct Registry {
    clock: Arc<dyn Clock>,
    layout: Layout,
    without: Option<Rule>,
    rows: Mutex<BTreeMap<u32, Row>>,
    claims: AtomicU64,
    unlisted: AtomicBool,
    listed: AtomicU64,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    token: Option<Token>,
    expires_at_ms: u64,
    /// Of the process that claimed it last.
    process: u32,
    acquired_at_ms: u64,
}

impl Registry {
    /// An empty registry that goes by `clock`.
    pub(crate) fn new(layout: Layout, clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            layout,
            without: None,
            rows: Mutex::default(),
            claims: AtomicU64::new(0),
            unlisted: AtomicBool::new(false),
            listed: AtomicU64::new(0),
        }
    }

    /// The same without one of the rules.
    pub(crate) fn without(self, rule: Rule) -> Self {
        Self { without: Some(rule), ..self }
    }

    /// Takes a machine ID away from its holder, as an operator might.
    pub(crate) fn evict(&self, machine: u32) {
        self.rows().entry(machine).and_modify(|row| row.token = None);
    }

    /// Answers nobody any more who wants to look at the rows.
    pub(crate) fn stop_listing(&self) {
        self.unlisted.store(true, Ordering::SeqCst);
    }

    /// How often somebody wanted to look at the rows.
    pub(crate) fn listed(&self) -> u64 {
        self.listed.load(Ordering::SeqCst)
    }

    /// Knows nothing of a machine ID any more.
    pub(crate) fn forget_row(&self, machine: u32) {
        self.rows().remove(&machine);
    }

    /// First moment at which a machine ID may be granted again, less one; 0 if it was never leased.
    pub(crate) fn expires_at_ms(&self, machine: u32) -> u64 {
        self.rows().get(&machine).map_or(0, |row| row.expires_at_ms)
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<u32, Row>> {
        self.rows.lock().unwrap()
    }

    fn keeps(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// As a server would that lets the rows expire together with their leases.
    fn forget(&self, now_ms: u64) {
        if !self.keeps(Rule::RowsOutliveTheirLease) {
            self.rows().retain(|_, row| row.expires_at_ms >= now_ms);
        }
    }

    fn token(&self, machine: u32, now_ms: u64) -> Token {
        let claim = if self.keeps(Rule::TokenOfItsOwn) {
            u128::from(self.claims.fetch_add(1, Ordering::SeqCst)) << 64 | u128::from(now_ms)
        } else {
            machine.into()
        };
        Token(claim.to_be_bytes())
    }
}

/// A client of a registry.
pub(crate) struct Memory {
    registry: Arc<Registry>,
    machine_ids: MachineIds,
    clock: Arc<dyn Clock>,
    process: u32,
}

impl Memory {
    /// A client for `machine_ids`, whose own clock is `clock`.
    pub(crate) fn new(registry: &Arc<Registry>, machine_ids: MachineIds, clock: Arc<dyn Clock>) -> Self {
        Self { registry: Arc::clone(registry), machine_ids, clock, process: std::process::id() }
    }

    /// The same as a client in another process.
    pub(crate) fn of_process(self, process: u32) -> Self {
        Self { process, ..self }
    }

    fn now_ms(&self) -> u64 {
        let clock = if self.registry.keeps(Rule::OneClock) { &self.registry.clock } else { &self.clock };
        let now_ms = clock.wall_ms();
        self.registry.forget(now_ms);
        now_ms
    }

    fn claim(&self, ttl: Duration) -> Result<Grant, Error> {
        let now_ms = self.now_ms();
        let mut rows = self.registry.rows();
        let Some(machine) = self.candidate(&rows, now_ms) else { return Err(exhausted(self.machine_ids.capacity())) };
        let token = self.registry.token(machine, now_ms);
        let end_ms = now_ms + ttl.as_millis() as u64;
        let Self { process, .. } = *self;
        rows.insert(machine, Row { token: Some(token), expires_at_ms: end_ms, process, acquired_at_ms: now_ms });
        let start_ms = if self.registry.keeps(Rule::StartAfterEverythingBefore) { now_ms + 1 } else { now_ms - 1000 };
        Ok(Grant { lease: Lease { machine, token, start_ms, end_ms }, now_ms, term: Term::Renewable, usage: None })
    }

    fn candidate(&self, rows: &BTreeMap<u32, Row>, now_ms: u64) -> Option<u32> {
        let all = 0..self.registry.layout.machines();
        let ours =
            all.filter(|machine| !self.registry.keeps(Rule::KeepToTheRange) || self.machine_ids.contains(*machine));
        let since = |machine: &u32| rows.get(machine).map_or(0, |row| row.expires_at_ms);
        let free = ours.filter(|machine| match self.registry.without {
            Some(Rule::GrantOnlyWhatIsFree) => true,
            Some(Rule::FreeWhatRanOut) => rows.get(machine).is_none_or(|row| row.token.is_none()),
            _ => since(machine) < now_ms,
        });
        if self.registry.keeps(Rule::LongestFreeFirst) { free.min_by_key(since) } else { free.min() }
    }

    fn prolong(&self, lease: &Lease, ttl: Duration) -> Renewal {
        let now_ms = self.now_ms();
        let mut rows = self.registry.rows();
        let Some(row) = rows.get_mut(&lease.machine).filter(|row| self.is_theirs(row, lease)) else {
            return Renewal::Lost(Loss::Rejected);
        };
        if row.expires_at_ms < now_ms && self.registry.keeps(Rule::RenewOnlyWhatIsAlive) {
            return Renewal::Lost(Loss::Rejected);
        }
        let wanted_ms = now_ms + ttl.as_millis() as u64;
        row.expires_at_ms =
            if self.registry.keeps(Rule::NeverShorten) { row.expires_at_ms.max(wanted_ms) } else { wanted_ms };
        let lease = Lease { end_ms: row.expires_at_ms, ..*lease };
        Renewal::Granted(Grant { lease, now_ms, term: Term::Renewable, usage: None })
    }

    fn give_back(&self, lease: &Lease, last_used_ms: u64) {
        if !self.registry.keeps(Rule::FreeWhatIsReleased) {
            return;
        }
        let now_ms = self.now_ms();
        let mut rows = self.registry.rows();
        let Some(row) = rows.get_mut(&lease.machine).filter(|row| self.is_theirs(row, lease)) else { return };
        row.expires_at_ms =
            if self.registry.keeps(Rule::ReleaseToTheLastUse) { now_ms.max(last_used_ms) } else { now_ms };
        if self.registry.keeps(Rule::ReleaseEndsTheToken) {
            row.token = None;
        }
    }

    fn is_theirs(&self, row: &Row, lease: &Lease) -> bool {
        row.token == Some(lease.token) || !self.registry.keeps(Rule::AskForTheToken)
    }
}

impl Coordinator for Memory {
    fn name(&self) -> String {
        "memory".into()
    }

    fn acquire(&self, ttl: Duration) -> Answer<'_, Result<Grant, Error>> {
        Box::pin(async move { self.claim(ttl) })
    }

    fn renew(&self, lease: &Lease, ttl: Duration) -> Answer<'_, Renewal> {
        let lease = *lease;
        Box::pin(async move { self.prolong(&lease, ttl) })
    }

    fn release(&self, lease: &Lease, last_used_ms: u64) -> Answer<'_, Result<(), Error>> {
        let lease = *lease;
        Box::pin(async move {
            self.give_back(&lease, last_used_ms);
            Ok(())
        })
    }
}

impl Rows for Memory {
    fn list(&self) -> Answer<'_, Result<Vec<Listed>, Error>> {
        self.registry.listed.fetch_add(1, Ordering::SeqCst);
        if self.registry.unlisted.load(Ordering::SeqCst) {
            return Box::pin(std::future::pending());
        }
        let now_ms = self.now_ms();
        let own = std::process::id().to_string();
        let listed = |(machine, row): (&u32, &Row)| Listed {
            machine: *machine,
            holder: Some(holder().replace(&own, &row.process.to_string())),
            acquired_at_ms: Some(row.acquired_at_ms),
            expires_at_ms: row.expires_at_ms,
            live: row.expires_at_ms >= now_ms,
        };
        let rows: Vec<Listed> = self.registry.rows().iter().map(listed).collect();
        Box::pin(async { Ok(rows) })
    }

    fn setup(&self, _mode: Mode) -> Answer<'_, Result<Report, Error>> {
        unimplemented!("there is nothing to make")
    }

    fn script(&self) -> String {
        unimplemented!("there is nothing to make")
    }

    fn examine(&self) -> Answer<'_, Result<Examination, Error>> {
        unimplemented!("there is nothing to look at")
    }
}
