//! What a coordinator brings to the contract suite.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mintid::coordinator::{Answer, Coordinator, Grant, Lease, MachineIds, Renewal, Term};
use mintid::error::{Code, Error};
use mintid::layout::Layout;
use tokio::runtime::{Builder, Runtime};

/// How one of a statement's or a script's texts is changed.
pub(crate) type Change = (&'static str, &'static str);

/// How a lease of a coordinator ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// At a time of the registry's clock, unless it is renewed.
    Renewable,
    /// With its holder.
    Held,
}

/// One empty registry and its surroundings. Each check gets a new one.
pub(crate) trait Bench: Sync {
    /// How its leases end.
    fn kind(&self) -> Kind;

    /// Bit widths and epoch of the registry.
    fn layout(&self) -> Layout {
        few_machines()
    }

    /// How long the suite's leases last.
    fn ttl(&self) -> Duration;

    /// A new client of the registry, as another process would be, whose own clock goes wrong by `skew_ms`.
    fn client(&self, machine_ids: MachineIds, skew_ms: i64) -> Arc<dyn Coordinator>;

    /// Time passes by every clock.
    fn pass(&self, by: Duration);

    /// Steps the clock that the registry goes by, where somebody can (nobody does with a database server's).
    fn step(&self, by_ms: i64);

    /// The holder ends without a word. On return its machine ID is free.
    fn die(&self, holder: Holder);

    /// A client for all machine IDs.
    fn any(&self) -> Arc<dyn Coordinator> {
        self.client(MachineIds::new(&self.layout(), None).unwrap(), 0)
    }

    /// A client for the machine IDs `first..=last`.
    fn within(&self, first: u32, last: u32) -> Arc<dyn Coordinator> {
        self.client(MachineIds::new(&self.layout(), Some((first, last))).unwrap(), 0)
    }

    /// A new process that holds one of the machine IDs `first..=last`.
    fn holder(&self, first: u32, last: u32) -> Holder {
        Holder::of(self.within(first, last), self.ttl()).unwrap()
    }
}

/// A process that holds one lease.
pub(crate) struct Holder {
    pub(crate) client: Arc<dyn Coordinator>,
    pub(crate) grant: Grant,
}

impl Holder {
    /// Has `client` acquire.
    pub(crate) fn of(client: Arc<dyn Coordinator>, ttl: Duration) -> Result<Self, Error> {
        let grant = wait(client.acquire(ttl))?;
        Ok(Self { client, grant })
    }

    /// What is held.
    pub(crate) fn lease(&self) -> Lease {
        self.grant.lease
    }

    /// Renews, which must succeed.
    pub(crate) fn renew(&mut self, ttl: Duration) -> Lease {
        self.try_renew(ttl).unwrap_or_else(|other| panic!("a live lease was not renewed: {other:?}"))
    }

    /// Renews, which may fail.
    pub(crate) fn try_renew(&mut self, ttl: Duration) -> Result<Lease, Renewal> {
        match wait(self.client.renew(&self.grant.lease, ttl)) {
            Renewal::Granted(grant) => {
                self.grant = grant;
                Ok(self.grant.lease)
            }
            other => Err(other),
        }
    }

    /// The first moment that this holder can be sure not to be allowed, after it got as much as it could.
    pub(crate) fn grow(&mut self, ttl: Duration) -> u64 {
        let end_ms = self.renew(ttl).end_ms;
        match &self.grant.term {
            Term::WhileHeld(extend) => extend.extend(end_ms + 5000).unwrap(),
            Term::Renewable | Term::Unlimited => end_ms,
        }
    }

    /// Gives the lease back.
    pub(crate) fn release(self, last_used_ms: u64) {
        wait(self.client.release(&self.grant.lease, last_used_ms)).unwrap();
    }
}

/// A layout with 32 machine IDs: it is cheap to lease them all.
pub(crate) fn few_machines() -> Layout {
    Layout::new(0, 42, 5, 13, Layout::DEFAULT_EPOCH_MS).unwrap()
}

/// Runs one request to its end, on a runtime of this thread's own.
pub(crate) fn wait<T>(answer: Answer<'_, T>) -> T {
    block_on(answer)
}

/// Runs a future to its end, on a runtime of this thread's own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: Runtime = Builder::new_current_thread().enable_all().build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Whether every machine ID that `client` may have is taken.
pub(crate) fn is_exhausted(client: &dyn Coordinator, ttl: Duration) -> bool {
    match wait(client.acquire(ttl)) {
        Ok(_) => false,
        Err(error) if error.code() == Code::Exhausted => true,
        Err(error) => panic!("expected a grant or EXHAUSTED, found {error}"),
    }
}

/// Whether newcomers must wait at the moment.
pub(crate) fn must_wait(client: &dyn Coordinator, ttl: Duration) -> bool {
    match wait(client.acquire(ttl)) {
        Ok(grant) => {
            wait(client.release(&grant.lease, grant.lease.start_ms)).unwrap();
            false
        }
        Err(error) => {
            assert_eq!(error.code(), Code::RegistryReset, "{error}");
            true
        }
    }
}

/// A rule, the changes that take it out, the check that must notice, and what it must say.
pub(crate) type Rule<B> = (&'static str, &'static [Change], fn(&B), &'static str);

/// Takes one rule at a time out of a coordinator's statements: the check must notice, and say so.
pub(crate) fn every_rule_is_missed<B: Bench>(rules: &[Rule<B>], changed: impl Fn(&[Change]) -> B) {
    for (rule, changes, check, complaint) in rules {
        let bench = changed(changes);
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&bench)));
        let panic = outcome.expect_err(&format!("nobody noticed the lack of: {rule}"));
        let said =
            panic.downcast_ref::<String>().map_or_else(|| panic.downcast_ref::<&str>().unwrap_or(&""), String::as_str);
        assert!(said.contains(complaint), "{rule}: {said}");
    }
}
