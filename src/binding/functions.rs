//! The functions of one ID type: raw N-API callbacks with their state in the data pointer, because a class method costs
//! more than an ID does.

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use napi::bindgen_prelude::{ClassInstance, Either, Env, JsValue, Object};
use napi::sys;
use napi_derive::napi;

use super::failure::{Failure, leave};
use super::handle::Handle;
use super::options::{TypeSpec, format};
use super::value::{Crossing, Scope, room};
use crate::codec::Text;
use crate::error::{Code, Error};
use crate::generator::Counting;
use crate::id::{IdType, Input, Value};

/// What the functions of one type share.
struct Binding {
    id_type: IdType,
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
    let id_type = match spec.convert(generator.map(|generator| &**generator)) {
        Ok(id_type) => id_type,
        Err(error) => return Ok(Either::B(Failure::from(&error))),
    };
    let counting = generator.map(|generator| Counting::new(Arc::clone(generator), &id_type));
    let binding = Arc::new(Binding { id_type, counting });
    let object = Object::new(env)?;
    for (name, callback) in FUNCTIONS {
        add_function(env.raw(), object.raw(), name, *callback, &binding)?;
    }
    Ok(Either::A(object))
}

const FUNCTIONS: &[(&CStr, RawCallback)] = &[
    (c"next", raw::<Next>),
    (c"nextDb", raw::<NextDb>),
    (c"nextMany", raw::<NextMany>),
    (c"nextManyDb", raw::<NextManyDb>),
    (c"toDb", raw::<ToDb>),
    (c"fromDb", raw::<FromDb>),
    (c"toDbMany", raw::<ToDbMany>),
    (c"fromDbMany", raw::<FromDbMany>),
    (c"is", raw::<Is>),
    (c"format", raw::<Respell>),
    (c"inspect", raw::<Inspect>),
    (c"rangeFor", raw::<RangeFor>),
];

/// Why a call gives `undefined`: an error of ours, or an N-API call that did not work.
enum Stop {
    Failed(Error),
    Broken,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<super::value::Broken> for Stop {
    fn from(_: super::value::Broken) -> Self {
        Self::Broken
    }
}

type Outcome = Result<sys::napi_value, Stop>;
type RawCallback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

/// One function of a binding. Missing arguments come as `undefined`.
trait Body {
    fn call(binding: &Binding, scope: Scope, arguments: [sys::napi_value; 2]) -> Outcome;
}

struct Next;
impl Body for Next {
    #[inline]
    fn call(binding: &Binding, scope: Scope, _: [sys::napi_value; 2]) -> Outcome {
        let number = binding.count()?;
        Ok(scope.value(binding.id_type.write_app(number, &mut Text::new()))?)
    }
}

struct NextDb;
impl Body for NextDb {
    #[inline]
    fn call(binding: &Binding, scope: Scope, _: [sys::napi_value; 2]) -> Outcome {
        let number = binding.count()?;
        Ok(scope.value(binding.id_type.write_db(number, &mut Text::new()))?)
    }
}

struct NextMany;
impl Body for NextMany {
    fn call(binding: &Binding, scope: Scope, [n, _]: [sys::napi_value; 2]) -> Outcome {
        let mut numbers = vec![0; scope.double(n)? as usize];
        binding.count_into(&mut numbers)?;
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_app(number, text))?)
    }
}

struct NextManyDb;
impl Body for NextManyDb {
    fn call(binding: &Binding, scope: Scope, [n, _]: [sys::napi_value; 2]) -> Outcome {
        let n = scope.double(n)? as usize;
        if let Some(signed) = binding.id_type.bigint_columns() {
            let (array, numbers) = scope.numbers(n, signed)?;
            binding.count_into(numbers)?;
            return Ok(array);
        }
        let mut numbers = vec![0; n];
        binding.count_into(&mut numbers)?;
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_db(number, text))?)
    }
}

struct ToDb;
impl Body for ToDb {
    #[inline]
    fn call(binding: &Binding, scope: Scope, [id, _]: [sys::napi_value; 2]) -> Outcome {
        let mut room = room();
        let number = binding.read_app(scope.input(id, &mut room)?)?;
        Ok(scope.value(binding.id_type.write_db(number, &mut Text::new()))?)
    }
}

