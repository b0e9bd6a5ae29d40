//! The functions of one ID type: raw N-API callbacks with their state in the data pointer, because a class method costs
//! more than an ID does.

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use napi::bindgen_prelude::{ClassInstance, Either, Env, JsValue, Object};
use napi::sys;
use napi_derive::napi;

use super::bodies::FUNCTIONS;
use super::failure::{Failure, leave};
use super::handle::Handle;
use super::placed;
use super::type_spec::{AnyType, TypeSpec};
use super::value::{Broken, Scope};
use super::wide::{self, WideBinding};
use crate::codec::Text;
use crate::error::{Code, Error};
use crate::generator::{Counting, Generator};
use crate::id::{IdType, Input};

/// What the functions of one type share.
pub(super) struct Binding {
    pub(super) id_type: IdType,
    /// Absent without a generator: such a type only converts.
    counting: Option<Counting>,
}

/// Makes the functions of one ID type; without a handle (`null`) they only convert, and without a key.
#[napi(ts_return_type = "Record<string, (...values: any[]) => any> | Failure")]
pub fn bind<'env>(
    env: &'env Env,
    spec: TypeSpec,
    handle: Option<ClassInstance<'env, Handle>>,
) -> napi::Result<Either<Object<'env>, Failure>> {
    let generator = handle.as_ref().map(|handle| &handle.generator);
    let (object, result) = (Object::new(env)?, spec.convert(generator.map(|generator| &**generator)));
    match result {
        Ok(AnyType::Narrow(id_type)) => bind_narrow(env, object, id_type, generator),
        Ok(AnyType::Wide(id_type)) => {
            let binding = Arc::new(WideBinding::new(id_type, generator.cloned()));
            add_functions(env, &object, wide::FUNCTIONS, &binding)?;
            Ok(Either::A(object))
        }
        Err(error) => Ok(Either::B(Failure::from(&error))),
    }
}

fn bind_narrow<'env>(
    env: &'env Env,
    mut object: Object<'env>,
    id_type: IdType,
    generator: Option<&Arc<Generator>>,
) -> napi::Result<Either<Object<'env>, Failure>> {
    let counting = generator.map(|generator| Counting::new(Arc::clone(generator), &id_type));
    let binding = Arc::new(Binding { id_type, counting });
    object.set("bodyLength", binding.id_type.body_length().map(|length| length as u32))?;
    object.set("countsAhead", binding.counts_ahead())?;
    object.set("partitions", binding.id_type.layout().partitions() as f64)?;
    add_functions(env, &object, FUNCTIONS, &binding)?;
    add_functions(env, &object, placed::FUNCTIONS, &binding)?;
    Ok(Either::A(object))
}

fn add_functions<T>(
    env: &Env,
    object: &Object<'_>,
    functions: &[(&CStr, RawCallback)],
    binding: &Arc<T>,
) -> napi::Result<()> {
    functions.iter().try_for_each(|(name, callback)| add_function(env.raw(), object.raw(), name, *callback, binding))
}

/// One function of a binding. Missing arguments come as `undefined`.
pub(super) trait Body<T> {
    /// Fetching arguments costs a tenth of an ID; what takes none says so.
    const TAKES_ARGUMENTS: bool = true;

    fn call(binding: &T, scope: Scope, arguments: Arguments) -> Outcome;
}

/// Why a call gives `undefined`: an error of ours, or an N-API call that did not work.
pub(super) enum Stop {
    Failed(Error),
    Broken,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Broken> for Stop {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}

pub(super) type Outcome = Result<sys::napi_value, Stop>;
pub(super) type Arguments = [sys::napi_value; 3];
pub(super) type RawCallback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

impl Binding {
    /// Whether IDs may be counted ahead of their use: only where their timestamps say nothing about when that was.
    fn counts_ahead(&self) -> bool {
        self.counting.is_some() && !self.id_type.kind().is_exact() && self.id_type.layout().partitions() == 1
    }

    /// The next number of the database's.
    #[inline]
    pub(super) fn count(&self) -> Result<u64, Error> {
        match &self.counting {
            Some(counting) => counting.next().map(|nonce| self.id_type.number(nonce)),
            None => Err(no_generator()),
        }
    }

    pub(super) fn count_into(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.counting.as_ref().ok_or_else(no_generator)?.fill(numbers)?;
        self.id_type.number_block(numbers);
        Ok(())
    }

    /// The next number of the database's in a partition.
    pub(super) fn count_in(&self, partition: u64) -> Result<u64, Error> {
        let nonce = self.counting.as_ref().ok_or_else(no_generator)?.next_in(partition)?;
        Ok(self.id_type.number(nonce))
    }

    /// The same at a time in milliseconds since 1970.
    pub(super) fn count_at(&self, partition: u64, unix_ms: u64) -> Result<u64, Error> {
        let nonce = self.counting.as_ref().ok_or_else(no_generator)?.next_at(partition, unix_ms)?;
        Ok(self.id_type.number(nonce))
    }

    pub(super) fn count_into_partition(&self, partition: u64, numbers: &mut [u64]) -> Result<(), Error> {
        self.counting.as_ref().ok_or_else(no_generator)?.fill_in(partition, numbers)?;
        self.id_type.number_block(numbers);
        Ok(())
    }

