//! The user's own functions: `acquire`, `renew` and `release`. What they answer is checked here as far as one process can
//! tell; that a machine ID has one holder at a time is theirs to see to.
//!
//! A function that fails, or answers what it must not, leaves the outcome unknown: that is tried again and never a loss.

mod check;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::functions::{Own, Request, Said, Trouble};
use super::registry::holder;
use super::{Answer, Coordinator, Grant, Lease, MachineIds, Renewal, Token, exhausted};
use crate::error::{Code, Error, Retry};
use crate::layout::Layout;
use crate::nonce::Loss;

/// What a [`Custom`] coordinator is made of.
#[derive(Debug)]
pub struct Setup {
    /// Whom to ask.
    pub own: Own,
    /// Which of its registries.
    pub namespace: String,
    /// Which machine IDs to lease.
    pub machine_ids: MachineIds,
    /// Bit widths and epoch.
    pub layout: Layout,
    /// Of the base key, if there is one.
    pub fingerprint: Option<[u8; 16]>,
}

/// A coordinator that asks the user's own functions.
#[derive(Debug)]
pub struct Custom {
    setup: Setup,
    /// What was granted here before, by machine ID: no later lease of the same one may reach back into it.
    before: Mutex<HashMap<u32, Before>>,
}

#[derive(Debug, Clone, Copy)]
struct Before {
    token: Token,
    free_from_ms: u64,
}

impl Custom {
    /// Asks nobody yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self { setup, before: Mutex::default() }
    }

    async fn claim(&self, ttl: Duration) -> Result<Grant, Error> {
        let offered = offered_token()?;
        let Setup { namespace, machine_ids, layout, fingerprint, .. } = &self.setup;
        let said = self
            .ask(Request::Acquire {
                namespace: namespace.clone(),
                first: machine_ids.first,
                last: machine_ids.last,
                ttl_ms: ttl.as_millis() as u64,
                token: check::token_text(offered),
                holder: holder(),
                layout: layout.to_string(),
                fingerprint: fingerprint.map(|bytes| format!("{:032x}", u128::from_be_bytes(bytes))),
            })
            .await?;
        let granted = match said {
            Said::Grant(granted) => granted,
            Said::No => return Err(exhausted(machine_ids.capacity())),
            Said::Rows(_) | Said::List(_) => return Err(self.failure("acquire", &nonsense(OF_ANOTHER.to_owned()))),
        };
        let grant = check::acquired(&granted, offered, *machine_ids, layout)
            .map_err(|what| self.failure("acquire", &nonsense(what)))?;
        match self.remember(&grant.lease) {
            Ok(()) => Ok(grant),
            Err(free_from_ms) => {
                // Given back as used up to where this process knows it to be, so that it is not granted so again.
                let _ = self.give_back(grant.lease, free_from_ms - 1).await;
                let what = format!(
                    "answered now {}; expected a time not before {free_from_ms}, where an earlier lease of machine ID {} \
                     ended",
                    grant.now_ms, grant.lease.machine
                );
                Err(self.failure("acquire", &nonsense(what)))
            }
        }
    }

    /// Fails with the first moment that is free.
    fn remember(&self, lease: &Lease) -> Result<(), u64> {
        let mut before = self.before();
        match before.get(&lease.machine) {
            Some(earlier) if lease.start_ms < earlier.free_from_ms => Err(earlier.free_from_ms),
            _ => {
                before.insert(lease.machine, Before { token: lease.token, free_from_ms: lease.end_ms });
                Ok(())
            }
        }
    }

    fn remember_end(&self, lease: &Lease, free_from_ms: u64) {
        let mut before = self.before();
        if let Some(known) = before.get_mut(&lease.machine).filter(|known| known.token == lease.token) {
            known.free_from_ms = free_from_ms;
        }
    }

    fn before(&self) -> MutexGuard<'_, HashMap<u32, Before>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn prolong(&self, lease: Lease, ttl: Duration) -> Renewal {
        let said = self
            .ask(Request::Renew {
                namespace: self.setup.namespace.clone(),
                machine: lease.machine,
                token: check::token_text(lease.token),
                ttl_ms: ttl.as_millis() as u64,
                end_ms: lease.end_ms,
            })
            .await;
        match said {
            Ok(Said::No) => Renewal::Lost(Loss::Rejected),
            Ok(Said::Grant(granted)) => match check::renewed(&granted, lease, &self.setup.layout) {
                Ok(grant) => {
                    self.remember_end(&grant.lease, grant.lease.end_ms);
                    Renewal::Granted(grant)
                }
                Err(what) => Renewal::Unknown(self.failure("renew", &nonsense(what))),
            },
            Ok(Said::Rows(_) | Said::List(_)) => {
                Renewal::Unknown(self.failure("renew", &nonsense(OF_ANOTHER.to_owned())))
            }
            Err(error) => Renewal::Unknown(error),
        }
    }

    async fn give_back(&self, lease: Lease, last_used_ms: u64) -> Result<(), Error> {
        self.remember_end(&lease, last_used_ms + 1);
        self.ask(Request::Release {
            namespace: self.setup.namespace.clone(),
            machine: lease.machine,
            token: check::token_text(lease.token),
            last_used_ms,
        })
        .await
        .map(drop)
    }

    async fn ask(&self, request: Request) -> Result<Said, Error> {
        let operation = request.operation();
        self.setup.own.call(request).await.map_err(|trouble| self.failure(operation, &trouble))
    }

    fn failure(&self, operation: &str, trouble: &Trouble) -> Error {
        if trouble.is_final {
            return Error::config("coordinator", format!("coordinator: {operation}() {}", trouble.what));
        }
        let name = self.name();
        Error::new(Code::Coordinator, format!("{name}: {operation}() {}", trouble.what))
            .with(|fields| {
                fields.coordinator = Some(name);
                fields.server_code.clone_from(&trouble.code);
                fields.hint.clone_from(&trouble.hint);
            })
            .retry_as(Retry::Soon)
    }
}

/// The border made a mistake.
const OF_ANOTHER: &str = "answered what belongs to another function";

fn nonsense(what: String) -> Trouble {
    Trouble { what, ..Trouble::default() }
}

/// A random UUID, as columns of that type want it.
fn offered_token() -> Result<Token, Error> {
    let Token(mut bytes) = Token::random()?;
    bytes[6] = 0x40 | bytes[6] & 0x0F;
    bytes[8] = 0x80 | bytes[8] & 0x3F;
    Ok(Token(bytes))
}

impl Coordinator for Custom {
    fn name(&self) -> String {
        self.setup.own.name().to_owned()
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
}
