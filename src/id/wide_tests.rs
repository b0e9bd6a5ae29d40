//! Types of 96 and 128 bits where they differ from those of 64.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::error::Code;
use crate::id::{Base, IdType, Input, Kind, Spec, SpellingSpec, Window};

fn cipher(width: Wide, algorithm: Algorithm) -> Arc<WideCipher> {
    let length = algorithm.key_length(width.size()).unwrap();
    Arc::new(WideCipher::new(algorithm, width.size(), &vec![7; length]).unwrap())
}

fn spec(prefix: &str, format: Format) -> Spec<Wide> {
    Spec {
        prefix: prefix.to_owned(),
        kind: Kind::Counter,
        format,
        db_format: Format::Raw,
        mask: None,
        encryption: None,
        accepts: Vec::new(),
        persist_prefix: false,
        layout: Layout::DEFAULT,
    }
}

fn masked(width: Wide, format: Format) -> IdType<Wide> {
    let mask = Some(cipher(width, Algorithm::Speck));
    IdType::of_width(width, Spec { mask, ..spec("usr_", format) }).unwrap()
}

fn widths() -> impl Strategy<Value = Wide> {
    select(vec![Wide::Bits96, Wide::Bits128])
}

proptest! {
    #[test]
    fn a_masked_type_brings_every_number_there_and_back(
        width in widths(), number: u128, other: u128,
        format in select(Format::ALL.into_iter().filter(|format| !format.is_numeric()).collect::<Vec<_>>()),
    ) {
        let (number, other) = (number & width.size().greatest(), other & width.size().greatest());
        let id_type = masked(width, format);
        let (mut text, mut second) = (WideText::new(), WideText::new());
        let shown = id_type.write_app(number, &mut text);
        let again = id_type.write_app(other, &mut second);
        prop_assert_eq!(shown == again, number == other);
        let input = match shown {
            Value::Bytes(bytes) => Input::Bytes(bytes),
            Value::Text(text) => Input::Text(text),
            other => unreachable!("{other:?}"),
        };
        prop_assert_eq!(id_type.read_app(input), Ok(number));
        let mut column = WideText::new();
        let Value::Bytes(kept) = id_type.write_db(number, &mut column) else { unreachable!("dbFormat is raw") };
        prop_assert_eq!(kept, &number.to_be_bytes()[16 - width.size().bytes()..]);
        prop_assert_eq!(id_type.read_db(Input::Bytes(kept)), Ok(number));
    }
}

