//! The default text: 11 characters of Bitcoin's base58, padded on the left with its zero, `1`. No character breaks a
//! double click, none is mistaken for another (0 O I l), and texts sort like the unsigned numbers.

mod lanes;

use super::{Invalid, table};

pub use lanes::encode_block;

/// Characters of a text: 58^11 is a little more than 2^64.
pub const LENGTH: usize = 11;

/// The digits in ascending order, which is their order in ASCII too.
pub const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const TWO: u32 = 58 * 58;
const FOUR: u64 = 58 * 58 * 58 * 58;

static PAIRS: [[u8; 2]; TWO as usize] = table::pairs(ALPHABET);
static DIGITS: [u8; 256] = table::digits(ALPHABET);

/// The text of a number.
#[must_use]
#[inline]
pub fn encode(number: u64) -> [u8; LENGTH] {
    // 3 + 4 + 4 digits, so that all but two divisions are of 32 bits.
    let (upper, low) = (number / FOUR, (number % FOUR) as u32);
    let (high, middle) = ((upper / FOUR) as u32, (upper % FOUR) as u32);
    let mut text = [0; LENGTH];
    text[0] = ALPHABET[(high / TWO) as usize % 58];
    text[1..3].copy_from_slice(pair(high));
    text[3..5].copy_from_slice(pair(middle / TWO));
    text[5..7].copy_from_slice(pair(middle));
    text[7..9].copy_from_slice(pair(low / TWO));
    text[9..11].copy_from_slice(pair(low));
    text
}

/// The number of a text.
///
/// # Errors
/// `Length`, `Character`, or `Range` past 2^64 - 1.
#[inline]
pub fn decode(text: &[u8]) -> Result<u64, Invalid> {
    let Ok(text) = <&[u8; LENGTH]>::try_from(text) else { return Err(Invalid::Length) };
    let digits = text.map(|byte| DIGITS[usize::from(byte)]);
    // In a tree: a digit after the other would wait for ten multiplications.
    let two = |at: usize| u32::from(digits[at]) * 58 + u32::from(digits[at + 1]);
    let four = |at: usize| u64::from(two(at) * TWO + two(at + 2));
    let upper = four(0) * FOUR + four(4);
    let lower = u64::from(two(8) * 58 + u32::from(digits[10]));
    if table::has_stranger(&digits) {
        return Err(Invalid::Character);
    }
    upper.checked_mul(58 * 58 * 58).and_then(|upper| upper.checked_add(lower)).ok_or(Invalid::Range)
}

/// The two lowest digits.
#[inline]
fn pair(number: u32) -> &'static [u8; 2] {
    &PAIRS[(number % TWO) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders() {
        assert_eq!(&encode(0), b"11111111111");
        assert_eq!(&encode(58), b"11111111121");
        assert_eq!(&encode(u64::MAX), b"jpXCZedGfVQ");
        assert_eq!(decode(b"jpXCZedGfVQ"), Ok(u64::MAX));
    }

    #[test]
    fn strangers_are_refused() {
        for (text, why) in [
            ("jpXCZedGfVR", Invalid::Range),
            ("zzzzzzzzzzz", Invalid::Range),
            ("1111111111", Invalid::Length),
            ("111111111111", Invalid::Length),
            ("", Invalid::Length),
            ("01111111111", Invalid::Character),
            ("1111111111l", Invalid::Character),
            ("1111111111O", Invalid::Character),
            ("11111 11111", Invalid::Character),
            ("111111111é", Invalid::Character),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(why), "{text}");
        }
    }
}
