//! 13 lower-case characters of base32hex without padding (RFC 4648) for the eight big-endian bytes. They sort like the
//! number.

use super::{Invalid, table};

/// Characters of a text.
pub const LENGTH: usize = 13;

/// The digits in ascending order.
pub const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

static PAIRS: [[u8; 2]; 1024] = table::pairs(ALPHABET);
static DIGITS: [u8; 256] = table::digits(ALPHABET);

/// The text of a number.
#[must_use]
#[inline]
pub fn encode(number: u64) -> [u8; LENGTH] {
    let mut text = [0; LENGTH];
    text[0..2].copy_from_slice(pair(number >> 54));
    text[2..4].copy_from_slice(pair(number >> 44));
    text[4..6].copy_from_slice(pair(number >> 34));
    text[6..8].copy_from_slice(pair(number >> 24));
    text[8..10].copy_from_slice(pair(number >> 14));
    text[10..12].copy_from_slice(pair(number >> 4));
    text[12] = ALPHABET[(number << 1) as usize % 32];
    text
}

/// The number of a text.
///
/// # Errors
/// `Length`, `Character` (capital letters too), or `NotCanonical` if the unused bit at the end is not zero.
#[inline]
pub fn decode(text: &[u8]) -> Result<u64, Invalid> {
    let Ok([head @ .., last]) = <&[u8; LENGTH]>::try_from(text) else { return Err(Invalid::Length) };
    let head = table::number(head, &DIGITS, 32)?;
    let last = table::number(&[*last], &DIGITS, 32)?;
    if last % 2 == 1 { Err(Invalid::NotCanonical) } else { Ok(head << 4 | last >> 1) }
}

/// The two lowest digits.
#[inline]
fn pair(number: u64) -> &'static [u8; 2] {
    &PAIRS[(number % 1024) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders() {
        assert_eq!(&encode(0), b"0000000000000");
        assert_eq!(&encode(u64::MAX), b"vvvvvvvvvvvvu");
        assert_eq!(&encode(0x0123_4567_89ab_cdef), b"04hkaps9lf6uu");
    }

    #[test]
    fn strangers_are_refused() {
        for (text, why) in [
            ("0000000000001", Invalid::NotCanonical),
            ("vvvvvvvvvvvvv", Invalid::NotCanonical),
            ("000000000000", Invalid::Length),
            ("00000000000000", Invalid::Length),
            ("PG4E2VCSG0002", Invalid::Character),
            ("000000000000w", Invalid::Character),
            ("000000 000000", Invalid::Character),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(why), "{text}");
        }
    }
}
