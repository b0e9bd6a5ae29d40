//! The functions of ID types of 96 and 128 bits. Nothing of theirs is kept ready: each call crosses.

use std::ffi::CStr;
use std::sync::Arc;

use napi::sys;

use super::bodies::how_many;
use super::functions::{Arguments, Body, Outcome, RawCallback, Stop, raw};
use super::placed::window;
use super::type_spec::format;
use super::value::{Crossing, Scope, room};
use crate::codec::WideText;
use crate::error::Error;
use crate::generator::{CountingNonces, Generator};
use crate::id::{IdType, Input, Value, Wide};

/// What the functions of one type share.
pub(super) struct WideBinding {
    id_type: Arc<IdType<Wide>>,
    /// Absent without a generator: such a type only converts.
    counting: Option<CountingNonces>,
}

/// All of them, by the names that `js/` knows.
pub(super) const FUNCTIONS: &[(&CStr, RawCallback)] = &[
    (c"next", raw::<Next, WideBinding>),
    (c"nextDb", raw::<NextDb, WideBinding>),
    (c"nextMany", raw::<NextMany, WideBinding>),
    (c"nextManyDb", raw::<NextManyDb, WideBinding>),
    (c"toDb", raw::<ToDb, WideBinding>),
    (c"fromDb", raw::<FromDb, WideBinding>),
    (c"toDbMany", raw::<ToDbMany, WideBinding>),
    (c"fromDbMany", raw::<FromDbMany, WideBinding>),
    (c"is", raw::<Is, WideBinding>),
    (c"format", raw::<Respell, WideBinding>),
    (c"inspect", raw::<Inspect, WideBinding>),
    (c"plausible", raw::<Plausible, WideBinding>),
];

impl WideBinding {
    pub(super) fn new(id_type: IdType<Wide>, generator: Option<Arc<Generator>>) -> Self {
        let id_type = Arc::new(id_type);
        let counted = Arc::clone(&id_type);
        let counting =
            generator.map(|generator| CountingNonces::new(generator, move |factory| counted.source(factory)));
        Self { id_type, counting }
    }

    fn count(&self) -> Result<u128, Error> {
        self.counting.as_ref().ok_or_else(super::functions::no_generator)?.next()
    }

    fn count_many(&self, n: usize) -> Result<Vec<u128>, Error> {
        let mut numbers = vec![0; n];
        self.counting.as_ref().ok_or_else(super::functions::no_generator)?.fill(&mut numbers)?;
        Ok(numbers)
    }

    fn read_app(&self, input: Input<'_>) -> Result<u128, Error> {
        self.id_type.read_app(input).map_err(|why| self.id_type.invalid_app(input, why))
    }

    fn read_db(&self, input: Input<'_>) -> Result<u128, Error> {
        self.id_type.read_db(input).map_err(|why| self.id_type.invalid_db(input, why))
    }

