//! One generator's handle.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::mpsc::channel;
use std::sync::{Arc, Once, Weak};
use std::time::Duration;

use napi::bindgen_prelude::{Buffer, Either, Env, Function, Uint8Array, Uint32Array, Unknown};
use napi_derive::napi;

use super::calls::{Bridge, OnCall, end_process, end_thread};
use super::event::LeaseEvent;
use super::failure::Failure;
use super::generation::{Owned, Pinned};
use super::options::NativeOptions;
use super::queue::{Outcome, Queue};
use crate::clock::{Clock, SystemClock};
use crate::coordinator::functions::Functions;
use crate::error::Error;
use crate::generator::{CountingNonces, Generator};
use crate::id::{Kind, Nonces};
use crate::layout::Size;
use crate::lease::pool;

/// A handle on the process's lease. Dropping it (garbage collection, the end of a Worker) closes it.
#[napi]
pub struct Handle {
    pub(super) generator: Arc<Generator>,
    queue: Arc<Queue>,
    /// What counts each kind of nonce that was asked for.
    nonces: RefCell<HashMap<(Size, Kind), CountingNonces>>,
}

/// A lease; times in milliseconds since 1970.
#[napi(object)]
pub struct LeaseInfo {
    pub machine_id: u32,
    pub acquired_at: f64,
    pub expires_at: Option<f64>,
    /// How long until then by this machine's own measure, whatever the date is here or there.
    pub expires_in_ms: Option<f64>,
}

/// Makes a handle; takes no lease yet. `onCall`: the way to functions of the user's.
#[napi]
pub fn open(
    env: Env,
    options: NativeOptions,
    on_event: Function<'_, LeaseEvent, ()>,
    #[napi(ts_arg_type = "(call: FunctionCall, answer: (call: number, answer: FunctionAnswer) => void) => void")]
    on_call: Option<OnCall>,
) -> napi::Result<Either<Handle, Failure>> {
    let bridge = on_call.map(|on_call| Bridge::new(env, on_call)).transpose()?;
    let generator = match options.convert(bridge.map(|bridge| bridge as Arc<dyn Functions>)) {
        Ok(options) => Arc::new(Generator::new(options)),
        Err(error) => return Ok(Either::B(Failure::from(&error))),
    };
    close_at_end(env, &generator)?;
    let queue = Queue::new(env, &on_event, Arc::downgrade(&generator))?;
    Ok(Either::A(Handle { generator, queue, nonces: RefCell::default() }))
}

#[napi]
impl Handle {
    /// Joins or makes the process-wide lease. Idempotent.
    #[napi]
    pub fn start(&self) -> Option<Failure> {
        self.join().err().as_ref().map(Failure::from)
    }

