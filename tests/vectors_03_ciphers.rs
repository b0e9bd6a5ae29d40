//! `vectors/03`: blocks of every size under every cipher, with derived and with explicit keys, and encrypted nonces.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use std::collections::BTreeMap;
use std::sync::Arc;

use mintid::cipher::{Algorithm, BaseKey, Cipher, Keyring, Keys, WideCipher};
use mintid::codec::Format;
use mintid::error::Code;
use mintid::id::{Base, IdType, Kind, Spec};
use mintid::layout::{Layout, Size};
use serde_json::Value;
use vectors_support::{bytes, load, number, rows, size, spec, text, wide};
use zeroize::Zeroizing;

fn algorithm(row: &Value) -> Algorithm {
    Algorithm::parse(text(&row["cipher"])).unwrap()
}

fn assert_narrow(row: &Value, cipher: &Cipher) {
    let (plain, encrypted) = (number(&row["plaintext"]), number(&row["ciphertext"]));
    assert_eq!(cipher.encrypt(plain), encrypted, "{row}");
    assert_eq!(cipher.decrypt(encrypted), plain, "{row}");
    // 64 side by side, 32, then 8, then one.
    let mut block = [plain; 105];
    cipher.encrypt_in_place(&mut block);
    assert_eq!(block, [encrypted; 105], "{row}");
    cipher.decrypt_in_place(&mut block);
    assert_eq!(block, [plain; 105], "{row}");
}

fn assert_wide(row: &Value, cipher: &WideCipher) {
    let (plain, encrypted) = (wide(&row["plaintext"]), wide(&row["ciphertext"]));
    assert!(cipher.takes(plain) && cipher.takes(encrypted), "{row}");
    assert_eq!(cipher.encrypt(plain), encrypted, "{row}");
    assert_eq!(cipher.decrypt(encrypted), plain, "{row}");
}

#[test]
fn blocks_are_encrypted_and_decrypted_alike() {
    let vectors = load("03_encrypt");
    let mut seen = BTreeMap::<(u64, &str, &str), usize>::new();
    for row in rows(&vectors, "vectors") {
        let (size, algorithm, source) = (size(row), algorithm(row), text(&row["key_source"]));
        let effective = bytes(&row["effective_key"]);
        let derived = source == "base_key";
        if !derived {
            assert_eq!(bytes(&row["key"]), effective);
        }
        let base = || BaseKey::new(&bytes(&row["base_key"])).unwrap();
        if size == Size::Bits64 {
            let explicit = Cipher::new(algorithm, &effective).unwrap();
            assert_narrow(row, &explicit);
            let fingerprint =
                if derived { Cipher::derived(algorithm, &base()).fingerprint() } else { explicit.fingerprint() };
            assert_eq!(fingerprint, explicit.fingerprint(), "{row}");
        } else {
            let explicit = WideCipher::new(algorithm, size, &effective).unwrap();
            assert_wide(row, &explicit);
            if derived {
                assert_wide(row, &WideCipher::derived(algorithm, size, &base()).unwrap());
            }
        }
        *seen.entry((row["bits"].as_u64().unwrap(), algorithm.as_str(), source)).or_default() += 1;
    }
    let expected = [
        ((64, "blowfish", "base_key"), 49),
        ((64, "blowfish", "explicit"), 39),
        ((64, "des3", "base_key"), 49),
        ((64, "des3", "explicit"), 39),
        ((64, "speck", "base_key"), 49),
        ((64, "speck", "explicit"), 39),
        ((96, "blowfish", "base_key"), 48),
        ((96, "blowfish", "explicit"), 39),
        ((96, "des3", "base_key"), 49),
        ((96, "des3", "explicit"), 39),
        ((96, "speck", "base_key"), 49),
        ((96, "speck", "explicit"), 39),
        ((128, "aes", "base_key"), 49),
        ((128, "aes", "explicit"), 39),
        ((128, "speck", "base_key"), 48),
        ((128, "speck", "explicit"), 39),
    ];
    assert_eq!(seen, BTreeMap::from(expected));
}

/// A keyring whose ciphers of 64 and 96 bits are those of a row.
fn keyring(row: &Value, base: Option<&Value>) -> Keyring {
    let algorithms = BTreeMap::from([(row["bits"].as_u64().unwrap() as u32, algorithm(row))]);
    let base = base.map(|base| BaseKey::new(&bytes(base)).unwrap());
    Keyring::new(Keys { base, algorithms, ..Keys::default() }).unwrap()
}

