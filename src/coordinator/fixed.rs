//! A machine ID set by hand: a number, the trailing digits of an environment variable, or this host's place in a list.
//!
//! Nothing guards it. It assumes that no other process uses the same machine ID, and that this machine's wall clock does
//! not stand behind its own last use when the process starts again. Within one process it is claimed by one lease at a
//! time, and a later lease starts after everything that earlier ones used.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Answer, Coordinator, Grant, Lease, Renewal, Term, Token};
use crate::clock::Clock;
use crate::error::{Code, Error, Retry, shown};
use crate::layout::Layout;
use crate::nonce::Loss;

/// Where a machine ID comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// As it stands.
    Number(u32),
    /// The decimal digits at the end of an environment variable's value, as in the pod name `web-7`.
    Environment {
        /// Its name.
        name: String,
        /// Its value, if it is set.
        value: Option<String>,
    },
    /// The place of this host in the list, after sorting it bytewise, so that the order of writing does not matter.
    Hosts {
        /// All hosts, by name or address.
        list: Vec<String>,
        /// What this host is called: its name and its addresses.
        own: Vec<String>,
    },
}

impl Identity {
    /// The machine ID.
    ///
    /// # Errors
    /// `CONFIG` with option `machineId` when there is none, or the layout has no room for it.
    pub fn resolve(&self, layout: &Layout) -> Result<u32, Error> {
        let machine = match self {
            Self::Number(number) => *number,
            Self::Environment { name, value } => trailing_number(name, value.as_deref())?,
            Self::Hosts { list, own } => place(list, own)?,
        };
        let most = layout.machines() - 1;
        if machine > most {
            return Err(Error::config("machineId", format!("machineId: expected 0 to {most}, found {machine}")));
        }
        Ok(machine)
    }
}

/// A coordinator that grants one machine ID, from now until the layout ends.
pub struct Fixed {
    machine: u32,
    namespace: String,
    layout: Layout,
    clock: Arc<dyn Clock>,
}

impl Fixed {
    /// A coordinator for `machine` in `namespace`.
    #[must_use]
    pub fn new(machine: u32, namespace: &str, layout: Layout, clock: Arc<dyn Clock>) -> Self {
        Self { machine, namespace: namespace.to_owned(), layout, clock }
    }

    fn claim(&self) -> Result<Grant, Error> {
        let mut process = process_uses();
        let used = process.entry((self.namespace.clone(), self.machine)).or_default();
        if used.holder.is_some() {
            let text = format!(
                "machine ID {} is still being given back by an earlier generator of this process",
                self.machine
            );
            return Err(Error::new(Code::Coordinator, text).retry_as(Retry::Soon));
        }
        let now_ms = self.clock.wall_ms().max(used.last_ms);
        self.layout.timestamp(now_ms)?;
        let token = Token::random()?;
        used.holder = Some(token);
        let lease = Lease { machine: self.machine, token, start_ms: now_ms + 1, end_ms: self.layout.end_unix_ms() };
        Ok(Grant { lease, now_ms, term: Term::Unlimited, usage: None })
    }

    fn confirm(&self, lease: Lease) -> Renewal {
        if !self.is_held(&lease) {
            return Renewal::Lost(Loss::Rejected);
        }
        Renewal::Granted(Grant {
            lease,
            now_ms: self.clock.wall_ms().max(lease.start_ms),
            term: Term::Unlimited,
            usage: None,
        })
    }

    fn give_back(&self, lease: &Lease, last_used_ms: u64) {
        if self.is_held(lease) {
            let mut process = process_uses();
            let used = process.entry((self.namespace.clone(), self.machine)).or_default();
            *used = Use { holder: None, last_ms: used.last_ms.max(last_used_ms) };
        }
    }

    fn is_held(&self, lease: &Lease) -> bool {
        let process = process_uses();
        let used = process.get(&(self.namespace.clone(), self.machine));
        lease.machine == self.machine && used.is_some_and(|used| used.holder == Some(lease.token))
    }
}

