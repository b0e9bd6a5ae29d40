//! The eight big-endian bytes themselves. They sort like the number.

use super::Invalid;

/// Bytes of a number.
pub const LENGTH: usize = 8;

/// The bytes of a number.
#[must_use]
#[inline]
pub const fn encode(number: u64) -> [u8; LENGTH] {
    number.to_be_bytes()
}

/// The number of eight bytes.
///
/// # Errors
/// `Length`.
#[inline]
pub fn decode(bytes: &[u8]) -> Result<u64, Invalid> {
    bytes.try_into().map(u64::from_be_bytes).map_err(|_| Invalid::Length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_byte_comes_first_and_eight_belong_together() {
        assert_eq!(encode(0x0123_4567_89ab_cdef), [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
        assert_eq!(decode(&[0; 7]), Err(Invalid::Length));
        assert_eq!(decode(&[0; 9]), Err(Invalid::Length));
    }
}