struct FromDb;
impl Body for FromDb {
    #[inline]
    fn call(binding: &Binding, scope: Scope, [db, _]: [sys::napi_value; 2]) -> Outcome {
        let mut room = room();
        let number = binding.read_db(scope.input(db, &mut room)?)?;
        Ok(scope.value(binding.id_type.write_app(number, &mut Text::new()))?)
    }
}

struct ToDbMany;
impl Body for ToDbMany {
    fn call(binding: &Binding, scope: Scope, [ids, _]: [sys::napi_value; 2]) -> Outcome {
        let numbers = binding.read_each(scope, ids, Binding::read_app)?;
        if let Some(signed) = binding.id_type.bigint_columns() {
            let (array, slots) = scope.numbers(numbers.len(), signed)?;
            slots.copy_from_slice(&numbers);
            return Ok(array);
        }
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_db(number, text))?)
    }
}

struct FromDbMany;
impl Body for FromDbMany {
    fn call(binding: &Binding, scope: Scope, [dbs, _]: [sys::napi_value; 2]) -> Outcome {
        let numbers = match scope.bigints(dbs)? {
            Some((elements, signed)) => {
                let each = elements.iter().enumerate();
                each.map(|(index, &bits)| {
                    let integer = if signed { i128::from(bits.cast_signed()) } else { i128::from(bits) };
                    binding.read_db(Input::Integer(integer)).map_err(|error| error.in_item(index))
                })
                .collect::<Result<_, Error>>()?
            }
            None => binding.read_each(scope, dbs, Binding::read_db)?,
        };
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_app(number, text))?)
    }
}

struct Is;
impl Body for Is {
    #[inline]
    fn call(binding: &Binding, scope: Scope, [value, _]: [sys::napi_value; 2]) -> Outcome {
        let mut room = room();
        Ok(scope.boolean(binding.id_type.is_canonical(scope.input(value, &mut room)?))?)
    }
}

struct Respell;
impl Body for Respell {
    fn call(binding: &Binding, scope: Scope, [id, to]: [sys::napi_value; 2]) -> Outcome {
        let (mut id_room, mut to_room) = (room(), room());
        let id = scope.input(id, &mut id_room)?;
        let name = match scope.input(to, &mut to_room)? {
            Input::Text(name) => String::from_utf8_lossy(name).into_owned(),
            _ => String::new(),
        };
        let mut text = Text::new();
        let respelled = binding.id_type.respell(id, format("to", &name)?, &mut text);
        Ok(scope.value(respelled.map_err(|why| binding.id_type.invalid_app(id, why))?)?)
    }
}

struct Inspect;
impl Body for Inspect {
    fn call(binding: &Binding, scope: Scope, [id, _]: [sys::napi_value; 2]) -> Outcome {
        let mut room = room();
        let number = binding.read_app(scope.input(id, &mut room)?)?;
        let seen = binding.id_type.inspect(number);
        let object = scope.object()?;
        scope.set(object, c"kind", scope.text(seen.kind.as_str().as_bytes())?)?;
        scope.set(object, c"timestamp", scope.number(seen.timestamp as f64)?)?;
        scope.set(object, c"exact", scope.boolean(seen.exact)?)?;
        scope.set(object, c"machineId", scope.number(seen.machine_id as f64)?)?;
        scope.set(object, c"sequence", scope.number(seen.sequence as f64)?)?;
        scope.set(object, c"partition", scope.number(seen.partition as f64)?)?;
        scope.set(object, c"db", scope.value(binding.id_type.write_db(number, &mut Text::new()))?)?;
        Ok(object)
    }
}

struct RangeFor;
impl Body for RangeFor {
    fn call(binding: &Binding, scope: Scope, [from, to]: [sys::napi_value; 2]) -> Outcome {
        let (from, to) = binding.id_type.range(scope.double(from)? as i64, scope.double(to)? as i64)?;
        Ok(list(scope, &[from, to], |number, text| binding.id_type.write_db(number, text))?)
    }
}

