//! `vectors/04`: the formats and prefixes of Once. Whatever we read comes out the same; what we refuse on purpose is
//! refused for a reason that has a name and a count.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use std::sync::Arc;

use mintid::cipher::{Cipher, Speck64};
use mintid::codec::{Format, Text};
use mintid::error::Code;
use mintid::id::{Base, IdType, Kind, Spec};
use vectors_support::{ONCE, Tally, Term, app, compare, db, format, load, prefix, result, rows, spec, term, text};

#[test]
fn values_are_written_and_read_in_six_formats() {
    let vectors = load("04_once_formats");
    let rows = rows(&vectors, "values");
    for row in rows {
        let number = text(&row["unsigned"]).parse().unwrap();
        for format in ONCE {
            let id_type = IdType::new(spec("", format)).unwrap();
            let expected = match format {
                Format::Raw => Term::Binary(vectors_support::bytes(&row["raw_hex"])),
                Format::Signed | Format::Unsigned => Term::Integer(text(&row[format.as_str()]).parse().unwrap()),
                _ => Term::Binary(text(&row[format.as_str()]).into()),
            };
            assert_eq!(app(&id_type, number), expected, "{row}");
            assert_eq!(id_type.read_app(expected.input(format)), Ok(number), "{row}");
            assert!(id_type.is_canonical(expected.input(format)), "{row}");
        }
    }
    assert_eq!(rows.len(), 168);
}

#[test]
fn application_values_are_read_alike_or_refused_for_a_reason() {
    let vectors = load("04_once_formats");
    let mut differences = Tally::new();
    for row in rows(&vectors, "parse") {
        let found = term(row["in"].as_array().unwrap());
        for format in ONCE {
            let id_type = IdType::new(spec("", format)).unwrap();
            let once = result(&row["dump_signed"][format.as_str()]);
            compare(&id_type, format, &found, once.as_ref(), &mut differences);
        }
    }
    assert_eq!(
        differences,
        Tally::from([
            ("a number spelled otherwise: +5, -0, 007 (S16)", 28),
            ("a text of another format, told by its length (S15)", 117),
            ("an integer out of the format's range", 10),
            ("an integer where text belongs (S16, S19)", 24),
            ("capitals and mixed case (S17)", 6),
            ("none: both read it alike", 64),
            ("none: both refuse it", 622),
            ("unused bits at the end (S17)", 11),
        ])
    );
}

#[test]
fn prefixed_values_are_read_alike_or_refused_for_a_reason() {
    let vectors = load("04_once_formats");
    let mut differences = Tally::new();
    let mut persisted = 0;
    for row in rows(&vectors, "prefixed") {
        let found = term(row["in"].as_array().unwrap());
        for format in ONCE {
            let plain = spec(&prefix(&row["prefix"]), format);
            let id_type = IdType::new(plain.clone()).unwrap();
            let once = result(&row["dump_signed"][format.as_str()]);
            compare(&id_type, format, &found, once.as_ref(), &mut differences);
            let Ok(number) = id_type.read_app(found.input(format)) else { continue };
            let id_type = IdType::new(Spec { db_format: Format::Url64, persist_prefix: true, ..plain }).unwrap();
            assert_eq!(Some(db(&id_type, number)), result(&row["dump_url64_persist"][format.as_str()]), "{row}");
            persisted += 1;
        }
    }
    assert_eq!(
        differences,
        Tally::from([
            ("a number spelled otherwise: +5, -0, 007 (S16)", 4),
            ("a text of another format, told by its length (S15)", 27),
            ("an integer out of the format's range", 2),
            ("an integer where text belongs (S16, S19)", 18),
            ("capitals and mixed case (S17)", 2),
            ("none: both read it alike", 11),
            ("none: both refuse it", 188),
            ("null is not an ID", 6),
        ])
    );
    assert_eq!(persisted, 11);
}

/// Once converts between formats by shape: `to_format` without a prefix, `cast` with one. We convert what is an ID of
/// the type.
#[test]
fn ids_are_spelled_alike_in_other_formats() {
    let vectors = load("04_once_formats");
    let (mut plain, mut prefixed, mut by_shape) = (0, 0, 0);
    for row in rows(&vectors, "parse").iter().chain(rows(&vectors, "prefixed")) {
        let found = term(row["in"].as_array().unwrap());
        for (from, to) in ONCE.into_iter().flat_map(|from| ONCE.map(|to| (from, to))) {
            let id_type = IdType::new(spec(&prefix(&row["prefix"]), from)).unwrap();
            let mut buffer = Text::new();
            let Ok(respelled) = id_type.respell(found.input(from), to, &mut buffer) else { continue };
            let (list, count) = match (row["prefix"].is_string(), from.is_numeric()) {
                (true, numeric) if numeric == to.is_numeric() => ("cast", &mut prefixed),
                (true, _) => {
                    // `cast` of a text type takes no numbers, and that of a numeric one no text.
                    by_shape += 1;
                    continue;
                }
                (false, true) => ("to_format_parse_int", &mut plain),
                (false, false) => ("to_format", &mut plain),
            };
            assert_eq!(Some(respelled.into()), result(&row[list][to.as_str()]), "{from:?} {to:?} {row}");
            *count += 1;
        }
    }
    assert_eq!((plain, prefixed, by_shape), (384, 36, 30));
}

