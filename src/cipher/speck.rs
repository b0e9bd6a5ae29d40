//! Speck64/128: a block of 64 bits under a key of 128. Words, blocks and keys are read from left to right as in the
//! paper's vectors: a number is its eight big-endian bytes, and the highest key word comes first.
//!
//! The rounds are our own, so that many numbers go through them side by side; the crate `speck-cipher` and `vectors/03`
//! say in tests that they are Speck's.

#![allow(clippy::inline_always, reason = "what is not inlined is not compiled anew for wider vectors: see `lanes`")]

mod wide;

pub use wide::{Speck96, Speck128};

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::BaseKey;
use crate::lanes::{self, Loop};

const ROUNDS: usize = 27;

/// A bijection of the 64-bit numbers, chosen by a key. Its round keys are wiped when it is dropped, and never shown.
#[derive(ZeroizeOnDrop)]
pub struct Speck64 {
    round_keys: [u32; ROUNDS],
}

impl Speck64 {
    /// The cipher of an explicit key.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        let key = u128::from_be_bytes(*key);
        let mut round_key = key as u32;
        let mut words = [1, 2, 3].map(|word| (key >> (32 * word)) as u32);
        let mut round_keys = [0; ROUNDS];
        for (round, slot) in round_keys.iter_mut().enumerate() {
            *slot = round_key;
            // The schedule is the cipher itself, with the number of the round as its key.
            (words[round % 3], round_key) = forward(round as u32, words[round % 3], round_key);
        }
        words.zeroize();
        Self { round_keys }
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
        let (mut x, mut y) = halves(number);
        for &key in &self.round_keys {
            (x, y) = forward(key, x, y);
        }
        whole(x, y)
    }

    /// The number that `number` stands for: the inverse of [`Speck64::encrypt`].
    #[must_use]
    #[inline]
    pub fn decrypt(&self, number: u64) -> u64 {
        let (mut x, mut y) = halves(number);
        for &key in self.round_keys.iter().rev() {
            (x, y) = backward(key, x, y);
        }
        whole(x, y)
    }

    /// Puts what stands for each number in its place: [`Speck64::encrypt`] for many, several times as fast from about
    /// eight on.
    pub fn encrypt_in_place(&self, numbers: &mut [u64]) {
        lanes::run(InPlace::<false> { cipher: self, numbers });
    }

    /// The inverse of [`Speck64::encrypt_in_place`].
    pub fn decrypt_in_place(&self, numbers: &mut [u64]) {
        lanes::run(InPlace::<true> { cipher: self, numbers });
    }
}

impl fmt::Debug for Speck64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Speck64(…)")
    }
}

/// All rounds for many numbers, forward or `BACK`.
struct InPlace<'a, const BACK: bool> {
    cipher: &'a Speck64,
    numbers: &'a mut [u64],
}

impl<const BACK: bool> Loop for InPlace<'_, BACK> {
    /// 32 numbers at a time, since four AVX2 registers for either half keep a processor busy; then eight, which pays in
    /// wide vectors alone; then one.
    #[inline(always)]
    fn run<const WIDE: bool>(self) {
        let (blocks, rest) = self.numbers.as_chunks_mut::<32>();
        for block in blocks {
            self.cipher.side_by_side::<BACK, _>(block);
        }
        let (blocks, rest) = if WIDE { rest.as_chunks_mut::<8>() } else { (&mut [][..], rest) };
        for block in blocks {
            self.cipher.side_by_side::<BACK, _>(block);
        }
        for number in rest {
            *number = if BACK { self.cipher.decrypt(*number) } else { self.cipher.encrypt(*number) };
        }
    }
}

impl Speck64 {
    #[inline(always)]
    fn side_by_side<const BACK: bool, const LANES: usize>(&self, block: &mut [u64; LANES]) {
        let (mut xs, mut ys) = (block.map(|number| halves(number).0), block.map(|number| halves(number).1));
        for round in 0..ROUNDS {
            let key = self.round_keys[if BACK { ROUNDS - 1 - round } else { round }];
            for (x, y) in xs.iter_mut().zip(&mut ys) {
                (*x, *y) = if BACK { backward(key, *x, *y) } else { forward(key, *x, *y) };
            }
        }
        for (number, (x, y)) in block.iter_mut().zip(xs.into_iter().zip(ys)) {
            *number = whole(x, y);
        }
    }
}

#[inline(always)]
const fn forward(key: u32, x: u32, y: u32) -> (u32, u32) {
    let x = x.rotate_right(8).wrapping_add(y) ^ key;
    (x, y.rotate_left(3) ^ x)
}

#[inline(always)]
const fn backward(key: u32, x: u32, y: u32) -> (u32, u32) {
    let y = (x ^ y).rotate_right(3);
    ((x ^ key).wrapping_sub(y).rotate_left(8), y)
}

#[inline(always)]
const fn halves(number: u64) -> (u32, u32) {
    ((number >> 32) as u32, number as u32)
}

#[inline(always)]
const fn whole(x: u32, y: u32) -> u64 {
    (x as u64) << 32 | y as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use speck_cipher::Speck64_128;
    use speck_cipher::cipher::{Block, BlockCipherEncrypt, KeyInit};

    /// What the crate that others rely on makes of a number.
    fn oracle(key: &[u8; 16], number: u64) -> u64 {
        let mut block = Block::<Speck64_128>::from(number.to_be_bytes());
        Speck64_128::new(key.into()).encrypt_block(&mut block);
        u64::from_be_bytes(block.into())
    }

    proptest! {
        #[test]
        fn it_is_a_bijection(key: [u8; 16], a: u64, b: u64) {
            let speck = Speck64::new(&key);
            prop_assert_eq!(speck.decrypt(speck.encrypt(a)), a);
            prop_assert_eq!(speck.encrypt(speck.decrypt(a)), a);
            prop_assert_eq!(speck.encrypt(a) == speck.encrypt(b), a == b);
        }

        #[test]
        fn it_is_speck_one_by_one_and_side_by_side(key: [u8; 16], numbers in vec(any::<u64>(), 0..=110)) {
            let speck = Speck64::new(&key);
            let expected: Vec<_> = numbers.iter().map(|&number| oracle(&key, number)).collect();
            let one_by_one: Vec<_> = numbers.iter().map(|&number| speck.encrypt(number)).collect();
            prop_assert_eq!(&one_by_one, &expected);

            let mut block = numbers.clone();
            speck.encrypt_in_place(&mut block);
            prop_assert_eq!(&block, &expected);
            speck.decrypt_in_place(&mut block);
            prop_assert_eq!(&block, &numbers);

            InPlace::<false> { cipher: &speck, numbers: &mut block }.run::<false>();
            prop_assert_eq!(&block, &expected);
            InPlace::<true> { cipher: &speck, numbers: &mut block }.run::<false>();
            prop_assert_eq!(&block, &numbers);
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
