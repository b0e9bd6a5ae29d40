//! Numbers of 96 and 128 bits in the formats of 64: the same alphabets, bytes from left to right, one spelling each. Not
//! as bigints: no database keeps such.

use super::{Format, Invalid, WideText, base58, base62, decimal, hex, hex32, table, url64};
use crate::layout::Size;

/// The most characters: 2^128 in decimal.
pub const LONGEST: usize = 39;

/// How a format spells a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The bytes.
    Bytes,
    /// So many bits a character, from the highest on; what the last one has too many is zero.
    Bits { alphabet: &'static [u8], each: u32, length: usize },
    /// Digits of a number, with or without padding.
    Digits { alphabet: &'static [u8], length: usize, padded: bool },
}

fn rule(format: Format, size: Size) -> Rule {
    let of_96 = size != Size::Bits128;
    let either = |short, long| if of_96 { short } else { long };
    let digits = |alphabet: &'static [u8], length, padded| Rule::Digits { alphabet, length, padded };
    match format {
        Format::Raw => Rule::Bytes,
        Format::Hex => Rule::Bits { alphabet: hex::ALPHABET, each: 4, length: either(24, 32) },
        Format::Hex32 => Rule::Bits { alphabet: hex32::ALPHABET, each: 5, length: either(20, 26) },
        Format::Url64 => Rule::Bits { alphabet: url64::ALPHABET, each: 6, length: either(16, 22) },
        Format::Base58 => digits(base58::ALPHABET, either(17, 22), true),
        Format::Base58Unpadded => digits(base58::ALPHABET, either(17, 22), false),
        Format::Base62 => digits(base62::ALPHABET, either(17, 22), true),
        Format::Base62Unpadded => digits(base62::ALPHABET, either(17, 22), false),
        Format::Decimal => digits(decimal::ALPHABET, either(29, LONGEST), true),
        // Numeric formats are refused by types of these sizes; whoever asks all the same gets the digits.
        Format::DecimalUnpadded | Format::Signed | Format::Unsigned => {
            digits(decimal::ALPHABET, either(29, LONGEST), false)
        }
    }
}

/// The fewest and the most bytes of a spelling.
#[must_use]
pub fn lengths(format: Format, size: Size) -> (usize, usize) {
    match rule(format, size) {
        Rule::Bytes => (size.bytes(), size.bytes()),
        Rule::Bits { length, .. } | Rule::Digits { length, padded: true, .. } => (length, length),
        Rule::Digits { length, padded: false, .. } => (1, length),
    }
}

/// Appends the spelling of a number, which fits the size.
pub fn encode(format: Format, size: Size, number: u128, text: &mut WideText) {
    let mut room = [0; LONGEST];
    match rule(format, size) {
        Rule::Bytes => text.push(&number.to_be_bytes()[16 - size.bytes()..]),
        Rule::Bits { alphabet, each, length } => {
            // The last character holds the lowest bits, shifted up by what it has too many.
            let unused = each * length as u32 - size.bits();
            for (at, character) in room[..length].iter_mut().rev().enumerate() {
                let below = each * at as u32;
                let bits = if at == 0 { number << unused } else { number >> (below - unused) };
                *character = alphabet[bits as usize % alphabet.len()];
            }
            text.push(&room[..length]);
        }
        Rule::Digits { alphabet, length, padded } => {
            let digits = &mut room[..length];
            write_digits(number, alphabet, digits);
            let zeros = digits.iter().take_while(|digit| **digit == alphabet[0]).count();
            text.push(&digits[if padded { 0 } else { zeros.min(length - 1) }..]);
        }
    }
}

/// Reads a spelling.
///
/// # Errors
/// What keeps the bytes from being the one spelling of a number.
pub fn decode(format: Format, size: Size, spelling: &[u8]) -> Result<u128, Invalid> {
    let (shortest, longest) = lengths(format, size);
    if !(shortest..=longest).contains(&spelling.len()) {
        return Err(Invalid::Length);
    }
    let (alphabet, unused, padded) = match rule(format, size) {
        Rule::Bytes => return Ok(spelling.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))),
        Rule::Bits { alphabet, each, length } => (alphabet, each * length as u32 - size.bits(), true),
        Rule::Digits { alphabet, padded, .. } => (alphabet, 0, padded),
    };
    let digits = table::digits(alphabet);
    let base = alphabet.len() as u128;
    let [upper @ .., last] = spelling else { return Err(Invalid::Length) };
    // At most 2^130 before what is unused is taken away, so the last digit is added apart.
    let (mut number, mut in_range) = (0_u128, true);
    for byte in upper {
        let digit = table::number(&[*byte], &digits, 1)?;
        let next = number.checked_mul(base).and_then(|number| number.checked_add(digit.into()));
        (number, in_range) = (next.unwrap_or(number), in_range && next.is_some());
    }
    let digit = u128::from(table::number(&[*last], &digits, 1)?);
    if digit % (1 << unused) != 0 || !padded && spelling.len() > 1 && spelling[0] == alphabet[0] {
        return Err(Invalid::NotCanonical);
    }
    let number = number.checked_mul(base >> unused).and_then(|number| number.checked_add(digit >> unused));
    number.filter(|number| in_range && *number <= size.greatest()).ok_or(Invalid::Range)
}

