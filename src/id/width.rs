//! How wide the numbers of a type are, and what follows from that: a bigint column's 64 bits, which everything here is
//! meant by where nothing else is said, or 96 and 128 bits.

use std::fmt;

use super::Value;
use crate::cipher::{Algorithm, Cipher, WideCipher};
use crate::codec::{Format, Invalid, Prefix, Text, WideText, wide};
use crate::error::Error;
use crate::layout::{Layout, Parts, Size};

/// What types of all widths have in common. Only this module implements it.
pub trait Width: Copy + fmt::Debug + Send + Sync + 'static {
    /// What the database keeps.
    type Number: Copy + Eq + fmt::Debug;
    /// A bijection of the numbers.
    type Cipher: fmt::Debug + Send + Sync;
    /// Where a prefix and a number are written.
    type Text: fmt::Debug;

    /// The size of the numbers.
    fn size(self) -> Size;
    /// Whether numbers of this width can be written in a format that `option` names.
    ///
    /// # Errors
    /// `CONFIG` with that option.
    fn check_format(self, option: &'static str, format: Format) -> Result<(), Error>;
    /// Whether a cipher can mask any number of this width.
    ///
    /// # Errors
    /// `CONFIG` with option `cipher`.
    fn check_mask(self, cipher: &Self::Cipher) -> Result<(), Error>;
    /// The fewest and the most bytes of a spelling.
    fn lengths(self, format: Format) -> (usize, usize);
    /// Appends the spelling of a number to a prefix.
    fn write<'t>(self, prefix: &Prefix, format: Format, number: Self::Number, text: &'t mut Self::Text) -> &'t [u8];
    /// Reads a spelling.
    ///
    /// # Errors
    /// What keeps the bytes from being the one spelling of a number.
    fn decode(self, format: Format, spelling: &[u8]) -> Result<Self::Number, Invalid>;
    /// The number as a bigint; `None` where the format has none.
    fn bigint(format: Format, number: Self::Number) -> Option<Value<'static>>;
    /// The number of a bigint.
    ///
    /// # Errors
    /// `Range`, or `Type` where there are no bigints.
    fn fit(format: Format, integer: i128) -> Result<Self::Number, Invalid>;
    /// What stands for a number.
    fn encrypt(cipher: &Self::Cipher, number: Self::Number) -> Self::Number;
    /// What a number stands for.
    fn decrypt(cipher: &Self::Cipher, number: Self::Number) -> Self::Number;
    /// Whether a cipher can have made a number.
    fn may_be_of(cipher: &Self::Cipher, number: Self::Number) -> bool;
    /// As [`Cipher::fingerprint`].
    fn fingerprint(cipher: &Self::Cipher) -> u128;
    /// Takes a nonce apart, which `encryption` is for, and says whether it fits the layout.
    fn unpack(self, layout: &Layout, encryption: Option<&Self::Cipher>, nonce: Self::Number) -> (Parts, bool);
}

/// 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Narrow;

/// 96 or 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wide {
    /// 96 bits.
    Bits96,
    /// 128 bits.
    Bits128,
}

impl Width for Narrow {
    type Number = u64;
    type Cipher = Cipher;
    type Text = Text;

    fn size(self) -> Size {
        Size::Bits64
    }

    fn check_format(self, _: &'static str, _: Format) -> Result<(), Error> {
        Ok(())
    }

    fn check_mask(self, _: &Cipher) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn lengths(self, format: Format) -> (usize, usize) {
        format.lengths()
    }

