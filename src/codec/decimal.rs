//! Decimal text of 20 digits, padded on the left with `0`, so that texts sort like the unsigned numbers. It is text:
//! nobody takes it for a bigint.

use super::{Invalid, integer, table};

/// Characters of a text: 2^64 has as many.
pub const LENGTH: usize = integer::LONGEST;

/// The digits in ascending order.
pub const ALPHABET: &[u8; 10] = b"0123456789";

static DIGITS: [u8; 256] = table::digits(ALPHABET);

/// The text of a number.
#[must_use]
#[inline]
pub fn encode(number: u64) -> [u8; LENGTH] {
    integer::digits(number)
}

/// The number of a text.
///
/// # Errors
/// `Length`, `Character`, or `Range` past 2^64 - 1.
#[inline]
pub fn decode(text: &[u8]) -> Result<u64, Invalid> {
    let Ok(text) = <&[u8; LENGTH]>::try_from(text) else { return Err(Invalid::Length) };
    // Nineteen digits fit 64 bits.
    let upper = table::number(&text[..LENGTH - 1], &DIGITS, 10)?;
    let lower = table::number(&text[LENGTH - 1..], &DIGITS, 10)?;
    upper.checked_mul(10).and_then(|upper| upper.checked_add(lower)).ok_or(Invalid::Range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders() {
        assert_eq!(&encode(0), b"00000000000000000000");
        assert_eq!(&encode(u64::MAX), b"18446744073709551615");
        assert_eq!(decode(b"18446744073709551615"), Ok(u64::MAX));
        for (text, why) in [
            ("18446744073709551616", Invalid::Range),
            ("99999999999999999999", Invalid::Range),
            ("1", Invalid::Length),
            ("000000000000000000000", Invalid::Length),
            ("-0000000000000000001", Invalid::Character),
            ("0000000000000000000a", Invalid::Character),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(why), "{text}");
        }
    }
}
