//! Stamp's base62: 11 characters, padded on the left with `0`. No character breaks a double click, and texts sort like
//! the unsigned numbers.

use super::{Invalid, table};

/// Characters of a text: 62^11 is more than 2^64.
pub const LENGTH: usize = 11;

/// The digits in ascending order, which is their order in ASCII too.
pub const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const TWO: u32 = 62 * 62;
const FOUR: u64 = 62 * 62 * 62 * 62;

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
    text[0] = ALPHABET[(high / TWO) as usize % 62];
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
    // Ten digits fit 64 bits.
    let upper = table::number(&text[..LENGTH - 1], &DIGITS, 62)?;
    let lower = table::number(&text[LENGTH - 1..], &DIGITS, 62)?;
    upper.checked_mul(62).and_then(|upper| upper.checked_add(lower)).ok_or(Invalid::Range)
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
        assert_eq!(&encode(0), b"00000000000");
        assert_eq!(&encode(62), b"00000000010");
        assert_eq!(&encode(i64::MAX as u64), b"AzL8n0Y58m7");
        assert_eq!(&encode(u64::MAX), b"LygHa16AHYF");
        assert_eq!(decode(b"LygHa16AHYF"), Ok(u64::MAX));
    }

    #[test]
    fn strangers_are_refused() {
        for (text, why) in [
            ("LygHa16AHYG", Invalid::Range),
            ("zzzzzzzzzzz", Invalid::Range),
            ("0000000000", Invalid::Length),
            ("000000000000", Invalid::Length),
            ("", Invalid::Length),
            ("0000000000-", Invalid::Character),
            ("-0000000000", Invalid::Character),
            ("00000 00000", Invalid::Character),
            ("000000000é", Invalid::Character),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(why), "{text}");
        }
    }
}
