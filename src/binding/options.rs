//! Options as `js/options` leaves them: complete and of the right types.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::cipher::{BaseKey, no_key};
use crate::codec::Format;
use crate::coordinator::fixed::Identity;
use crate::coordinator::functions::{Functions, Own};
use crate::coordinator::registry::OnReset;
use crate::coordinator::tls::TlsOptions;
use crate::coordinator::{mysql, postgres, redis};
use crate::error::{Error, shown};
use crate::generator::{Generator, Options, Place};
use crate::id::{Base, IdType, Kind, Spec, SpellingSpec};
use crate::layout::Layout;
use crate::lease::state::Timings;

#[napi(object, object_to_js = false)]
pub struct NativeOptions {
    #[napi(ts_type = "'local' | 'directory' | 'fixed' | 'none' | 'mysql' | 'postgres' | 'redis' | 'custom'")]
    pub coordinator: String,
    /// What messages call functions of the user's; which schema a lent connection is for, and what it speaks.
    pub name: Option<String>,
    pub schema: Option<String>,
    #[napi(ts_type = "'postgres' | 'mysql' | 'mariadb'")]
    pub dialect: Option<String>,
    pub directory: Option<String>,
    /// Of a server; or `parameters`, by the names that they have in URLs.
    pub url: Option<String>,
    #[napi(ts_type = "Array<[string, string]>")]
    pub parameters: Option<Vec<Vec<String>>>,
    pub tls: Option<TlsFiles>,
    #[napi(ts_type = "'volatile' | 'durable'")]
    pub incarnation: Option<String>,
    /// Beside a server: the machine ID that is guarded there.
    pub machine_id: Option<MachineId>,
    pub machine_ids: Option<MachineRange>,
    pub namespace: String,
    pub lease: LeaseOptions,
    pub key: Option<Uint8Array>,
    pub layout: LayoutOptions,
}

/// Exactly one of the three.
#[napi(object, object_to_js = false)]
pub struct MachineId {
    pub number: Option<u32>,
    pub env: Option<EnvironmentVariable>,
    pub hosts: Option<Hosts>,
}

#[napi(object, object_to_js = false)]
pub struct EnvironmentVariable {
    pub name: String,
    pub value: Option<String>,
}

#[napi(object, object_to_js = false)]
pub struct Hosts {
    pub list: Vec<String>,
    pub own: Vec<String>,
}

#[napi(object)]
pub struct MachineRange {
    pub from: u32,
    pub to: u32,
}

#[napi(object, object_to_js = false)]
pub struct LeaseOptions {
    pub ttl_ms: u32,
    pub first_ttl_ms: u32,
    pub renew_every_ms: u32,
    pub request_timeout_ms: u32,
    #[napi(ts_type = "'wait' | 'grant'")]
    pub on_reset: Option<String>,
}

/// Certificates and keys as PEM texts.
#[napi(object, object_to_js = false)]
pub struct TlsFiles {
    pub ca: Option<Vec<String>>,
    pub cert: Option<String>,
    pub key: Option<String>,
    pub servername: Option<String>,
    pub reject_unauthorized: Option<bool>,
}

#[napi(object, object_to_js = false)]
pub struct LayoutOptions {
    pub partition: u32,
    pub time: u32,
    pub machine: u32,
    pub sequence: u32,
    pub epoch_ms: f64,
}

#[napi(object, object_to_js = false)]
pub struct TypeSpec {
    pub prefix: String,
    #[napi(ts_type = "'counter' | 'sortable' | 'encrypted'")]
    pub kind: String,
    #[napi(ts_type = "'counter' | 'sortable'")]
    pub base: String,
    pub format: String,
    pub db_format: String,
    pub mask: bool,
    pub accepts: Vec<AcceptedSpelling>,
    pub persist_prefix: bool,
}