    fn read_each(
        &self,
        scope: Scope,
        (array, name): (sys::napi_value, &'static str),
        read: impl Fn(&Self, Input<'_>) -> Result<u128, Error>,
    ) -> Result<Vec<u128>, Stop> {
        scope.read_each((array, name), |input| read(self, input))
    }

    fn app_list(&self, scope: Scope, numbers: &[u128]) -> Outcome {
        Ok(list(scope, numbers, |number, text| self.id_type.write_app(number, text))?)
    }

    fn db_list(&self, scope: Scope, numbers: &[u128]) -> Outcome {
        Ok(list(scope, numbers, |number, text| self.id_type.write_db(number, text))?)
    }
}

struct Next;
impl Body<WideBinding> for Next {
    const TAKES_ARGUMENTS: bool = false;

    fn call(binding: &WideBinding, scope: Scope, _: Arguments) -> Outcome {
        Ok(scope.value(binding.id_type.write_app(binding.count()?, &mut WideText::new()))?)
    }
}

struct NextDb;
impl Body<WideBinding> for NextDb {
    const TAKES_ARGUMENTS: bool = false;

    fn call(binding: &WideBinding, scope: Scope, _: Arguments) -> Outcome {
        Ok(scope.value(binding.id_type.write_db(binding.count()?, &mut WideText::new()))?)
    }
}

struct NextMany;
impl Body<WideBinding> for NextMany {
    fn call(binding: &WideBinding, scope: Scope, [n, ..]: Arguments) -> Outcome {
        binding.app_list(scope, &binding.count_many(how_many(scope, n)?)?)
    }
}

struct NextManyDb;
impl Body<WideBinding> for NextManyDb {
    fn call(binding: &WideBinding, scope: Scope, [n, ..]: Arguments) -> Outcome {
        binding.db_list(scope, &binding.count_many(how_many(scope, n)?)?)
    }
}

struct ToDb;
impl Body<WideBinding> for ToDb {
    fn call(binding: &WideBinding, scope: Scope, [id, ..]: Arguments) -> Outcome {
        let mut room = room();
        let number = binding.read_app(scope.input(id, &mut room)?)?;
        Ok(scope.value(binding.id_type.write_db(number, &mut WideText::new()))?)
    }
}

struct FromDb;
impl Body<WideBinding> for FromDb {
    fn call(binding: &WideBinding, scope: Scope, [db, ..]: Arguments) -> Outcome {
        let mut room = room();
        let number = binding.read_db(scope.input(db, &mut room)?)?;
        Ok(scope.value(binding.id_type.write_app(number, &mut WideText::new()))?)
    }
}

struct ToDbMany;
impl Body<WideBinding> for ToDbMany {
    fn call(binding: &WideBinding, scope: Scope, [ids, ..]: Arguments) -> Outcome {
        binding.db_list(scope, &binding.read_each(scope, (ids, "ids"), WideBinding::read_app)?)
    }
}

struct FromDbMany;
impl Body<WideBinding> for FromDbMany {
    fn call(binding: &WideBinding, scope: Scope, [dbs, ..]: Arguments) -> Outcome {
        binding.app_list(scope, &binding.read_each(scope, (dbs, "dbs"), WideBinding::read_db)?)
    }
}

struct Is;
impl Body<WideBinding> for Is {
    fn call(binding: &WideBinding, scope: Scope, [value, ..]: Arguments) -> Outcome {
        let mut room = room();
        Ok(scope.boolean(binding.id_type.is_canonical(scope.input(value, &mut room)?))?)
    }
}

struct Respell;
impl Body<WideBinding> for Respell {
    fn call(binding: &WideBinding, scope: Scope, [id, to, _]: Arguments) -> Outcome {
        let (mut id_room, mut to_room) = (room(), room());
        let id = scope.input(id, &mut id_room)?;
        let name = match scope.input(to, &mut to_room)? {
            Input::Text(name) => String::from_utf8_lossy(name).into_owned(),
            _ => String::new(),
        };
        let (id_type, to) = (&binding.id_type, format("to", &name)?);
        id_type.check_format("to", to)?;
        let mut text = WideText::new();
        let respelled = id_type.respell(id, to, &mut text);
        Ok(scope.value(respelled.map_err(|why| id_type.invalid_app(id, why))?)?)
    }
}

struct Inspect;
impl Body<WideBinding> for Inspect {
    fn call(binding: &WideBinding, scope: Scope, [id, ..]: Arguments) -> Outcome {
        let mut room = room();
        let number = binding.read_app(scope.input(id, &mut room)?)?;
        let db = scope.value(binding.id_type.write_db(number, &mut WideText::new()))?;
        Ok(scope.inspection(&binding.id_type.inspect(number), db)?)
    }
}

struct Plausible;
impl Body<WideBinding> for Plausible {
    fn call(binding: &WideBinding, scope: Scope, [id, from, to]: Arguments) -> Outcome {
        let mut room = room();
        let input = scope.input(id, &mut room)?;
        let number = binding.read_app(input)?;
        let checked = binding.id_type.check_plausible(number, window(scope, from, to)?);
        checked.map_err(|why| binding.id_type.invalid_app(input, why))?;
        Ok(scope.boolean(true)?)
    }
}

fn list(
    scope: Scope,
    numbers: &[u128],
    write: impl for<'t> Fn(u128, &'t mut WideText) -> Value<'t>,
) -> Crossing<sys::napi_value> {
    let array = scope.array(numbers.len())?;
    let mut text = WideText::new();
    for (index, &number) in numbers.iter().enumerate() {
        scope.nested(|| scope.set_element(array, index, scope.value(write(number, &mut text))?))??;
    }
    Ok(array)
}
