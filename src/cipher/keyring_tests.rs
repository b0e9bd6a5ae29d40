//! Which key and which cipher a generator takes for what.

use super::*;
use crate::error::Code;

fn base(fill: u8) -> BaseKey {
    BaseKey::new(&[fill; 32]).unwrap()
}

fn with_base() -> Keyring {
    let named = BTreeMap::from([("k1".to_owned(), base(2)), ("k2".to_owned(), base(3))]);
    Keyring::new(Keys { base: Some(base(1)), named, ..Keys::default() }).unwrap()
}

fn explicit(bits: u32, length: usize) -> Keys {
    Keys { explicit: BTreeMap::from([(bits, Zeroizing::new(vec![9; length]))]), ..Keys::default() }
}

fn option<T: fmt::Debug>(result: Result<T, Error>) -> Option<&'static str> {
    result.unwrap_err().fields().option
}

#[test]
fn one_cipher_is_made_once_and_shared() {
    let ring = with_base();
    let cipher = |key, algorithm, tweak: &[u8]| ring.cipher(key, algorithm, tweak, "mask").unwrap();
    assert!(Arc::ptr_eq(&cipher(None, None, b""), &cipher(None, Some(Algorithm::Speck), b"")));
    let aes = Some(Algorithm::Aes);
    assert!(Arc::ptr_eq(&cipher(Some("k1"), aes, b"a"), &cipher(Some("k1"), aes, b"a")));
    let wide = |key| ring.wide_cipher(Size::Bits96, key, None, "mask").unwrap();
    assert!(Arc::ptr_eq(&wide(None), &wide(None)));
    let all = [
        cipher(None, None, b""),
        cipher(Some("k1"), None, b""),
        cipher(Some("k2"), None, b""),
        cipher(None, aes, b""),
        cipher(None, aes, b"a"),
        cipher(None, aes, b"b"),
        cipher(Some("k1"), aes, b"a"),
    ];
    let distinct: std::collections::HashSet<_> = all.iter().map(|cipher| cipher.fingerprint()).collect();
    assert_eq!(distinct.len(), all.len());
    assert_ne!(wide(None).fingerprint(), wide(Some("k1")).fingerprint());
}

