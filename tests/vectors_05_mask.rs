//! `vectors/05`: Once's masks over its three ciphers: what the database keeps and what the application sees.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use mintid::cipher::no_key;
use mintid::codec::Format;
use mintid::error::Code;
use mintid::id::{IdType, Spec};
use serde_json::Value;
use vectors_support::{Tally, Term, app, cipher, compare, db, format, load, prefix, result, rows, spec, term, text};

/// A masked type of a row, or `None` where its prefix is refused: `prod-é_` is not URL-safe.
fn masked(row: &Value, format: Format, db_format: Format) -> Option<IdType> {
    let persist_prefix = row["persist_prefix"].as_bool().unwrap_or_default();
    let plain = spec(&prefix(&row["prefix"]), format);
    let spec = Spec { mask: Some(cipher(row)), db_format, persist_prefix, ..plain };
    match IdType::new(spec) {
        Ok(id_type) => Some(id_type),
        Err(error) => {
            assert_eq!((row["prefix"].as_str(), error.fields().option), (Some("prod-é_"), Some("prefix")), "{row}");
            None
        }
    }
}

fn assert_both_ways(id_type: &IdType, (stored, db_format): (&Term, Format), (shown, format): (&Term, Format)) {
    let number = id_type.read_db(stored.input(db_format)).unwrap();
    assert_eq!(&app(id_type, number), shown);
    assert_eq!(id_type.read_app(shown.input(format)), Ok(number));
    assert!(id_type.is_canonical(shown.input(format)));
    assert_eq!(&db(id_type, number), stored);
}

#[test]
fn the_application_sees_the_same_and_it_comes_back() {
    let vectors = load("05_once_mask");
    let (mut alike, mut refused) = (0, 0);
    for row in rows(&vectors, "vectors") {
        let format = format(&row["ex_format"]);
        let Some(id_type) = masked(row, format, Format::Signed) else {
            refused += 1;
            continue;
        };
        let stored = Term::Integer(text(&row["db"]).parse().unwrap());
        let shown = term(row["app"].as_array().unwrap());
        assert_both_ways(&id_type, (&stored, Format::Signed), (&shown, format));
        alike += 1;
    }
    assert_eq!((alike, refused), (196, 81));
}

#[test]
fn other_database_formats_keep_the_same() {
    let vectors = load("05_once_mask");
    let rows = rows(&vectors, "other_db_formats");
    for row in rows {
        let [format, db_format] = ["ex_format", "db_format"].map(|field| format(&row[field]));
        let id_type = masked(row, format, db_format).unwrap();
        let [stored, shown] = ["db", "app"].map(|field| term(row[field].as_array().unwrap()));
        assert_both_ways(&id_type, (&stored, db_format), (&shown, format));
    }
    assert_eq!(rows.len(), 144);
}

#[test]
fn application_values_are_read_alike_or_refused_for_a_reason() {
    let vectors = load("05_once_mask");
    let mut differences = Tally::new();
    for row in rows(&vectors, "inputs") {
        let found = term(row["in"].as_array().unwrap());
        for format in [Format::Url64, Format::Signed] {
            let id_type = masked(row, format, Format::Signed).unwrap();
            let once = result(&row["dump_signed"][format.as_str()]);
            compare(&id_type, format, &found, once.as_ref(), &mut differences);
        }
    }
    assert_eq!(
        differences,
        Tally::from([
            ("a number spelled otherwise: +5, -0, 007 (S16)", 2),
            ("a text of another format, told by its length (S15)", 7),
            ("an integer where text belongs (S16, S19)", 4),
            ("none: both read it alike", 10),
            ("none: both refuse it", 72),
            ("null is not an ID", 4),
            ("unused bits at the end (S17)", 1),
        ])
    );
}

#[test]
fn a_mask_without_a_key_is_an_error_and_not_another_number() {
    let vectors = load("05_once_mask");
    let errors = rows(&vectors, "errors");
    assert!(errors.len() == 3 && errors.iter().all(|row| result(&row["result"]).is_none()));
    // A spelling cannot be made without its cipher; whoever has no key to make one answers with this.
    let error = no_key("mask");
    assert_eq!((error.code(), error.fields().bits), (Code::NoKey, Some(64)));
}
