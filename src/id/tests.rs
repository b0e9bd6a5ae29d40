use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::cipher::{Algorithm, BaseKey, Cipher, Speck64};
use crate::codec::Text;

const NUMBER: u64 = 98_770_186_085_072_901;

fn cipher(fill: u8) -> Arc<Cipher> {
    Arc::new(Speck64::new(&[fill; 16]).into())
}

fn spec(prefix: &str, format: Format) -> Spec {
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

fn accept(prefix: &str, format: Format, mask: Option<&Arc<Cipher>>) -> SpellingSpec {
    SpellingSpec { prefix: prefix.to_owned(), format, mask: mask.cloned() }
}

fn id_type(prefix: &str, format: Format) -> IdType {
    IdType::new(spec(prefix, format)).unwrap()
}

fn text(text: &str) -> Input<'_> {
    Input::Text(text.as_bytes())
}

fn refusal(spec: Spec) -> (Code, Option<&'static str>) {
    let error = IdType::new(spec).unwrap_err();
    (error.code(), error.fields().option)
}

#[test]
fn the_application_sees_text_bigints_or_bytes() {
    let mut buffer = Text::new();
    for (prefix, format, number, seen) in [
        ("usr_", Format::Base58, NUMBER, Value::Text(b"usr_1EJGCJcj5DW")),
        ("", Format::Signed, u64::MAX, Value::Signed(-1)),
        ("", Format::Unsigned, u64::MAX, Value::Unsigned(u64::MAX)),
        ("usr_", Format::Signed, u64::MAX, Value::Text(b"usr_-1")),
        ("usr_", Format::Unsigned, 7, Value::Text(b"usr_7")),
        ("", Format::Raw, 5, Value::Bytes(&[0, 0, 0, 0, 0, 0, 0, 5])),
        ("u", Format::Raw, 5, Value::Bytes(&[b'u', 0, 0, 0, 0, 0, 0, 0, 5])),
    ] {
        assert_eq!(id_type(prefix, format).write_app(number, &mut buffer), seen);
    }
}

#[test]
fn the_database_sees_the_number_and_the_prefix_only_where_it_persists() {
    let mut buffer = Text::new();
    let mask = cipher(1);
    let spec = |persist_prefix| {
        let mask = Some(mask.clone());
        Spec { db_format: Format::Hex, mask, persist_prefix, ..spec("usr_", Format::Base58) }
    };
    let plain = IdType::new(spec(false)).unwrap();
    assert_eq!(plain.write_db(5, &mut buffer), Value::Text(b"0000000000000005"));
    assert_eq!(plain.read_db(text("usr_0000000000000005")), Err(Invalid::Length));
    let persisted = IdType::new(spec(true)).unwrap();
    assert_eq!(persisted.write_db(5, &mut buffer), Value::Text(b"usr_0000000000000005"));
    assert_eq!(persisted.read_db(text("usr_0000000000000005")), Ok(5));
    assert_eq!(persisted.read_db(text("0000000000000005")), Err(Invalid::Prefix));
    assert_eq!(
        plain.write_app(5, &mut buffer),
        Value::Text([b"usr_", &crate::codec::base58::encode(mask.encrypt(5))[..]].concat().as_slice())
    );
}

#[test]
fn a_numeric_database_value_may_be_a_bigint_its_decimal_text_or_a_safe_integer() {
    let signed = id_type("usr_", Format::Base58);
    let unsigned = IdType::new(Spec { db_format: Format::Unsigned, ..spec("usr_", Format::Base58) }).unwrap();
    for (input, as_signed, as_unsigned) in [
        (Input::Integer(5), Ok(5), Ok(5)),
        (Input::Integer(-1), Ok(u64::MAX), Err(Invalid::Range)),
        (Input::Integer(1 << 63), Err(Invalid::Range), Ok(1 << 63)),
        (Input::Integer(1 << 64), Err(Invalid::Range), Err(Invalid::Range)),
        (Input::Integer(i128::MIN), Err(Invalid::Range), Err(Invalid::Range)),
        (Input::Number(5.0), Ok(5), Ok(5)),
        (Input::Number(-5.0), Ok(5_u64.wrapping_neg()), Err(Invalid::Range)),
        (Input::Number(9_007_199_254_740_991.0), Ok((1 << 53) - 1), Ok((1 << 53) - 1)),
        (Input::Number(9_007_199_254_740_992.0), Err(Invalid::UnsafeNumber), Err(Invalid::UnsafeNumber)),
        (Input::Number(1.5), Err(Invalid::UnsafeNumber), Err(Invalid::UnsafeNumber)),
        (Input::Number(f64::NAN), Err(Invalid::UnsafeNumber), Err(Invalid::UnsafeNumber)),
        (Input::Number(f64::INFINITY), Err(Invalid::UnsafeNumber), Err(Invalid::UnsafeNumber)),
        (text("5"), Ok(5), Ok(5)),
        (text("-1"), Ok(u64::MAX), Err(Invalid::Range)),
        (text("05"), Err(Invalid::NotCanonical), Err(Invalid::NotCanonical)),
        (text(""), Err(Invalid::Length), Err(Invalid::Length)),
        (Input::Bytes(&[0; 8]), Err(Invalid::Type), Err(Invalid::Type)),
        (Input::Other("null"), Err(Invalid::Type), Err(Invalid::Type)),
    ] {
        assert_eq!(signed.read_db(input), as_signed, "{input:?}");
        assert_eq!(unsigned.read_db(input), as_unsigned, "{input:?}");
    }
}

