//! 100 000 strings that nobody minted: each is refused, or it is exactly what the type would write for the number it is
//! read as. Half of them are IDs with a few bytes changed, put in or taken out.

#![allow(clippy::unwrap_used, reason = "a type that cannot be made fails the test")]

mod vectors_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mintid::cipher::{Cipher, Speck64};
use mintid::codec::{Format, Text};
use mintid::id::{IdType, Spec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;
use vectors_support::{Term, app, spec};

const CASES: u32 = 100_000;

/// A change to a text: at this place, take out, put in, or replace by this byte.
type Change = (Index, u8, u8);

fn changed(mut text: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for (at, what, byte) in changes {
        let at = at.index(text.len() + 1);
        match (what % 3, at < text.len()) {
            (0, true) => {
                text.remove(at);
            }
            (1, true) => text[at] = *byte,
            _ => text.insert(at, *byte),
        }
    }
    text
}

/// Bytes that occur in IDs, and a few that must not.
fn byte() -> impl Strategy<Value = u8> {
    select(b"0123456789ABCXYZabcfgvwxyz-_+/= .~lIO\n\0\xc3\xff".to_vec())
}

fn types() -> Vec<(Format, IdType)> {
    let mask: Arc<Cipher> = Arc::new(Speck64::new(&[7; 16]).into());
    let mut types = Vec::new();
    for format in Format::ALL {
        for prefix in ["", "usr_", "1"] {
            for mask in [None, Some(mask.clone())] {
                types.push((format, IdType::new(Spec { mask, ..spec(prefix, format) }).unwrap()));
            }
        }
    }
    types
}

#[test]
fn a_strange_string_is_refused_or_canonical() {
    let types = types();
    let taken = AtomicUsize::new(0);
    let changes = proptest::collection::vec((any::<Index>(), any::<u8>(), byte()), 0..4);
    let random = proptest::collection::vec(byte(), 0..25);
    let strategy = (0..types.len(), any::<bool>(), any::<u64>(), 0_u32..64, changes, random);
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) });
    let result = runner.run(&strategy, |(at, mutate, number, bits, changes, random)| {
        let (format, id_type) = &types[at];
        let mut buffer = Text::new();
        // As text also where the type's own value is a bigint: it takes decimal text, in one spelling.
        format.encode(number >> bits, &mut buffer);
        let own = [id_type.prefix().as_bytes(), buffer.as_bytes()].concat();
        let string = if mutate { changed(own, &changes) } else { random };
        let input = Term::Binary(string.clone());
        let Ok(read) = id_type.read_app(input.input(*format)) else { return Ok(()) };
        taken.fetch_add(1, Ordering::Relaxed);
        let canonical = match app(id_type, read) {
            Term::Integer(integer) => integer.to_string().into_bytes(),
            Term::Binary(bytes) => bytes,
            term => unreachable!("a type writes {term:?}"),
        };
        prop_assert_eq!(string, canonical, "{:?}", format);
        Ok(())
    });
    assert!(result.is_ok(), "{result:?}");
    // Unchanged IDs and changes within an alphabet are read; most strings are not.
    let taken = taken.into_inner();
    assert!((10_000..50_000).contains(&taken), "{taken} of {CASES} were read");
}