#[napi(object, object_to_js = false)]
pub struct AcceptedSpelling {
    pub prefix: String,
    pub mask: bool,
    pub format: String,
}

impl NativeOptions {
    /// `functions`: of a custom coordinator, or what lends a connection.
    pub(super) fn convert(self, functions: Option<Arc<dyn Functions>>) -> Result<Options, Error> {
        let millis = |ms: u32| Duration::from_millis(u64::from(ms));
        let LayoutOptions { partition, time, machine, sequence, epoch_ms } = self.layout;
        let on_reset = match self.lease.on_reset.as_deref() {
            None | Some("wait") => OnReset::Wait,
            Some("grant") => OnReset::Grant,
            Some(other) => return Err(unknown("lease.onReset", other)),
        };
        let durable = match self.incarnation.as_deref() {
            None | Some("volatile") => false,
            Some("durable") => true,
            Some(other) => return Err(unknown("incarnation", other)),
        };
        let address = Address { url: self.url, parameters: self.parameters, tls: self.tls };
        let mut guarded = self.machine_id.and_then(MachineId::identity);
        let own = functions.map(|functions| Own::new(self.name.unwrap_or_default(), functions));
        let place = match own {
            Some(own) => functions_of(&self.coordinator, own, self.schema, self.dialect.as_deref()),
            None => place(&self.coordinator, self.directory, address, &mut guarded),
        };
        let place = place.map_err(|error| if guarded.is_some() { error.about_guard() } else { error })?;
        let lease = self.lease;
        // A guarded lease stays as short as a first one: who crashes is back soon, however old it was.
        let ttl_ms = if guarded.is_some() { lease.first_ttl_ms } else { lease.ttl_ms };
        Ok(Options {
            place,
            guarded,
            on_reset,
            durable,
            machine_ids: self.machine_ids.map(|range| (range.from, range.to)),
            namespace: self.namespace,
            timings: Timings {
                ttl: millis(ttl_ms),
                first_ttl: millis(lease.first_ttl_ms),
                renew_every: millis(lease.renew_every_ms),
            },
            longest_ttl: millis(lease.ttl_ms),
            request_timeout: millis(lease.request_timeout_ms),
            key: self.key.map(|key| BaseKey::new(&key)).transpose()?,
            layout: Layout::new(partition, time, machine, sequence, epoch_ms as u64)?,
        })
    }
}

impl TypeSpec {
    /// The ID type under the keys and the layout of `generator`; without one, under the default layout and no key.
    pub(super) fn convert(self, generator: Option<&Generator>) -> Result<IdType, Error> {
        let cipher = |wanted: bool, what: &str| match generator.and_then(Generator::cipher) {
            _ if !wanted => Ok(None),
            Some(cipher) => Ok(Some(cipher)),
            None => Err(no_key(what)),
        };
        let kind = kind(&self.kind, &self.base)?;
        let accepts = self.accepts.into_iter().map(|spelling| {
            let format = format("accepts", &spelling.format)?;
            Ok(SpellingSpec { prefix: spelling.prefix, format, mask: cipher(spelling.mask, "mask")? })
        });
        IdType::new(Spec {
            kind,
            format: format("format", &self.format)?,
            db_format: format("dbFormat", &self.db_format)?,
            mask: cipher(self.mask, "mask")?,
            encryption: cipher(matches!(kind, Kind::Encrypted { .. }), "kind 'encrypted'")?,
            accepts: accepts.collect::<Result<_, Error>>()?,
            persist_prefix: self.persist_prefix,
            layout: generator.map_or(Layout::DEFAULT, Generator::layout),
            prefix: self.prefix,
        })
    }
}

/// The format that an option names.
pub(super) fn format(option: &'static str, name: &str) -> Result<Format, Error> {
    Format::parse(name).ok_or_else(|| unknown(option, name))
}

