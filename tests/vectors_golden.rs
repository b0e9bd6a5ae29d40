//! `vectors/golden*.json`: what this library itself writes. Applications keep these texts, so its lines must never
//! change and none may go; a new format or cipher adds lines. A program that shares no code with this one made them.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use std::sync::Arc;

use mintid::cipher::{Algorithm, BaseKey, Cipher};
use mintid::codec::Format;
use mintid::id::{IdType, Spec};
use vectors_support::{Term, app, bytes, format, load, number, rows, spec, text};

#[test]
fn text_and_mask_never_change() {
    let golden = load("golden");
    let base = BaseKey::new(text(&golden["base_key"]).as_bytes()).unwrap();
    let speck = Arc::new(Cipher::derived(Algorithm::Speck, &base));
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

#[test]
fn masks_of_the_further_ciphers_never_change() {
    let golden = load("golden_ciphers");
    let base = BaseKey::new(text(&golden["base_key"]).as_bytes()).unwrap();
    let lines = rows(&golden, "lines");
    for line in lines {
        let algorithm = Algorithm::parse(text(&line["cipher"])).unwrap();
        let mut cipher = Cipher::derived(algorithm, &base);
        if !text(&line["tweak"]).is_empty() {
            cipher = cipher.with_tweak(text(&line["tweak"]).as_bytes()).unwrap();
        }
        let (plain, masked) = (text(&line["number"]).parse().unwrap(), number(&line["masked"]));
        assert_eq!((cipher.encrypt(plain), cipher.decrypt(masked)), (masked, plain), "{line}");
        let id_type = IdType::new(Spec { mask: Some(Arc::new(cipher)), ..spec("usr_", Format::Base58) }).unwrap();
        let written = Term::Binary(text(&line["app"]).into());
        assert_eq!(app(&id_type, plain), written, "{line}");
        assert_eq!(id_type.read_app(written.input(Format::Base58)), Ok(plain), "{line}");
    }
    assert_eq!(lines.len(), 36);
}
