//! The connection of one coordinator: made at need, and where renewals come often kept from one request to the next.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::task::AbortHandle;

use crate::error::Error;

/// A connection that can end by itself.
pub trait Ends: Send + Sync + 'static {
    /// Whether the server or the network ended it.
    fn is_closed(&self) -> bool;

    /// Waits until that happens.
    fn closed(&self) -> impl Future<Output = ()> + Send;
}

/// At most one idle connection, and the way to another one.
pub(super) struct Link<C> {
    keep_open: bool,
    idle: Arc<Mutex<Option<Arc<C>>>>,
    guard: Mutex<Option<AbortHandle>>,
    tell: OnceLock<Arc<dyn Fn() + Send + Sync>>,
}

/// A connection in use by one request. Dropped unless it is put back: after a request that was given up nobody knows
/// what its next answer would belong to.
pub(super) struct Held<C>(Arc<C>);

impl<C> Held<C> {
    pub(super) fn get(&self) -> &C {
        &self.0
    }
}

impl<C: Ends> Link<C> {
    pub(super) fn new(keep_open: bool) -> Self {
        Self { keep_open, idle: Arc::default(), guard: Mutex::default(), tell: OnceLock::new() }
    }

    /// Has `tell` called when an idle connection ends by itself. The first one stays.
    pub(super) fn on_disconnect(&self, tell: Arc<dyn Fn() + Send + Sync>) {
        let _ = self.tell.set(tell);
    }

    /// The idle connection, or a new one.
    pub(super) async fn get<F>(&self, connect: impl FnOnce() -> F) -> Result<Held<C>, Error>
    where
        F: Future<Output = Result<C, Error>>,
    {
        if let Some(guard) = lock(&self.guard).take() {
            guard.abort();
        }
        let idle = lock(&self.idle).take().filter(|connection| !connection.is_closed());
        match idle {
            Some(connection) => Ok(Held(connection)),
            None => Ok(Held(Arc::new(connect().await?))),
        }
    }

    /// Takes a connection back after a request that was answered.
    pub(super) fn put(&self, Held(connection): Held<C>) {
        if !self.keep_open {
            return;
        }
        if let Some(tell) = self.tell.get().cloned() {
            let (watched, idle) = (Arc::clone(&connection), Arc::clone(&self.idle));
            let guard = tokio::spawn(async move {
                watched.closed().await;
                lock(&idle).take();
                tell();
            });
            if let Some(earlier) = lock(&self.guard).replace(guard.abort_handle()) {
                earlier.abort();
            }
        }
        *lock(&self.idle) = Some(connection);
    }
}

impl<C> Drop for Link<C> {
    fn drop(&mut self) {
        if let Some(guard) = lock(&self.guard).take() {
            guard.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
