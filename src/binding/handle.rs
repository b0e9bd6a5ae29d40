//! One generator's handle.

use std::cell::RefCell;
use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};
use std::time::Duration;

use napi::bindgen_prelude::{Either, Env, Function, FunctionRef, Object};
use napi_derive::napi;

use super::event::{LeaseEvent, listener};
use super::failure::Failure;
use super::options::NativeOptions;
use crate::error::{Code, Error};
use crate::generator::Generator;

/// A handle on the process's lease. Dropping it (garbage collection, the end of a Worker) closes it.
#[napi]
pub struct Handle {
    pub(super) generator: Arc<Generator>,
    on_event: FunctionRef<LeaseEvent, ()>,
}

/// A lease; times in milliseconds since 1970.
#[napi(object)]
pub struct LeaseInfo {
    pub machine_id: u32,
    pub acquired_at: f64,
    pub expires_at: Option<f64>,
}

/// What a promise of this module settles with.
type Outcome = Option<Failure>;

/// Makes a handle; takes no lease yet.
#[napi]
pub fn open(
    env: Env,
    options: NativeOptions,
    on_event: Function<'_, LeaseEvent, ()>,
) -> napi::Result<Either<Handle, Failure>> {
    let generator = match options.convert() {
        Ok(options) => Arc::new(Generator::new(options)),
        Err(error) => return Ok(Either::B(Failure::from(&error))),
    };
    close_at_end(env, &generator)?;
    Ok(Either::A(Handle { generator, on_event: on_event.create_ref()? }))
}

#[napi]
impl Handle {
    /// Joins or makes the process-wide lease. Idempotent.
    #[napi]
    pub fn start(&self, env: Env) -> Option<Failure> {
        self.join(env).err().as_ref().map(Failure::from)
    }

    /// Waits for a lease for `timeoutMs` (Infinity allowed), and starts what has to be started. Keeps the process alive
    /// until it settles.
    #[napi(ts_return_type = "Promise<Failure | undefined>")]
    pub fn ready<'env>(&self, env: &'env Env, timeout_ms: f64) -> napi::Result<Object<'env>> {
        let (deferred, promise) = env.create_deferred::<Outcome, Resolver>()?;
        if let Err(error) = self.join(*env) {
            deferred.resolve(Box::new(move |_| Ok(Some(Failure::from(&error)))));
            return Ok(promise);
        }
        let timeout = Duration::try_from_secs_f64(timeout_ms / 1000.0).ok();
        let generator = Arc::downgrade(&self.generator);
        self.generator.wait(timeout, move |result| {
            deferred.resolve(Box::new(move |_| Ok(settle(&generator, &result))));
        });
        Ok(promise)
    }

    /// Settles every pending `ready` of this handle.
    #[napi]
    pub fn cancel(&self) {
        self.generator.cancel();
    }

    /// Whether a lease is held and this thread was told so.
    #[napi]
    pub fn is_held(&self) -> bool {
        self.generator.is_held()
    }

    /// The lease that is held.
    #[napi(ts_return_type = "LeaseInfo | null")]
    pub fn lease(&self) -> Option<LeaseInfo> {
        self.generator.lease().map(|lease| LeaseInfo {
            machine_id: lease.machine,
            acquired_at: lease.acquired_at_ms as f64,
            expires_at: lease.expires_at_ms.map(|ms| ms as f64),
        })
    }

    /// Gives the lease up as lost, for all who share it, and takes another; the event says why.
    #[napi]
    pub fn relinquish(&self, why: String) {
        self.generator.relinquish(why);
    }

    /// Leaves the lease; the last one releases it. Takes 5 s at most and never rejects.
    #[napi(ts_return_type = "Promise<undefined>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let (deferred, promise) = env.create_deferred::<Outcome, Resolver>()?;
        self.generator.close(Box::new(move || deferred.resolve(Box::new(|_| Ok(None)))));
        Ok(promise)
    }

    fn join(&self, env: Env) -> Result<(), Error> {
        self.generator.start(|| {
            let on_event = self.on_event.borrow_back(&env);
            let listener = on_event.and_then(|on_event| listener(&on_event, Arc::downgrade(&self.generator)));
            listener.map_err(|error| Error::new(Code::Closed, format!("this thread takes no events: {}", error.reason)))
        })
    }
}

type Resolver = Box<dyn FnOnce(Env) -> napi::Result<Outcome> + Send>;

/// Runs on the thread that waited.
fn settle(generator: &Weak<Generator>, result: &Result<u64, Error>) -> Outcome {
    match result {
        Ok(number) => {
            if let Some(generator) = generator.upgrade() {
                generator.told_held(*number);
            }
            None
        }
        Err(error) => Some(Failure::from(error)),
    }
}

thread_local! {
    /// The generators of this thread, to be closed when its environment ends.
    static OPEN: RefCell<Vec<Weak<Generator>>> = const { RefCell::new(Vec::new()) };
}

/// Releases the lease at `process.exit` and at the end of the last Worker, as far as that takes no longer than 500 ms.
fn close_at_end(env: Env, generator: &Arc<Generator>) -> napi::Result<()> {
    const AT_MOST: Duration = Duration::from_millis(500);
    let first = OPEN.with_borrow_mut(|open| {
        let first = open.is_empty();
        open.retain(|generator| generator.strong_count() > 0);
        open.push(Arc::downgrade(generator));
        first
    });
    if first {
        env.add_env_cleanup_hook((), move |()| {
            let (done, all_done) = channel();
            for generator in OPEN.take().iter().filter_map(Weak::upgrade) {
                let done = done.clone();
                generator.close(Box::new(move || done.send(()).unwrap_or_default()));
            }
            drop(done);
            while all_done.recv_timeout(AT_MOST).is_ok() {}
        })?;
    }
    Ok(())
}
