//! What each function of an ID type does, between its arguments and its result.

use std::ffi::CStr;

use napi::sys;

use super::functions::{Arguments, Binding, Body, Outcome, RawCallback, Stop, raw};
use super::type_spec::format;
use super::value::{Broken, Crossing, Scope, room};
use crate::codec::Text;
use crate::error::Error;
use crate::id::{Input, Value};

/// All of them, by the names that `js/` knows.
pub(super) const FUNCTIONS: &[(&CStr, RawCallback)] = &[
    (c"next", raw::<Next, Binding>),
    (c"nextDb", raw::<NextDb, Binding>),
    (c"nextMany", raw::<NextMany, Binding>),
    (c"nextManyDb", raw::<NextManyDb, Binding>),
    (c"fill", raw::<Fill, Binding>),
    (c"fillDb", raw::<FillDb, Binding>),
    (c"write", raw::<Write, Binding>),
    (c"read", raw::<Read, Binding>),
    (c"toDb", raw::<ToDb, Binding>),
    (c"fromDb", raw::<FromDb, Binding>),
    (c"toDbMany", raw::<ToDbMany, Binding>),
    (c"fromDbMany", raw::<FromDbMany, Binding>),
    (c"is", raw::<Is, Binding>),
    (c"format", raw::<Respell, Binding>),
    (c"inspect", raw::<Inspect, Binding>),
];

struct Next;
impl Body<Binding> for Next {
    const TAKES_ARGUMENTS: bool = false;

    #[inline]
    fn call(binding: &Binding, scope: Scope, _: Arguments) -> Outcome {
        let number = binding.count()?;
        Ok(scope.value(binding.id_type.write_app(number, &mut Text::new()))?)
    }
}

struct NextDb;
impl Body<Binding> for NextDb {
    const TAKES_ARGUMENTS: bool = false;

    #[inline]
    fn call(binding: &Binding, scope: Scope, _: Arguments) -> Outcome {
        let number = binding.count()?;
        Ok(scope.value(binding.id_type.write_db(number, &mut Text::new()))?)
    }
}

struct NextMany;
impl Body<Binding> for NextMany {
    fn call(binding: &Binding, scope: Scope, [n, ..]: Arguments) -> Outcome {
        let mut numbers = vec![0; how_many(scope, n)?];
        binding.count_into(&mut numbers)?;
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_app(number, text))?)
    }
}