    /// Writes the texts of `numbers` without their prefixes, each at the end of its `stride` of `bodies`.
    pub(super) fn write_bodies(&self, numbers: &[u64], bodies: &mut [u8], stride: usize) -> Result<(), Broken> {
        /// As many as the scratch has room for, whatever the format.
        const AT_ONCE: usize = 64;
        let length = self.id_type.body_length().filter(|length| *length <= stride).ok_or(Broken)?;
        if length == stride {
            self.id_type.write_app_block(numbers, bodies);
            return Ok(());
        }
        let mut scratch = [0; AT_ONCE * Text::LONGEST];
        for (numbers, bodies) in numbers.chunks(AT_ONCE).zip(bodies.chunks_mut(AT_ONCE * stride)) {
            let written = scratch.get_mut(..numbers.len() * length).ok_or(Broken)?;
            self.id_type.write_app_block(numbers, written);
            for (body, slot) in written.chunks(length).zip(bodies.chunks_mut(stride)) {
                slot.get_mut(stride - length..).ok_or(Broken)?.copy_from_slice(body);
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn read_app(&self, input: Input<'_>) -> Result<u64, Error> {
        self.id_type.read_app(input).map_err(|why| self.id_type.invalid_app(input, why))
    }

    #[inline]
    pub(super) fn read_db(&self, input: Input<'_>) -> Result<u64, Error> {
        self.id_type.read_db(input).map_err(|why| self.id_type.invalid_db(input, why))
    }

    pub(super) fn read_each(
        &self,
        scope: Scope,
        (array, name): (sys::napi_value, &'static str),
        read: impl Fn(&Self, Input<'_>) -> Result<u64, Error>,
    ) -> Result<Vec<u64>, Stop> {
        scope.read_each((array, name), |input| read(self, input))
    }
}

pub(super) fn no_generator() -> Error {
    Error::new(Code::NotReady, "this type has no generator: it only converts")
}

/// The callback of one function: `undefined` is a failure, and what failed is left for `takeFailure`.
pub(super) unsafe extern "C" fn raw<B: Body<T>, T>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    let mut arguments: Arguments = [ptr::null_mut(); 3];
    let (mut count, mut data) = (arguments.len(), ptr::null_mut());
    let (count, room) =
        if B::TAKES_ARGUMENTS { (&raw mut count, arguments.as_mut_ptr()) } else { (ptr::null_mut(), ptr::null_mut()) };
    // SAFETY: `env` and `info` are those of the call under way; the engine fills missing arguments with `undefined`, and
    // leaves out what there is no room for.
    let status = unsafe { sys::napi_get_cb_info(env, info, count, room, ptr::null_mut(), &raw mut data) };
    if status != sys::Status::napi_ok {
        return ptr::null_mut();
    }
    // SAFETY: `data` is the binding that `add_function` gave, with functions of its type alone; the function's finalizer, which drops its count, cannot
    // have run while the function is being called.
    let binding = unsafe { &*data.cast::<T>() };
    // SAFETY: `env` is that of the call under way.
    let scope = unsafe { Scope::new(env) };
    let failed = match catch_unwind(AssertUnwindSafe(|| B::call(binding, scope, arguments))) {
        Ok(Ok(value)) => return value,
        Ok(Err(Stop::Failed(error))) => error,
        Ok(Err(Stop::Broken)) => Error::new(Code::Closed, "the JavaScript environment is ending"),
        Err(_) => Error::new(Code::Closed, "a fault in mintid: the call was ended (please report this)"),
    };
    leave(failed);
    ptr::null_mut()
}

/// Adds a function to `object` that keeps a share of `binding` as long as it lives.
fn add_function<T>(
    env: sys::napi_env,
    object: sys::napi_value,
    name: &CStr,
    callback: RawCallback,
    binding: &Arc<T>,
) -> napi::Result<()> {
    let data = Arc::into_raw(Arc::clone(binding)).cast_mut().cast::<c_void>();
    let mut function = ptr::null_mut();
    // SAFETY: `name` has the length given; `data` lives until the finalizer below runs.
    let created = unsafe {
        let length = name.count_bytes() as isize;
        sys::napi_create_function(env, name.as_ptr(), length, Some(callback), data, &raw mut function)
    };
    if created == sys::Status::napi_ok {
        // SAFETY: the finalizer drops the share that `data` stands for, once, after the function's last call.
        let added = unsafe {
            sys::napi_add_finalizer(env, function, data, Some(drop_share::<T>), ptr::null_mut(), ptr::null_mut())
        };
        if added == sys::Status::napi_ok {
            // SAFETY: both values belong to the call under way.
            let set = unsafe { sys::napi_set_named_property(env, object, name.as_ptr(), function) };
            return check(set);
        }
    }
    // SAFETY: no finalizer took the share over, and no function that could be called has been handed out.
    unsafe { drop(Arc::from_raw(data.cast::<T>())) };
    check(sys::Status::napi_generic_failure)
}

unsafe extern "C" fn drop_share<T>(_env: sys::napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: `data` came from `Arc::into_raw` in `add_function`, for this finalizer alone.
    unsafe { drop(Arc::from_raw(data.cast::<T>())) };
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    if status == sys::Status::napi_ok {
        return Ok(());
    }
    Err(napi::Error::new(napi::Status::from(status), "N-API could not make a function"))
}
