//! Blowfish under a key of 128 bits: a number is its eight big-endian bytes.

use std::fmt;

use aes::cipher::array::Array;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt};

use super::BaseKey;

/// A bijection of the 64-bit numbers, chosen by a key. Its tables are wiped when it is dropped, and never shown.
pub struct Blowfish(Box<blowfish::Blowfish>);

impl Blowfish {
    /// The cipher of an explicit key.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        // What the crate has for bcrypt takes a key of any length and cannot fail.
        let mut cipher = Box::new(blowfish::Blowfish::bc_init_state());
        cipher.bc_expand_key(key);
        Self(cipher)
    }

    /// The cipher whose key is derived from a base key under a salt of `NoNoncense`'s, one a size.
    #[must_use]
    pub fn derived(base: &BaseKey, salt: &str) -> Self {
        Self::new(&base.derive(salt))
    }

    /// The number that stands for `number`.
    #[must_use]
    pub fn encrypt(&self, number: u64) -> u64 {
        let mut block = Array::from(number.to_be_bytes());
        self.0.encrypt_block(&mut block);
        u64::from_be_bytes(block.into())
    }

    /// The number that `number` stands for: the inverse of [`Blowfish::encrypt`].
    #[must_use]
    pub fn decrypt(&self, number: u64) -> u64 {
        let mut block = Array::from(number.to_be_bytes());
        self.0.decrypt_block(&mut block);
        u64::from_be_bytes(block.into())
    }
}

impl fmt::Debug for Blowfish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blowfish(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_bijection(key: [u8; 16], a: u64, b: u64) {
            let blowfish = Blowfish::new(&key);
            prop_assert_eq!(blowfish.decrypt(blowfish.encrypt(a)), a);
            prop_assert_eq!(blowfish.encrypt(blowfish.decrypt(a)), a);
            prop_assert_eq!(blowfish.encrypt(a) == blowfish.encrypt(b), a == b);
        }
    }

    /// Of Eric Young's vectors for keys of many lengths, the one of 16 bytes.
    #[test]
    fn a_published_vector_comes_out_the_same() {
        let key = 0xf0e1_d2c3_b4a5_9687_7869_5a4b_3c2d_1e0f_u128.to_be_bytes();
        assert_eq!(Blowfish::new(&key).encrypt(0xfedc_ba98_7654_3210), 0x9314_2887_ee3b_e15c);
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Blowfish::new(&[7; 16])), "Blowfish(…)");
    }
}
