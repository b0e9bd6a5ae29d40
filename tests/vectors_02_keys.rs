//! `vectors/02`: the keys that NoNoncense derives from a base key, and the keys and ciphers that it refuses.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use std::collections::BTreeMap;

use mintid::cipher::{Algorithm, BaseKey, Cipher, Keyring, Keys, WideCipher};
use mintid::error::Error;
use mintid::layout::Size;
use serde_json::Value;
use vectors_support::{bytes, load, rows, size, text};
use zeroize::Zeroizing;

#[test]
fn every_cipher_key_comes_out_the_same() {
    let vectors = load("02_key_derivation");
    let rows = rows(&vectors, "vectors");
    for row in rows {
        let (base, salt) = (BaseKey::new(&bytes(&row["base_key"])).unwrap(), text(&row["salt"]));
        let key = match row["length"].as_u64().unwrap() {
            16 => base.derive::<16>(salt).to_vec(),
            18 => base.derive::<18>(salt).to_vec(),
            24 => base.derive::<24>(salt).to_vec(),
            32 => base.derive::<32>(salt).to_vec(),
            length => unreachable!("a key of {length} bytes"),
        };
        assert_eq!(key, bytes(&row["key"]), "{row}");
    }
    assert_eq!(rows.len(), 72);
}

#[test]
fn ciphers_find_their_own_keys() {
    let vectors = load("02_key_derivation");
    let mut checked = 0;
    for row in rows(&vectors, "vectors") {
        let (base, key) = (BaseKey::new(&bytes(&row["base_key"])).unwrap(), bytes(&row["key"]));
        let algorithm = Algorithm::parse(text(&row["cipher"])).unwrap();
        let size = size(row);
        let (derived, explicit) = if size == Size::Bits64 {
            let explicit = Cipher::new(algorithm, &key).unwrap();
            (Cipher::derived(algorithm, &base).fingerprint(), explicit.fingerprint())
        } else {
            let derived = WideCipher::derived(algorithm, size, &base).unwrap();
            (derived.fingerprint(), WideCipher::new(algorithm, size, &key).unwrap().fingerprint())
        };
        assert_eq!(derived, explicit, "{row}");
        checked += 1;
    }
    assert_eq!(checked, 72);
    for row in rows(&vectors, "table") {
        let algorithm = Algorithm::parse(text(&row["cipher"])).unwrap();
        assert_eq!(algorithm.key_length(size(row)).map(|length| length as u64), row["length"].as_u64());
    }
    assert_eq!(rows(&vectors, "table").len(), 8);
}

/// The options of `NoNoncense.init` as keys of ours; an option that we refuse by itself is the error.
fn keyring(opts: &Value) -> Result<Keyring, Error> {
    let mut keys = Keys::default();
    if opts["base_key"].is_string() {
        keys.base = Some(BaseKey::new(&bytes(&opts["base_key"]))?);
    }
    for (bits, default) in [(64, Algorithm::Blowfish), (96, Algorithm::Blowfish), (128, Algorithm::Aes)] {
        let algorithm = match opts[format!("cipher{bits}")].as_str() {
            Some(name) => Algorithm::parse(name).ok_or_else(|| Error::config("ciphers", "no such cipher"))?,
            None => default,
        };
        keys.algorithms.insert(bits, algorithm);
        if opts[format!("key{bits}")].is_string() {
            keys.explicit.insert(bits, Zeroizing::new(bytes(&opts[format!("key{bits}")])));
        }
    }
    Keyring::new(keys)
}

#[test]
fn keys_and_ciphers_are_taken_and_refused_alike() {
    let vectors = load("02_key_derivation");
    let mut seen = BTreeMap::<(&str, Option<&str>), usize>::new();
    for row in rows(&vectors, "init_validation") {
        let ours = keyring(&row["opts"]);
        let option = ours.as_ref().err().and_then(|error| error.fields().option);
        let difference = match (text(&row["desc"]), row["result"] == "ok", ours.is_ok()) {
            (_, true, true) => "none: both take it",
            (_, false, false) => "none: both refuse it",
            ("cipher64 aes with base_key", false, true) => "aes of 64 bits is ours",
            ("cipher64 unknown, no key" | "cipher128 blowfish, no key", true, false) => "refused before it is needed",
            _ => unreachable!("{row}"),
        };
        *seen.entry((difference, option)).or_default() += 1;
    }
    let expected = [
        (("aes of 64 bits is ours", None), 1),
        (("none: both refuse it", Some("cipherKeys")), 7),
        (("none: both refuse it", Some("ciphers")), 1),
        (("none: both refuse it", Some("key")), 3),
        (("none: both take it", None), 10),
        (("refused before it is needed", Some("ciphers")), 2),
    ];
    assert_eq!(seen, BTreeMap::from(expected));
}
