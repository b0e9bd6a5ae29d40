//! `vectors/golden.json`: what this library itself writes. Applications keep these texts, so its lines must never
//! change and none may go; a new format or cipher adds lines. A program that shares no code with this one made them.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use std::sync::Arc;

use mintid::cipher::{BaseKey, Speck64};
use mintid::codec::Format;
use mintid::id::{IdType, Spec};
use vectors_support::{Term, app, bytes, format, load, rows, spec, text};

#[test]
fn text_and_mask_never_change() {
    let golden = load("golden");
    let base = BaseKey::new(text(&golden["base_key"]).as_bytes()).unwrap();
    let speck = Arc::new(Speck64::derived(&base));
    let lines = rows(&golden, "lines");
    for line in lines {
        let (prefix, format) = (text(&line["prefix"]), format(&line["format"]));
        let mask = line["mask"].as_bool().unwrap().then(|| speck.clone());
        let id_type = IdType::new(Spec { mask, ..spec(prefix, format) }).unwrap();
        let number = text(&line["number"]).parse().unwrap();
        let written = match format {
            Format::Raw => Term::Binary(bytes(&line["app"])),
            Format::Signed | Format::Unsigned if prefix.is_empty() => {
                Term::Integer(text(&line["app"]).parse().unwrap())
            }
            _ => Term::Binary(text(&line["app"]).into()),
        };
        assert_eq!(app(&id_type, number), written, "{line}");
        assert_eq!(id_type.read_app(written.input(format)), Ok(number), "{line}");
    }
    assert_eq!(lines.len(), 140);
}
