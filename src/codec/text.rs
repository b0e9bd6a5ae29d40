//! Where a text is written: a buffer on the stack that holds the longest prefix and the longest number.

use super::{Prefix, integer, wide};

/// For numbers of 64 bits.
pub type Text = Buffer<{ Prefix::LONGEST + integer::LONGEST }>;
/// For numbers of 96 and 128 bits.
pub type WideText = Buffer<{ Prefix::LONGEST + wide::LONGEST }>;

/// One text or byte string under construction; reused from ID to ID.
#[derive(Debug, Clone)]
pub struct Buffer<const LONGEST: usize> {
    bytes: [u8; LONGEST],
    length: usize,
}

impl<const LONGEST: usize> Buffer<LONGEST> {
    /// The most bytes that an ID of any type has.
    pub const LONGEST: usize = LONGEST;

    /// An empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: [0; LONGEST], length: 0 }
    }

    /// What was written.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Begins anew with a prefix.
    #[inline]
    pub fn begin(&mut self, prefix: &Prefix) {
        // The padding goes along: a copy of a fixed length is a few moves.
        self.bytes[..Prefix::LONGEST].copy_from_slice(prefix.padded());
        self.length = prefix.len();
    }

    /// Appends bytes, if they fit; a prefix and one number always do.
    #[inline]
    pub fn push(&mut self, part: &[u8]) {
        let end = self.length + part.len();
        debug_assert!(end <= LONGEST, "a prefix and one number fit");
        if let Some(room) = self.bytes.get_mut(self.length..end) {
            room.copy_from_slice(part);
            self.length = end;
        }
    }
}

impl<const LONGEST: usize> Default for Buffer<LONGEST> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_and_number_fit_and_the_buffer_can_be_used_again() {
        let mut text = Text::new();
        text.begin(&Prefix::new(&"x".repeat(64)).unwrap());
        text.push(b"18446744073709551615");
        assert_eq!(text.as_bytes().len(), Text::LONGEST);
        text.begin(&Prefix::EMPTY);
        assert_eq!(text.as_bytes(), b"");
        text.push(b"5");
        assert_eq!(text.as_bytes(), b"5");
    }
}
