//! One request to a coordinator, with an end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::event::Operation;
use super::runtime;
use crate::coordinator::registry::Registry;
use crate::coordinator::{Coordinator, Grant, Term};
use crate::error::{Code, Error, Retry};

/// Waits for a request of its own task, which is dropped when it takes too long: `None` then, and when it panicked.
pub(super) async fn answered<T: Send + 'static>(
    limit: Duration,
    request: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let mut task = tokio::spawn(request);
    if let Ok(answer) = tokio::time::timeout(limit, &mut task).await {
        return answer.ok();
    }
    task.abort();
    None
}

pub(super) fn expiry(grant: &Grant) -> Option<u64> {
    matches!(grant.term, Term::Renewable).then_some(grant.lease.end_ms)
}

pub(super) fn no_answer(coordinator: &dyn Coordinator, operation: Option<Operation>, limit: Duration) -> Error {
    let name = coordinator.name();
    let what = operation.map_or_else(String::new, |operation| format!(" {}", operation.as_str()));
    Error::new(Code::Coordinator, format!("{name} did not answer{what} within {} ms", limit.as_millis()))
        .with(|fields| fields.coordinator = Some(name))
        .retry_as(Retry::Soon)
}

/// Asks a registry on the process's lease thread, for `limit` at the most.
///
/// # Errors
/// `COORDINATOR` when there is no thread to be had; there is no reply then.
pub fn ask<T, F>(
    registry: Arc<dyn Registry>,
    limit: Duration,
    question: impl FnOnce(Arc<dyn Registry>) -> F + Send + 'static,
    reply: impl FnOnce(Result<T, Error>) + Send + 'static,
) -> Result<(), Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    runtime::spawn(async move {
        let answer = answered(limit, question(Arc::clone(&registry))).await;
        reply(answer.unwrap_or_else(|| Err(no_answer(&*registry, None, limit))));
    })
}
