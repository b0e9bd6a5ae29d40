//! Reads the vectors: values that Elixir programs put out, as terms that can be compared with what a type of ours reads
//! and writes.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use std::collections::BTreeMap;
use std::sync::Arc;

use mintid::cipher::{Algorithm, BaseKey, Cipher};
use mintid::codec::{Format, Invalid, Text, hex, hex32, raw, url64};
use mintid::id::{IdType, Input, Kind, Spec, Value as Shown};
use mintid::layout::{Layout, Size};
use serde_json::Value;

/// The formats that Once has too.
pub(crate) const ONCE: [Format; 6] =
    [Format::Hex, Format::Hex32, Format::Raw, Format::Signed, Format::Unsigned, Format::Url64];

/// A value of Elixir's. A string and a byte string are the same thing there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Term {
    Binary(Vec<u8>),
    /// `i128::MAX` stands for everything larger.
    Integer(i128),
    Nil,
    Other,
}

/// How often each named difference was met.
pub(crate) type Tally = BTreeMap<&'static str, usize>;

pub(crate) fn load(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn rows<'v>(vectors: &'v Value, list: &str) -> &'v [Value] {
    vectors[list].as_array().unwrap()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

pub(crate) fn bytes(hex: &Value) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    text(hex).as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

pub(crate) fn number(hex: &Value) -> u64 {
    u64::from_be_bytes(bytes(hex).try_into().unwrap())
}

/// Hexadecimal digits of any size up to 128 bits.
pub(crate) fn wide(hex: &Value) -> u128 {
    u128::from_str_radix(text(hex), 16).unwrap()
}

/// What a row has under `bits`.
pub(crate) fn size(row: &Value) -> Size {
    Size::of_bits(row["bits"].as_u64().unwrap() as u32).unwrap()
}

/// `["s", text]`, `["h", hex]`, `["i", decimal]`, `["nil"]`, `["other", …]`.
pub(crate) fn term(tagged: &[Value]) -> Term {
    match text(&tagged[0]) {
        "s" => Term::Binary(text(&tagged[1]).into()),
        "h" => Term::Binary(bytes(&tagged[1])),
        "i" => Term::Integer(text(&tagged[1]).parse().unwrap_or(i128::MAX)),
        "nil" => Term::Nil,
        "other" => Term::Other,
        tag => unreachable!("the tag {tag}"),
    }
}

/// `["ok", …]` as a term, or `None` for a refusal.
pub(crate) fn result(outcome: &Value) -> Option<Term> {
    let outcome = outcome.as_array().unwrap();
    match text(&outcome[0]) {
        "ok" => Some(term(&outcome[1..])),
        "error" | "raise" | "n/a" => None,
        tag => unreachable!("the result {tag}"),
    }
}

impl Term {
    /// The term as a JavaScript value for a format: bytes for `raw`, text for the others.
    pub(crate) fn input(&self, format: Format) -> Input<'_> {
        match self {
            Self::Binary(bytes) if format == Format::Raw => Input::Bytes(bytes),
            Self::Binary(text) => Input::Text(text),
            Self::Integer(integer) => Input::Integer(*integer),
            Self::Nil => Input::Other("null"),
            Self::Other => Input::Other("an object"),
        }
    }
}

impl From<Shown<'_>> for Term {
    fn from(shown: Shown<'_>) -> Self {
        match shown {
            Shown::Text(bytes) | Shown::Bytes(bytes) => Self::Binary(bytes.into()),
            Shown::Signed(integer) => Self::Integer(integer.into()),
            Shown::Unsigned(integer) => Self::Integer(integer.into()),
        }
    }
}

