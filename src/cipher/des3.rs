//! Triple DES under three keys (encrypt, decrypt, encrypt), one block at a time: a number is its eight big-endian bytes.
//! Equal keys and wrong parity are taken, as OpenSSL takes them.

use std::fmt;

use aes::cipher::array::Array;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use des::TdesEde3;

use super::BaseKey;

/// A bijection of the 64-bit numbers, chosen by a key. Its round keys are wiped when it is dropped, and never shown.
pub struct Des3(TdesEde3);

impl Des3 {
    /// The cipher of an explicit key, the one of the first DES first.
    #[must_use]
    pub fn new(key: &[u8; 24]) -> Self {
        Self(TdesEde3::new(key.into()))
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

    /// The number that `number` stands for: the inverse of [`Des3::encrypt`].
    #[must_use]
    pub fn decrypt(&self, number: u64) -> u64 {
        let mut block = Array::from(number.to_be_bytes());
        self.0.decrypt_block(&mut block);
        u64::from_be_bytes(block.into())
    }
}

impl fmt::Debug for Des3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Des3(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_bijection(key: [u8; 24], a: u64, b: u64) {
            let des3 = Des3::new(&key);
            prop_assert_eq!(des3.decrypt(des3.encrypt(a)), a);
            prop_assert_eq!(des3.encrypt(des3.decrypt(a)), a);
            prop_assert_eq!(des3.encrypt(a) == des3.encrypt(b), a == b);
        }
    }

    /// With three equal keys it is DES itself, so the classic vector of that is one; parity bits count for nothing.
    #[test]
    fn a_published_vector_comes_out_the_same() {
        let key = 0x1334_5779_9bbc_dff1_u64;
        for key in [key, key ^ 0x0101_0101_0101_0101] {
            let key: [u8; 24] = [key.to_be_bytes(); 3].concat().try_into().unwrap();
            assert_eq!(Des3::new(&key).encrypt(0x0123_4567_89ab_cdef), 0x85e8_1354_0f0a_b405);
        }
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Des3::new(&[7; 24])), "Des3(…)");
    }
}
