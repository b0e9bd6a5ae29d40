//! An error as data.

use std::cell::RefCell;

use napi::bindgen_prelude::ToNapiValue;
use napi::sys;
use napi_derive::napi;

use crate::error::Error;

/// What failed, for `js/errors.js` to make an error of. Fields that do not belong to the code are left out.
#[napi(object, object_from_js = false)]
pub struct Failure {
    #[napi(ts_type = "true")]
    pub failure: bool,
    pub code: String,
    pub message: String,
    pub option: Option<String>,
    pub machine_id: Option<u32>,
    pub reason: Option<String>,
    pub expected: Option<String>,
    pub attempts: Option<u32>,
    pub capacity: Option<u32>,
    pub coordinator: Option<String>,
    pub server_code: Option<String>,
    pub hint: Option<String>,
    pub not_before: Option<f64>,
    pub command: Option<String>,
    pub bits: Option<u32>,
    #[napi(ts_type = "Failure")]
    pub cause: Option<Cause>,
}

/// A failure behind a failure.
pub struct Cause(Box<Failure>);

impl ToNapiValue for Cause {
    unsafe fn to_napi_value(env: sys::napi_env, cause: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: the environment is passed on as it came.
        unsafe { Failure::to_napi_value(env, *cause.0) }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let fields = error.fields();
        Self {
            failure: true,
            code: error.code().as_str().to_owned(),
            message: error.message().to_owned(),
            option: fields.option.map(str::to_owned),
            machine_id: fields.machine_id,
            reason: fields.reason.map(str::to_owned),
            expected: fields.expected.clone(),
            attempts: fields.attempts,
            capacity: fields.capacity,
            coordinator: fields.coordinator.clone(),
            server_code: fields.server_code.clone(),
            hint: fields.hint.clone(),
            not_before: fields.not_before_ms.map(|ms| ms as f64),
            command: fields.command.map(str::to_owned),
            bits: fields.bits,
            cause: error.cause().map(|cause| Cause(Box::new(Self::from(cause)))),
        }
    }
}

thread_local! {
    /// Why the last bound function on this thread returned `undefined`.
    static LAST: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Keeps an error until the thread asks for it.
pub(super) fn leave(error: Error) {
    LAST.set(Some(error));
}

/// What is behind the last `undefined` that a bound function returned on this thread.
#[napi]
pub fn take_failure() -> Option<Failure> {
    LAST.take().as_ref().map(Failure::from)
}
