//! AES-256 on its own block of 128 bits: a number is its sixteen big-endian bytes.

use std::fmt;

use aes::Aes256;
use aes::cipher::array::Array;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use super::BaseKey;

/// A bijection of the 128-bit numbers, chosen by a key. Its round keys are wiped when it is dropped, and never shown.
pub struct Aes(Aes256);

impl Aes {
    /// The cipher of an explicit key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Aes256::new(key.into()))
    }

    /// The cipher whose key is derived from a base key under `NoNoncense`'s salt.
    #[must_use]
    pub fn derived(base: &BaseKey) -> Self {
        Self::new(&base.derive("aes"))
    }

    /// The number that stands for `number`.
    #[must_use]
    pub fn encrypt(&self, number: u128) -> u128 {
        let mut block = Array::from(number.to_be_bytes());
        self.0.encrypt_block(&mut block);
        u128::from_be_bytes(block.into())
    }

    /// The number that `number` stands for: the inverse of [`Aes::encrypt`].
    #[must_use]
    pub fn decrypt(&self, number: u128) -> u128 {
        let mut block = Array::from(number.to_be_bytes());
        self.0.decrypt_block(&mut block);
        u128::from_be_bytes(block.into())
    }
}

impl fmt::Debug for Aes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_bijection(key: [u8; 32], a: u128, b: u128) {
            let aes = Aes::new(&key);
            prop_assert_eq!(aes.decrypt(aes.encrypt(a)), a);
            prop_assert_eq!(aes.encrypt(aes.decrypt(a)), a);
            prop_assert_eq!(aes.encrypt(a) == aes.encrypt(b), a == b);
        }
    }

    #[test]
    fn the_example_of_fips_197_comes_out_the_same() {
        let key = std::array::from_fn(|at| at as u8);
        let encrypted = 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089;
        assert_eq!(Aes::new(&key).encrypt(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff), encrypted);
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Aes::new(&[7; 32])), "Aes(…)");
    }
}
