//! Events on their way to one JavaScript thread.

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::Status;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeCallContext, ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use super::failure::Failure;
use crate::generator::Generator;
use crate::lease::event::{Event, What};
use crate::lease::manager::Listener;

/// What `js/events.js` hands to listeners. Times in milliseconds; fields that do not belong to the type are left out.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct LeaseEvent {
    #[napi(ts_type = "'leaseAcquired' | 'leaseRenewed' | 'leaseRetry' | 'leaseLost' | 'leaseReleased' | 'warning'")]
    pub r#type: String,
    pub at: f64,
    pub machine_id: Option<u32>,
    pub reason: Option<String>,
    pub detail: Option<String>,
    pub duration_ms: Option<f64>,
    pub source: Option<String>,
    pub operation: Option<String>,
    pub attempt: Option<u32>,
    pub delay_ms: Option<f64>,
    pub error: Option<Failure>,
    pub code: Option<String>,
    pub message: Option<String>,
}

/// Weak: it does not keep the process alive.
type Sender = ThreadsafeFunction<Event, (), LeaseEvent, Status, false, true>;

/// A listener that calls `on_event` on the thread it belongs to. The generator's gate hears of each event just before.
pub(super) fn listener(on_event: &Function<'_, LeaseEvent, ()>, generator: Weak<Generator>) -> napi::Result<Listener> {
    let sender: Sender =
        on_event.build_threadsafe_function::<Event>().callee_handled::<false>().weak::<true>().build_callback(
            move |context: ThreadsafeCallContext<Event>| {
                if let Some(generator) = generator.upgrade() {
                    generator.told(&context.value);
                }
                Ok(LeaseEvent::from(&context.value))
            },
        )?;
    Ok(Box::new(move |event| {
        if MUTED.load(Ordering::Acquire) {
            return;
        }
        // A thread that is ending hears no more.
        sender.call(event.clone(), ThreadsafeFunctionCallMode::NonBlocking);
    }))
}

/// The process is ending: no event loop is left to take an event.
static MUTED: AtomicBool = AtomicBool::new(false);

/// Sends no events from now on.
pub(super) fn mute() {
    MUTED.store(true, Ordering::Release);
}

impl From<&Event> for LeaseEvent {
    fn from(event: &Event) -> Self {
        let of = |name: &str| Self { r#type: name.to_owned(), at: event.at_ms as f64, ..Self::default() };
        let millis = |duration: std::time::Duration| Some(duration.as_secs_f64() * 1000.0);
        match &event.what {
            What::Acquired { machine, source, took } => Self {
                machine_id: Some(*machine),
                source: Some(source.as_str().to_owned()),
                duration_ms: millis(*took),
                ..of("leaseAcquired")
            },
            What::Renewed { machine, source, took } => Self {
                machine_id: Some(*machine),
                source: Some(source.as_str().to_owned()),
                duration_ms: millis(*took),
                ..of("leaseRenewed")
            },
            What::Retry { operation, source, took, attempt, delay, error } => Self {
                operation: Some(operation.as_str().to_owned()),
                source: Some(source.as_str().to_owned()),
                duration_ms: millis(*took),
                attempt: Some(*attempt),
                delay_ms: millis(*delay),
                error: Some(Failure::from(error)),
                ..of("leaseRetry")
            },
            What::Lost { machine, loss, detail } => Self {
                machine_id: Some(*machine),
                reason: Some(loss.as_str().to_owned()),
                detail: detail.clone(),
                ..of("leaseLost")
            },
            What::Released { machine, took } => Self {
                machine_id: Some(*machine),
                source: Some("shutdown".to_owned()),
                duration_ms: millis(*took),
                ..of("leaseReleased")
            },
            What::Warning { code, message } => {
                Self { code: Some((*code).to_owned()), message: Some(message.clone()), ..of("warning") }
            }
        }
    }
}
