//! A machine ID by hand that a registry guards: exactly this one is claimed there, and whoever holds it keeps it.
//!
//! The newer claim loses, since a registry grants a machine ID only when its last lease is over. That last lease may be
//! this process's own: one that is being given back, or that a request made whose answer was lost. That is no conflict.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::registry::{Listed, Registry, holder};
use super::{Answer, Coordinator, Grant, Lease, Renewal, Token};
use crate::clock::{Clock, Tick};
use crate::error::{Code, Error, Retry};
use crate::nonce::Loss;

/// A freed machine ID is to be taken within two seconds; the state machine adds up to 0.8 s of jitter.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// By how much the end of a lease may differ between the registry's clock and ours, and the least for which a machine ID
/// that was just given back counts as ours.
const SLACK: Duration = Duration::from_secs(1);

/// How long a lease that is lost may wait to learn why.
const LOOK_WITHIN: Duration = Duration::from_secs(1);

/// A coordinator that grants one machine ID, and names the conflict where another process has it.
pub struct Guarded {
    machine: u32,
    inner: Arc<dyn Coordinator>,
    rows: Option<Arc<dyn Registry>>,
    claims: Arc<Claims>,
    clock: Arc<dyn Clock>,
    /// The latest lease that was lost or given back: it stays so, however long it took to learn why it was lost.
    over: Mutex<Option<Token>>,
}

/// What one process claimed of one machine ID, as far as that may not be over; it outlives every generator.
#[derive(Debug, Default)]
pub struct Claims(Mutex<Own>);

#[derive(Debug, Clone, Copy, Default)]
struct Own {
    /// The latest lease that was granted, and when it is over for certain.
    held: Option<(Token, Tick)>,
    /// Until when a request may have had an effect whose answer never came.
    unclear_until: Tick,
}

impl Claims {
    /// Those of this process for what `key` names.
    #[must_use]
    pub fn of_this_process(key: &str) -> Arc<Self> {
        static ALL: LazyLock<Mutex<HashMap<String, Arc<Claims>>>> = LazyLock::new(Mutex::default);
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(key.to_owned()).or_default())
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guarded {
    /// `inner` must grant `machine` alone.
    #[must_use]
    pub fn new(machine: u32, inner: Arc<dyn Coordinator>, claims: Arc<Claims>, clock: Arc<dyn Clock>) -> Self {
        Self { machine, inner, rows: None, claims, clock, over: Mutex::default() }
    }

    /// The same where the rows of the registry can be looked at, if they can.
    #[must_use]
    pub fn looking_at(self, rows: Option<Arc<dyn Registry>>) -> Self {
        Self { rows, ..self }
    }

    async fn claim(&self, ttl: Duration) -> Result<Grant, Error> {
        let asked = self.asked(ttl);
        let answer = self.inner.acquire(ttl).await;
        if answer.as_ref().err().is_none_or(|error| error.retry() != Retry::Soon) {
            asked.answered();
        }
        match answer {
            Ok(grant) => {
                self.hold(&grant);
                Ok(grant)
            }
            Err(error) if error.code() == Code::Exhausted => Err(self.taken().await),
            Err(error) => Err(error.about_guard()),
        }
    }

    fn asked(&self, ttl: Duration) -> Asked<'_> {
        Asked { claims: &self.claims, until: self.clock.tick().after(ttl * 2) }
    }

    fn hold(&self, grant: &Grant) {
        let left = Duration::from_millis(grant.lease.end_ms.saturating_sub(grant.now_ms));
        self.claims.own().held = Some((grant.lease.token, self.clock.tick().after(left + SLACK)));
    }