impl Coordinator for Fixed {
    fn name(&self) -> String {
        format!("machineId {}", self.machine)
    }

    fn acquire(&self, _ttl: Duration) -> Answer<'_, Result<Grant, Error>> {
        Box::pin(async { self.claim() })
    }

    fn renew(&self, lease: &Lease, _ttl: Duration) -> Answer<'_, Renewal> {
        let lease = *lease;
        Box::pin(async move { self.confirm(lease) })
    }

    fn release(&self, lease: &Lease, last_used_ms: u64) -> Answer<'_, Result<(), Error>> {
        let lease = *lease;
        Box::pin(async move {
            self.give_back(&lease, last_used_ms);
            Ok(())
        })
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Use {
    holder: Option<Token>,
    last_ms: u64,
}

type Uses = HashMap<(String, u32), Use>;

/// What this process used, by namespace and machine ID; it outlives every generator.
fn process_uses() -> MutexGuard<'static, Uses> {
    static USES: LazyLock<Mutex<Uses>> = LazyLock::new(Mutex::default);
    USES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn trailing_number(name: &str, value: Option<&str>) -> Result<u32, Error> {
    let refuse = |found: String| {
        Error::config("machineId", format!("machineId.env: expected digits at the end of ${name}, found {found}"))
    };
    let value = value.ok_or_else(|| refuse("that it is not set".into()))?;
    let digits = value.len() - value.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    value[value.len() - digits..].parse().map_err(|_| refuse(shown(value)))
}

fn place(list: &[String], own: &[String]) -> Result<u32, Error> {
    let mut sorted: Vec<&String> = list.iter().collect();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::config("machineId", format!("machineId.hosts: {} stands there twice", shown(twice[0]))));
    }
    let mut places = (0_u32..).zip(&sorted).filter(|(_, host)| own.contains(host)).map(|(place, _)| place);
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (None, _) => Err(Error::config(
            "machineId",
            format!(
                "machineId.hosts: expected one of this host's names and addresses in the list, which are {}",
                shown(&own.join(", "))
            ),
        )),
        (Some(_), Some(_)) => {
            Err(Error::config("machineId", "machineId.hosts: this host stands there under two names"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(identity: &Identity) -> Result<u32, Error> {
        identity.resolve(&Layout::DEFAULT)
    }

    fn environment(value: Option<&str>) -> Identity {
        Identity::Environment { name: "POD_NAME".into(), value: value.map(Into::into) }
    }

    fn hosts(list: &[&str], own: &[&str]) -> Identity {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Identity::Hosts { list: owned(list), own: owned(own) }
    }

    #[test]
    fn the_digits_at_the_end_of_a_variable_count() {
        for (value, machine) in [("pod-0", 0), ("pod-12", 12), ("pod-007", 7), ("-5", 5), ("511", 511), ("a1b22", 22)] {
            assert_eq!(resolve(&environment(Some(value))), Ok(machine), "{value}");
        }
    }

    #[test]
    fn what_gives_no_machine_id_is_refused_with_the_option() {
        let refused = [
            environment(None),
            environment(Some("")),
            environment(Some("pod-")),
            environment(Some("pod-5a")),
            environment(Some("pod-512")),
            environment(Some("99999999999999999999")),
            environment(Some("pod-٣")),
            Identity::Number(512),
            hosts(&[], &["a"]),
            hosts(&["a", "b"], &["c"]),
            hosts(&["a", "b", "a"], &["b"]),
            hosts(&["a", "10.0.0.1"], &["a", "10.0.0.1"]),
        ];
        for identity in refused {
            let error = resolve(&identity).unwrap_err();
            assert_eq!((error.code(), error.fields().option), (Code::Config, Some("machineId")), "{identity:?}");
        }
    }

    #[test]
    fn a_host_list_is_sorted_bytewise_first() {
        assert_eq!(resolve(&hosts(&["web-b", "web-a", "Web-c"], &["web-a"])), Ok(1));
        assert_eq!(resolve(&hosts(&["10.0.0.2", "10.0.0.10"], &["me", "10.0.0.2"])), Ok(1));
    }
}