impl Binding {
    /// The next number of the database's.
    #[inline]
    fn count(&self) -> Result<u64, Error> {
        match &self.counting {
            Some(counting) => counting.next().map(|nonce| self.id_type.number(nonce)),
            None => Err(no_generator()),
        }
    }

    fn count_into(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.counting.as_ref().ok_or_else(no_generator)?.fill(numbers)?;
        for number in numbers {
            *number = self.id_type.number(*number);
        }
        Ok(())
    }

    #[inline]
    fn read_app(&self, input: Input<'_>) -> Result<u64, Error> {
        self.id_type.read_app(input).map_err(|why| self.id_type.invalid_app(input, why))
    }

    #[inline]
    fn read_db(&self, input: Input<'_>) -> Result<u64, Error> {
        self.id_type.read_db(input).map_err(|why| self.id_type.invalid_db(input, why))
    }

    fn read_each(
        &self,
        scope: Scope,
        array: sys::napi_value,
        read: impl Fn(&Self, Input<'_>) -> Result<u64, Error>,
    ) -> Result<Vec<u64>, Stop> {
        (0..scope.length(array)?)
            .map(|index| {
                scope.nested(|| {
                    let mut room = room();
                    let input = scope.input(scope.element(array, index)?, &mut room)?;
                    Ok(read(self, input).map_err(|error| error.in_item(index))?)
                })?
            })
            .collect()
    }
}

fn no_generator() -> Error {
    Error::new(Code::NotReady, "this type has no generator: it only converts")
}

fn list(
    scope: Scope,
    numbers: &[u64],
    write: impl for<'t> Fn(u64, &'t mut Text) -> Value<'t>,
) -> Crossing<sys::napi_value> {
    let array = scope.array(numbers.len())?;
    let mut text = Text::new();
    for (index, &number) in numbers.iter().enumerate() {
        scope.nested(|| scope.set_element(array, index, scope.value(write(number, &mut text))?))??;
    }
    Ok(array)
}

/// The callback of one function: `undefined` is a failure, and what failed is left for `takeFailure`.
unsafe extern "C" fn raw<B: Body>(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let mut arguments = [ptr::null_mut(); 2];
    let (mut count, mut data) = (arguments.len(), ptr::null_mut());
    // SAFETY: `env` and `info` are those of the call under way; the engine fills missing arguments with `undefined`.
    let status = unsafe {
        sys::napi_get_cb_info(env, info, &raw mut count, arguments.as_mut_ptr(), ptr::null_mut(), &raw mut data)
    };
    if status != sys::Status::napi_ok {
        return ptr::null_mut();
    }
    // SAFETY: `data` is the `Binding` that `add_function` gave; the function's finalizer, which drops its count, cannot
    // have run while the function is being called.
    let binding = unsafe { &*data.cast::<Binding>() };
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
fn add_function(
    env: sys::napi_env,
    object: sys::napi_value,
    name: &CStr,
    callback: RawCallback,
    binding: &Arc<Binding>,
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
        let added =
            unsafe { sys::napi_add_finalizer(env, function, data, Some(drop_share), ptr::null_mut(), ptr::null_mut()) };
        if added == sys::Status::napi_ok {
            // SAFETY: both values belong to the call under way.
            let set = unsafe { sys::napi_set_named_property(env, object, name.as_ptr(), function) };
            return check(set);
        }
    }
    // SAFETY: no finalizer took the share over, and no function that could be called has been handed out.
    unsafe { drop(Arc::from_raw(data.cast::<Binding>())) };
    check(sys::Status::napi_generic_failure)
}

unsafe extern "C" fn drop_share(_env: sys::napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: `data` came from `Arc::into_raw` in `add_function`, for this finalizer alone.
    unsafe { drop(Arc::from_raw(data.cast::<Binding>())) };
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    if status == sys::Status::napi_ok {
        return Ok(());
    }
    Err(napi::Error::new(napi::Status::from(status), "N-API could not make a function"))
}
