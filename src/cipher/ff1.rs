//! AES-256 on 64 bits: FF1 of NIST SP 800-38G over strings of 64 bits, radix 2. Ten rounds of a Feistel network over two
//! halves of 32 bits; the round function is one block of AES, since everything before the round's number and half is
//! the same for all of them and goes through the cipher once.
//!
//! The composition is our own: the crate `fpe` works on any radix and length, and is sixty times slower. It says in
//! tests, after NIST's own samples, that this is FF1.

#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the processor's AES instructions")]

use std::fmt;

use aes::Aes256Enc;
use aes::cipher::array::{Array, ArraySize};
use aes::cipher::consts::{U1, U8, U16};
use aes::cipher::{Block, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use zeroize::Zeroizing;

use super::BaseKey;

const ROUNDS: u64 = 10;

/// A bijection of the 64-bit numbers, chosen by a key and a tweak. Its round keys are wiped when it is dropped, and
/// never shown.
pub struct Ff1 {
    aes: Aes256Enc,
    /// What the chain of blocks has come to before a round adds its number and half.
    state: Zeroizing<u128>,
}

impl Ff1 {
    /// The cipher of an explicit key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self::tweaked(Aes256Enc::new(key.into()), &[])
    }

    /// The cipher whose key is derived from a base key under a salt of our own: `NoNoncense` has none of 64 bits.
    #[must_use]
    pub fn derived(base: &BaseKey) -> Self {
        Self::new(&base.derive("aes_64"))
    }

    /// Another bijection under the same key. A tweak is no secret; it has less than 2^32 bytes.
    #[must_use]
    pub fn with_tweak(&self, tweak: &[u8]) -> Self {
        Self::tweaked(self.aes.clone(), tweak)
    }

    fn tweaked(aes: Aes256Enc, tweak: &[u8]) -> Self {
        let encrypt = |block: u128| {
            let mut block = Array::from(block.to_be_bytes());
            aes.encrypt_block(&mut block);
            u128::from_be_bytes(block.into())
        };
        // P of step 5: radix 2, ten rounds, halves of 32 in 64, the tweak's length.
        let head = 0x0102_0100_0002_0a20_0000_0040_0000_0000 | u128::from(tweak.len() as u32);
        // The zeros in Q of step 6 go before its last five bytes, which are the round's own.
        let mut padded = tweak.to_vec();
        padded.resize((tweak.len() + 4) / 16 * 16 + 16, 0);
        let chain = |state, block: &[u8; 16]| encrypt(state) ^ u128::from_be_bytes(*block);
        let state = Zeroizing::new(padded.as_chunks().0.iter().fold(head, chain));
        Self { aes, state }
    }

    /// The number that stands for `number`.
    #[must_use]
    #[inline]
    pub fn encrypt(&self, number: u64) -> u64 {
        let mut numbers = [number];
        self.encrypt_in_place(&mut numbers);
        numbers[0]
    }

    /// The number that `number` stands for: the inverse of [`Ff1::encrypt`].
    #[must_use]
    #[inline]
    pub fn decrypt(&self, number: u64) -> u64 {
        let mut numbers = [number];
        self.decrypt_in_place(&mut numbers);
        numbers[0]
    }

    /// Puts what stands for each number in its place: [`Ff1::encrypt`] for many, several times as fast from eight on.
    pub fn encrypt_in_place(&self, numbers: &mut [u64]) {
        self.aes.encrypt_with_backend(InPlace::<false> { state: *self.state, numbers });
    }

    /// The inverse of [`Ff1::encrypt_in_place`].
    pub fn decrypt_in_place(&self, numbers: &mut [u64]) {
        self.aes.encrypt_with_backend(InPlace::<true> { state: *self.state, numbers });
    }
}

impl fmt::Debug for Ff1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ff1(…)")
    }
}

/// All rounds for many numbers, forward or `BACK`.
struct InPlace<'a, const BACK: bool> {
    state: u128,
    numbers: &'a mut [u64],
}

impl<const BACK: bool> BlockSizeUser for InPlace<'_, BACK> {
    type BlockSize = U16;
}

impl<const BACK: bool> BlockCipherEncClosure for InPlace<'_, BACK> {
    /// As many numbers side by side as the processor takes blocks, then eight, which still overlap, then one.
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let Self { state, numbers } = self;
        let one_by_one =
            |blocks: &mut [Block<B>]| blocks.iter_mut().for_each(|block| backend.encrypt_block(block.into()));
        let (blocks, rest) = Array::<u64, B::ParBlocksSize>::slice_as_chunks_mut(numbers);
        for block in blocks {
            side_by_side::<BACK, _>(state, block, |blocks| backend.encrypt_par_blocks(blocks.into()));
        }
        let (blocks, rest) = Array::<u64, U8>::slice_as_chunks_mut(rest);
        for block in blocks {
            side_by_side::<BACK, _>(state, block, |blocks| one_by_one(blocks));
        }
        for number in rest {
            side_by_side::<BACK, U1>(state, Array::from_mut(number), |blocks| one_by_one(blocks));
        }
    }
}