struct NextManyDb;
impl Body<Binding> for NextManyDb {
    fn call(binding: &Binding, scope: Scope, [n, ..]: Arguments) -> Outcome {
        let n = how_many(scope, n)?;
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

/// `fill(bodies, numbers, n)`: counts `n` IDs into two arrays of the caller's, their texts without the prefixes and
/// the database's numbers, and returns `n`. Each number's share of `bodies` ends with its text; what is before that in
/// it stays. For types whose text has one length.
struct Fill;
impl Body<Binding> for Fill {
    fn call(binding: &Binding, scope: Scope, [bodies, numbers, n]: Arguments) -> Outcome {
        let n = how_many(scope, n)?;
        let numbers = scope.bigints_to_fill(numbers)?;
        let bodies = scope.bytes_to_fill(bodies)?;
        let stride = bodies.len() / numbers.len().max(1);
        let numbers = numbers.get_mut(..n).ok_or(Broken)?;
        binding.count_into(numbers)?;
        binding.write_bodies(numbers, bodies, stride)?;
        Ok(scope.number(n as f64)?)
    }
}

/// `fillDb(numbers, n)`: counts `n` IDs into an array of the caller's as the database's numbers, and returns `n`.
struct FillDb;
impl Body<Binding> for FillDb {
    fn call(binding: &Binding, scope: Scope, [numbers, n, _]: Arguments) -> Outcome {
        let numbers = scope.bigints_to_fill(numbers)?.get_mut(..how_many(scope, n)?).ok_or(Broken)?;
        binding.count_into(numbers)?;
        Ok(scope.number(numbers.len() as f64)?)
    }
}

/// `write(bodies, dbs, from)`: the texts without the prefixes of database values from index `from` on, as many as both
/// arrays have; returns how many. `dbs` is a `BigInt64Array` for signed values, else a `BigUint64Array`.
struct Write;
impl Body<Binding> for Write {
    fn call(binding: &Binding, scope: Scope, [bodies, dbs, from]: Arguments) -> Outcome {
        let from = scope.double(from)? as usize;
        let length = binding.id_type.body_length().ok_or(Broken)?;
        let (dbs, _) = scope.bigints(dbs)?.ok_or(Broken)?;
        let bodies = scope.bytes_to_fill(bodies)?;
        let n = (bodies.len() / length).min(dbs.len().saturating_sub(from));
        binding.id_type.write_app_block(dbs.get(from..from + n).unwrap_or_default(), bodies);
        Ok(scope.number(n as f64)?)
    }
}

/// `read(texts, length)`: the database's numbers of many IDs whose texts, of `length` characters each, were joined; only
/// for a numeric `dbFormat`. `undefined` says no more than that something is wrong with one of them.
struct Read;
impl Body<Binding> for Read {
    fn call(binding: &Binding, scope: Scope, [texts, length, _]: Arguments) -> Outcome {
        let length = scope.double(length)? as usize;
        let texts = scope.long_text(texts)?.ok_or(Broken)?;
        let signed = binding.id_type.bigint_columns().ok_or(Broken)?;
        if length == 0 || !texts.len().is_multiple_of(length) {
            return Err(Stop::Broken);
        }
        let (array, numbers) = scope.numbers(texts.len() / length, signed)?;
        for (number, text) in numbers.iter_mut().zip(texts.chunks(length)) {
            let input = Input::Text(text);
            let masked = binding.id_type.read_app_masked(input);
            *number = masked.map_err(|why| binding.id_type.invalid_app(input, why))?;
        }
        binding.id_type.unmask_block(numbers);
        Ok(array)
    }
}

struct ToDb;
impl Body<Binding> for ToDb {
    #[inline]
    fn call(binding: &Binding, scope: Scope, [id, ..]: Arguments) -> Outcome {
        let mut room = room();
        let number = binding.read_app(scope.input(id, &mut room)?)?;
        Ok(scope.value(binding.id_type.write_db(number, &mut Text::new()))?)
    }
}

struct FromDb;
impl Body<Binding> for FromDb {
    #[inline]
    fn call(binding: &Binding, scope: Scope, [db, ..]: Arguments) -> Outcome {
        let mut room = room();
        let number = binding.read_db(scope.input(db, &mut room)?)?;
        Ok(scope.value(binding.id_type.write_app(number, &mut Text::new()))?)
    }
}

struct ToDbMany;
impl Body<Binding> for ToDbMany {
    fn call(binding: &Binding, scope: Scope, [ids, ..]: Arguments) -> Outcome {
        let numbers = binding.read_each(scope, (ids, "ids"), Binding::read_app)?;
        if let Some(signed) = binding.id_type.bigint_columns() {
            let (array, slots) = scope.numbers(numbers.len(), signed)?;
            slots.copy_from_slice(&numbers);
            return Ok(array);
        }
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_db(number, text))?)
    }
}

struct FromDbMany;
impl Body<Binding> for FromDbMany {
    fn call(binding: &Binding, scope: Scope, [dbs, ..]: Arguments) -> Outcome {
        let numbers = match scope.bigints(dbs)? {
            Some((elements, signed)) => {
                let each = elements.iter().enumerate();
                each.map(|(index, &bits)| {
                    let integer = if signed { i128::from(bits.cast_signed()) } else { i128::from(bits) };
                    binding.read_db(Input::Integer(integer)).map_err(|error| error.in_item(index))
                })
                .collect::<Result<_, Error>>()?
            }
            None => binding.read_each(scope, (dbs, "dbs"), Binding::read_db)?,
        };
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_app(number, text))?)
    }
}

struct Is;
impl Body<Binding> for Is {
    #[inline]
    fn call(binding: &Binding, scope: Scope, [value, ..]: Arguments) -> Outcome {
        let mut room = room();
        Ok(scope.boolean(binding.id_type.is_canonical(scope.input(value, &mut room)?))?)
    }
}

struct Respell;
impl Body<Binding> for Respell {
    fn call(binding: &Binding, scope: Scope, [id, to, _]: Arguments) -> Outcome {
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
impl Body<Binding> for Inspect {
    fn call(binding: &Binding, scope: Scope, [id, ..]: Arguments) -> Outcome {
        let mut room = room();
        let number = binding.read_app(scope.input(id, &mut room)?)?;
        let db = scope.value(binding.id_type.write_db(number, &mut Text::new()))?;
        Ok(scope.inspection(&binding.id_type.inspect(number), db)?)
    }
}

/// How many IDs to mint at once.
pub(super) fn how_many(scope: Scope, n: sys::napi_value) -> Result<usize, Stop> {
    const MOST: f64 = 1_000_000.0;
    match scope.double(n)? {
        n if (1.0..=MOST).contains(&n) => Ok(n as usize),
        n => Err(Error::config("n", format!("n: expected a whole number from 1 to {MOST}, found {n}")).into()),
    }
}

pub(super) fn list(
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
