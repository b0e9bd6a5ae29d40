//! Functions of the user's, of a custom coordinator or that lend a connection: from the lease manager to the thread that made them, and back. Nothing here
//! keeps the process alive, and nobody waits for a thread that has ended.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};

use napi::bindgen_prelude::{Either, Env, FnArgs, FunctionRef, JsValue, Null, ToNapiValue};
use napi::threadsafe_function::{ThreadsafeCallContext, ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Status, sys};
use napi_derive::napi;
use tokio::sync::oneshot;

use super::options::MachineRange;
use crate::coordinator::Answer;
use crate::coordinator::functions::{Functions, Granted, Request, Said, Trouble};

/// What `js/calls` is asked to call; times in milliseconds since 1970. `abandon`: nobody waits for that call's answer
/// any more.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct FunctionCall {
    pub call: u32,
    #[napi(ts_type = "'acquire' | 'renew' | 'release' | 'query' | 'eval' | 'abandon'")]
    pub operation: String,
    pub namespace: Option<String>,
    pub machine_ids: Option<MachineRange>,
    pub machine_id: Option<u32>,
    pub ttl_ms: Option<f64>,
    pub token: Option<String>,
    pub holder: Option<String>,
    pub layout: Option<String>,
    pub fingerprint: Option<String>,
    pub end: Option<f64>,
    pub last_used: Option<f64>,
    /// Of a query, with a text or null for each of its places.
    pub statement: Option<String>,
    #[napi(ts_type = "Array<string | null>")]
    pub parameters: Option<Vec<Either<String, Null>>>,
    /// Of an eval.
    pub script: Option<String>,
    pub key: Option<String>,
    pub arguments: Option<Vec<String>>,
}

/// What came of it: one of these, or nothing, which is a clear no.
#[napi(object, object_to_js = false)]
pub struct FunctionAnswer {
    pub granted: Option<FunctionGrant>,
    #[napi(ts_type = "Array<Record<string, string | null>>")]
    pub rows: Option<Vec<HashMap<String, Either<String, Null>>>>,
    #[napi(ts_type = "Array<string | null>")]
    pub list: Option<Vec<Either<String, Null>>>,
    pub trouble: Option<FunctionTrouble>,
}

#[napi(object, object_to_js = false)]
pub struct FunctionGrant {
    pub machine_id: Option<f64>,
    pub token: Option<String>,
    pub now: f64,
    pub end: f64,
    pub leased: Option<f64>,
}

#[napi(object, object_to_js = false)]
pub struct FunctionTrouble {
    pub what: String,
    pub code: Option<String>,
    /// A server's own words.
    pub said: Option<String>,
    pub hint: Option<String>,
    pub is_final: bool,
}

/// What JavaScript gives `open`: it must not throw, and calls its second argument once for each request, with the
/// request's number and the answer.
pub(super) type OnCall = FunctionRef<FnArgs<(FunctionCall, AnswerFunction)>, ()>;

/// A function of ours for JavaScript to call.
#[derive(Clone)]
pub(super) struct AnswerFunction(Arc<FunctionRef<(), ()>>);

impl ToNapiValue for AnswerFunction {
    unsafe fn to_napi_value(env: sys::napi_env, function: Self) -> napi::Result<sys::napi_value> {
        function.0.borrow_back(&Env::from_raw(env)).map(|function| function.raw())
    }
}

/// The way to one coordinator's functions.
pub(super) struct Bridge {
    sender: Sender,
    calls: AtomicU32,
    waiting: Arc<Waiting>,
}

/// Weak: it does not keep the process alive by itself.
type Sender = ThreadsafeFunction<Message, (), (), Status, false, true>;

enum Message {
    Call(u32, Request),
    Abandon(u32),
}

impl Bridge {
    pub(super) fn new(env: Env, on_call: OnCall) -> napi::Result<Arc<Self>> {
        let waiting = Arc::new(Waiting::default());
        let answers = Arc::clone(&waiting);
        let answer = env.create_function_from_closure("answer", move |context| {
            answers.answer(context.get(0)?, context.get::<FunctionAnswer>(1)?.into());
            Ok(())
        })?;
        let answer = AnswerFunction(Arc::new(answer.create_ref()?));
        // The engine calls a function of ours after each message; there is nothing left for it to do.
        let nothing = env.create_function_from_closure::<(), (), _>("mintid", |_| Ok(()))?;
        let builder = nothing.build_threadsafe_function::<Message>().callee_handled::<false>().weak::<true>();
        let asked = Arc::clone(&waiting);
        let sender = builder.build_callback(move |context: ThreadsafeCallContext<Message>| {
            deliver(context.env, context.value, &on_call, answer.clone(), &asked);
            Ok(())
        })?;
        let bridge = Arc::new(Self { sender, calls: AtomicU32::new(0), waiting });
        let mut bridges = bridges();
        bridges.retain(|(_, bridge)| bridge.strong_count() > 0);
        bridges.push((thread::current().id(), Arc::downgrade(&bridge)));
        Ok(bridge)
    }

    fn send(&self, message: Message) -> bool {
        self.sender.call(message, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
    }

    async fn ask(&self, request: Request) -> Result<Said, Trouble> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let answer = self.waiting.wait(call).ok_or_else(ended)?;
        let _abandoned = Abandoned { bridge: self, call };
        if !self.send(Message::Call(call, request)) {
            return Err(ended());
        }
        // Without an answer the thread has ended, or could not call the function.
        answer.await.unwrap_or_else(|_| Err(ended()))
    }
}