#[test]
fn database_values_are_shown_alike_and_come_back() {
    let vectors = load("04_once_formats");
    let (mut alike, mut by_shape) = (0, 0);
    for row in rows(&vectors, "load") {
        let (found, db_format) = (term(row["db"].as_array().unwrap()), format(&row["db_format"]));
        let persist_prefix = row["persist_prefix"].as_bool().unwrap();
        for format in ONCE {
            let plain = spec(&prefix(&row["prefix"]), format);
            let id_type = IdType::new(Spec { db_format, persist_prefix, ..plain }).unwrap();
            let number = id_type.read_db(found.input(db_format)).unwrap();
            let shown = app(&id_type, number);
            assert_eq!(id_type.read_app(shown.input(format)), Ok(number), "{row}");
            assert_eq!(db(&id_type, number), found, "{row}");
            if Some(&shown) == result(&row["app"][format.as_str()]).as_ref() {
                assert_eq!(Some(found.clone()), result(&row["dump_back"][format.as_str()]), "{row}");
                alike += 1;
            } else {
                // Once tells the format of the database's value by its shape (S21) and takes the text, or the digits
                // of it, for a decimal number. We go by dbFormat: the number comes back, as was shown above.
                assert!(format.is_numeric() && !db_format.is_numeric(), "{row}");
                by_shape += 1;
            }
        }
    }
    assert_eq!((alike, by_shape), (390, 114));
}

#[test]
fn strangers_in_the_database_are_refused() {
    let vectors = load("04_once_formats");
    let rows = rows(&vectors, "load_invalid");
    let (mut refused, mut decimal) = (0, 0);
    for row in rows {
        let found = term(row["db"].as_array().unwrap());
        for db_format in ONCE {
            let id_type = IdType::new(Spec { db_format, ..spec("", Format::Signed) }).unwrap();
            match id_type.read_db(found.input(db_format)) {
                Ok(number) => {
                    // Drivers give large integers as decimal text; Once takes it for a signed or unsigned type only.
                    assert!(db_format.is_numeric(), "{row}");
                    assert_eq!(Some(app(&id_type, number)), result(&row["app"]["signed"]), "{row}");
                    decimal += 1;
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert_eq!((rows.len(), refused, decimal), (7, 38, 4));
}

#[test]
fn prefixes_that_are_url_safe_come_out_the_same_and_others_are_refused() {
    let vectors = load("04_once_formats");
    let (mut alike, mut refused) = (0, Vec::new());
    for row in rows(&vectors, "odd_prefixes") {
        let Term::Binary(prefix) = term(row["prefix"].as_array().unwrap()) else { unreachable!("{row}") };
        let prefix = String::from_utf8(prefix).unwrap();
        let number = text(&row["value"]).parse().unwrap();
        for format in ONCE {
            let spec = Spec { db_format: Format::Unsigned, ..spec(&prefix, format) };
            let id_type = match IdType::new(spec) {
                Ok(id_type) => id_type,
                Err(error) => {
                    assert_eq!(error.fields().option, Some("prefix"));
                    refused.push(prefix.clone());
                    continue;
                }
            };
            let shown = app(&id_type, number);
            assert_eq!(Some(&shown), result(&row["app"][format.as_str()]).as_ref(), "{row}");
            assert_eq!(id_type.read_app(shown.input(format)), Ok(number), "{row}");
            assert_eq!(Some(db(&id_type, number)), result(&row["dump_unsigned"][format.as_str()]), "{row}");
            alike += 1;
        }
    }
    refused.dedup();
    assert_eq!((alike, refused), (60, ["é", "+", "a\0"].map(str::to_owned).to_vec()));
}

#[test]
fn options_that_both_have_are_taken_and_refused_alike() {
    let vectors = load("04_once_formats");
    let mask: Arc<Cipher> = Arc::new(Speck64::new(&[7; 16]).into());
    let base = || spec("", Format::Url64);
    let encrypted = Kind::Encrypted { base: Base::Counter };
    let persist = |prefix: &str, db_format| Spec { persist_prefix: true, db_format, ..spec(prefix, Format::Url64) };
    let mut checked = 0;
    for row in rows(&vectors, "option_validation") {
        let spec = match text(&row["opts"]) {
            "[]" | "[ex_format: :url64, db_format: :signed]" => base(),
            "[nonce_type: :sortable]" => Spec { kind: Kind::Sortable, ..base() },
            "[mask: true]" => Spec { mask: Some(mask.clone()), ..base() },
            "[mask: true, nonce_type: :encrypted]" => {
                Spec { mask: Some(mask.clone()), kind: encrypted, encryption: Some(mask.clone()), ..base() }
            }
            "[nonce_type: :encrypted]" => Spec { kind: encrypted, encryption: Some(mask.clone()), ..base() },
            "[prefix: \"a\"]" => self::spec("a", Format::Url64),
            "[persist_prefix: true]" => persist("", Format::Signed),
            "[prefix: \"a\", persist_prefix: true]" => persist("a", Format::Signed),
            "[prefix: \"a\", persist_prefix: true, db_format: :raw]" => persist("a", Format::Raw),
            "[prefix: \"a\", persist_prefix: true, db_format: :hex]" => persist("a", Format::Hex),
            "[prefix: \"a\", persist_prefix: true, db_format: :unsigned]" => persist("a", Format::Unsigned),
            "[persist_prefix: true, db_format: :hex]" => persist("", Format::Hex),
            // '' means no prefix here. The other options are of another type, unknown, or Elixir's own: the JavaScript
            // side refuses such, and its tests show it.
            "[prefix: \"\"]" => {
                assert!(IdType::new(base()).is_ok());
                continue;
            }
            _ => continue,
        };
        let error = IdType::new(spec).err();
        assert_eq!(row["result"] == "ok", error.is_none(), "{row}");
        assert!(error.is_none_or(|error| error.code() == Code::Config));
        checked += 1;
    }
    assert_eq!((checked, rows(&vectors, "option_validation").len()), (13, 23));
}
