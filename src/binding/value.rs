//! JavaScript values in and out, by raw N-API calls: this is what every ID crosses.

use std::ffi::c_char;
use std::ptr;

use napi::sys;

use super::functions::Stop;
use crate::codec::Text;
use crate::error::Error;
use crate::id::{Input, Inspection, Value};

/// An N-API call that did not work: an exception is pending, or the environment is ending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broken;

pub(super) type Crossing<T> = Result<T, Broken>;

/// One call from JavaScript: its environment, valid while the call lasts.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    env: sys::napi_env,
}

/// Room for the text that an [`Input`] borrows: more than any ID, so that what is cut is still too long to be one.
pub(super) type Room = [u8; 2 * Text::LONGEST];

pub(super) const fn room() -> Room {
    [0; 2 * Text::LONGEST]
}

fn check(status: sys::napi_status) -> Crossing<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(Broken) }
}

/// Calls an N-API function whose last argument is where the result goes.
macro_rules! made {
    ($start:expr, $call:ident($($argument:expr),*)) => {{
        let mut made = $start;
        // SAFETY: the scope's environment is valid while its call lasts, every pointer outlives this call, and `made`
        // is the out-parameter that the function documents.
        check(unsafe { sys::$call($($argument,)* &raw mut made) }).map(|()| made)
    }};
}

impl Scope {
    /// # Safety
    /// `env` must be the environment of the call that is under way on this thread.
    pub(super) const unsafe fn new(env: sys::napi_env) -> Self {
        Self { env }
    }

    pub(super) fn text(self, text: &[u8]) -> Crossing<sys::napi_value> {
        made!(ptr::null_mut(), napi_create_string_latin1(self.env, text.as_ptr().cast::<c_char>(), text.len() as isize))
    }

    pub(super) fn signed(self, number: i64) -> Crossing<sys::napi_value> {
        made!(ptr::null_mut(), napi_create_bigint_int64(self.env, number))
    }

    pub(super) fn unsigned(self, number: u64) -> Crossing<sys::napi_value> {
        made!(ptr::null_mut(), napi_create_bigint_uint64(self.env, number))
    }

    pub(super) fn number(self, number: f64) -> Crossing<sys::napi_value> {
        made!(ptr::null_mut(), napi_create_double(self.env, number))
    }

    pub(super) fn boolean(self, value: bool) -> Crossing<sys::napi_value> {
        made!(ptr::null_mut(), napi_get_boolean(self.env, value))
    }

    pub(super) fn buffer(self, bytes: &[u8]) -> Crossing<sys::napi_value> {
        let mut copy = ptr::null_mut();
        made!(ptr::null_mut(), napi_create_buffer_copy(self.env, bytes.len(), bytes.as_ptr().cast(), &raw mut copy))
    }

    /// What JavaScript shall see of a value.
    #[inline]
    pub(super) fn value(self, value: Value<'_>) -> Crossing<sys::napi_value> {
        match value {
            Value::Text(text) => self.text(text),
            Value::Signed(number) => self.signed(number),
            Value::Unsigned(number) => self.unsigned(number),
            Value::Bytes(bytes) => self.buffer(bytes),
        }
    }

