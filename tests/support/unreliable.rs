//! A coordinator behind a network that fails as told, and keeps a record of what was asked.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mintid::clock::{Clock, Tick};
use mintid::coordinator::{Answer, Coordinator, Grant, Lease, Renewal};
use mintid::error::Error;

/// What goes wrong with one request.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// It never arrives, and nobody answers.
    LoseRequest,
    /// It is done, but nobody answers.
    LoseAnswer,
    /// It is done at once, and answered so much later.
    Delay(Duration),
    /// It is done, and answered with this.
    Break(Error),
    /// It is not done, and answered with this.
    Refuse(Error),
}

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A lease for so long.
    Acquire(Duration),
    /// More time for a machine ID.
    Renew(u32, Duration),
    /// To take a machine ID back that was used until then.
    Release(u32, u64),
}

/// One of the three methods.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Method {
    Acquire,
    Renew,
    Release,
}

/// See the module.
pub(crate) struct Unreliable {
    inner: Arc<dyn Coordinator>,
    clock: Arc<dyn Clock>,
    faults: Mutex<[Faults; 3]>,
    record: Mutex<Vec<(Tick, Asked)>>,
}

#[derive(Debug, Default)]
struct Faults {
    next: VecDeque<Fault>,
    always: Option<Fault>,
}

impl Unreliable {
    /// Reliable for now; `clock` dates the record.
    pub(crate) fn new(inner: Arc<dyn Coordinator>, clock: Arc<dyn Clock>) -> Self {
        Self { inner, clock, faults: Mutex::default(), record: Mutex::default() }
    }

    /// The next request that has no fault yet gets this one.
    pub(crate) fn fail_next(&self, method: Method, fault: Fault) {
        self.faults.lock().unwrap()[method as usize].next.push_back(fault);
    }

    /// From now on every request gets this fault.
    pub(crate) fn fail(&self, method: Method, fault: Fault) {
        self.faults.lock().unwrap()[method as usize].always = Some(fault);
    }

    /// From now on all is well.
    pub(crate) fn heal(&self) {
        *self.faults.lock().unwrap() = Default::default();
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.record.lock().unwrap().iter().map(|(_, asked)| *asked).collect()
    }

    /// When renewals were asked for, in milliseconds of the tick.
    pub(crate) fn renewed_at(&self) -> Vec<u64> {
        self.dates(|asked| matches!(asked, Asked::Renew(..)))
    }

    /// When leases were asked for, in milliseconds of the tick.
    pub(crate) fn acquired_at(&self) -> Vec<u64> {
        self.dates(|asked| matches!(asked, Asked::Acquire(_)))
    }

    fn dates(&self, of: impl Fn(&Asked) -> bool) -> Vec<u64> {
        let record = self.record.lock().unwrap();
        record.iter().filter(|(_, asked)| of(asked)).map(|(at, _)| at.millis()).collect()
    }

    fn take(&self, method: Method, asked: Asked) -> Option<Fault> {
        self.record.lock().unwrap().push((self.clock.tick(), asked));
        let faults = &mut self.faults.lock().unwrap()[method as usize];
        faults.next.pop_front().or_else(|| faults.always.clone())
    }

    /// `refused` makes an answer out of an error.
    async fn ask<T>(fault: Option<Fault>, request: Answer<'_, T>, refused: impl FnOnce(Error) -> T) -> T {
        match fault {
            None => request.await,
            Some(Fault::LoseRequest) => pending().await,
            Some(Fault::LoseAnswer) => {
                request.await;
                pending().await
            }
            Some(Fault::Delay(by)) => {
                let answer = request.await;
                tokio::time::sleep(by).await;
                answer
            }
            Some(Fault::Break(error)) => {
                request.await;
                refused(error)
            }
            Some(Fault::Refuse(error)) => refused(error),
        }
    }
}

impl Coordinator for Unreliable {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn acquire(&self, ttl: Duration) -> Answer<'_, Result<Grant, Error>> {
        let fault = self.take(Method::Acquire, Asked::Acquire(ttl));
        Box::pin(Self::ask(fault, self.inner.acquire(ttl), Err))
    }

    fn renew(&self, lease: &Lease, ttl: Duration) -> Answer<'_, Renewal> {
        let fault = self.take(Method::Renew, Asked::Renew(lease.machine, ttl));
        Box::pin(Self::ask(fault, self.inner.renew(lease, ttl), Renewal::Unknown))
    }

    fn release(&self, lease: &Lease, last_used_ms: u64) -> Answer<'_, Result<(), Error>> {
        let fault = self.take(Method::Release, Asked::Release(lease.machine, last_used_ms));
        Box::pin(Self::ask(fault, self.inner.release(lease, last_used_ms), Err))
    }
}