#[test]
fn nothing_is_told_by_shape() {
    let inputs = [
        text("0000000000000005"),
        Input::Bytes(&[0; 8]),
        Input::Integer(5),
        Input::Number(5.0),
        Input::Other("undefined"),
    ];
    for (format, taken) in [(Format::Hex, 0), (Format::Raw, 1)] {
        let id_type = IdType::new(Spec { db_format: format, ..spec("", format) }).unwrap();
        for (index, input) in inputs.into_iter().enumerate() {
            let read = [id_type.read_app(input), id_type.read_db(input)];
            assert!(read.iter().all(|read| read.is_ok() == (index == taken)), "{format:?} {input:?} {read:?}");
        }
    }
}

#[test]
fn canonical_is_what_the_type_itself_writes() {
    let bigint = id_type("", Format::Unsigned);
    assert!(bigint.is_canonical(Input::Integer(5)));
    for readable in [text("5"), Input::Number(5.0)] {
        assert_eq!(bigint.read_app(readable), Ok(5));
        assert!(!bigint.is_canonical(readable));
    }
    let accepting = Spec { accepts: vec![accept("user_", Format::Base58, None)], ..spec("usr_", Format::Base58) };
    let accepting = IdType::new(accepting).unwrap();
    assert!(accepting.is_canonical(text("usr_11111111116")));
    assert!(!accepting.is_canonical(text("user_11111111116")));
    assert_eq!(accepting.read_app(text("user_11111111116")), Ok(5));
}

#[test]
fn accepted_spellings_are_read_with_their_own_mask() {
    let (old, new) = (cipher(1), cipher(2));
    let spec = Spec {
        mask: Some(new.clone()),
        accepts: vec![accept("u_", Format::Url64, Some(&old)), accept("n", Format::Signed, None)],
        ..spec("usr_", Format::Base58)
    };
    let id_type = IdType::new(spec).unwrap();
    let in_old = [b"u_", &crate::codec::url64::encode(old.encrypt(5))[..]].concat();
    assert_eq!(id_type.read_app(Input::Text(&in_old)), Ok(5));
    assert_eq!(id_type.read_app(text("n-5")), Ok(5_u64.wrapping_neg()));
    let mut buffer = Text::new();
    let in_new = [b"usr_", &crate::codec::hex::encode(new.encrypt(5))[..]].concat();
    assert_eq!(id_type.respell(text("n5"), Format::Hex, &mut buffer), Ok(Value::Text(&in_new)));
}

#[test]
fn the_reason_is_that_of_the_longest_prefix_that_matched() {
    let accepts = vec![accept("user_", Format::Hex, None), accept("", Format::Raw, None)];
    let id_type = IdType::new(Spec { accepts, ..spec("usr_", Format::Base58) }).unwrap();
    for (input, why) in [
        (text("usr_0"), Invalid::Length),
        (text("user_000000000000000G"), Invalid::Character),
        (text("org_11111111111"), Invalid::Prefix),
        (Input::Bytes(&[0; 7]), Invalid::Length),
        (Input::Other("null"), Invalid::Type),
    ] {
        assert_eq!(id_type.read_app(input), Err(why), "{input:?}");
    }
    let accepts = vec![accept("usr_", Format::Hex, None)];
    let id_type = IdType::new(Spec { accepts, ..spec("", Format::Base58) }).unwrap();
    assert_eq!(id_type.read_app(text("usr_000000000000000G")), Err(Invalid::Character));
    assert_eq!(id_type.read_app(text("usx_0000000000000000")), Err(Invalid::Length));
}

