//! Speck96/144 and Speck128/256: the same cipher on words of 48 and 64 bits. Words, blocks and keys are read from left
//! to right, as those of Speck64.

use std::array;
use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::cipher::BaseKey;

/// Speck96/144: blocks of 96 bits, the lower ones of a number, under a key of 144.
pub type Speck96 = Wide<48, 29>;
/// Speck128/256: blocks of 128 bits under a key of 256.
pub type Speck128 = Wide<64, 34>;

/// A bijection of the numbers of two words of `WORD` bits, chosen by a key. Its round keys are wiped when it is dropped,
/// and never shown.
#[derive(ZeroizeOnDrop)]
pub struct Wide<const WORD: u32, const ROUNDS: usize> {
    round_keys: [u64; ROUNDS],
}

impl Speck96 {
    /// The cipher of an explicit key.
    #[must_use]
    pub fn new(key: &[u8; 18]) -> Self {
        let word = |at: usize| key[at..at + 6].iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Self::scheduled([6, 0].map(word), word(12))
    }

    /// The cipher whose key is derived from a base key under `NoNoncense`'s salt.
    #[must_use]
    pub fn derived(base: &BaseKey) -> Self {
        Self::new(&base.derive("speck96_144"))
    }
}

impl Speck128 {
    /// The cipher of an explicit key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        let word = |at: usize| key[at..at + 8].iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Self::scheduled([16, 8, 0].map(word), word(24))
    }

    /// The cipher whose key is derived from a base key under `NoNoncense`'s salt.
    #[must_use]
    pub fn derived(base: &BaseKey) -> Self {
        Self::new(&base.derive("speck128_256"))
    }
}

impl<const WORD: u32, const ROUNDS: usize> Wide<WORD, ROUNDS> {
    const MASK: u64 = u64::MAX >> (64 - WORD);

    /// The number that stands for `number`; bits above the block stay away.
    #[must_use]
    #[inline]
    pub fn encrypt(&self, number: u128) -> u128 {
        let (mut x, mut y) = Self::halves(number);
        for &key in &self.round_keys {
            (x, y) = Self::forward(key, x, y);
        }
        Self::whole(x, y)
    }

    /// The number that `number` stands for: the inverse of [`Wide::encrypt`].
    #[must_use]
    #[inline]
    pub fn decrypt(&self, number: u128) -> u128 {
        let (mut x, mut y) = Self::halves(number);
        for &key in self.round_keys.iter().rev() {
            (x, y) = Self::backward(key, x, y);
        }
        Self::whole(x, y)
    }

    /// The lowest word of a key and the others, the lowest of them first.
    fn scheduled<const OTHERS: usize>(mut words: [u64; OTHERS], mut round_key: u64) -> Self {
        let round_keys = array::from_fn(|round| {
            let key = round_key;
            // The schedule is the cipher itself, with the number of the round as its key.
            let word = &mut words[round % OTHERS];
            (*word, round_key) = Self::forward(round as u64, *word, round_key);
            key
        });
        words.zeroize();
        Self { round_keys }
    }

    const fn forward(key: u64, x: u64, y: u64) -> (u64, u64) {
        let x = (Self::rotate_left(x, WORD - 8).wrapping_add(y) & Self::MASK) ^ key;
        (x, Self::rotate_left(y, 3) ^ x)
    }

    const fn backward(key: u64, x: u64, y: u64) -> (u64, u64) {
        let y = Self::rotate_left(x ^ y, WORD - 3);
        (Self::rotate_left((x ^ key).wrapping_sub(y) & Self::MASK, 8), y)
    }

    const fn rotate_left(word: u64, by: u32) -> u64 {
        (word << by | word >> (WORD - by)) & Self::MASK
    }

    const fn halves(number: u128) -> (u64, u64) {
        ((number >> WORD) as u64 & Self::MASK, number as u64 & Self::MASK)
    }

    const fn whole(x: u64, y: u64) -> u128 {
        (x as u128) << WORD | y as u128
    }
}

impl<const WORD: u32, const ROUNDS: usize> fmt::Debug for Wide<WORD, ROUNDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Speck{}(…)", 2 * WORD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use speck_cipher::cipher::{Block, BlockCipherEncrypt, KeyInit};
    use speck_cipher::{Speck96_144, Speck128_256};

    proptest! {
        #[test]
        fn of_96_bits_it_is_speck_and_a_bijection(key: [u8; 18], a: u128, b: u128) {
            let (speck, a, b) = (Speck96::new(&key), a >> 32, b >> 32);
            let bytes: [u8; 12] = a.to_be_bytes()[4..].try_into().unwrap();
            let mut block = Block::<Speck96_144>::from(bytes);
            Speck96_144::new(&key.into()).encrypt_block(&mut block);
            prop_assert_eq!(&speck.encrypt(a).to_be_bytes()[4..], &block[..]);
            prop_assert_eq!(speck.decrypt(speck.encrypt(a)), a);
            prop_assert_eq!(speck.encrypt(speck.decrypt(a)), a);
            prop_assert_eq!(speck.encrypt(a) == speck.encrypt(b), a == b);
        }

        #[test]
        fn of_128_bits_it_is_speck_and_a_bijection(key: [u8; 32], a: u128, b: u128) {
            let speck = Speck128::new(&key);
            let mut block = Block::<Speck128_256>::from(a.to_be_bytes());
            Speck128_256::new(&key.into()).encrypt_block(&mut block);
            prop_assert_eq!(speck.encrypt(a).to_be_bytes(), <[u8; 16]>::from(block));
            prop_assert_eq!(speck.decrypt(speck.encrypt(a)), a);
            prop_assert_eq!(speck.encrypt(speck.decrypt(a)), a);
            prop_assert_eq!(speck.encrypt(a) == speck.encrypt(b), a == b);
        }
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Speck96::new(&[7; 18])), "Speck96(…)");
        assert_eq!(format!("{:?}", Speck128::new(&[7; 32])), "Speck128(…)");
    }
}
