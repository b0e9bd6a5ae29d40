//! Nonces of 96 and 128 bits: `timestamp · machine ID · count` like those of 64, with a count as wide as there is room,
//! up to 64 bits; what is left lies above the count and is zero. No partition.

use super::{Layout, Parts, mask};

/// How many bits a nonce, an ID or a cipher's block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Size {
    /// What a bigint column keeps.
    Bits64,
    /// The nonce of AES-GCM and Poly1305.
    Bits96,
    /// As wide as a UUID.
    Bits128,
}

impl Size {
    /// Every size.
    pub const ALL: [Self; 3] = [Self::Bits64, Self::Bits96, Self::Bits128];

    /// The size of so many bits.
    #[must_use]
    pub fn of_bits(bits: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.bits() == bits)
    }

    /// The size of so many bytes.
    #[must_use]
    pub fn of_bytes(bytes: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.bytes() == bytes)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits64 => 64,
            Self::Bits96 => 96,
            Self::Bits128 => 128,
        }
    }

    /// The bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    /// The greatest number.
    #[must_use]
    pub const fn greatest(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }
}

impl Layout {
    /// Bits of the count in nonces of a size.
    #[must_use]
    pub const fn count_bits(&self, size: Size) -> u32 {
        let room = size.bits() - self.time - self.machine;
        match size {
            Size::Bits64 => self.sequence,
            Size::Bits96 | Size::Bits128 if room > 64 => 64,
            Size::Bits96 | Size::Bits128 => room,
        }
    }

    /// [`Layout::pack`] for nonces of any size; the partition shows in 64 bits alone.
    #[must_use]
    pub const fn pack_sized(&self, size: Size, parts: Parts) -> u128 {
        if let Size::Bits64 = size {
            return self.pack(parts) as u128;
        }
        let below_time = size.bits() - self.time;
        let count = parts.count & (u64::MAX >> (64 - self.count_bits(size)));
        ((parts.timestamp & mask(self.time)) as u128) << below_time
            | ((parts.machine & mask(self.machine)) as u128) << (below_time - self.machine)
            | count as u128
    }

    /// [`Layout::unpack`] for nonces of any size; bits that are always zero are ignored (see [`Layout::fits_sized`]).
    #[must_use]
    pub const fn unpack_sized(&self, size: Size, nonce: u128) -> Parts {
        if let Size::Bits64 = size {
            return self.unpack(nonce as u64);
        }
        let below_time = size.bits() - self.time;
        Parts {
            partition: 0,
            timestamp: (nonce >> below_time) as u64 & mask(self.time),
            machine: (nonce >> (below_time - self.machine)) as u64 & mask(self.machine),
            count: nonce as u64 & (u64::MAX >> (64 - self.count_bits(size))),
        }
    }

    /// Whether a number uses none of the bits that are always zero.
    #[must_use]
    pub const fn fits_sized(&self, size: Size, nonce: u128) -> bool {
        match size {
            Size::Bits64 => nonce >> 64 == 0 && self.fits(nonce as u64),
            Size::Bits96 | Size::Bits128 => self.pack_sized(size, self.unpack_sized(size, nonce)) == nonce,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{foreign, layouts};
    use proptest::prelude::*;
    use proptest::sample::select;

    proptest! {
        #[test]
        fn packing_and_unpacking_are_inverse(
            layout in prop_oneof![layouts(), foreign()], size in select(Size::ALL.to_vec()), a: u64, b: u64, c: u64, d: u64,
        ) {
            let partition = if size == Size::Bits64 { a & mask(layout.partition) } else { 0 };
            let parts = Parts {
                partition,
                timestamp: b & mask(layout.time),
                machine: c & mask(layout.machine),
                count: d & (u64::MAX >> (64 - layout.count_bits(size))),
            };
            let nonce = layout.pack_sized(size, parts);
            prop_assert!(nonce <= size.greatest());
            prop_assert!(layout.fits_sized(size, nonce));
            prop_assert_eq!(layout.unpack_sized(size, nonce), parts);
        }

        #[test]
        fn what_fits_is_what_unpacks_to_itself(layout in layouts(), size in select(Size::ALL.to_vec()), nonce: u128) {
            let nonce = nonce & size.greatest();
            let again = layout.pack_sized(size, layout.unpack_sized(size, nonce));
            prop_assert_eq!(layout.fits_sized(size, nonce), again == nonce);
        }
    }

    #[test]
    fn the_default_is_nononcenses() {
        let parts = Parts { partition: 0, timestamp: 12_345, machine: 7, count: 2 };
        let [narrow, middle, wide] = Size::ALL.map(|size| Layout::DEFAULT.pack_sized(size, parts));
        assert_eq!(narrow, 0x0000_000c_0e40_e002);
        assert_eq!(middle, 0x0000_000c_0e40_e000_0000_0002);
        assert_eq!(wide, 0x0000_000c_0e40_e000_0000_0000_0000_0002);
        assert_eq!(Size::ALL.map(|size| Layout::DEFAULT.count_bits(size)), [13, 45, 64]);
        assert!(!Layout::DEFAULT.fits_sized(Size::Bits128, 1 << 64));
    }

    #[test]
    fn sizes_are_told_by_their_bits_or_bytes() {
        for size in Size::ALL {
            assert_eq!((Size::of_bits(size.bits()), Size::of_bytes(size.bytes())), (Some(size), Some(size)));
        }
        assert_eq!((Size::of_bits(8), Size::of_bytes(64)), (None, None));
        assert_eq!(Size::Bits96.greatest(), (1 << 96) - 1);
    }
}
