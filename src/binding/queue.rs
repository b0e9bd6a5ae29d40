//! What other threads send to the JavaScript thread of one handle: events, and the ends of waits. It arrives in the order
//! in which it was sent, on every runtime, since it all goes through one thread-safe function.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use napi::Status;
use napi::bindgen_prelude::{Env, Function, ToNapiValue, Unknown};
use napi::sys;
use napi::threadsafe_function::{ThreadsafeCallContext, ThreadsafeFunction, ThreadsafeFunctionCallMode};

use super::event::LeaseEvent;
use super::failure::Failure;
use crate::generator::Generator;
use crate::lease::event::Event;
use crate::lease::manager::Listener;

/// What a promise of this module settles with.
pub(super) type Outcome = Option<Failure>;

/// The way to one handle's thread. It keeps the process alive while a promise is pending, and only then.
pub(super) struct Queue {
    sender: Sender,
    /// How many promises are. Only its thread changes this.
    pending: AtomicUsize,
}

/// Weak: it does not keep the process alive by itself.
type Sender = ThreadsafeFunction<Message, (), (), Status, false, true>;

enum Message {
    Event(Event),
    Settlement(Pending, Box<dyn FnOnce() -> Outcome + Send>),
}

impl Queue {
    /// Calls `on_event` with each event. The generator's gate hears of it just before.
    pub(super) fn new(
        env: Env,
        on_event: &Function<'_, LeaseEvent, ()>,
        generator: Weak<Generator>,
    ) -> napi::Result<Arc<Self>> {
        let on_event = on_event.create_ref()?;
        // The engine calls a function of ours after each message; there is nothing left for it to do.
        let nothing = env.create_function_from_closure::<(), (), _>("mintid", |_| Ok(()))?;
        let builder = nothing.build_threadsafe_function::<Message>().callee_handled::<false>().weak::<true>();
        let sender = builder.build_callback(move |context: ThreadsafeCallContext<Message>| match context.value {
            Message::Event(event) => {
                if let Some(generator) = generator.upgrade() {
                    generator.told(&event);
                }
                on_event.borrow_back(&context.env)?.call(LeaseEvent::from(&event))
            }
            Message::Settlement(pending, answer) => pending.resolve(context.env, answer()),
        })?;
        Ok(Arc::new(Self { sender, pending: AtomicUsize::new(0) }))
    }

    /// Sends events.
    pub(super) fn listener(self: &Arc<Self>) -> Listener {
        let queue = Arc::clone(self);
        Box::new(move |event| queue.send(Message::Event(event.clone())))
    }

    /// A promise, and what settles it after the events that were sent before. To be called on the handle's thread.
    pub(super) fn promise<'env>(self: &Arc<Self>, env: &'env Env) -> napi::Result<(Pending, Unknown<'env>)> {
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: both out-parameters outlive the call.
        check(unsafe { sys::napi_create_promise(env.raw(), &raw mut deferred, &raw mut promise) })?;
        if self.pending.fetch_add(1, Ordering::Relaxed) == 0 {
            // SAFETY: the function lives as long as the queue, and this is its thread.
            check(unsafe { sys::napi_ref_threadsafe_function(env.raw(), self.sender.raw()) })?;
        }
        let pending = Pending { deferred: Deferred(deferred), queue: Arc::clone(self) };
        // SAFETY: `promise` was made in the environment and the handle scope of this call.
        Ok((pending, unsafe { Unknown::from_raw_unchecked(env.raw(), promise) }))
    }

    fn send(&self, message: Message) {
        if !MUTED.load(Ordering::Acquire) {
            // A thread that is ending hears no more.
            self.sender.call(message, ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

/// A promise that is to be settled once.
pub(super) struct Pending {
    deferred: Deferred,
    queue: Arc<Queue>,
}

struct Deferred(sys::napi_deferred);

// SAFETY: other threads only carry it; it is used on the thread that it belongs to, by `Pending::resolve`.
unsafe impl Send for Deferred {}

impl Pending {
    /// Settles the promise with what `answer` says on the handle's thread; from any thread.
    pub(super) fn settle(self, answer: impl FnOnce() -> Outcome + Send + 'static) {
        let queue = Arc::clone(&self.queue);
        queue.send(Message::Settlement(self, Box::new(answer)));
    }

    fn resolve(self, env: Env, outcome: Outcome) -> napi::Result<()> {
        if self.queue.pending.fetch_sub(1, Ordering::Relaxed) == 1 {
            // SAFETY: the function lives as long as the queue, and it is what is running on this thread.
            check(unsafe { sys::napi_unref_threadsafe_function(env.raw(), self.queue.sender.raw()) })?;
        }
        // SAFETY: the environment is that of the callback that is running.
        let value = unsafe { Outcome::to_napi_value(env.raw(), outcome) }?;
        // SAFETY: as before; the promise is of this environment and was not settled, since that takes `self`.
        check(unsafe { sys::napi_resolve_deferred(env.raw(), self.deferred.0, value) })
    }
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    if status == sys::Status::napi_ok {
        return Ok(());
    }
    Err(napi::Error::new(Status::from(status), "N-API could not make or settle a promise"))
}

/// The process is ending: no event loop is left to take a message.
static MUTED: AtomicBool = AtomicBool::new(false);

/// Sends nothing from now on.
pub(super) fn mute() {
    MUTED.store(true, Ordering::Release);
}