fn kind(kind: &str, base: &str) -> Result<Kind, Error> {
    let base = match base {
        "counter" => Base::Counter,
        "sortable" => Base::Sortable,
        other => return Err(unknown("base", other)),
    };
    match kind {
        "counter" => Ok(Kind::Counter),
        "sortable" => Ok(Kind::Sortable),
        "encrypted" => Ok(Kind::Encrypted { base }),
        other => Err(unknown("kind", other)),
    }
}

/// `identity` is left to be guarded, unless it is the place itself.
fn place(
    coordinator: &str,
    directory: Option<String>,
    address: Address,
    identity: &mut Option<Identity>,
) -> Result<Place, Error> {
    Ok(match (coordinator, directory) {
        ("none", _) => Place::Nowhere,
        ("local", _) => Place::Local,
        ("directory", Some(directory)) => Place::Directory(PathBuf::from(directory)),
        ("fixed", _) => Place::Fixed(identity.take().ok_or_else(|| unknown("machineId", "none"))?),
        ("mysql", _) => Place::MySql(Box::new(address.read(mysql::Settings::parse, mysql::Settings::from_parameters)?)),
        ("postgres", _) => {
            Place::Postgres(Box::new(address.read(postgres::Settings::parse, postgres::Settings::from_parameters)?))
        }
        ("redis", _) => Place::Redis(Box::new(address.read(redis::Settings::parse, redis::Settings::from_parameters)?)),
        (other, _) => return Err(unknown("coordinator", other)),
    })
}

/// What the functions are for: a coordinator of the user's own, or connections to one of ours.
fn functions_of(coordinator: &str, own: Own, schema: Option<String>, dialect: Option<&str>) -> Result<Place, Error> {
    let schema = schema.unwrap_or_default();
    match coordinator {
        "custom" => Ok(Place::Custom(own)),
        "postgres" => Ok(Place::LentPostgres(postgres::Lent::new(own, schema))),
        "mysql" => Ok(Place::LentMySql(mysql::Lent::new(own, schema, dialect == Some("mariadb")))),
        "redis" => Ok(Place::LentRedis(redis::Lent::new(own))),
        other => Err(unknown("coordinator", other)),
    }
}

impl MachineId {
    fn identity(self) -> Option<Identity> {
        match self {
            Self { number: Some(number), .. } => Some(Identity::Number(number)),
            Self { env: Some(EnvironmentVariable { name, value }), .. } => Some(Identity::Environment { name, value }),
            Self { hosts: Some(Hosts { list, own }), .. } => Some(Identity::Hosts { list, own }),
            Self { number: None, env: None, hosts: None } => None,
        }
    }
}

/// How settings are made of names and values.
type FromParameters<T> = fn(&[(String, String)], &TlsOptions) -> Result<T, Error>;

/// Where a server is, as the user wrote it.
struct Address {
    url: Option<String>,
    parameters: Option<Vec<Vec<String>>>,
    tls: Option<TlsFiles>,
}

impl Address {
    /// The settings of one kind of server, which knows how to read them.
    fn read<T>(
        self,
        parse: fn(&str, &TlsOptions) -> Result<T, Error>,
        from_parameters: FromParameters<T>,
    ) -> Result<T, Error> {
        let tls = self.tls.map_or_else(TlsOptions::default, |files| TlsOptions {
            ca: files.ca.unwrap_or_default(),
            cert: files.cert,
            key: files.key,
            servername: files.servername,
            reject_unauthorized: files.reject_unauthorized,
        });
        if let Some(url) = self.url {
            return parse(&url, &tls);
        }
        let pair = |pair: Vec<String>| <[String; 2]>::try_from(pair).ok().map(Into::into);
        let parameters: Vec<_> = self.parameters.unwrap_or_default().into_iter().filter_map(pair).collect();
        from_parameters(&parameters, &tls)
    }
}

fn unknown(option: &'static str, found: &str) -> Error {
    Error::config(option, format!("{option}: expected a known value, found {}", shown(found)))
}
