//! The border to JavaScript: the only place with napi. It converts and delegates; a rule of the domain found here is in
//! the wrong room. What fails crosses as data ([`failure::Failure`]) and becomes an error in `js/errors.js`.

// The one module that may: raw N-API calls. Each use says why it holds.
#![allow(unsafe_code)]
// napi's derive generates items without docs and hands arguments over by value.
#![allow(missing_docs, unreachable_pub, clippy::needless_pass_by_value)]
// Milliseconds and parts of IDs stay far below 2^53; bigints carry what does not.
#![allow(clippy::cast_precision_loss)]
// The mark of a failure is called that on purpose: JavaScript tells it from a result by it.
#![allow(clippy::struct_field_names)]

mod bodies;
mod calls;
mod event;
mod failure;
mod functions;
mod generation;
mod handle;
mod operator;
mod options;
mod placed;
mod queue;
mod type_spec;
mod value;
mod wide;

use napi::bindgen_prelude::Object;
use napi_derive::napi;

/// Runs once for each environment (main thread, Worker, copy of the module) that loads the addon.
#[napi(module_exports)]
#[allow(clippy::unnecessary_wraps, reason = "the signature is napi's")]
pub fn init(_exports: Object<'_>) -> napi::Result<()> {
    // A Worker that loaded the addon first would take it, and with it all that was counted, away with its end.
    napi::bindgen_prelude::retain_current_module_for_unload_safety();
    handle::close_at_exit();
    Ok(())
}