    #[inline]
    fn write<'t>(self, prefix: &Prefix, format: Format, number: u64, text: &'t mut Text) -> &'t [u8] {
        text.begin(prefix);
        format.encode(number, text);
        text.as_bytes()
    }

    #[inline]
    fn decode(self, format: Format, spelling: &[u8]) -> Result<u64, Invalid> {
        format.decode(spelling)
    }

    #[inline]
    fn bigint(format: Format, number: u64) -> Option<Value<'static>> {
        match format {
            Format::Signed => Some(Value::Signed(number.cast_signed())),
            Format::Unsigned => Some(Value::Unsigned(number)),
            _ => None,
        }
    }

    #[inline]
    fn fit(format: Format, integer: i128) -> Result<u64, Invalid> {
        let number =
            if format == Format::Signed { i64::try_from(integer).map(i64::cast_unsigned) } else { integer.try_into() };
        number.map_err(|_| Invalid::Range)
    }

    #[inline]
    fn encrypt(cipher: &Cipher, number: u64) -> u64 {
        cipher.encrypt(number)
    }

    #[inline]
    fn decrypt(cipher: &Cipher, number: u64) -> u64 {
        cipher.decrypt(number)
    }

    #[inline]
    fn may_be_of(_: &Cipher, _: u64) -> bool {
        true
    }

    fn fingerprint(cipher: &Cipher) -> u128 {
        cipher.fingerprint()
    }

    fn unpack(self, layout: &Layout, _: Option<&Cipher>, nonce: u64) -> (Parts, bool) {
        (layout.unpack(nonce), layout.fits(nonce))
    }
}

impl Width for Wide {
    type Number = u128;
    type Cipher = WideCipher;
    type Text = WideText;

    fn size(self) -> Size {
        match self {
            Self::Bits96 => Size::Bits96,
            Self::Bits128 => Size::Bits128,
        }
    }

    fn check_format(self, option: &'static str, format: Format) -> Result<(), Error> {
        if !format.is_numeric() {
            return Ok(());
        }
        let (bits, found) = (self.size().bits(), format.as_str());
        Err(Error::config(
            option,
            format!("{option}: expected 'raw' or a text format for {bits} bits, found '{found}'"),
        ))
    }

    fn check_mask(self, cipher: &WideCipher) -> Result<(), Error> {
        if cipher.size() == self.size() && !cipher.has_zero_tail() {
            return Ok(());
        }
        let speck = Algorithm::Speck.as_str();
        let expected = if self == Self::Bits96 { format!("'{speck}'") } else { format!("'{speck}' or 'aes'") };
        let (bits, found) = (self.size().bits(), cipher.algorithm().as_str());
        Err(Error::config("cipher", format!("cipher: expected {expected} for a mask of {bits} bits, found '{found}'")))
    }

    fn lengths(self, format: Format) -> (usize, usize) {
        wide::lengths(format, self.size())
    }

    fn write<'t>(self, prefix: &Prefix, format: Format, number: u128, text: &'t mut WideText) -> &'t [u8] {
        text.begin(prefix);
        wide::encode(format, self.size(), number, text);
        text.as_bytes()
    }

    fn decode(self, format: Format, spelling: &[u8]) -> Result<u128, Invalid> {
        wide::decode(format, self.size(), spelling)
    }

    fn bigint(_: Format, _: u128) -> Option<Value<'static>> {
        None
    }

    fn fit(_: Format, _: i128) -> Result<u128, Invalid> {
        Err(Invalid::Type)
    }

    fn encrypt(cipher: &WideCipher, number: u128) -> u128 {
        cipher.encrypt(number)
    }

    fn decrypt(cipher: &WideCipher, number: u128) -> u128 {
        cipher.decrypt(number)
    }

    fn may_be_of(cipher: &WideCipher, number: u128) -> bool {
        cipher.takes(number)
    }

    fn fingerprint(cipher: &WideCipher) -> u128 {
        cipher.fingerprint()
    }

    fn unpack(self, layout: &Layout, encryption: Option<&WideCipher>, nonce: u128) -> (Parts, bool) {
        if encryption.is_some_and(WideCipher::has_zero_tail) {
            // A nonce of 64 bits before a tail of zero.
            let (nonce, tail) = ((nonce >> 32) as u64, nonce as u32);
            return (layout.unpack(nonce), layout.fits(nonce) && tail == 0);
        }
        (layout.unpack_sized(self.size(), nonce), layout.fits_sized(self.size(), nonce))
    }
}

#[cfg(test)]
#[path = "wide_tests.rs"]
mod tests;