/// Fills `digits` from the right; a division of 128 bits for ten digits at a time.
fn write_digits(number: u128, alphabet: &[u8], digits: &mut [u8]) {
    const AT_ONCE: usize = 10;
    let base = alphabet.len() as u64;
    let (step, mut rest) = (u128::from(base.pow(AT_ONCE as u32)), number);
    for digits in digits.rchunks_mut(AT_ONCE) {
        let mut lowest = (rest % step) as u64;
        rest /= step;
        for digit in digits.iter_mut().rev() {
            *digit = alphabet[(lowest % base) as usize];
            lowest /= base;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    const SIZES: [Size; 2] = [Size::Bits96, Size::Bits128];

    fn spelled(format: Format, size: Size, number: u128) -> Vec<u8> {
        let mut text = WideText::new();
        encode(format, size, number, &mut text);
        text.as_bytes().to_vec()
    }

    fn formats() -> impl Strategy<Value = Format> {
        select(Format::ALL.into_iter().filter(|format| !format.is_numeric()).collect::<Vec<_>>())
    }

    /// Numbers of every magnitude, the borders among them.
    fn numbers() -> impl Strategy<Value = u128> {
        prop_oneof![
            any::<u128>(),
            (any::<u128>(), 0_u32..128).prop_map(|(number, shift)| number >> shift),
            select(vec![0, 1, 9, 10, 57, 58, 61, 62, u128::MAX, u128::MAX - 1, 1 << 95, (1 << 96) - 1]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn writing_and_reading_are_inverse(format in formats(), size in select(SIZES.to_vec()), number in numbers()) {
            let number = number & size.greatest();
            let text = spelled(format, size, number);
            let (shortest, longest) = lengths(format, size);
            prop_assert!((shortest..=longest).contains(&text.len()));
            prop_assert!(text.iter().all(|&byte| format.has(byte)));
            prop_assert_eq!(decode(format, size, &text), Ok(number));
        }

        #[test]
        fn text_sorts_where_the_docs_say_so(
            format in formats(), size in select(SIZES.to_vec()), a in numbers(), b in numbers(),
        ) {
            let format = if format.sorts() { format } else { Format::Base58 };
            let (a, b) = (a & size.greatest(), b & size.greatest());
            prop_assert_eq!(spelled(format, size, a).cmp(&spelled(format, size, b)), a.cmp(&b));
        }

        #[test]
        fn what_can_be_read_is_the_one_spelling(
            format in formats(), size in select(SIZES.to_vec()), number in numbers(), at: prop::sample::Index, to: u8,
        ) {
            let mut text = spelled(format, size, number & size.greatest());
            let at = at.index(text.len());
            text[at] = if to % 2 == 0 { to } else { b"0123456789ABCDEFGHJKabcdefghvz-_"[usize::from(to) % 32] };
            if let Ok(read) = decode(format, size, &text) {
                prop_assert!(read <= size.greatest());
                prop_assert_eq!(spelled(format, size, read), text);
            }
        }

        /// What 64 bits make of the lower half says that the alphabets are the same.
        #[test]
        fn digits_are_those_of_64_bits(format in formats(), number: u64) {
            let format = format.unpadded().unwrap_or(Format::DecimalUnpadded);
            let mut text = crate::codec::Text::new();
            format.encode(number, &mut text);
            prop_assert_eq!(text.as_bytes(), spelled(format, Size::Bits128, number.into()));
        }
    }

    #[test]
    fn the_borders() {
        let (max96, max128) = (Size::Bits96.greatest(), u128::MAX);
        for (format, zero, greatest96, greatest128) in [
            (Format::Hex, "000000000000000000000000", "ffffffffffffffffffffffff", "ffffffffffffffffffffffffffffffff"),
            (Format::Hex32, "00000000000000000000", "vvvvvvvvvvvvvvvvvvvg", "vvvvvvvvvvvvvvvvvvvvvvvvvs"),
            (Format::Url64, "AAAAAAAAAAAAAAAA", "________________", "_____________________w"),
            (Format::Base58, "11111111111111111", "5qCHTcgbQwpvYZQ9c", "YcVfxkQb6JRzqk5kF2tNLv"),
            (Format::Base62, "00000000000000000", "1f2SI9UJPXvb7vdJ1", "7n42DGM5Tflk9n8mt7Fhc7"),
            (
                Format::Decimal,
                "00000000000000000000000000000",
                "79228162514264337593543950335",
                "340282366920938463463374607431768211455",
            ),
        ] {
            assert_eq!(spelled(format, Size::Bits96, 0), zero.as_bytes());
            assert_eq!(spelled(format, Size::Bits96, max96), greatest96.as_bytes(), "{format:?}");
            assert_eq!(spelled(format, Size::Bits128, max128), greatest128.as_bytes(), "{format:?}");
        }
        assert_eq!(spelled(Format::Raw, Size::Bits96, 1 << 88), [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn strangers_are_refused() {
        for (format, size, text, why) in [
            (Format::Url64, Size::Bits128, "_____________________x", Invalid::NotCanonical),
            (Format::Hex32, Size::Bits96, "vvvvvvvvvvvvvvvvvvvv", Invalid::NotCanonical),
            (Format::Hex32, Size::Bits128, "vvvvvvvvvvvvvvvvvvvvvvvvvt", Invalid::NotCanonical),
            (Format::Base58, Size::Bits96, "5qCHTcgbQwpvYZQ9d", Invalid::Range),
            (Format::Base58, Size::Bits128, "zzzzzzzzzzzzzzzzzzzzzz", Invalid::Range),
            (Format::Base62, Size::Bits128, "zzzzzzzzzzzzzzzzzzzzzz", Invalid::Range),
            (Format::Decimal, Size::Bits128, "340282366920938463463374607431768211456", Invalid::Range),
            (Format::Decimal, Size::Bits96, "79228162514264337593543950336", Invalid::Range),
            (Format::DecimalUnpadded, Size::Bits96, "01", Invalid::NotCanonical),
            (Format::DecimalUnpadded, Size::Bits96, "", Invalid::Length),
            (Format::Hex, Size::Bits96, "ffffffffffffffff", Invalid::Length),
            (Format::Hex, Size::Bits96, "fffffffffffffffffffffffF", Invalid::Character),
            (Format::Hex, Size::Bits96, "-fffffffffffffffffffffff", Invalid::Character),
            (Format::Raw, Size::Bits128, "123456789012", Invalid::Length),
        ] {
            assert_eq!(decode(format, size, text.as_bytes()), Err(why), "{format:?} {text}");
        }
    }
}