    /// A `BigInt64Array` or `BigUint64Array` of `length`, and its memory to be filled before anything else is called.
    pub(super) fn numbers<'a>(self, length: usize, signed: bool) -> Crossing<(sys::napi_value, &'a mut [u64])> {
        let kind = if signed { sys::TypedarrayType::bigint64_array } else { sys::TypedarrayType::biguint64_array };
        let mut data = ptr::null_mut();
        let buffer =
            made!(ptr::null_mut(), napi_create_arraybuffer(self.env, length * size_of::<u64>(), &raw mut data))?;
        let array = made!(ptr::null_mut(), napi_create_typedarray(self.env, kind, length, buffer, 0))?;
        if length == 0 {
            return Ok((array, &mut []));
        }
        // SAFETY: the engine allocated `length * 8` zeroed bytes at `data`, aligned for any element, reachable by nobody
        // else before this call returns, and kept by `array`, which the open handle scope keeps.
        Ok((array, unsafe { std::slice::from_raw_parts_mut(data.cast(), length) }))
    }

    pub(super) fn array(self, length: usize) -> Crossing<sys::napi_value> {
        made!(ptr::null_mut(), napi_create_array_with_length(self.env, length))
    }

    pub(super) fn set_element(self, array: sys::napi_value, index: usize, value: sys::napi_value) -> Crossing<()> {
        // SAFETY: both values belong to this call's scope.
        check(unsafe { sys::napi_set_element(self.env, array, index as u32, value) })
    }

    pub(super) fn element(self, array: sys::napi_value, index: usize) -> Crossing<sys::napi_value> {
        made!(ptr::null_mut(), napi_get_element(self.env, array, index as u32))
    }

    pub(super) fn length(self, array: sys::napi_value) -> Crossing<usize> {
        made!(0, napi_get_array_length(self.env, array)).map(|length| length as usize)
    }

    pub(super) fn object(self) -> Crossing<sys::napi_value> {
        made!(ptr::null_mut(), napi_create_object(self.env))
    }

    pub(super) fn set(self, object: sys::napi_value, name: &std::ffi::CStr, value: sys::napi_value) -> Crossing<()> {
        // SAFETY: both values belong to this call's scope, and the name ends with NUL.
        check(unsafe { sys::napi_set_named_property(self.env, object, name.as_ptr(), value) })
    }

    /// Reads a number that the JavaScript side has checked.
    pub(super) fn double(self, value: sys::napi_value) -> Crossing<f64> {
        made!(0.0, napi_get_value_double(self.env, value))
    }

    /// What JavaScript shall see of an ID's parts; `db` is the database's value.
    pub(super) fn inspection(self, seen: &Inspection, db: sys::napi_value) -> Crossing<sys::napi_value> {
        let object = self.object()?;
        self.set(object, c"kind", self.text(seen.kind.as_str().as_bytes())?)?;
        self.set(object, c"timestamp", self.number(seen.timestamp as f64)?)?;
        self.set(object, c"exact", self.boolean(seen.exact)?)?;
        self.set(object, c"machineId", self.number(seen.machine_id as f64)?)?;
        self.set(object, c"sequence", self.number(seen.sequence as f64)?)?;
        self.set(object, c"partition", self.number(seen.partition as f64)?)?;
        self.set(object, c"db", db)?;
        Ok(object)
    }

    /// Reads each element of an array that JavaScript calls `name`.
    pub(super) fn read_each<N>(
        self,
        (array, name): (sys::napi_value, &'static str),
        read: impl Fn(Input<'_>) -> Result<N, Error>,
    ) -> Result<Vec<N>, Stop> {
        let no_list = |_| Error::config(name, format!("{name}: expected an array, found something else"));
        (0..self.length(array).map_err(no_list)?)
            .map(|index| {
                self.nested(|| {
                    let mut room = room();
                    let input = self.input(self.element(array, index)?, &mut room)?;
                    Ok(read(input).map_err(|error| error.in_item(index))?)
                })?
            })
            .collect()
    }

    /// Runs `body` in a handle scope of its own, so that a long loop keeps none of its values.
    pub(super) fn nested<T>(self, body: impl FnOnce() -> T) -> Crossing<T> {
        let scope = made!(ptr::null_mut(), napi_open_handle_scope(self.env))?;
        let result = body();
        // SAFETY: this closes the scope that was opened above; `body` opened none that is still open.
        check(unsafe { sys::napi_close_handle_scope(self.env, scope) })?;
        Ok(result)
    }

    /// The elements of a `BigInt64Array` or `BigUint64Array`, and whether they are signed; `None` for anything else. To
    /// be used before anything else is called.
    pub(super) fn bigints<'a>(self, value: sys::napi_value) -> Crossing<Option<(&'a [u64], bool)>> {
        if !made!(false, napi_is_typedarray(self.env, value))? {
            return Ok(None);
        }
        let (kind, length, data) = self.typed_array(value)?;
        let signed = match kind {
            sys::TypedarrayType::bigint64_array => true,
            sys::TypedarrayType::biguint64_array => false,
            _ => return Ok(None),
        };
        if length == 0 {
            return Ok(Some((&[], signed)));
        }
        // SAFETY: the view has `length` elements of 8 bytes at `data`, aligned by the language's rule for typed arrays; no
        // JavaScript runs, so nothing detaches it, while the slice is used.
        Ok(Some((unsafe { std::slice::from_raw_parts(data.cast(), length) }, signed)))
    }

    /// The memory of a `BigInt64Array` or `BigUint64Array` that JavaScript gives to be filled; empty for anything else.
    /// To be used before anything else is called.
    pub(super) fn bigints_to_fill<'a>(self, value: sys::napi_value) -> Crossing<&'a mut [u64]> {
        let (kind, length, data) = self.typed_array(value)?;
        let numbers = kind == sys::TypedarrayType::bigint64_array || kind == sys::TypedarrayType::biguint64_array;
        if !numbers || length == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the view has `length` aligned elements of 8 bytes at `data`; no JavaScript runs while they are written,
        // and no other slice of this call covers them.
        Ok(unsafe { std::slice::from_raw_parts_mut(data.cast_mut().cast(), length) })
    }

    /// The memory of a `Uint8Array` that JavaScript gives to be filled; empty for anything else. To be used before
    /// anything else is called.
    pub(super) fn bytes_to_fill<'a>(self, value: sys::napi_value) -> Crossing<&'a mut [u8]> {
        let (kind, length, data) = self.typed_array(value)?;
        if kind != sys::TypedarrayType::uint8_array || length == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the view has `length` bytes at `data`; no JavaScript runs while they are written, and no other slice of
        // this call covers them.
        Ok(unsafe { std::slice::from_raw_parts_mut(data.cast_mut(), length) })
    }

    /// A whole text as UTF-8, however long; `None` for anything else.
    pub(super) fn long_text(self, value: sys::napi_value) -> Crossing<Option<Vec<u8>>> {
        if made!(0, napi_typeof(self.env, value))? != sys::ValueType::napi_string {
            return Ok(None);
        }
        let length = made!(0, napi_get_value_string_utf8(self.env, value, ptr::null_mut(), 0))?;
        let mut text = vec![0_u8; length + 1];
        let (start, size) = (text.as_mut_ptr().cast::<c_char>(), text.len());
        let written = made!(0, napi_get_value_string_utf8(self.env, value, start, size))?;
        text.truncate(written);
        Ok(Some(text))
    }

    /// What JavaScript passed, to be read as an ID. Text is copied into `room`.
    #[inline]
    pub(super) fn input(self, value: sys::napi_value, room: &mut Room) -> Crossing<Input<'_>> {
        Ok(match made!(0, napi_typeof(self.env, value))? {
            sys::ValueType::napi_string => {
                let (start, size) = (room.as_mut_ptr().cast::<c_char>(), room.len());
                let length = made!(0, napi_get_value_string_utf8(self.env, value, start, size))?;
                Input::Text(room.get(..length).unwrap_or_default())
            }
            sys::ValueType::napi_bigint => self.bigint(value)?,
            sys::ValueType::napi_number => Input::Number(self.double(value)?),
            sys::ValueType::napi_object => self.bytes(value)?,
            sys::ValueType::napi_undefined => Input::Other("undefined"),
            sys::ValueType::napi_null => Input::Other("null"),
            sys::ValueType::napi_boolean => Input::Other("a boolean"),
            sys::ValueType::napi_symbol => Input::Other("a symbol"),
            sys::ValueType::napi_function => Input::Other("a function"),
            _ => Input::Other("an unknown value"),
        })
    }

    fn bigint<'a>(self, value: sys::napi_value) -> Crossing<Input<'a>> {
        let (mut negative, mut words, mut count) = (0, [0_u64; 2], 2);
        // SAFETY: `words` has room for the `count` words announced; all pointers outlive the call.
        check(unsafe {
            sys::napi_get_value_bigint_words(self.env, value, &raw mut negative, &raw mut count, words.as_mut_ptr())
        })?;
        let size = u128::from(words[1]) << 64 | u128::from(words[0]);
        let size = if count > 2 { i128::MAX } else { i128::try_from(size).unwrap_or(i128::MAX) };
        Ok(Input::Integer(match (negative != 0, size) {
            (false, size) => size,
            (true, i128::MAX) => i128::MIN,
            (true, size) => -size,
        }))
    }

    fn bytes<'a>(self, value: sys::napi_value) -> Crossing<Input<'a>> {
        if !made!(false, napi_is_typedarray(self.env, value))? {
            return Ok(Input::Other("an object"));
        }
        let (kind, length, data) = self.typed_array(value)?;
        if kind != sys::TypedarrayType::uint8_array {
            return Ok(Input::Other("a typed array of another kind than Uint8Array"));
        }
        if length == 0 {
            return Ok(Input::Bytes(&[]));
        }
        // SAFETY: the view has `length` bytes at `data`; no JavaScript runs, so nothing detaches it, while they are read.
        Ok(Input::Bytes(unsafe { std::slice::from_raw_parts(data.cast(), length) }))
    }

    fn typed_array(self, value: sys::napi_value) -> Crossing<(sys::napi_typedarray_type, usize, *const u8)> {
        let (mut kind, mut length, mut data) = (0, 0, ptr::null_mut());
        let (mut buffer, mut offset) = (ptr::null_mut(), 0);
        // SAFETY: all out-parameters outlive the call.
        check(unsafe {
            sys::napi_get_typedarray_info(
                self.env,
                value,
                &raw mut kind,
                &raw mut length,
                &raw mut data,
                &raw mut buffer,
                &raw mut offset,
            )
        })?;
        Ok((kind, length, data.cast_const().cast()))
    }
}