/// On the thread of the functions. What nobody waits for any more is not begun.
fn deliver(env: Env, message: Message, on_call: &OnCall, answer: AnswerFunction, waiting: &Waiting) {
    let (call, request) = match message {
        Message::Call(call, request) if waiting.has(call) => (call, FunctionCall::of(call, request)),
        Message::Call(..) => return,
        Message::Abandon(call) => {
            (call, FunctionCall { call, operation: "abandon".to_owned(), ..FunctionCall::default() })
        }
    };
    let called = on_call.borrow_back(&env).and_then(|on_call| on_call.call((request, answer).into()));
    // A thread that is being terminated runs no more JavaScript.
    if called.is_err() {
        waiting.forget(call);
    }
}

impl Functions for Bridge {
    fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
        Box::pin(self.ask(request))
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge").finish_non_exhaustive()
    }
}

/// Tells the functions when an answer is not waited for any more.
struct Abandoned<'a> {
    bridge: &'a Bridge,
    call: u32,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if self.bridge.waiting.forget(self.call) {
            self.bridge.send(Message::Abandon(self.call));
        }
    }
}

/// The calls whose answers are waited for.
#[derive(Default)]
struct Waiting {
    ended: AtomicBool,
    answers: Mutex<HashMap<u32, oneshot::Sender<Result<Said, Trouble>>>>,
}

impl Waiting {
    /// `None` when the thread has ended.
    fn wait(&self, call: u32) -> Option<oneshot::Receiver<Result<Said, Trouble>>> {
        let (answer, answered) = oneshot::channel();
        let mut answers = self.answers();
        if self.ended.load(Ordering::Acquire) {
            return None;
        }
        answers.insert(call, answer);
        Some(answered)
    }

    fn has(&self, call: u32) -> bool {
        self.answers().contains_key(&call)
    }

    fn answer(&self, call: u32, answer: Result<Said, Trouble>) {
        if let Some(waiting) = self.answers().remove(&call) {
            // Whoever waited may have gone this very moment.
            let _ = waiting.send(answer);
        }
    }

    fn forget(&self, call: u32) -> bool {
        self.answers().remove(&call).is_some()
    }

    fn end(&self) {
        let mut answers = self.answers();
        self.ended.store(true, Ordering::Release);
        answers.clear();
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<u32, oneshot::Sender<Result<Said, Trouble>>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ended() -> Trouble {
    Trouble { what: "cannot be called any more: its thread is ending".to_owned(), ..Trouble::default() }
}

/// Every coordinator's functions, with their threads.
fn bridges() -> MutexGuard<'static, Vec<(ThreadId, Weak<Bridge>)>> {
    static BRIDGES: Mutex<Vec<(ThreadId, Weak<Bridge>)>> = Mutex::new(Vec::new());
    BRIDGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives up all calls to functions of this thread, whose environment is about to end.
pub(super) fn end_thread() {
    end(|thread| thread == thread::current().id());
}

/// The same for all threads: the process is ending.
pub(super) fn end_process() {
    end(|_| true);
}

fn end(is_ending: impl Fn(ThreadId) -> bool) {
    for (_, bridge) in bridges().extract_if(.., |(thread, _)| is_ending(*thread)) {
        if let Some(bridge) = bridge.upgrade() {
            bridge.waiting.end();
        }
    }
}

impl FunctionCall {
    fn of(call: u32, request: Request) -> Self {
        let all = Self { call, operation: request.operation().to_owned(), ..Self::default() };
        match request {
            Request::Acquire { namespace, first, last, ttl_ms, token, holder, layout, fingerprint } => Self {
                namespace: Some(namespace),
                machine_ids: Some(MachineRange { from: first, to: last }),
                ttl_ms: Some(ttl_ms as f64),
                token: Some(token),
                holder: Some(holder),
                layout: Some(layout),
                fingerprint,
                ..all
            },
            Request::Renew { namespace, machine, token, ttl_ms, end_ms } => Self {
                namespace: Some(namespace),
                machine_id: Some(machine),
                token: Some(token),
                ttl_ms: Some(ttl_ms as f64),
                end: Some(end_ms as f64),
                ..all
            },
            Request::Release { namespace, machine, token, last_used_ms } => Self {
                namespace: Some(namespace),
                machine_id: Some(machine),
                token: Some(token),
                last_used: Some(last_used_ms as f64),
                ..all
            },
            Request::Query { statement, parameters } => {
                let parameters = parameters.into_iter().map(|text| text.map_or(Either::B(Null), Either::A));
                Self { statement: Some(statement), parameters: Some(parameters.collect()), ..all }
            }
            Request::Eval { script, key, arguments } => {
                Self { script: Some(script), key: Some(key), arguments: Some(arguments), ..all }
            }
        }
    }
}

impl From<FunctionAnswer> for Result<Said, Trouble> {
    fn from(answer: FunctionAnswer) -> Self {
        if let Some(FunctionTrouble { what, code, said, hint, is_final }) = answer.trouble {
            return Err(Trouble { what, code, said, hint, is_final });
        }
        let granted = answer.granted.map(|granted| {
            Said::Grant(Granted {
                machine: granted.machine_id,
                token: granted.token,
                now_ms: granted.now,
                end_ms: granted.end,
                leased: granted.leased,
            })
        });
        let text = |value| match value {
            Either::A(text) => Some(text),
            Either::B(Null) => None,
        };
        let row = |row: HashMap<_, _>| row.into_iter().map(|(name, value)| (name, text(value))).collect();
        let rows = answer.rows.map(|rows| Said::Rows(rows.into_iter().map(row).collect()));
        let list = answer.list.map(|list| Said::List(list.into_iter().map(text).collect()));
        Ok(granted.or(rows).or(list).unwrap_or(Said::No))
    }
}