pub(crate) fn prefix(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn format(value: &Value) -> Format {
    Format::parse(text(value)).unwrap()
}

/// A counter type with the database's numbers as signed bigints.
pub(crate) fn spec(prefix: &str, format: Format) -> Spec {
    Spec {
        prefix: prefix.to_owned(),
        kind: Kind::Counter,
        format,
        db_format: Format::Signed,
        mask: None,
        encryption: None,
        accepts: Vec::new(),
        persist_prefix: false,
        layout: Layout::DEFAULT,
    }
}

/// The 64-bit cipher that a row names, under its base key.
pub(crate) fn cipher(row: &Value) -> Arc<Cipher> {
    let algorithm = Algorithm::parse(text(&row["cipher64"])).unwrap();
    Arc::new(Cipher::derived(algorithm, &BaseKey::new(&bytes(&row["base_key"])).unwrap()))
}

pub(crate) fn app(id_type: &IdType, number: u64) -> Term {
    id_type.write_app(number, &mut Text::new()).into()
}

pub(crate) fn db(id_type: &IdType, number: u64) -> Term {
    id_type.write_db(number, &mut Text::new()).into()
}

/// Compares how Once and a type of ours read one application value; `once` is the signed database value that Once makes
/// of it. Whatever Once takes and we refuse is shown to be a difference that was meant, and counted under its name.
pub(crate) fn compare(id_type: &IdType, format: Format, found: &Term, once: Option<&Term>, differences: &mut Tally) {
    let read = id_type.read_app(found.input(format));
    let (why, once) = match (read, once) {
        (Ok(number), Some(once)) => {
            assert_eq!(&db(id_type, number), once, "{found:?} {format:?}");
            assert_eq!(&app(id_type, number), &spelled_like(found, id_type, format), "{found:?} {format:?}");
            *differences.entry("none: both read it alike").or_default() += 1;
            return;
        }
        (Err(_), None) => {
            *differences.entry("none: both refuse it").or_default() += 1;
            return;
        }
        (Ok(number), None) => unreachable!("{found:?} {format:?} is read as {number}, and refused by Once"),
        (Err(why), Some(once)) => (why, once),
    };
    *differences.entry(difference(id_type, format, found, once, why)).or_default() += 1;
}

/// What a type writes for a value that it has read: the value itself, except that a bigint may come as text.
fn spelled_like(found: &Term, id_type: &IdType, format: Format) -> Term {
    match found {
        Term::Binary(text) if format.is_numeric() && id_type.prefix().is_empty() => Term::Integer(decimal(text)),
        found => found.clone(),
    }
}

/// The name of a difference that was meant, or the end of the test.
fn difference(id_type: &IdType, format: Format, found: &Term, once: &Term, why: Invalid) -> &'static str {
    let canonical = match once {
        Term::Integer(signed) => app(id_type, (*signed as i64).cast_unsigned()),
        Term::Nil => {
            assert_eq!((found, why), (&Term::Nil, Invalid::Type));
            return "null is not an ID";
        }
        once => unreachable!("{found:?} is {once:?} to Once"),
    };
    let Term::Binary(found) = found else {
        assert!(matches!(found, Term::Integer(_)));
        return if why == Invalid::Range { OUT_OF_RANGE } else { "an integer where text belongs (S16, S19)" };
    };
    let body = id_type.prefix().strip(found).unwrap();
    if format.is_numeric() {
        let canonical = match canonical {
            Term::Integer(integer) => integer,
            canonical => decimal(id_type.prefix().strip(&binary(canonical)).unwrap()),
        };
        assert_eq!(decimal(body) as u64, canonical as u64, "{found:?}");
        return match why {
            Invalid::Range => OUT_OF_RANGE,
            Invalid::NotCanonical | Invalid::Character | Invalid::Length => {
                "a number spelled otherwise: +5, -0, 007 (S16)"
            }
            why => unreachable!("{found:?} {format:?}: {why:?}"),
        };
    }
    let canonical = binary(canonical);
    if why == Invalid::Length {
        let other = match body.len() {
            raw::LENGTH => Format::Raw,
            url64::LENGTH => Format::Url64,
            hex32::LENGTH => Format::Hex32,
            hex::LENGTH => Format::Hex,
            length => unreachable!("{length} bytes are no format of Once's"),
        };
        let mut buffer = Text::new();
        let canonical = Term::Binary(canonical);
        let respelled = binary(id_type.respell(canonical.input(format), other, &mut buffer).unwrap().into());
        assert!(respelled[..respelled.len() - 1].eq_ignore_ascii_case(&found[..found.len() - 1]), "{found:?}");
        return "a text of another format, told by its length (S15)";
    }
    assert_ne!(found, &canonical, "{format:?}");
    if canonical.eq_ignore_ascii_case(found) {
        assert_eq!(why, Invalid::Character);
        return "capitals and mixed case (S17)";
    }
    assert_eq!(canonical[..canonical.len() - 1], found[..found.len() - 1], "{format:?}");
    assert_eq!(why, Invalid::NotCanonical);
    "unused bits at the end (S17)"
}

const OUT_OF_RANGE: &str = "an integer out of the format's range";

/// A decimal number as Elixir reads it.
fn decimal(text: &[u8]) -> i128 {
    str::from_utf8(text).unwrap().parse().unwrap()
}

fn binary(term: Term) -> Vec<u8> {
    match term {
        Term::Binary(bytes) => bytes,
        term => unreachable!("{term:?} has no bytes"),
    }
}
