//! The functions of an ID type that say where in the key space an ID lies: partitions, times, ranges.

use std::ffi::CStr;

use napi::sys;

use super::bodies::{how_many, list};
use super::functions::{Arguments, Binding, Body, Outcome, RawCallback, Stop, raw};
use super::value::{Crossing, Scope, room};
use crate::codec::Text;
use crate::id::{Input, Window};

/// All of them, by the names that `js/` knows.
pub(super) const FUNCTIONS: &[(&CStr, RawCallback)] = &[
    (c"nextIn", raw::<NextIn, Binding>),
    (c"nextDbIn", raw::<NextDbIn, Binding>),
    (c"nextManyIn", raw::<NextManyIn, Binding>),
    (c"nextManyDbIn", raw::<NextManyDbIn, Binding>),
    (c"rangeFor", raw::<RangeFor, Binding>),
    (c"partitionRange", raw::<PartitionRange, Binding>),
    (c"plausible", raw::<Plausible, Binding>),
];

/// `nextIn(partition, time)`: the next ID of a partition, at a time in milliseconds since 1970 if there is one.
struct NextIn;
impl Body<Binding> for NextIn {
    fn call(binding: &Binding, scope: Scope, arguments: Arguments) -> Outcome {
        let number = count(binding, scope, arguments)?;
        Ok(scope.value(binding.id_type.write_app(number, &mut Text::new()))?)
    }
}

struct NextDbIn;
impl Body<Binding> for NextDbIn {
    fn call(binding: &Binding, scope: Scope, arguments: Arguments) -> Outcome {
        let number = count(binding, scope, arguments)?;
        Ok(scope.value(binding.id_type.write_db(number, &mut Text::new()))?)
    }
}

/// `nextManyIn(n, partition)`.
struct NextManyIn;
impl Body<Binding> for NextManyIn {
    fn call(binding: &Binding, scope: Scope, [n, partition, _]: Arguments) -> Outcome {
        let mut numbers = vec![0; how_many(scope, n)?];
        binding.count_into_partition(scope.double(partition)? as u64, &mut numbers)?;
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_app(number, text))?)
    }
}

struct NextManyDbIn;
impl Body<Binding> for NextManyDbIn {
    fn call(binding: &Binding, scope: Scope, [n, partition, _]: Arguments) -> Outcome {
        let mut numbers = vec![0; how_many(scope, n)?];
        binding.count_into_partition(scope.double(partition)? as u64, &mut numbers)?;
        if let Some(signed) = binding.id_type.bigint_columns() {
            let (array, slots) = scope.numbers(numbers.len(), signed)?;
            slots.copy_from_slice(&numbers);
            return Ok(array);
        }
        Ok(list(scope, &numbers, |number, text| binding.id_type.write_db(number, text))?)
    }
}

/// `rangeFor(from, to, partition)`: the first database value and the one after the last.
struct RangeFor;
impl Body<Binding> for RangeFor {
    fn call(binding: &Binding, scope: Scope, [from, to, partition]: Arguments) -> Outcome {
        let (from, to) = (scope.double(from)? as i64, scope.double(to)? as i64);
        let (from, to) = binding.id_type.range_in(scope.double(partition)? as u64, from, to)?;
        Ok(list(scope, &[from, to], |number, text| binding.id_type.write_db(number, text))?)
    }
}

/// `partitionRange(partition)`: the first database value, and the one after the last if there is one.
struct PartitionRange;
impl Body<Binding> for PartitionRange {
    fn call(binding: &Binding, scope: Scope, [partition, ..]: Arguments) -> Outcome {
        let (from, to) = binding.id_type.partition_range(scope.double(partition)? as u64)?;
        let bounds: Vec<_> = std::iter::once(from).chain(to).collect();
        Ok(list(scope, &bounds, |number, text| binding.id_type.write_db(number, text))?)
    }
}

/// `plausible(id, from, to)`: `true` for an ID that may have been made between two times, in milliseconds since 1970.
struct Plausible;
impl Body<Binding> for Plausible {
    fn call(binding: &Binding, scope: Scope, [id, from, to]: Arguments) -> Outcome {
        let mut room = room();
        let input = scope.input(id, &mut room)?;
        let number = binding.read_app(input)?;
        let checked = binding.id_type.check_plausible(number, window(scope, from, to)?);
        checked.map_err(|why| binding.id_type.invalid_app(input, why))?;
        Ok(scope.boolean(true)?)
    }
}

pub(super) fn window(scope: Scope, from: sys::napi_value, to: sys::napi_value) -> Crossing<Window> {
    Ok(Window { from_unix_ms: scope.double(from)? as u64, to_unix_ms: scope.double(to)? as u64 })
}

fn count(binding: &Binding, scope: Scope, [partition, time, _]: Arguments) -> Result<u64, Stop> {
    let partition = scope.double(partition)? as u64;
    let time: sys::napi_value = time;
    Ok(match scope.input(time, &mut room())? {
        Input::Number(unix_ms) => binding.count_at(partition, unix_ms as u64)?,
        _ => binding.count_in(partition)?,
    })
}
