//! 16 lower-case hexadecimal digits. They sort like the number.

use super::{Invalid, table};

/// Characters of a text.
pub const LENGTH: usize = 16;

/// The digits in ascending order.
pub const ALPHABET: &[u8; 16] = b"0123456789abcdef";

static PAIRS: [[u8; 2]; 256] = table::pairs(ALPHABET);
static DIGITS: [u8; 256] = table::digits(ALPHABET);

/// The text of a number.
#[must_use]
#[inline]
pub fn encode(number: u64) -> [u8; LENGTH] {
    let mut text = [0; LENGTH];
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(number.to_be_bytes()) {
        *pair = PAIRS[usize::from(byte)];
    }
    text
}

/// The number of a text.
///
/// # Errors
/// `Length`, or `Character` (capital letters too).
#[inline]
pub fn decode(text: &[u8]) -> Result<u64, Invalid> {
    if text.len() == LENGTH { table::number(text, &DIGITS, 16) } else { Err(Invalid::Length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders() {
        assert_eq!(&encode(0), b"0000000000000000");
        assert_eq!(&encode(u64::MAX), b"ffffffffffffffff");
        assert_eq!(&encode(0x0123_4567_89ab_cdef), b"0123456789abcdef");
    }

    #[test]
    fn strangers_are_refused() {
        for (text, why) in [
            ("000000000000000", Invalid::Length),
            ("00000000000000000", Invalid::Length),
            ("0x00000000000000", Invalid::Character),
            ("CC08E17D9C800001", Invalid::Character),
            ("000000000000000g", Invalid::Character),
            ("-000000000000001", Invalid::Character),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(why), "{text}");
        }
    }
}
