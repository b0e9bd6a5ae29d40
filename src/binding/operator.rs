//! What an operator asks of a registry: `npx mintid setup`, `leases`, `doctor`.

use std::sync::Arc;

use napi::bindgen_prelude::{Either, Env, Object, ToNapiValue};
use napi_derive::napi;

use super::failure::Failure;
use super::options::NativeOptions;
use crate::coordinator::registry::{self, Listed, Mode, Registry, Sequence};
use crate::error::Error;
use crate::lease::requests;

/// What a setup came to; times in milliseconds since 1970 by the registry's clock.
#[napi(object, object_from_js = false)]
pub struct SetupReport {
    pub created: bool,
    /// From when on newcomers may lease; 0: at once.
    pub not_before: f64,
    pub now: f64,
    pub machine_ids: u32,
    pub ttl_ms: f64,
    pub sequences: Vec<MovedSequence>,
}

/// A sequence of `mintid ddl --default` in a database that was restored.
#[napi(object, object_from_js = false)]
pub struct MovedSequence {
    pub name: String,
    pub moved: bool,
}

/// One machine ID in a registry; times in milliseconds since 1970.
#[napi(object, object_from_js = false)]
pub struct ListedLease {
    pub machine_id: u32,
    pub holder: Option<String>,
    pub acquired_at: Option<f64>,
    pub expires_at: f64,
    pub live: bool,
}

/// What an examination found.
#[napi(object, object_from_js = false)]
pub struct Examination {
    pub server: String,
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[napi(object, object_from_js = false)]
pub struct Check {
    pub name: String,
    #[napi(ts_type = "'ok' | 'warning' | 'error'")]
    pub verdict: String,
    pub found: String,
    pub advice: Option<String>,
}

/// Makes a registry, or what is missing of it.
#[napi(ts_return_type = "Promise<SetupReport | Failure>")]
pub fn setup(
    env: &Env,
    options: NativeOptions,
    #[napi(ts_arg_type = "'plain' | 'fresh' | 'accept-reset' | 'restored'")] mode: String,
) -> napi::Result<Object<'_>> {
    let mode = match mode.as_str() {
        "fresh" => Mode::Fresh,
        "accept-reset" => Mode::AcceptReset,
        "restored" => Mode::Restored,
        _ => Mode::Plain,
    };
    ask(env, options, async move |registry| registry.setup(mode).await.map(SetupReport::from))
}

/// The SQL that `setup` runs.
#[napi]
pub fn setup_sql(options: NativeOptions) -> Either<String, Failure> {
    match options.convert(None).and_then(|options| options.registry()) {
        Ok(registry) => Either::A(registry.script()),
        Err(error) => Either::B(Failure::from(&error)),
    }
}

/// Every machine ID of a registry, ascending.
#[napi(ts_return_type = "Promise<ListedLease[] | Failure>")]
pub fn leases(env: &Env, options: NativeOptions) -> napi::Result<Object<'_>> {
    ask(env, options, async |registry| {
        let listed = registry.list().await?;
        Ok(listed.into_iter().map(ListedLease::from).collect::<Vec<_>>())
    })
}

/// Looks at everything that may stand between a process and its lease.
#[napi(ts_return_type = "Promise<Examination | Failure>")]
pub fn examine(env: &Env, options: NativeOptions) -> napi::Result<Object<'_>> {
    ask(env, options, async |registry| registry.examine().await.map(Examination::from))
}

/// The promise keeps the process alive until it settles.
fn ask<T, F>(
    env: &Env,
    options: NativeOptions,
    question: impl FnOnce(Arc<dyn Registry>) -> F + Send + 'static,
) -> napi::Result<Object<'_>>
where
    F: Future<Output = Result<T, Error>> + Send + 'static,
    T: ToNapiValue + Send + 'static,
{
    let (deferred, promise) = env.create_deferred::<Either<T, Failure>, _>()?;
    let settle = move |result: Result<T, Error>| {
        deferred.resolve(move |_| Ok(result.map_or_else(|error| Either::B(Failure::from(&error)), Either::A)));
    };
    let options = options.convert(None).and_then(|options| Ok((options.registry()?, options.request_timeout)));
    match options {
        Err(error) => settle(Err(error)),
        Ok((registry, limit)) => {
            requests::ask(registry, limit, question, settle)
                .map_err(|error| napi::Error::from_reason(error.to_string()))?;
        }
    }
    Ok(promise)
}

impl From<registry::Report> for SetupReport {
    fn from(report: registry::Report) -> Self {
        Self {
            created: report.created,
            not_before: report.not_before_ms as f64,
            now: report.now_ms as f64,
            machine_ids: report.machine_ids,
            ttl_ms: report.ttl_ms as f64,
            sequences: report.sequences.into_iter().map(MovedSequence::from).collect(),
        }
    }
}

impl From<Sequence> for MovedSequence {
    fn from(Sequence { name, moved }: Sequence) -> Self {
        Self { name, moved }
    }
}

impl From<Listed> for ListedLease {
    fn from(listed: Listed) -> Self {
        Self {
            machine_id: listed.machine,
            holder: listed.holder,
            acquired_at: listed.acquired_at_ms.map(|ms| ms as f64),
            expires_at: listed.expires_at_ms as f64,
            live: listed.live,
        }
    }
}

impl From<registry::Examination> for Examination {
    fn from(examination: registry::Examination) -> Self {
        let check = |check: registry::Check| Check {
            name: check.name.to_owned(),
            verdict: check.verdict.as_str().to_owned(),
            found: check.found,
            advice: check.advice,
        };
        Self { server: examination.server, checks: examination.checks.into_iter().map(check).collect() }
    }
}
