//! `vectors/02`: the keys that NoNoncense derives from a base key, and the base keys that it refuses.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use mintid::cipher::BaseKey;
use vectors_support::{bytes, load, rows, text};

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
fn base_keys_are_taken_and_refused_by_the_same_length() {
    let vectors = load("02_key_derivation");
    let (mut taken, mut refused, mut other_ciphers) = (0, 0, 0);
    for row in rows(&vectors, "init_validation").iter().filter(|row| row["opts"]["base_key"].is_string()) {
        let opts = &row["opts"];
        let base = BaseKey::new(&bytes(&opts["base_key"]));
        if opts["cipher64"].is_string() || opts["cipher128"].is_string() {
            // A good base key beside a cipher that its size does not have: not a question of the key.
            assert!(base.is_ok() && row["message"].as_str().unwrap().starts_with("alg "), "{row}");
            other_ciphers += 1;
        } else if row["result"] == "ok" {
            assert!(base.is_ok(), "{row}");
            taken += 1;
        } else {
            assert_eq!(base.unwrap_err().fields().option, Some("key"), "{row}");
            refused += 1;
        }
    }
    assert_eq!((taken, refused, other_ciphers), (1, 3, 2));
}
