//! What a generator is made of, and the coordinator that follows from it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::only_converts;
use crate::cipher::Keyring;
use crate::clock::Clock;
use crate::coordinator::custom::{self, Custom};
use crate::coordinator::fixed::{Fixed, Identity};
use crate::coordinator::functions::Own;
use crate::coordinator::guarded::{Claims, Guarded};
#[cfg(feature = "runtime")]
use crate::coordinator::keeper;
use crate::coordinator::local::{Local, Surroundings, default_directory};
#[cfg(feature = "mysql")]
use crate::coordinator::mysql::{self, MySql};
#[cfg(feature = "postgres")]
use crate::coordinator::postgres::{self, LentPostgres, Postgres};
#[cfg(feature = "redis")]
use crate::coordinator::redis::{self, LentRedis, Redis};
use crate::coordinator::registry::{Agreement, OnReset, Registry};
use crate::coordinator::{Coordinator, MachineIds};
use crate::error::Error;
use crate::layout::Layout;
use crate::lease::state::Timings;

/// Who grants leases.
#[derive(Debug, Clone)]
pub enum Place {
    /// Nobody: this process only converts.
    Nowhere,
    /// The user's state directory.
    Local,
    /// A directory.
    Directory(PathBuf),
    /// Nobody; the machine ID was set by hand.
    Fixed(Identity),
    /// The user's own functions.
    Custom(Own),
    /// A MySQL or MariaDB database.
    #[cfg(feature = "mysql")]
    MySql(Box<mysql::Settings>),
    /// A PostgreSQL database.
    #[cfg(feature = "postgres")]
    Postgres(Box<postgres::Settings>),
    /// A Redis or Valkey.
    #[cfg(feature = "redis")]
    Redis(Box<redis::Settings>),
    /// A PostgreSQL database, over connections of the user's own.
    #[cfg(feature = "postgres")]
    LentPostgres(postgres::Lent),
    /// A MySQL or MariaDB database, over connections of the user's own.
    #[cfg(feature = "mysql")]
    LentMySql(mysql::Lent),
    /// A Redis or Valkey, over connections of the user's own.
    #[cfg(feature = "redis")]
    LentRedis(redis::Lent),
}

/// What a generator is made of.
#[derive(Debug)]
pub struct Options {
    /// Who grants leases.
    pub place: Place,
    /// The one machine ID to claim there, where `place` guards it.
    pub guarded: Option<Identity>,
    /// The range of machine IDs to lease from, both included; all of them without one.
    pub machine_ids: Option<(u32, u32)>,
    /// Which registry of the coordinator's.
    pub namespace: String,
    /// How long things may take.
    pub timings: Timings,
    /// How long leases of the namespace may last, as all its processes have agreed.
    pub longest_ttl: Duration,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// The secrets behind masks and encrypted kinds, and their ciphers.
    pub keys: Keyring,
    /// Bit widths and epoch.
    pub layout: Layout,
    /// What newcomers do at a registry that may have forgotten leases.
    pub on_reset: OnReset,
    /// Whether a shared registry keeps its incarnation where a crash leaves it alone.
    pub durable: bool,
}

impl Options {
    /// The coordinator, and one spelling of its address: two generators that have the same one share a lease.
    pub(super) fn coordinator(&self, clock: &Arc<dyn Clock>) -> Result<(String, Arc<dyn Coordinator>), Error> {
        let Some(identity) = &self.guarded else { return self.unguarded(clock) };
        let machine = identity.resolve(&self.layout)?;
        // Rows are looked at by the one that leases, over its connection.
        let (address, inner, rows) = match self.registry() {
            Ok(registry) => (self.address(&*registry), Arc::clone(&registry) as Arc<dyn Coordinator>, Some(registry)),
            Err(_) => self.unguarded(clock).map(|(address, inner)| (address, inner, None))?,
        };
        let address = format!("machineId {machine} in {address}");
        let claims = Claims::of_this_process(&format!("{}: {address}", self.namespace));
        let guarded = Guarded::new(machine, inner, claims, Arc::clone(clock)).looking_at(rows);
        Ok((address, Arc::new(guarded)))
    }

    /// Functions of the user's have a name for messages, which others may have too.
    fn address(&self, registry: &dyn Registry) -> String {
        match &self.place {
            #[cfg(feature = "postgres")]
            Place::LentPostgres(lent) => lent.address(),
            #[cfg(feature = "mysql")]
            Place::LentMySql(lent) => lent.address(),
            #[cfg(feature = "redis")]
            Place::LentRedis(lent) => lent.address(),
            _ => registry.name(),
        }
    }

