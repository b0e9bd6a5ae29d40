//! `vectors/03`: blocks under Speck64/128, with derived and with explicit keys, and encrypted nonces.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use mintid::cipher::{BaseKey, Speck64};
use mintid::codec::Format;
use mintid::id::{Base, IdType, Kind, Spec};
use serde_json::Value;
use vectors_support::{bytes, load, number, rows, spec, speck, text};

fn is_speck64(row: &Value) -> bool {
    row["bits"] == 64 && row["cipher"] == "speck"
}

#[test]
fn blocks_are_encrypted_and_decrypted_alike() {
    let vectors = load("03_encrypt");
    let (mut derived, mut explicit) = (0, 0);
    for row in rows(&vectors, "vectors").iter().filter(|row| is_speck64(row)) {
        let effective: [u8; 16] = bytes(&row["effective_key"]).try_into().unwrap();
        let cipher = if text(&row["key_source"]) == "base_key" {
            let base = BaseKey::new(&bytes(&row["base_key"])).unwrap();
            assert_eq!(*base.derive::<16>("speck64_128"), effective);
            derived += 1;
            Speck64::derived(&base)
        } else {
            assert_eq!(bytes(&row["key"]), effective);
            explicit += 1;
            Speck64::new(&effective)
        };
        let (plain, encrypted) = (number(&row["plaintext"]), number(&row["ciphertext"]));
        assert_eq!(cipher.encrypt(plain), encrypted, "{row}");
        assert_eq!(cipher.decrypt(encrypted), plain, "{row}");
        // 32 side by side, then 8, then one.
        let mut block = [plain; 41];
        cipher.encrypt_in_place(&mut block);
        assert_eq!(block, [encrypted; 41], "{row}");
        cipher.decrypt_in_place(&mut block);
        assert_eq!(block, [plain; 41], "{row}");
    }
    assert_eq!((derived, explicit), (49, 39));
}

#[test]
fn encrypted_nonces_show_the_same_parts() {
    let vectors = load("03_encrypt");
    let encryption = speck(&vectors["base_keys"][3]);
    let rows: Vec<_> = rows(&vectors, "encrypted_nonce").iter().filter(|row| is_speck64(row)).collect();
    for row in &rows {
        let base = if row["base_type"] == "sortable" { Base::Sortable } else { Base::Counter };
        let kind = Kind::Encrypted { base };
        let id_type =
            IdType::new(Spec { kind, encryption: Some(encryption.clone()), ..spec("", Format::Hex) }).unwrap();
        let (nonce, plain) = (number(&row["nonce"]), number(&row["decrypted"]));
        assert_eq!((id_type.nonce(nonce), id_type.number(plain)), (plain, nonce), "{row}");
        let seen = id_type.inspect(nonce);
        assert_eq!((Some(seen.machine_id), seen.exact), (row["machine_id"].as_u64(), base == Base::Sortable), "{row}");
    }
    assert_eq!(rows.len(), 2);
}
