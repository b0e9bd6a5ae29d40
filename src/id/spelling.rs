//! One way to write the numbers of a type: prefix, format and, between them and the number, perhaps a mask. A type has
//! one spelling for the application, one for the database, and some that it merely accepts.

use std::sync::Arc;

use super::{Input, Narrow, Value, Width};
use crate::codec::{Format, Invalid, Prefix};

#[derive(Debug)]
pub(super) struct Spelling<W: Width = Narrow> {
    pub(super) width: W,
    pub(super) prefix: Prefix,
    pub(super) format: Format,
    pub(super) mask: Option<Arc<W::Cipher>>,
}

impl<W: Width> Spelling<W> {
    /// Writes a number in this spelling.
    #[inline]
    pub(super) fn write<'t>(&self, number: W::Number, text: &'t mut W::Text) -> Value<'t> {
        self.write_as(self.format, number, text)
    }

    /// Writes a number with the mask and prefix of this spelling in any format.
    #[inline]
    pub(super) fn write_as<'t>(&self, format: Format, number: W::Number, text: &'t mut W::Text) -> Value<'t> {
        let number = self.masked(number);
        if self.prefix.is_empty()
            && let Some(bigint) = W::bigint(format, number)
        {
            return bigint;
        }
        let written = self.width.write(&self.prefix, format, number, text);
        if format == Format::Raw { Value::Bytes(written) } else { Value::Text(written) }
    }

    /// The number behind a value in this spelling.
    #[inline]
    pub(super) fn read(&self, input: Input<'_>) -> Result<W::Number, Invalid> {
        let number = self.read_masked(input)?;
        Ok(self.mask.as_ref().map_or(number, |mask| W::decrypt(mask, number)))
    }

    /// A number as it stands in this spelling.
    #[inline]
    pub(super) fn masked(&self, number: W::Number) -> W::Number {
        self.mask.as_ref().map_or(number, |mask| W::encrypt(mask, number))
    }

    /// The number that stands in a value of this spelling.
    #[inline]
    pub(super) fn read_masked(&self, input: Input<'_>) -> Result<W::Number, Invalid> {
        match input {
            Input::Text(text) if self.format != Format::Raw => self.width.decode(self.format, self.prefix.strip(text)?),
            Input::Bytes(bytes) if self.format == Format::Raw => {
                self.width.decode(self.format, self.prefix.strip(bytes)?)
            }
            Input::Integer(integer) if self.is_bigint() => W::fit(self.format, integer),
            Input::Number(number) if self.is_bigint() => W::fit(self.format, safe_integer(number)?),
            _ => Err(Invalid::Type),
        }
    }

    /// Whether JavaScript sees a bigint: a decimal number without a prefix.
    pub(super) fn is_bigint(&self) -> bool {
        self.format.is_numeric() && self.prefix.is_empty()
    }

    /// A phrase for "expected …".
    pub(super) fn describe(&self) -> String {
        let format = self.format.as_str();
        let (shortest, longest) = self.width.lengths(self.format);
        let body = match self.format {
            Format::Raw => format!("{longest} bytes"),
            Format::Signed => format!("from {} to {}", i64::MIN, i64::MAX),
            Format::Unsigned => format!("from {} to {}", u64::MIN, u64::MAX),
            _ if shortest < longest => format!("{shortest} to {longest} characters of {format}"),
            _ => format!("{longest} characters of {format}"),
        };
        let prefix = self.prefix.as_str();
        match (self.format, self.prefix.is_empty()) {
            (Format::Signed | Format::Unsigned, true) => format!("a bigint {body}"),
            (Format::Signed | Format::Unsigned, false) => format!("{prefix:?} followed by a decimal number {body}"),
            (Format::Raw, true) => format!("a Buffer of {body}"),
            (Format::Raw, false) => format!("a Buffer of {prefix:?} and {body}"),
            (_, true) => body,
            (_, false) => format!("{prefix:?} followed by {body}"),
        }
    }

    /// Whether some value could be read as one number in this spelling and as another one in the other.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        self.may_share_a_value(other) && !self.always_agrees(other)
    }

    /// Whether a value may exist that both can read. A value in both begins with the longer prefix, so what that has
    /// beyond the shorter one must be digits in the format of the shorter one, and the lengths must meet. That errs on
    /// the safe side alone: it does not look at limits of value.
    fn may_share_a_value(&self, other: &Self) -> bool {
        let (short, long) = if self.prefix.len() <= other.prefix.len() { (self, other) } else { (other, self) };
        let Ok(beyond) = short.prefix.strip(long.prefix.as_bytes()) else { return false };
        if (short.format == Format::Raw) != (long.format == Format::Raw) {
            return false;
        }
        let [(short_min, short_max), (long_min, long_max)] =
            [short, long].map(|spelling| spelling.width.lengths(spelling.format));
        let lengths_meet = short_min <= long_max + beyond.len() && long_min + beyond.len() <= short_max;
        lengths_meet && beyond.iter().all(|&byte| short.format.has(byte))
    }

    /// Whether both read every shared value as the same number: equal spellings, and those with the same digits, padded or
    /// not.
    fn always_agrees(&self, other: &Self) -> bool {
        let same_mask = match (&self.mask, &other.mask) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        };
        let same_digits = digits(self.format) == digits(other.format);
        same_mask && same_digits && self.prefix == other.prefix
    }
}

impl Spelling {
    /// Writes numbers in this spelling, without the prefix, one after the other. Returns the length of each, or `None`
    /// where it is not fixed or this is no text.
    pub(super) fn write_block(&self, numbers: &[u64], bodies: &mut [u8]) -> Option<usize> {
        /// Enough to keep the lanes full, little enough for the stack.
        const AT_ONCE: usize = 64;
        let (Some(mask), Some(length)) = (&self.mask, self.format.text_length()) else {
            return self.format.encode_block(numbers, bodies);
        };
        let mut room = [0; AT_ONCE];
        for (numbers, bodies) in numbers.chunks(AT_ONCE).zip(bodies.chunks_mut(AT_ONCE * length)) {
            let masked = &mut room[..numbers.len()];
            masked.copy_from_slice(numbers);
            mask.encrypt_in_place(masked);
            self.format.encode_block(masked, bodies);
        }
        Some(length)
    }
}

/// Equal for formats that read every text that both can read alike.
fn digits(format: Format) -> Format {
    match format {
        Format::Base58Unpadded => Format::Base58,
        Format::Base62Unpadded => Format::Base62,
        Format::Decimal | Format::DecimalUnpadded | Format::Signed | Format::Unsigned => Format::Decimal,
        format => format,
    }
}

/// A JavaScript number that surely is the integer that was meant.
fn safe_integer(number: f64) -> Result<i128, Invalid> {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    if number.fract() == 0.0 && number.abs() <= LARGEST { Ok(number as i128) } else { Err(Invalid::UnsafeNumber) }
}
