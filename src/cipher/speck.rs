//! Speck64/128: a block of 64 bits under a key of 128. Words, blocks and keys are read from left to right as in the
//! paper's vectors: a number is its eight big-endian bytes, and the highest key word comes first.

use std::fmt;

use speck_cipher::Speck64_128;
use speck_cipher::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use super::BaseKey;

/// A bijection of the 64-bit numbers, chosen by a key. Its round keys are wiped when it is dropped, and never shown.
pub struct Speck64(Speck64_128);

impl Speck64 {
    /// The cipher of an explicit key.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        Self(Speck64_128::new(key.into()))
    }

    /// The cipher whose key is derived from a base key under NoNoncense's salt.
    #[must_use]
    pub fn derived(base: &BaseKey) -> Self {
        Self::new(&base.derive("speck64_128"))
    }

    /// The number that stands for `number`.
    #[must_use]
    #[inline]
    pub fn encrypt(&self, number: u64) -> u64 {
        let mut block = Block::<Speck64_128>::from(number.to_be_bytes());
        self.0.encrypt_block(&mut block);
        u64::from_be_bytes(block.into())
    }

    /// The number that `number` stands for: the inverse of [`Speck64::encrypt`].
    #[must_use]
    #[inline]
    pub fn decrypt(&self, number: u64) -> u64 {
        let mut block = Block::<Speck64_128>::from(number.to_be_bytes());
        self.0.decrypt_block(&mut block);
        u64::from_be_bytes(block.into())
    }
}

impl fmt::Debug for Speck64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Speck64(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_bijection(key: [u8; 16], a: u64, b: u64) {
            let speck = Speck64::new(&key);
            prop_assert_eq!(speck.decrypt(speck.encrypt(a)), a);
            prop_assert_eq!(speck.encrypt(speck.decrypt(a)), a);
            prop_assert_eq!(speck.encrypt(a) == speck.encrypt(b), a == b);
        }
    }

    #[test]
    fn the_papers_vector_reads_from_left_to_right() {
        let key = 0x1b1a_1918_1312_1110_0b0a_0908_0302_0100_u128.to_be_bytes();
        assert_eq!(Speck64::new(&key).encrypt(0x3b72_6574_7475_432d), 0x8c6f_a548_454e_028b);
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Speck64::new(&[7; 16])), "Speck64(…)");
    }
}