#[test]
fn errors_say_what_was_expected_and_found() {
    let id_type = id_type("usr_", Format::Base58);
    let error = id_type.invalid_app(text("usr_\n"), Invalid::Length);
    assert_eq!(error.code(), Code::InvalidId);
    assert_eq!(error.fields().reason, Some("length"));
    assert_eq!(error.fields().expected.as_deref(), Some(r#""usr_" followed by 11 characters of base58"#));
    let message =
        r#"not an ID of this type (length): expected "usr_" followed by 11 characters of base58, found "usr_\n""#;
    assert_eq!(error.message(), message);
    let error = id_type.invalid_db(Input::Integer(1 << 63), Invalid::Range);
    assert!(error.message().ends_with("found 9223372036854775808n"), "{error}");
    let longest = "x".repeat(100_000);
    for found in
        [Input::Text(longest.as_bytes()), Input::Text(&[0xff; 999]), Input::Integer(i128::MAX), Input::Bytes(&[0; 99])]
    {
        assert!(id_type.invalid_app(found, Invalid::Type).message().len() < 400);
    }
}

#[test]
fn every_format_is_described() {
    let described: Vec<_> = ["", "usr_"]
        .into_iter()
        .flat_map(|prefix| Format::ALL.map(|format| id_type(prefix, format).describe()))
        .collect();
    for phrase in [
        "16 characters of hex",
        "a bigint from -9223372036854775808 to 9223372036854775807",
        "a bigint from 0 to 18446744073709551615",
        "a Buffer of 8 bytes",
        r#""usr_" followed by 13 characters of hex32"#,
        r#""usr_" followed by a decimal number from 0 to 18446744073709551615"#,
        r#"a Buffer of "usr_" and 8 bytes"#,
    ] {
        assert!(described.iter().any(|text| text == phrase), "{phrase}: {described:?}");
    }
    let accepts = vec![accept("u_", Format::Hex, None)];
    let both = IdType::new(Spec { accepts, ..spec("", Format::Url64) }).unwrap().describe();
    assert_eq!(both, r#"11 characters of url64, or "u_" followed by 16 characters of hex"#);
}

#[test]
fn incoherent_options_are_refused_by_name() {
    let base = || spec("usr_", Format::Base58);
    let encrypted = Kind::Encrypted { base: Base::Counter };
    let mask = Some(cipher(1));
    assert_eq!(refusal(spec("usr é", Format::Base58)), (Code::Config, Some("prefix")));
    assert_eq!(refusal(Spec { kind: encrypted, mask: mask.clone(), ..base() }), (Code::Config, Some("mask")));
    assert_eq!(refusal(Spec { persist_prefix: true, ..base() }), (Code::Config, Some("persistPrefix")));
    let no_prefix = Spec { persist_prefix: true, db_format: Format::Hex, ..spec("", Format::Base58) };
    assert_eq!(refusal(no_prefix), (Code::Config, Some("persistPrefix")));
    let masked = Spec {
        kind: encrypted,
        encryption: mask.clone(),
        accepts: vec![accept("u", Format::Hex, mask.as_ref())],
        ..base()
    };
    assert_eq!(refusal(masked), (Code::Config, Some("accepts")));
    assert_eq!(
        refusal(Spec { accepts: vec![accept("é", Format::Hex, None)], ..base() }),
        (Code::Config, Some("accepts"))
    );
    assert_eq!(refusal(Spec { kind: encrypted, ..base() }), (Code::NoKey, None));
    let error = IdType::new(Spec { kind: encrypted, ..base() }).unwrap_err();
    assert_eq!(error.fields().bits, Some(64));
}

#[test]
fn spellings_that_could_read_one_text_as_two_ids_are_refused() {
    let (one, two) = (cipher(1), cipher(2));
    let ambiguous = [
        // One prefix, one format, another mask.
        (("usr_", Format::Base58, Some(&one)), ("usr_", Format::Base58, Some(&two))),
        (("usr_", Format::Base58, Some(&one)), ("usr_", Format::Base58, None)),
        (("", Format::Signed, None), ("", Format::Unsigned, Some(&one))),
        (("", Format::Raw, None), ("", Format::Raw, Some(&one))),
        // One prefix, formats of one length.
        (("usr_", Format::Base58, None), ("usr_", Format::Url64, None)),
        (("", Format::Hex, None), ("", Format::Unsigned, None)),
        // What one prefix has more, the other's format reads as digits: 16 = 5 + 11 and 13 = 2 + 11.
        (("", Format::Hex, None), ("beef0", Format::Base58, None)),
        (("u", Format::Hex32, None), ("uid", Format::Url64, None)),
        (("", Format::Url64, None), ("usr_", Format::Signed, None)),
        (("a", Format::Signed, None), ("a-", Format::Unsigned, None)),
        (("a", Format::Unsigned, None), ("a1844", Format::Hex, None)),
    ];
    for (own, other) in ambiguous {
        for ((prefix, format, mask), (prefix2, format2, mask2)) in [(own, other), (other, own)] {
            let own =
                Spec { mask: mask.cloned(), accepts: vec![accept(prefix2, format2, mask2)], ..spec(prefix, format) };
            assert_eq!(refusal(own), (Code::Config, Some("accepts")), "{prefix} {format:?} {prefix2} {format2:?}");
            let accepts = vec![accept(prefix, format, mask), accept(prefix2, format2, mask2)];
            let error = IdType::new(Spec { accepts, ..spec("zzz", Format::Hex) }).unwrap_err();
            assert!(error.message().starts_with("accepts[1]: "), "{error}");
            assert!(error.message().ends_with("that of accepts[0]"), "{error}");
        }
    }
    let peaceful = [
        (("usr_", Format::Base58, None), ("user_", Format::Base58, None)),
        (("usr_", Format::Base58, Some(&one)), ("usr_", Format::Hex, Some(&two))),
        (("usr_", Format::Base58, Some(&one)), ("usr_", Format::Base58, Some(&one))),
        (("", Format::Base58, None), ("usr_", Format::Base58, None)),
        (("", Format::Signed, None), ("", Format::Unsigned, None)),
        (("usr_", Format::Hex, None), ("usr_", Format::Raw, Some(&one))),
        (("", Format::Base58, None), ("usr_", Format::Unsigned, None)),
    ];
    for ((prefix, format, mask), (prefix2, format2, mask2)) in peaceful {
        let own = Spec { mask: mask.cloned(), accepts: vec![accept(prefix2, format2, mask2)], ..spec(prefix, format) };
        assert!(IdType::new(own).is_ok(), "{prefix} {format:?} {prefix2} {format2:?}");
    }
}

#[test]
fn an_encrypted_type_keeps_the_encrypted_number_and_looks_behind_it() {
    let encryption = Arc::new(Cipher::derived(Algorithm::Speck, &BaseKey::new(&[7; 32]).unwrap()));
    let kind = Kind::Encrypted { base: Base::Sortable };
    let id_type = IdType::new(Spec { kind, encryption: Some(encryption.clone()), ..spec("", Format::Hex) }).unwrap();
    let nonce = Layout::DEFAULT.pack(crate::layout::Parts { partition: 0, timestamp: 1000, machine: 77, count: 3 });
    let number = id_type.number(nonce);
    assert_eq!(number, encryption.encrypt(nonce));
    assert_eq!(id_type.nonce(number), nonce);
    let seen = id_type.inspect(number);
    assert_eq!((seen.kind.as_str(), seen.exact, seen.machine_id, seen.sequence), ("encrypted", true, 77, 3));
    assert_eq!(seen.timestamp, Layout::DEFAULT_EPOCH_MS + 1000);
    let counter = self::id_type("", Format::Hex);
    assert_eq!((counter.number(nonce), counter.inspect(nonce).exact), (nonce, false));
}

#[test]
fn debug_shows_no_key() {
    let shown =
        format!("{:?}", IdType::new(Spec { mask: Some(cipher(0xab)), ..spec("usr_", Format::Base58) }).unwrap());
    assert!(shown.contains("Speck64(…)") && !shown.contains("171"), "{shown}");
}

/// Prefixes and formats in which collisions are likely.
fn spellings() -> impl Strategy<Value = (String, Format)> {
    ("[a1-]{0,6}", prop::sample::select(Format::ALL.to_vec()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// The accepted spelling is masked: if both could read a value, they would read it as two IDs.
    #[test]
    fn no_value_is_read_by_two_peaceful_spellings(
        own in spellings(), other in spellings(), digits in "-?[1-9]{0,18}[48]",
    ) {
        let mask = cipher(3);
        let peaceful = Spec { accepts: vec![accept(&other.0, other.1, Some(&mask))], ..spec(&own.0, own.1) };
        if IdType::new(peaceful).is_err() {
            return Ok(());
        }
        // Digits belong to every alphabet, and 4 and 8 may end every format.
        let value = format!("{}{digits}", if own.0.len() > other.0.len() { &own.0 } else { &other.0 });
        for input in [text(&value), Input::Bytes(value.as_bytes()), Input::Integer(5)] {
            let readers = [&own, &other].map(|(prefix, format)| id_type(prefix, *format).read_app(input).is_ok());
            prop_assert_ne!(readers, [true, true], "{}", value);
        }
    }
}