/// Steps 1 and 2, 6 and 7 of the standard. Back is forward with the halves exchanged, the rounds counted down, and what
/// was added taken away.
#[inline(always)]
fn side_by_side<const BACK: bool, N: ArraySize>(
    state: u128,
    numbers: &mut Array<u64, N>,
    encrypt: impl Fn(&mut Array<Array<u8, U16>, N>),
) {
    let turn = |number: u64| if BACK { number.rotate_left(32) } else { number };
    let mut xs = Array::<u32, N>::from_fn(|lane| (turn(numbers[lane]) >> 32) as u32);
    let mut ys = Array::<u32, N>::from_fn(|lane| turn(numbers[lane]) as u32);
    for round in 0..ROUNDS {
        let number = if BACK { ROUNDS - 1 - round } else { round };
        let mut blocks =
            Array::from_fn(|lane| (state ^ u128::from(number << 32 | u64::from(ys[lane]))).to_be_bytes().into());
        encrypt(&mut blocks);
        for (block, (x, y)) in blocks.iter().zip(xs.iter_mut().zip(&mut ys)) {
            // S has eight bytes; modulo 2^32 the lower four count.
            let s = u32::from_be_bytes([block[4], block[5], block[6], block[7]]);
            (*x, *y) = (*y, if BACK { x.wrapping_sub(s) } else { x.wrapping_add(s) });
        }
    }
    for (number, (x, y)) in numbers.iter_mut().zip(xs.into_iter().zip(ys)) {
        *number = turn(u64::from(x) << 32 | u64::from(y));
    }
}

#[cfg(test)]
mod tests {
    use aes::{Aes128, Aes192, Aes256};
    use fpe::ff1::{FF1, FlexibleNumeralString};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What the crate that others rely on makes of a number.
    fn oracle(key: &[u8; 32], tweak: &[u8], number: u64) -> u64 {
        let bits = (0..64).rev().map(|bit| (number >> bit & 1) as u16).collect::<Vec<_>>();
        let ff1 = FF1::<Aes256>::new(key, 2).unwrap();
        let bits: Vec<u16> = ff1.encrypt(tweak, &FlexibleNumeralString::from(bits)).unwrap().into();
        bits.into_iter().fold(0, |number, bit| number << 1 | u64::from(bit))
    }

    fn tweaked(key: &[u8; 32], tweak: &[u8]) -> Ff1 {
        Ff1::new(key).with_tweak(tweak)
    }

    /// The samples that NIST publishes with SP 800-38G (FF1samples.pdf): radix 10 and 36, so they can only be had from
    /// the oracle, which thereby is one.
    #[test]
    fn the_oracle_knows_nists_samples() {
        const KEY: u128 = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c;
        const MORE: u128 = 0xef43_59d8_d580_aa4f_7f03_6d6f_04fc_6a94;
        let key = [KEY.to_be_bytes(), MORE.to_be_bytes()].concat();
        let sample = |length: usize, radix: u32, tweak: &[u8], plain: &str| -> String {
            let digits: Vec<u16> = plain.chars().map(|digit| digit.to_digit(radix).unwrap() as u16).collect();
            let (key, digits) = (&key[..length], FlexibleNumeralString::from(digits));
            let encrypted: Vec<u16> = match length {
                16 => FF1::<Aes128>::new(key, radix).unwrap().encrypt(tweak, &digits),
                24 => FF1::<Aes192>::new(key, radix).unwrap().encrypt(tweak, &digits),
                _ => FF1::<Aes256>::new(key, radix).unwrap().encrypt(tweak, &digits),
            }
            .unwrap()
            .into();
            encrypted.into_iter().map(|digit| char::from_digit(digit.into(), radix).unwrap()).collect()
        };
        for (length, none, ten, thirty_six) in [
            (16, "2433477484", "6124200773", "a9tv40mll9kdu509eum"),
            (24, "2830668132", "2496655549", "xbj3kv35jrawxv32ysr"),
            (32, "6657667009", "1001623463", "xs8a0azh2avyalyzuwd"),
        ] {
            assert_eq!(sample(length, 10, b"", "0123456789"), none);
            assert_eq!(sample(length, 10, b"9876543210", "0123456789"), ten);
            assert_eq!(sample(length, 36, b"7777pqrs777", "0123456789abcdefghi"), thirty_six);
        }
    }

    proptest! {
        #[test]
        fn it_is_a_bijection(key: [u8; 32], tweak in vec(any::<u8>(), 0..40), a: u64, b: u64) {
            let ff1 = tweaked(&key, &tweak);
            prop_assert_eq!(ff1.decrypt(ff1.encrypt(a)), a);
            prop_assert_eq!(ff1.encrypt(ff1.decrypt(a)), a);
            prop_assert_eq!(ff1.encrypt(a) == ff1.encrypt(b), a == b);
        }

        #[test]
        fn it_is_ff1_one_by_one_and_side_by_side(
            key: [u8; 32], tweak in vec(any::<u8>(), 0..70), numbers in vec(any::<u64>(), 0..=85),
        ) {
            let ff1 = tweaked(&key, &tweak);
            let one_by_one: Vec<_> = numbers.iter().map(|&number| ff1.encrypt(number)).collect();
            for (&number, &encrypted) in numbers.iter().zip(&one_by_one).take(2) {
                prop_assert_eq!(encrypted, oracle(&key, &tweak, number));
            }
            let mut block = numbers.clone();
            ff1.encrypt_in_place(&mut block);
            prop_assert_eq!(&block, &one_by_one);
            ff1.decrypt_in_place(&mut block);
            prop_assert_eq!(&block, &numbers);
        }
    }

    #[test]
    fn every_length_of_a_tweak_is_padded_as_the_standard_says() {
        let key = std::array::from_fn(|at| at as u8);
        let tweak: Vec<u8> = (1..=50).collect();
        for length in 0..=50 {
            let tweak = &tweak[..length];
            assert_eq!(tweaked(&key, tweak).encrypt(5), oracle(&key, tweak, 5), "{length}");
        }
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Ff1::new(&[7; 32])), "Ff1(…)");
    }
}