    /// Why the machine ID is not to be had.
    async fn taken(&self) -> Error {
        let (now, own) = (self.clock.tick(), *self.claims.own());
        if let Some((_, until)) = own.held.filter(|(_, until)| *until > now) {
            return self.still_ours(until.since(now));
        }
        if own.unclear_until > now {
            match self.row().await {
                Some(row) if row.holder == Some(holder()) => return self.still_ours(ASK_AGAIN_AFTER),
                Some(_) => self.claims.own().unclear_until = now,
                None => {}
            }
        }
        let Self { machine, inner, .. } = self;
        let text = format!(
            "machine ID {machine} is held by another process, says {}; `npx mintid leases` shows by which",
            inner.name()
        );
        Error::new(Code::Conflict, text).with(|fields| fields.machine_id = Some(*machine)).retry_in(ASK_AGAIN_AFTER)
    }

    fn still_ours(&self, wait: Duration) -> Error {
        let text = format!("machine ID {}: an earlier lease of this process is not over yet", self.machine);
        Error::new(Code::Coordinator, text)
            .with(|fields| fields.coordinator = Some(self.inner.name()))
            .retry_as(Retry::Soon)
            .retry_in(wait)
    }

    async fn prolong(&self, lease: Lease, ttl: Duration) -> Renewal {
        if *self.over() == Some(lease.token) {
            return Renewal::Lost(Loss::Rejected);
        }
        let asked = self.asked(ttl);
        let renewal = self.inner.renew(&lease, ttl).await;
        if !matches!(renewal, Renewal::Unknown(_)) {
            asked.answered();
        }
        match &renewal {
            Renewal::Granted(grant) if *self.over() != Some(lease.token) => self.hold(grant),
            Renewal::Lost(loss) => {
                *self.over() = Some(lease.token);
                self.claims.own().held = None;
                if *loss == Loss::Rejected && self.row().await.is_some_and(|row| is_of_another(&row, &lease)) {
                    return Renewal::Lost(Loss::Conflict);
                }
            }
            Renewal::Granted(_) | Renewal::Unknown(_) => {}
        }
        renewal
    }

    async fn give_back(&self, lease: Lease, last_used_ms: u64) -> Result<(), Error> {
        // Before it is sent: a renewal that is on its way does not make it ours again.
        *self.over() = Some(lease.token);
        self.inner.release(&lease, last_used_ms).await?;
        let soon = self.clock.tick().after(SLACK);
        if let Some((token, until)) = &mut self.claims.own().held
            && *token == lease.token
        {
            *until = soon.min(*until);
        }
        Ok(())
    }

    async fn row(&self) -> Option<Listed> {
        let rows = self.rows.as_ref()?;
        let listed = tokio::time::timeout(LOOK_WITHIN, rows.list()).await.ok()?.ok()?;
        listed.into_iter().find(|row| row.machine == self.machine)
    }

    fn over(&self) -> MutexGuard<'_, Option<Token>> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request for a lease or for more of it. If it is dropped, or answered with a passing trouble, it may have had its effect.
struct Asked<'a> {
    claims: &'a Claims,
    until: Tick,
}

impl Asked<'_> {
    fn answered(mut self) {
        self.until = Tick::default();
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut own = self.claims.own();
        own.unclear_until = own.unclear_until.max(self.until);
    }
}

/// A claim is told by its moment: the registry's time just before the lease's start.
fn is_of_another(row: &Listed, lease: &Lease) -> bool {
    row.live && row.acquired_at_ms.is_some_and(|at| at + 1 != lease.start_ms)
}

impl Coordinator for Guarded {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn acquire(&self, ttl: Duration) -> Answer<'_, Result<Grant, Error>> {
        Box::pin(self.claim(ttl))
    }

    fn renew(&self, lease: &Lease, ttl: Duration) -> Answer<'_, Renewal> {
        Box::pin(self.prolong(*lease, ttl))
    }

    fn release(&self, lease: &Lease, last_used_ms: u64) -> Answer<'_, Result<(), Error>> {
        Box::pin(self.give_back(*lease, last_used_ms))
    }

    fn on_disconnect(&self, tell: Arc<dyn Fn() + Send + Sync>) {
        self.inner.on_disconnect(tell);
    }
}