    fn unguarded(&self, clock: &Arc<dyn Clock>) -> Result<(String, Arc<dyn Coordinator>), Error> {
        let Self { layout, namespace, .. } = self;
        let local = |directory: PathBuf| -> Result<(String, Arc<dyn Coordinator>), Error> {
            let machines = self.machines()?;
            // Two spellings of one directory are one lease. What cannot be made fails when it is asked for a lease.
            let made = std::fs::create_dir_all(&directory).and_then(|()| std::fs::canonicalize(&directory));
            let directory = made.unwrap_or(directory);
            let local = Local::new(&directory, namespace, machines, *layout, Arc::clone(clock));
            Ok((format!("file://{}", directory.display()), Arc::new(local)))
        };
        match &self.place {
            Place::Nowhere => Err(only_converts()),
            Place::Local => local(default_directory(&Surroundings::of_this_process())?),
            Place::Directory(directory) => local(directory.clone()),
            Place::Fixed(identity) => {
                let machine = identity.resolve(layout)?;
                let fixed = Fixed::new(machine, namespace, *layout, Arc::clone(clock));
                Ok((format!("machineId {machine}"), Arc::new(fixed)))
            }
            Place::Custom(own) => {
                let custom = Custom::new(custom::Setup {
                    own: own.clone(),
                    namespace: namespace.clone(),
                    machine_ids: self.machines()?,
                    layout: *layout,
                    fingerprint: self.keys.fingerprint(),
                });
                Ok((own.address(), Arc::new(custom)))
            }
            #[cfg(feature = "mysql")]
            Place::MySql(settings) => Ok((settings.address(), Arc::new(MySql::new(self.setup(&**settings)?)))),
            #[cfg(feature = "postgres")]
            Place::Postgres(settings) => Ok((settings.address(), Arc::new(Postgres::new(self.setup(&**settings)?)))),
            #[cfg(feature = "redis")]
            Place::Redis(settings) => Ok((settings.address(), Arc::new(Redis::new(self.setup(&**settings)?)))),
            #[cfg(feature = "postgres")]
            Place::LentPostgres(lent) => Ok((lent.address(), Arc::new(LentPostgres::new(self.setup(lent)?)))),
            #[cfg(feature = "mysql")]
            Place::LentMySql(lent) => Ok((lent.address(), Arc::new(MySql::lent(self.setup(lent)?)))),
            #[cfg(feature = "redis")]
            Place::LentRedis(lent) => Ok((lent.address(), Arc::new(LentRedis::new(self.setup(lent)?)))),
        }
    }

    /// The registry that the options name, for an operator.
    ///
    /// # Errors
    /// `CONFIG` where the coordinator has none that could be looked after, or as for a lease.
    pub fn registry(&self) -> Result<Arc<dyn Registry>, Error> {
        match &self.place {
            #[cfg(feature = "mysql")]
            Place::MySql(settings) => Ok(Arc::new(MySql::new(self.setup(&**settings)?))),
            #[cfg(feature = "postgres")]
            Place::Postgres(settings) => Ok(Arc::new(Postgres::new(self.setup(&**settings)?))),
            #[cfg(feature = "redis")]
            Place::Redis(settings) => Ok(Arc::new(Redis::new(self.setup(&**settings)?))),
            #[cfg(feature = "postgres")]
            Place::LentPostgres(lent) => Ok(Arc::new(LentPostgres::new(self.setup(lent)?))),
            #[cfg(feature = "mysql")]
            Place::LentMySql(lent) => Ok(Arc::new(MySql::lent(self.setup(lent)?))),
            #[cfg(feature = "redis")]
            Place::LentRedis(lent) => Ok(Arc::new(LentRedis::new(self.setup(lent)?))),
            Place::Nowhere | Place::Local | Place::Directory(_) | Place::Fixed(_) | Place::Custom(_) => Err(
                Error::config("coordinator", "coordinator: expected the URL of a server; only those have a registry"),
            ),
        }
    }

    fn machines(&self) -> Result<MachineIds, Error> {
        match &self.guarded {
            Some(identity) => MachineIds::only(&self.layout, identity.resolve(&self.layout)?),
            None => MachineIds::new(&self.layout, self.machine_ids),
        }
    }

    #[cfg(feature = "runtime")]
    fn setup<T: Clone>(&self, settings: &T) -> Result<keeper::Setup<T>, Error> {
        /// Renewals further apart are worth a connection each: an idle one costs the server more.
        const KEPT_OPEN_FOR: Duration = Duration::from_secs(30);
        Ok(keeper::Setup {
            settings: settings.clone(),
            namespace: self.namespace.clone(),
            machine_ids: self.machines()?,
            agreement: Agreement {
                layout: self.layout,
                ttl: self.longest_ttl,
                fingerprint: self.keys.fingerprint(),
                durable: self.durable,
            },
            on_reset: self.on_reset,
            keep_open: self.timings.renew_every < KEPT_OPEN_FOR,
        })
    }
}
