//! One thread with a Tokio runtime for all lease managers of the process, started at first need. It sleeps when there is
//! nothing to do and never keeps a process alive.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::thread;

use tokio::runtime::{Builder, Handle};

use crate::error::{Code, Error, Retry};

/// Runs a future on the thread.
///
/// # Errors
/// `COORDINATOR` when the operating system gives no thread; the next call tries again.
pub(super) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Result<(), Error> {
    handle()?.spawn(future);
    Ok(())
}

fn handle() -> Result<Handle, Error> {
    static HANDLE: Mutex<Option<Handle>> = Mutex::new(None);
    let mut handle = HANDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = &*handle {
        return Ok(running.clone());
    }
    let started = start().map_err(|error| {
        Error::new(Code::Coordinator, format!("cannot start the lease manager's thread: {error}")).retry_as(Retry::Soon)
    })?;
    Ok(handle.insert(started).clone())
}

fn start() -> std::io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new().name("mintid".into()).spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(handle)
}
