//! Positional numbers without padding, as Stamp writes them: as many characters as it takes, at least one. They do not
//! sort like the numbers.

use super::{Invalid, Text, base58, base62, decimal};

/// The formats of fixed length that can go without their padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Positional {
    /// That of [`super::Format::Base58`].
    Base58,
    /// [`super::Format::Base62`].
    Base62,
    /// [`super::Format::Decimal`].
    Decimal,
}

impl Positional {
    /// The most characters.
    #[must_use]
    pub const fn longest(self) -> usize {
        match self {
            Self::Base58 => base58::LENGTH,
            Self::Base62 => base62::LENGTH,
            Self::Decimal => decimal::LENGTH,
        }
    }

    /// The digits in ascending order, that of zero first.
    #[must_use]
    pub const fn alphabet(self) -> &'static [u8] {
        match self {
            Self::Base58 => base58::ALPHABET,
            Self::Base62 => base62::ALPHABET,
            Self::Decimal => decimal::ALPHABET,
        }
    }

    const fn zero(self) -> u8 {
        self.alphabet()[0]
    }
}

/// Appends the digits of a number.
pub fn encode(format: Positional, number: u64, text: &mut Text) {
    let digits = match format {
        Positional::Base58 => &base58::encode(number)[..],
        Positional::Base62 => &base62::encode(number),
        Positional::Decimal => &decimal::encode(number),
    };
    let zeros = digits.iter().take_while(|digit| **digit == format.zero()).count();
    text.push(&digits[zeros.min(digits.len() - 1)..]);
}

/// The number of digits.
///
/// # Errors
/// `Length`, `Character`, `NotCanonical` (padding), or `Range` past 2^64 - 1.
pub fn decode(format: Positional, digits: &[u8]) -> Result<u64, Invalid> {
    const LONGEST: usize = decimal::LENGTH;
    let longest = format.longest();
    if digits.is_empty() || digits.len() > longest {
        return Err(Invalid::Length);
    }
    let mut padded = [format.zero(); LONGEST];
    padded[longest - digits.len()..longest].copy_from_slice(digits);
    let padded = &padded[..longest];
    let number = match format {
        Positional::Base58 => base58::decode(padded),
        Positional::Base62 => base62::decode(padded),
        Positional::Decimal => decimal::decode(padded),
    }?;
    if digits[0] == format.zero() && digits.len() > 1 { Err(Invalid::NotCanonical) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_one_digit_and_padding_is_refused() {
        for (format, zero, one, padded, long) in [
            (Positional::Base58, "1", "2", "12", "111111111111"),
            (Positional::Base62, "0", "1", "01", "000000000000"),
            (Positional::Decimal, "0", "1", "01", "000000000000000000000"),
        ] {
            for (number, expected) in [(0, zero), (1, one)] {
                let mut text = Text::new();
                encode(format, number, &mut text);
                assert_eq!(text.as_bytes(), expected.as_bytes());
                assert_eq!(decode(format, expected.as_bytes()), Ok(number));
            }
            assert_eq!(decode(format, padded.as_bytes()), Err(Invalid::NotCanonical));
            assert_eq!(decode(format, long.as_bytes()), Err(Invalid::Length));
            assert_eq!(decode(format, b""), Err(Invalid::Length));
            assert_eq!(decode(format, b"-5"), Err(Invalid::Character));
            assert_eq!(decode(format, b"2 "), Err(Invalid::Character));
        }
        assert_eq!(decode(Positional::Decimal, b"18446744073709551616"), Err(Invalid::Range));
    }
}
