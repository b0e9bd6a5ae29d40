//! Many numbers as base58 side by side: the same divisions without tables, each a loop over all digits of a block that
//! compiles to vectors. Without wide vectors the tables are faster.

#![allow(clippy::inline_always, reason = "what is not inlined is not compiled anew for wider vectors: see `lanes`")]

use super::{FOUR, LENGTH, TWO, encode};
use crate::lanes::{self, Loop};

/// Writes the texts of `numbers`, as many as there is room for: [`encode`] for many, about twice as fast.
pub fn encode_block(numbers: &[u64], texts: &mut [[u8; LENGTH]]) {
    let count = numbers.len().min(texts.len());
    lanes::run(Encode { numbers: &numbers[..count], texts: &mut texts[..count] });
}

/// As many numbers as texts.
struct Encode<'a> {
    numbers: &'a [u64],
    texts: &'a mut [[u8; LENGTH]],
}

/// Numbers side by side: twice as many do not fit the registers.
const LANES: usize = 16;

impl Loop for Encode<'_> {
    #[inline(always)]
    fn run<const WIDE: bool>(self) {
        let Self { mut numbers, mut texts } = self;
        if WIDE {
            let (number_blocks, numbers_after) = numbers.as_chunks::<LANES>();
            let (text_blocks, texts_after) = texts.as_chunks_mut::<LANES>();
            for (numbers, texts) in number_blocks.iter().zip(text_blocks) {
                side_by_side(numbers, texts);
            }
            (numbers, texts) = (numbers_after, texts_after);
        }
        for (&number, text) in numbers.iter().zip(texts) {
            *text = encode(number);
        }
    }
}

/// In three groups of four characters; the first two overlap in one.
#[inline(always)]
fn side_by_side(numbers: &[u64; LANES], texts: &mut [[u8; LENGTH]; LANES]) {
    // A copy of its own: where nothing can overlap, all of it stays in registers.
    let numbers = *numbers;
    let mut groups = [[[0; 4]; LANES]; 3];
    let [first, middle, last] = &mut groups;
    for (lane, &number) in numbers.iter().enumerate() {
        let [a, b, c] = split(number);
        (first[lane], middle[lane], last[lane]) = (a.to_le_bytes(), b.to_le_bytes(), c.to_le_bytes());
    }
    // Each pass cuts numbers in two, the upper part first in memory: words to halves, halves to digits.
    for word in groups.as_flattened_mut() {
        *word = halves(u32::from_le_bytes(*word)).to_le_bytes();
    }
    for half in groups.as_flattened_mut().as_flattened_mut().as_chunks_mut().0 {
        *half = digits(u16::from_le_bytes(*half)).to_le_bytes();
    }
    for byte in groups.as_flattened_mut().as_flattened_mut() {
        *byte = character(*byte);
    }
    let [first, middle, last] = &groups;
    for (lane, text) in texts.iter_mut().enumerate() {
        text[0..4].copy_from_slice(&first[lane]);
        text[3..7].copy_from_slice(&middle[lane]);
        text[7..11].copy_from_slice(&last[lane]);
    }
}

/// The three groups, each less than 58^4; the first one has 3 digits and a zero, which the second overwrites.
///
/// Multiplies 32 bits by 32 alone, as vectors do: a quotient is estimated from the highest 32 bits of the dividend, and
/// is right or one too small, since what was cut off amounts to less than a hundredth of one.
#[inline(always)]
fn split(number: u64) -> [u32; 3] {
    const EIGHT: u64 = FOUR * FOUR;
    /// 2^78 / 58^8 and 2^54 / 58^4, rounded down.
    const PER_EIGHT: u64 = ((1 << 78) / EIGHT as u128) as u64;
    const PER_FOUR: u64 = (1 << 54) / FOUR;
    let estimate = ((number >> 32) * PER_EIGHT) >> 46;
    let (first, rest) = settle(estimate, number - estimate * EIGHT, EIGHT);
    let estimate = ((rest >> 15) * PER_FOUR) >> 39;
    let (middle, last) = settle(estimate, rest - estimate * FOUR, FOUR);
    [first as u32 * 58, middle as u32, last as u32]
}

/// Quotient and remainder from an estimate that is right or one too small.
#[inline(always)]
fn settle(quotient: u64, remainder: u64, divisor: u64) -> (u64, u64) {
    // Signed, since older vectors compare nothing else; both are far below 2^63.
    let short = remainder as i64 >= divisor as i64;
    (quotient + u64::from(short), if short { remainder - divisor } else { remainder })
}

/// Four digits in two halves, the upper two in the lower one.
#[inline(always)]
fn halves(word: u32) -> u32 {
    let upper = word / TWO;
    upper | (word - upper * TWO) << 16
}

/// Two digits, the upper one in the lower byte.
#[inline(always)]
fn digits(half: u16) -> u16 {
    // 2^16 / 58, rounded up: exact for all halves there are.
    let upper = ((u32::from(half) * 1130) >> 16) as u16;
    upper | (half - upper * 58) << 8
}

/// The character of a digit: ASCII from `1` on, with what the alphabet leaves out added where it is left out.
#[inline(always)]
fn character(digit: u8) -> u8 {
    let beyond = |last: u8, gap: u8| if digit > last { gap } else { 0 };
    digit + b'1' + beyond(8, 7) + beyond(16, 1) + beyond(21, 1) + beyond(32, 6) + beyond(43, 1)
}

#[cfg(test)]
mod tests {
    use super::super::ALPHABET;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Numbers of every magnitude, and those beside which a quotient turns.
    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            (any::<u64>(), 0_u32..64).prop_map(|(number, shift)| number >> shift),
            (any::<u64>(), 0_u32..=10, 0_u64..3)
                .prop_map(|(number, power, off)| (number - number % 58_u64.pow(power)).wrapping_sub(off)),
            (0_u64..3).prop_map(|below| u64::MAX - below),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn a_block_is_the_texts_of_its_numbers(numbers in vec(numbers(), 0..=70)) {
            let expected: Vec<_> = numbers.iter().map(|&number| encode(number)).collect();
            let mut texts = vec![[0; LENGTH]; numbers.len()];
            encode_block(&numbers, &mut texts);
            prop_assert_eq!(&texts, &expected);
            texts.fill([0; LENGTH]);
            Encode { numbers: &numbers, texts: &mut texts }.run::<true>();
            prop_assert_eq!(&texts, &expected);
            texts.fill([0; LENGTH]);
            Encode { numbers: &numbers, texts: &mut texts }.run::<false>();
            prop_assert_eq!(&texts, &expected);
        }
    }

    #[test]
    fn every_half_and_every_digit_is_right() {
        for half in 0..TWO as u16 {
            assert_eq!(digits(half), (half / 58) | (half % 58) << 8);
        }
        for (digit, &expected) in ALPHABET.iter().enumerate() {
            assert_eq!(character(digit as u8), expected);
        }
    }
}