#[test]
fn a_named_key_is_the_base_key_of_its_own_ciphers() {
    let ring = with_base();
    let derived = Cipher::derived(Algorithm::Des3, &base(3)).fingerprint();
    assert_eq!(ring.cipher(Some("k2"), Some(Algorithm::Des3), b"", "mask").unwrap().fingerprint(), derived);
    let derived = WideCipher::derived(Algorithm::Speck, Size::Bits128, &base(2)).unwrap().fingerprint();
    let speck = Some(Algorithm::Speck);
    assert_eq!(ring.wide_cipher(Size::Bits128, Some("k1"), speck, "mask").unwrap().fingerprint(), derived);
    let error = ring.cipher(Some("k\n3"), None, b"", "mask").unwrap_err();
    assert_eq!((error.code(), error.fields().option), (Code::Config, Some("mask")));
    assert!(error.message().ends_with(r#"found "k\n3""#), "{error}");
}

#[test]
fn an_explicit_key_stands_before_the_derived_one_of_its_size_and_cipher() {
    let ring = Keyring::new(Keys { base: Some(base(1)), ..explicit(64, 16) }).unwrap();
    let explicit = Cipher::new(Algorithm::Speck, &[9; 16]).unwrap().fingerprint();
    assert_eq!(ring.cipher(None, None, b"", "mask").unwrap().fingerprint(), explicit);
    let derived = Cipher::derived(Algorithm::Aes, &base(1)).fingerprint();
    assert_eq!(ring.cipher(None, Some(Algorithm::Aes), b"", "mask").unwrap().fingerprint(), derived);
    let derived = WideCipher::derived(Algorithm::Speck, Size::Bits96, &base(1)).unwrap().fingerprint();
    assert_eq!(ring.wide_cipher(Size::Bits96, None, None, "mask").unwrap().fingerprint(), derived);
    let algorithms = BTreeMap::from([(64, Algorithm::Aes)]);
    let ring = Keyring::new(Keys { base: Some(base(1)), algorithms, ..self::explicit(64, 32) }).unwrap();
    let tweaked = Cipher::new(Algorithm::Aes, &[9; 32]).unwrap().with_tweak(b"t").unwrap().fingerprint();
    assert_eq!(ring.cipher(None, None, b"t", "mask").unwrap().fingerprint(), tweaked);
}

#[test]
fn what_has_no_key_says_so_with_its_size() {
    let ring = Keyring::new(self::explicit(64, 16)).unwrap();
    assert!(ring.cipher(None, None, b"", "mask").is_ok());
    for (error, bits) in [
        (ring.cipher(None, Some(Algorithm::Blowfish), b"", "mask").unwrap_err(), 64),
        (ring.wide_cipher(Size::Bits96, None, None, "mask").unwrap_err(), 96),
        (ring.encrypt(&mut [0; 16]).unwrap_err(), 128),
        (Keyring::new(Keys::default()).unwrap().decrypt(&mut [0; 8]).unwrap_err(), 64),
    ] {
        assert_eq!((error.code(), error.fields().bits), (Code::NoKey, Some(bits)));
    }
}

#[test]
fn keys_and_ciphers_that_do_not_fit_are_refused_by_name() {
    let algorithms = |bits, algorithm| Keys { algorithms: BTreeMap::from([(bits, algorithm)]), ..Keys::default() };
    for (bits, algorithm) in
        [(96, Algorithm::Aes), (128, Algorithm::Blowfish), (128, Algorithm::Des3), (32, Algorithm::Speck)]
    {
        assert_eq!(option(Keyring::new(algorithms(bits, algorithm))), Some("ciphers"), "{bits} {algorithm:?}");
    }
    for (bits, length) in [(64, 32), (96, 16), (128, 16), (256, 32)] {
        assert_eq!(option(Keyring::new(explicit(bits, length))), Some("cipherKeys"), "{bits} {length}");
    }
    assert!(Keyring::new(Keys { algorithms: BTreeMap::from([(64, Algorithm::Aes)]), ..explicit(64, 32) }).is_ok());
    let ring = with_base();
    assert_eq!(option(ring.wide_cipher(Size::Bits128, None, Some(Algorithm::Des3), "mask")), Some("cipher"));
    assert_eq!(option(ring.cipher(None, None, b"tweak", "mask")), Some("maskTweak"));
}

#[test]
fn nonces_of_every_size_are_encrypted_and_come_back() {
    for algorithm in [Algorithm::Speck, Algorithm::Blowfish, Algorithm::Des3] {
        let algorithms = BTreeMap::from([(64, algorithm), (96, algorithm)]);
        let ring = Keyring::new(Keys { base: Some(base(1)), algorithms, ..Keys::default() }).unwrap();
        for length in [8, 12, 16] {
            let mut plain: Vec<u8> = (1..=length).collect();
            if algorithm != Algorithm::Speck && length == 12 {
                plain[8..].fill(0);
            }
            let mut nonce = plain.clone();
            ring.encrypt(&mut nonce).unwrap();
            assert_ne!(nonce, plain);
            ring.decrypt(&mut nonce).unwrap();
            assert_eq!(nonce, plain);
        }
        for length in [0, 7, 9, 11, 13, 17, 100] {
            assert_eq!(option(ring.encrypt(&mut vec![0; length])), Some("nonce"));
            assert_eq!(option(ring.decrypt(&mut vec![0; length])), Some("nonce"));
        }
        if algorithm != Algorithm::Speck {
            let mut tail = [0; 12];
            tail[11] = 1;
            assert_eq!(
                (option(ring.encrypt(&mut tail)), option(ring.decrypt(&mut tail))),
                (Some("nonce"), Some("nonce"))
            );
        }
    }
}

#[test]
fn the_fingerprint_is_that_of_the_key_without_a_name() {
    assert_eq!(with_base().fingerprint(), Some(base(1).fingerprint()));
    assert_eq!(Keyring::new(explicit(64, 16)).unwrap().fingerprint(), None);
}

#[test]
fn debug_shows_names_and_no_key() {
    let ring = with_base();
    ring.cipher(Some("k1"), None, b"", "mask").unwrap();
    assert_eq!(format!("{ring:?}"), r#"Keyring { named: ["k1", "k2"], .. }"#);
}
