//! Decimal numbers, signed and unsigned, each in one spelling: no `+`, no `-0`, no leading zeros, ASCII digits alone.

use super::{Invalid, Text, table};

/// The most characters: `18446744073709551615` and `-9223372036854775808` have as many.
pub const LONGEST: usize = 20;

static PAIRS: [[u8; 2]; 100] = table::pairs(b"0123456789");

/// All digits that a number can have, padded with zeros.
#[inline]
pub(super) fn digits(number: u64) -> [u8; LONGEST] {
    let mut digits = [b'0'; LONGEST];
    let mut rest = number;
    for pair in digits.as_chunks_mut().0.iter_mut().rev() {
        *pair = PAIRS[(rest % 100) as usize];
        rest /= 100;
    }
    digits
}

/// Appends an unsigned number.
#[inline]
pub fn encode_unsigned(number: u64, text: &mut Text) {
    let digits = digits(number);
    let length = number.checked_ilog10().map_or(1, |power| power as usize + 1);
    text.push(digits.get(LONGEST - length..).unwrap_or_default());
}

/// Appends a signed number.
#[inline]
pub fn encode_signed(number: i64, text: &mut Text) {
    if number < 0 {
        text.push(b"-");
    }
    encode_unsigned(number.unsigned_abs(), text);
}

/// Reads an unsigned number.
///
/// # Errors
/// `Length`, `Character`, `NotCanonical`, or `Range` (negative numbers too).
pub fn decode_unsigned(text: &[u8]) -> Result<u64, Invalid> {
    let (negative, magnitude) = parts(text)?;
    if negative { Err(Invalid::Range) } else { Ok(magnitude) }
}

/// Reads a signed number.
///
/// # Errors
/// `Length`, `Character`, `NotCanonical` or `Range`.
pub fn decode_signed(text: &[u8]) -> Result<i64, Invalid> {
    let (negative, magnitude) = parts(text)?;
    let number = if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
    number.ok_or(Invalid::Range)
}

/// Sign and magnitude; `true` is a minus.
fn parts(text: &[u8]) -> Result<(bool, u64), Invalid> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || text.len() > LONGEST {
        return Err(Invalid::Length);
    }
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(Invalid::Character);
    }
    if digits.starts_with(b"0") && (negative || digits.len() > 1) {
        return Err(Invalid::NotCanonical);
    }
    let add = |number: u64, digit: &u8| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    let magnitude = digits.iter().try_fold(0, add).ok_or(Invalid::Range)?;
    Ok((negative, magnitude))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders() {
        for number in [0, 1, 9, 10, 99, 100, i64::MAX, i64::MIN, -1, -10] {
            let mut text = Text::new();
            encode_signed(number, &mut text);
            assert_eq!(text.as_bytes(), number.to_string().as_bytes());
            assert_eq!(decode_signed(text.as_bytes()), Ok(number));
        }
        for number in [0, 1, 9, 10, 99, 100, 1 << 63, u64::MAX] {
            let mut text = Text::new();
            encode_unsigned(number, &mut text);
            assert_eq!(text.as_bytes(), number.to_string().as_bytes());
            assert_eq!(decode_unsigned(text.as_bytes()), Ok(number));
        }
    }

    #[test]
    fn strangers_are_refused_by_both() {
        for (text, why) in [
            ("", Invalid::Length),
            ("-", Invalid::Length),
            ("000000000000000000005", Invalid::Length),
            ("+5", Invalid::Character),
            ("--5", Invalid::Character),
            (" 5", Invalid::Character),
            ("5 ", Invalid::Character),
            ("1_000", Invalid::Character),
            ("1.0", Invalid::Character),
            ("0x10", Invalid::Character),
            ("\u{ff15}", Invalid::Character),
            ("-0", Invalid::NotCanonical),
            ("00", Invalid::NotCanonical),
            ("007", Invalid::NotCanonical),
            ("-05", Invalid::NotCanonical),
            ("18446744073709551616", Invalid::Range),
            ("99999999999999999999", Invalid::Range),
            ("-9223372036854775809", Invalid::Range),
        ] {
            assert_eq!(decode_signed(text.as_bytes()), Err(why), "{text}");
            assert_eq!(decode_unsigned(text.as_bytes()), Err(why), "{text}");
        }
    }

    #[test]
    fn each_keeps_to_its_own_range() {
        assert_eq!(decode_unsigned(b"-5"), Err(Invalid::Range));
        assert_eq!(decode_signed(b"9223372036854775808"), Err(Invalid::Range));
    }
}
