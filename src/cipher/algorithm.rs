//! The block ciphers by their public names, and which sizes each of them has.

use crate::error::Error;
use crate::layout::Size;

/// A block cipher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Speck, of the block's own size: fast everywhere, fastest in blocks.
    Speck,
    /// AES-256; for 64 bits in the construction FF1 of NIST SP 800-38G.
    Aes,
    /// Blowfish: blocks of 64 bits, what `NoNoncense` takes when nothing else is said.
    Blowfish,
    /// Triple DES with three keys: blocks of 64 bits.
    Des3,
}

impl Algorithm {
    /// Every cipher.
    pub const ALL: [Self; 4] = [Self::Speck, Self::Aes, Self::Blowfish, Self::Des3];

    /// The cipher of a public name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    /// The public name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Speck => "speck",
            Self::Aes => "aes",
            Self::Blowfish => "blowfish",
            Self::Des3 => "des3",
        }
    }

    /// What a size is encrypted with when nothing else is said.
    #[must_use]
    pub const fn default_for(size: Size) -> Self {
        match size {
            Size::Bits64 | Size::Bits96 => Self::Speck,
            Size::Bits128 => Self::Aes,
        }
    }

    /// The bytes of a key for blocks of a size; `None` where the cipher does not have the size.
    #[must_use]
    pub const fn key_length(self, size: Size) -> Option<usize> {
        match (self, size) {
            (Self::Speck | Self::Blowfish, Size::Bits64) | (Self::Blowfish, Size::Bits96) => Some(16),
            (Self::Speck, Size::Bits96) => Some(18),
            (Self::Des3, Size::Bits64 | Size::Bits96) => Some(24),
            (Self::Aes, Size::Bits64) | (Self::Aes | Self::Speck, Size::Bits128) => Some(32),
            (Self::Aes, Size::Bits96) | (Self::Blowfish | Self::Des3, Size::Bits128) => None,
        }
    }

    /// The error for a size that the cipher does not have.
    pub(super) fn unfit(self, size: Size) -> Error {
        let fit = Self::ALL.into_iter().filter(|algorithm| algorithm.key_length(size).is_some());
        let names: Vec<_> = fit.map(|algorithm| format!("'{}'", algorithm.as_str())).collect();
        let (names, bits, found) = (names.join(", "), size.bits(), self.as_str());
        Error::config("cipher", format!("cipher: expected one of {names} for {bits} bits, found '{found}'"))
    }

    /// The bytes of an explicit key.
    ///
    /// # Errors
    /// `CONFIG` with option `cipherKeys`; the message tells the number of bytes alone.
    pub(super) fn key<const N: usize>(self, size: Size, key: &[u8]) -> Result<&[u8; N], Error> {
        key.try_into().map_err(|_| {
            let (bits, name, found) = (size.bits(), self.as_str(), key.len());
            Error::config("cipherKeys", format!("cipherKeys.{bits}: expected {N} bytes for '{name}', found {found}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_public_and_distinct() {
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::parse(algorithm.as_str()), Some(algorithm));
        }
        for stranger in ["", "AES", "aes-256", "3des", " speck"] {
            assert_eq!(Algorithm::parse(stranger), None, "{stranger}");
        }
    }

    #[test]
    fn every_size_has_its_default() {
        for size in Size::ALL {
            assert!(Algorithm::default_for(size).key_length(size).is_some());
        }
        let message = Algorithm::Des3.unfit(Size::Bits128);
        assert_eq!(message.message(), "cipher: expected one of 'speck', 'aes' for 128 bits, found 'des3'");
    }
}
