//! Events as JavaScript sees them.

use napi_derive::napi;

use super::failure::Failure;
use crate::lease::event::{Event, What};

/// What `js/events.js` hands to listeners. Times in milliseconds; fields that do not belong to the type are left out.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct LeaseEvent {
    #[napi(
        ts_type = "'leaseAcquired' | 'leaseRenewed' | 'leaseRetry' | 'leaseLost' | 'conflict' | 'leaseReleased' | 'overflow' | 'warning'"
    )]
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
    pub space: Option<String>,
    pub partition: Option<f64>,
    pub code: Option<String>,
    pub message: Option<String>,
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
            What::Conflict { machine } => Self { machine_id: Some(*machine), ..of("conflict") },
            What::Released { machine, took } => Self {
                machine_id: Some(*machine),
                source: Some("shutdown".to_owned()),
                duration_ms: millis(*took),
                ..of("leaseReleased")
            },
            What::Overflow { space, partition } => {
                Self { space: Some(space.clone()), partition: Some(*partition as f64), ..of("overflow") }
            }
            What::Warning { code, message } => {
                Self { code: Some((*code).to_owned()), message: Some(message.clone()), ..of("warning") }
            }
        }
    }
}