    /// Waits for a lease for `timeoutMs` (Infinity allowed), and starts what has to be started. Keeps the process alive
    /// until it settles, and settles after the events before.
    #[napi(ts_return_type = "Promise<Failure | null>")]
    pub fn ready<'env>(&self, env: &'env Env, timeout_ms: f64) -> napi::Result<Unknown<'env>> {
        let (pending, promise) = self.queue.promise(env)?;
        if let Err(error) = self.join() {
            pending.settle(move || Some(Failure::from(&error)));
            return Ok(promise);
        }
        let timeout = Duration::try_from_secs_f64(timeout_ms / 1000.0).ok();
        let generator = Arc::downgrade(&self.generator);
        self.generator.wait(timeout, move |result| pending.settle(move || told(&generator, &result)));
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

    /// Words that all change whenever IDs that this thread keeps ready are not to be given out any more, one for each
    /// place of a block. To be asked for once. `null` where the engine allows no external buffers; ask again then with a
    /// `spare` array, which is used instead and kept until the thread ends.
    #[napi(ts_return_type = "Uint32Array | null")]
    pub fn generation<'env>(&self, env: &'env Env, spare: Option<Uint32Array>) -> Option<Unknown<'env>> {
        if let Some(spare) = spare {
            self.generator.watch(Pinned::new(spare)?);
            return None;
        }
        let owned = Arc::new(Owned::default());
        let array = owned.show(env.raw())?;
        self.generator.watch(owned);
        // SAFETY: `array` was made in the environment and the handle scope of this call.
        Some(unsafe { Unknown::from_raw_unchecked(env.raw(), array) })
    }

    /// The lease that is held.
    #[napi(ts_return_type = "LeaseInfo | null")]
    pub fn lease(&self) -> Option<LeaseInfo> {
        self.generator.lease().map(|lease| LeaseInfo {
            machine_id: lease.machine,
            acquired_at: lease.acquired_at_ms as f64,
            expires_at: lease.expires_at_ms.map(|ms| ms as f64),
            expires_in_ms: lease.ends.map(|ends| ends.since(SystemClock.tick()).as_secs_f64() * 1000.0),
        })
    }

    /// Gives the lease up as lost, for all who share it, and takes another; the event says why.
    #[napi]
    pub fn relinquish(&self, why: String) {
        self.generator.relinquish(why);
    }

    /// Encrypts 8, 12 or 16 bytes under the generator's cipher for that size.
    #[napi]
    pub fn encrypt(&self, nonce: Uint8Array) -> Either<Buffer, Failure> {
        crypted(&nonce, |nonce| self.generator.keys().encrypt(nonce))
    }

    /// The inverse of `encrypt`.
    #[napi]
    pub fn decrypt(&self, nonce: Uint8Array) -> Either<Buffer, Failure> {
        crypted(&nonce, |nonce| self.generator.keys().decrypt(nonce))
    }

    /// The next nonce of 64, 96 or 128 bits, big-endian.
    #[napi]
    pub fn nonce(
        &self,
        bits: u32,
        #[napi(ts_arg_type = "'counter' | 'sortable' | 'encrypted'")] kind: String,
        #[napi(ts_arg_type = "'counter' | 'sortable'")] base: String,
    ) -> Either<Buffer, Failure> {
        match self.next_nonce(bits, &kind, &base) {
            Ok(nonce) => Either::A(nonce.into()),
            Err(error) => Either::B(Failure::from(&error)),
        }
    }

    /// Leaves the lease; the last one releases it. Takes 5 s at most and never rejects.
    #[napi(ts_return_type = "Promise<null>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Unknown<'env>> {
        let (pending, promise) = self.queue.promise(env)?;
        self.generator.close(Box::new(move || pending.settle(|| None)));
        Ok(promise)
    }

    fn next_nonce(&self, bits: u32, kind: &str, base: &str) -> Result<Vec<u8>, Error> {
        let unknown = || Error::config("bits", format!("bits: expected 64, 96 or 128, found {bits}"));
        let (size, kind) = (Size::of_bits(bits).ok_or_else(unknown)?, super::type_spec::kind(kind, base)?);
        let mut counting = self.nonces.borrow_mut();
        let counting = match counting.entry((size, kind)) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(vacant) => {
                let nonces = Nonces::new(size, kind, self.generator.layout(), self.generator.keys())?;
                let generator = Arc::clone(&self.generator);
                vacant.insert(CountingNonces::new(generator, move |factory| nonces.source(factory)))
            }
        };
        let bytes = counting.next()?.to_be_bytes();
        Ok(bytes[bytes.len() - size.bytes()..].to_vec())
    }

    fn join(&self) -> Result<(), Error> {
        self.generator.start(|| Ok(self.queue.listener()))
    }
}

/// What becomes of a copy.
fn crypted(nonce: &[u8], crypt: impl Fn(&mut [u8]) -> Result<(), Error>) -> Either<Buffer, Failure> {
    let mut copy = nonce.to_vec();
    match crypt(&mut copy) {
        Ok(()) => Either::A(copy.into()),
        Err(error) => Either::B(Failure::from(&error)),
    }
}

/// Lets the generator's gate hear how a wait ended, on the thread that waited.
fn told(generator: &Weak<Generator>, result: &Result<u64, Error>) -> Outcome {
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

/// Has `generator` closed when its thread ends, also by `Worker.terminate`, and waits until the last one of the process
/// has released its lease.
fn close_at_end(env: Env, generator: &Arc<Generator>) -> napi::Result<()> {
    thread_local! {
        static HOOKED: Cell<bool> = const { Cell::new(false) };
    }
    OPEN.with_borrow_mut(|open| {
        open.retain(|generator| generator.strong_count() > 0);
        open.push(Arc::downgrade(generator));
    });
    if !HOOKED.replace(true) {
        env.add_env_cleanup_hook((), |()| {
            HOOKED.set(false);
            Pinned::release_all();
            end_thread();
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

/// How long the end of a thread, or of the process, waits for a release.
const AT_MOST: Duration = Duration::from_millis(500);

/// Has every lease released at `process.exit`, which runs no cleanup hooks. After all JavaScript, so that the last `exit`
/// listener can still mint.
#[cfg(unix)]
pub(super) fn close_at_exit() {
    unsafe extern "C" {
        fn atexit(callback: extern "C" fn()) -> std::ffi::c_int;
    }
    extern "C" fn release() {
        super::queue::mute();
        end_process();
        // Nothing may unwind into C; what could not be released runs out, or is dropped by the kernel.
        let _ = std::panic::catch_unwind(|| pool::close_all(AT_MOST));
    }
    static ONCE: Once = Once::new();
    // SAFETY: the callback is a function of this module, which stays loaded until the process ends.
    ONCE.call_once(|| unsafe {
        atexit(release);
    });
}

/// The lease thread is gone by the time that a Windows DLL hears of the end; the kernel drops the locks.
#[cfg(not(unix))]
pub(super) fn close_at_exit() {}
