//! 11 characters of base64url without padding (RFC 4648) for the eight big-endian bytes. It does not sort like
//! the number: in ASCII digits come before letters, here they come after them.

use super::{Invalid, table};

/// Characters of a text.
pub const LENGTH: usize = 11;

/// The digits in ascending order.
pub const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static PAIRS: [[u8; 2]; 4096] = table::pairs(ALPHABET);
static DIGITS: [u8; 256] = table::digits(ALPHABET);

/// The text of a number.
#[must_use]
#[inline]
pub fn encode(number: u64) -> [u8; LENGTH] {
    let mut text = [0; LENGTH];
    text[0..2].copy_from_slice(pair(number >> 52));
    text[2..4].copy_from_slice(pair(number >> 40));
    text[4..6].copy_from_slice(pair(number >> 28));
    text[6..8].copy_from_slice(pair(number >> 16));
    text[8..10].copy_from_slice(pair(number >> 4));
    text[10] = ALPHABET[(number << 2) as usize % 64];
    text
}

/// The number of a text.
///
/// # Errors
/// `Length`, `Character`, or `NotCanonical` if the two unused bits at the end are not zero.
#[inline]
pub fn decode(text: &[u8]) -> Result<u64, Invalid> {
    let Ok([head @ .., last]) = <&[u8; LENGTH]>::try_from(text) else { return Err(Invalid::Length) };
    let head = table::number(head, &DIGITS, 64)?;
    let last = table::number(&[*last], &DIGITS, 64)?;
    if last % 4 != 0 { Err(Invalid::NotCanonical) } else { Ok(head << 4 | last >> 2) }
}

/// The two lowest digits.
#[inline]
fn pair(number: u64) -> &'static [u8; 2] {
    &PAIRS[(number % 4096) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders() {
        assert_eq!(&encode(0), b"AAAAAAAAAAA");
        assert_eq!(&encode(u64::MAX), b"__________8");
        assert_eq!(&encode(0x0123_4567_89ab_cdef), b"ASNFZ4mrze8");
    }

    #[test]
    fn strangers_are_refused() {
        for (text, why) in [
            ("AAAAAAAAAAB", Invalid::NotCanonical),
            ("AAAAAAAAAAC", Invalid::NotCanonical),
            ("AAAAAAAAAAD", Invalid::NotCanonical),
            ("AAAAAAAAAA", Invalid::Length),
            ("AAAAAAAAAAA=", Invalid::Length),
            ("", Invalid::Length),
            ("AAAAAAAAAA=", Invalid::Character),
            ("AAAAAAAAAA+", Invalid::Character),
            ("/AAAAAAAAAA", Invalid::Character),
            ("AAAAA\nAAAAA", Invalid::Character),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(why), "{text}");
        }
    }
}
