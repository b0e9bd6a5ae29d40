//! `vectors/golden*.json`: what this library itself writes. Applications keep these texts, so its lines must never
//! change and none may go; a new format or cipher adds lines. A program that shares no code with this one made them.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use std::sync::Arc;

use mintid::cipher::{Algorithm, BaseKey, Cipher, WideCipher};
use mintid::codec::{Format, WideText};
use mintid::id::{IdType, Input, Kind, Spec, Value, Wide};
use mintid::layout::{Layout, Size};
use vectors_support::{Term, app, bytes, format, load, number, rows, size, spec, text, wide};

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

#[test]
fn wide_masks_never_change() {
    let golden = load("golden_ciphers");
    let base = BaseKey::new(text(&golden["base_key"]).as_bytes()).unwrap();
    let lines = rows(&golden, "wide");
    for line in lines {
        let algorithm = Algorithm::parse(text(&line["cipher"])).unwrap();
        let cipher = Arc::new(WideCipher::derived(algorithm, size(line), &base).unwrap());
        let (plain, masked) = (wide(&line["number"]), wide(&line["masked"]));
        assert_eq!((cipher.encrypt(plain), cipher.decrypt(masked)), (masked, plain), "{line}");
        let width = if cipher.size() == Size::Bits96 { Wide::Bits96 } else { Wide::Bits128 };
        let id_type = IdType::of_width(width, wide_spec("usr_", Format::Base58, Some(cipher))).unwrap();
        let written = Value::Text(text(&line["app"]).as_bytes());
        assert_eq!(id_type.write_app(plain, &mut WideText::new()), written, "{line}");
        assert_eq!(id_type.read_app(Input::Text(text(&line["app"]).as_bytes())), Ok(plain), "{line}");
    }
    assert_eq!(lines.len(), 15);
}

fn wide_spec(prefix: &str, format: Format, mask: Option<Arc<WideCipher>>) -> Spec<Wide> {
    Spec {
        prefix: prefix.to_owned(),
        kind: Kind::Counter,
        format,
        db_format: Format::Raw,
        mask,
        encryption: None,
        accepts: Vec::new(),
        persist_prefix: false,
        layout: Layout::DEFAULT,
    }
}

#[test]
fn formats_of_all_sizes_never_change() {
    let golden = load("golden_formats");
    let lines = rows(&golden, "lines");
    for line in lines {
        let padded = format(&line["format"]);
        let format = if line["pad"] == true { padded } else { padded.unpadded().unwrap() };
        let (number, expected) = (text(&line["number"]), text(&line["app"]).as_bytes());
        let width = match size(line) {
            Size::Bits64 => {
                let id_type = IdType::new(spec("", format)).unwrap();
                let number = number.parse().unwrap();
                assert_eq!(app(&id_type, number), Term::Binary(expected.into()), "{line}");
                assert_eq!(id_type.read_app(Input::Text(expected)), Ok(number), "{line}");
                continue;
            }
            Size::Bits96 => Wide::Bits96,
            Size::Bits128 => Wide::Bits128,
        };
        let id_type = IdType::of_width(width, wide_spec("", format, None)).unwrap();
        let number = number.parse().unwrap();
        assert_eq!(id_type.write_app(number, &mut WideText::new()), Value::Text(expected), "{line}");
        assert_eq!(id_type.read_app(Input::Text(expected)), Ok(number), "{line}");
    }
    assert_eq!(lines.len(), 115);
}
