//! The tables behind the positional formats: two characters at a time for writing, one digit a byte for reading.

use super::Invalid;

/// Set in the answer of a [`digits`] table for a byte outside the alphabet; no digit has this bit.
const NONE: u8 = 0x80;

/// Every two-digit number of an alphabet in ascending order; `SQUARE` is the square of the alphabet's length.
pub(super) const fn pairs<const SQUARE: usize>(alphabet: &[u8]) -> [[u8; 2]; SQUARE] {
    let base = alphabet.len();
    assert!(base * base == SQUARE, "a table holds each pair once");
    let mut table = [[0; 2]; SQUARE];
    let mut number = 0;
    while number < SQUARE {
        table[number] = [alphabet[number / base], alphabet[number % base]];
        number += 1;
    }
    table
}

/// The digit that each byte stands for in an alphabet.
pub(super) const fn digits(alphabet: &[u8]) -> [u8; 256] {
    let mut table = [NONE; 256];
    let mut digit = 0;
    while digit < alphabet.len() {
        table[alphabet[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
}

/// Whether one of the digits stands for a byte outside the alphabet.
#[inline]
pub(super) fn has_stranger(digits: &[u8]) -> bool {
    digits.iter().fold(0, |seen, digit| seen | digit) & NONE != 0
}

/// Reads digits, the most significant one first. The caller sees to it that they fit 64 bits.
///
/// # Errors
/// `Character` if one of them is outside the alphabet.
#[inline]
pub(super) fn number(text: &[u8], digits: &[u8; 256], base: u64) -> Result<u64, Invalid> {
    let (mut number, mut seen) = (0_u64, 0);
    for &byte in text {
        let digit = digits[usize::from(byte)];
        seen |= digit;
        number = number.wrapping_mul(base).wrapping_add(u64::from(digit));
    }
    // One look at the end costs less than one look a character.
    if seen & NONE == 0 { Ok(number) } else { Err(Invalid::Character) }
}