#[test]
fn encrypted_nonces_show_the_same_parts() {
    let vectors = load("03_encrypt");
    let base_key = &vectors["base_keys"][3];
    let rows = rows(&vectors, "encrypted_nonce");
    for row in rows {
        let (size, encrypted, decrypted) = (size(row), bytes(&row["nonce"]), bytes(&row["decrypted"]));
        let ring = keyring(row, Some(base_key));
        let mut nonce = encrypted.clone();
        ring.decrypt(&mut nonce).unwrap();
        assert_eq!(nonce, decrypted, "{row}");
        ring.encrypt(&mut nonce).unwrap();
        assert_eq!(nonce, encrypted, "{row}");
        let parts = Layout::DEFAULT.unpack_sized(size, wide(&row["decrypted"]));
        assert_eq!((Some(parts.machine), parts.count), (row["machine_id"].as_u64(), 0), "{row}");
        assert!(Layout::DEFAULT.fits_sized(size, wide(&row["decrypted"])), "{row}");
    }
    assert_eq!(rows.len(), 16);
}

#[test]
fn types_of_64_bits_look_behind_encrypted_nonces() {
    let vectors = load("03_encrypt");
    let base_key = BaseKey::new(&bytes(&vectors["base_keys"][3])).unwrap();
    let rows: Vec<_> = rows(&vectors, "encrypted_nonce").iter().filter(|row| row["bits"] == 64).collect();
    for row in &rows {
        let base = if row["base_type"] == "sortable" { Base::Sortable } else { Base::Counter };
        let encryption = Some(Arc::new(Cipher::derived(algorithm(row), &base_key)));
        let kind = Kind::Encrypted { base };
        let id_type = IdType::new(Spec { kind, encryption, ..spec("", Format::Hex) }).unwrap();
        let (nonce, plain) = (number(&row["nonce"]), number(&row["decrypted"]));
        assert_eq!((id_type.nonce(nonce), id_type.number(plain)), (plain, nonce), "{row}");
        let seen = id_type.inspect(nonce);
        assert_eq!((Some(seen.machine_id), seen.exact), (row["machine_id"].as_u64(), base == Base::Sortable), "{row}");
    }
    assert_eq!(rows.len(), 6);
}

#[test]
fn what_cannot_be_encrypted_is_an_error_by_name() {
    let vectors = load("03_encrypt");
    let without_key = || Keyring::new(Keys::default()).unwrap();
    let under =
        |cipher: &str| keyring(&serde_json::json!({ "bits": 96, "cipher": cipher }), Some(&vectors["base_keys"][3]));
    let explicit = BTreeMap::from([(64, Zeroizing::new(vec![7; 16]))]);
    let only_64 = Keyring::new(Keys { explicit, ..Keys::default() }).unwrap();
    let (mut refused, mut taken) = (0, 0);
    for row in rows(&vectors, "errors") {
        let (ring, length, last, back) = match text(&row["desc"]) {
            "64-bit, no key" => (without_key(), 8, 0, false),
            "96-bit blowfish, tail 00000001" => (under("blowfish"), 12, 1, false),
            "96-bit blowfish decrypt, tail 00000001" => (under("blowfish"), 12, 1, true),
            "96-bit des3, tail ffffffff" => (under("des3"), 12, 0xff, false),
            "96-bit des3, tail zero" => (under("des3"), 12, 0, false),
            "96-bit speck, tail non-zero is fine" => (under("speck"), 12, 1, false),
            "7-byte input" => (under("speck"), 7, 0, false),
            "9-byte input" => (under("speck"), 9, 0, false),
            "empty input" => (under("speck"), 0, 0, false),
            "only key64 given, 128-bit nonce" => {
                assert_eq!(only_64.encrypt(&mut [0; 16]).unwrap_err().fields().bits, Some(128));
                refused += 1;
                continue;
            }
            desc => unreachable!("{desc}"),
        };
        let mut nonce = vec![0; length];
        if let Some(byte) = nonce.last_mut() {
            *byte = last;
        }
        let crypted = if back { ring.decrypt(&mut nonce) } else { ring.encrypt(&mut nonce) };
        assert_eq!(row["result"] == "ok", crypted.is_ok(), "{row}");
        match crypted {
            Ok(()) => taken += 1,
            Err(error) => {
                let no_key = text(&row["desc"]).ends_with("no key");
                let expected = if no_key { (Code::NoKey, None) } else { (Code::Config, Some("nonce")) };
                assert_eq!((error.code(), error.fields().option), expected, "{row}");
                refused += 1;
            }
        }
    }
    assert_eq!((refused, taken), (8, 2));
}