#[test]
fn bigints_and_other_sizes_are_not_values_of_these_types() {
    for width in [Wide::Bits96, Wide::Bits128] {
        let id_type = masked(width, Format::Base58);
        for stranger in [Input::Integer(5), Input::Number(5.0), Input::Other("null"), Input::Bytes(&[0; 16])] {
            assert_eq!(id_type.read_app(stranger), Err(Invalid::Type), "{stranger:?}");
        }
        assert_eq!(id_type.read_app(Input::Text(b"usr_11111111111")), Err(Invalid::Length));
        for length in [0, 8, 11, 13, 15, 17] {
            assert_eq!(id_type.read_db(Input::Bytes(&vec![0; length])), Err(Invalid::Length));
        }
        let other = if width == Wide::Bits96 { 22 } else { 17 };
        let text = format!("usr_{}", "1".repeat(other));
        assert_eq!(id_type.read_app(Input::Text(text.as_bytes())), Err(Invalid::Length));
    }
    assert_eq!(masked(Wide::Bits96, Format::Base58).describe(), r#""usr_" followed by 17 characters of base58"#);
    assert_eq!(masked(Wide::Bits128, Format::Raw).describe(), r#"a Buffer of "usr_" and 16 bytes"#);
}

/// Only the upper 64 bits are encrypted: what has another tail than zero was not made by the type.
#[test]
fn a_number_with_another_tail_is_no_id_of_a_type_that_encrypts_64_bits() {
    for algorithm in [Algorithm::Blowfish, Algorithm::Des3] {
        let encryption = Some(cipher(Wide::Bits96, algorithm));
        let kind = Kind::Encrypted { base: Base::Sortable };
        let spec = Spec { kind, encryption, ..spec("", Format::Hex) };
        let id_type = IdType::of_width(Wide::Bits96, spec).unwrap();
        let nonce = Layout::DEFAULT.pack(Parts { partition: 0, timestamp: 1000, machine: 77, count: 3 });
        let number = id_type.number(u128::from(nonce) << 32);
        let seen = id_type.inspect(number);
        assert_eq!((seen.machine_id, seen.sequence, seen.exact), (77, 3, true));
        let mut text = WideText::new();
        let Value::Text(hex) = id_type.write_app(number, &mut text) else { unreachable!("hex is text") };
        assert_eq!((id_type.read_app(Input::Text(hex)), &hex[16..]), (Ok(number), &b"00000000"[..]));
        let mut other = hex.to_vec();
        other[23] = b'1';
        assert_eq!(id_type.read_app(Input::Text(&other)), Err(Invalid::Range));
        assert!(!id_type.is_canonical(Input::Text(&other)));
        let bytes = (number | 1).to_be_bytes();
        assert_eq!(id_type.read_db(Input::Bytes(&bytes[4..])), Err(Invalid::Range));
        let window = Window { from_unix_ms: 0, to_unix_ms: u64::MAX };
        assert_eq!(id_type.check_plausible(number, window), Ok(()));
    }
}

#[test]
fn plausible_is_what_a_nonce_of_the_size_can_be() {
    let made = Layout::DEFAULT_EPOCH_MS + 1000;
    let window = Window { from_unix_ms: made, to_unix_ms: made };
    for (width, unused) in [(Wide::Bits96, None), (Wide::Bits128, Some(1 << 64))] {
        let id_type = masked(width, Format::Base58);
        let parts = Parts { partition: 0, timestamp: 1000, machine: 77, count: 1 << 40 };
        let nonce = Layout::DEFAULT.pack_sized(width.size(), parts);
        assert_eq!(id_type.check_plausible(nonce, window), Ok(()));
        let later = Layout::DEFAULT.pack_sized(width.size(), Parts { timestamp: 1001, ..parts });
        assert_eq!(id_type.check_plausible(later, window), Err(Invalid::Implausible));
        if let Some(unused) = unused {
            assert_eq!(id_type.check_plausible(nonce | unused, window), Err(Invalid::Implausible));
        }
    }
}

#[test]
fn spellings_are_accepted_and_refused_as_for_64_bits() {
    let accept =
        |prefix: &str, format, mask: Option<Arc<WideCipher>>| SpellingSpec { prefix: prefix.to_owned(), format, mask };
    let of = |accepts| IdType::of_width(Wide::Bits96, Spec { accepts, ..spec("usr_", Format::Base58) });
    let id_type = of(vec![accept("u_", Format::Hex, Some(cipher(Wide::Bits96, Algorithm::Speck)))]).unwrap();
    let number = 5;
    let hex = format!("u_{:024x}", cipher(Wide::Bits96, Algorithm::Speck).encrypt(number));
    assert_eq!(id_type.read_app(Input::Text(hex.as_bytes())), Ok(number));
    for refused in [
        accept("usr_", Format::Base58, Some(cipher(Wide::Bits96, Algorithm::Speck))),
        accept("usr_", Format::Base62, None),
        accept("u_", Format::Unsigned, None),
        accept("u_", Format::Hex, Some(cipher(Wide::Bits96, Algorithm::Blowfish))),
        accept("é", Format::Hex, None),
    ] {
        let error = of(vec![refused]).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some("accepts")));
    }
    // 16 characters of url64 and 17 of base58 cannot be one text.
    assert!(of(vec![accept("usr_", Format::Url64, Some(cipher(Wide::Bits96, Algorithm::Speck)))]).is_ok());
}

#[test]
fn a_cipher_of_another_size_is_no_mask() {
    let mask = Some(cipher(Wide::Bits128, Algorithm::Aes));
    let error = IdType::of_width(Wide::Bits96, Spec { mask, ..spec("", Format::Hex) }).unwrap_err();
    assert_eq!(error.message(), "cipher: expected 'speck' for a mask of 96 bits, found 'aes'");
}
