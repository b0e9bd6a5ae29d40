//! Options as `js/options` leaves them: complete and of the right types.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use zeroize::Zeroizing;

use crate::cipher::{Algorithm, BaseKey, Keyring, Keys};
use crate::coordinator::fixed::Identity;
use crate::coordinator::functions::{Functions, Own};
use crate::coordinator::registry::OnReset;
use crate::coordinator::tls::TlsOptions;
use crate::coordinator::{mysql, postgres, redis};
use crate::error::{Error, shown};
use crate::generator::{Options, Place};
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
    pub keys: Option<Vec<NamedKey>>,
    pub cipher_keys: Option<Vec<CipherKey>>,
    pub ciphers: Option<Vec<SizedCipher>>,
    pub layout: LayoutOptions,
}

#[napi(object, object_to_js = false)]
pub struct NamedKey {
    pub name: String,
    pub key: Uint8Array,
}

#[napi(object, object_to_js = false)]
pub struct CipherKey {
    pub bits: u32,
    pub key: Uint8Array,
}

#[napi(object, object_to_js = false)]
pub struct SizedCipher {
    pub bits: u32,
    pub cipher: String,
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

impl NativeOptions {
    /// `functions`: of a custom coordinator, or what lends a connection.
    pub(super) fn convert(self, functions: Option<Arc<dyn Functions>>) -> Result<Options, Error> {
        let millis = |ms: u32| Duration::from_millis(u64::from(ms));
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
        let keys = keyring(self.key, self.keys, self.cipher_keys, self.ciphers)?;
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
            keys,
            layout: self.layout.convert()?,
        })
    }
}

impl LayoutOptions {
    pub(super) fn convert(&self) -> Result<Layout, Error> {
        Layout::new(self.partition, self.time, self.machine, self.sequence, self.epoch_ms as u64)
    }
}

fn keyring(
    key: Option<Uint8Array>,
    keys: Option<Vec<NamedKey>>,
    cipher_keys: Option<Vec<CipherKey>>,
    ciphers: Option<Vec<SizedCipher>>,
) -> Result<Keyring, Error> {
    let named = keys.unwrap_or_default().into_iter().map(|NamedKey { name, key }| Ok((name, BaseKey::new(&key)?)));
    let explicit = cipher_keys.unwrap_or_default().into_iter();
    let algorithms = ciphers.unwrap_or_default().into_iter();
    Keyring::new(Keys {
        base: key.map(|key| BaseKey::new(&key)).transpose()?,
        named: named.collect::<Result<_, Error>>()?,
        explicit: explicit.map(|CipherKey { bits, key }| (bits, Zeroizing::new(key.to_vec()))).collect(),
        algorithms: algorithms
            .map(|SizedCipher { bits, cipher }| Ok((bits, algorithm("ciphers", &cipher)?)))
            .collect::<Result<_, Error>>()?,
    })
}

pub(super) fn algorithm(option: &'static str, name: &str) -> Result<Algorithm, Error> {
    Algorithm::parse(name).ok_or_else(|| unknown(option, name))
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

pub(super) fn unknown(option: &'static str, found: &str) -> Error {
    Error::config(option, format!("{option}: expected a known value, found {}", shown(found)))
}
