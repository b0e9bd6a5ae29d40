//! How many bits of a 64-bit nonce each part has: `partition · timestamp · machine ID · count`, from high to low, unused
//! bits on top. The default is NoNoncense's (42 · 9 · 13, epoch 2025); Stamp's layouts leave the sign bit free.

mod size;

pub use size::Size;

use std::fmt;

use crate::error::{Code, Error};

/// Bit widths and epoch; immutable once checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    partition: u32,
    time: u32,
    machine: u32,
    sequence: u32,
    epoch_ms: u64,
}

/// The parts of one nonce. `timestamp` counts milliseconds since the layout's epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Parts {
    /// Partition number, 0 where the layout has no partition bits.
    pub partition: u64,
    /// Milliseconds since the epoch.
    pub timestamp: u64,
    /// Machine ID.
    pub machine: u64,
    /// Count within one millisecond.
    pub count: u64,
}

/// `partition/time/machine/sequence@epoch`, the epoch in milliseconds since 1970: how registries keep it.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { partition, time, machine, sequence, epoch_ms } = self;
        write!(f, "{partition}/{time}/{machine}/{sequence}@{epoch_ms}")
    }
}

impl Layout {
    /// 2025-01-01T00:00:00Z in milliseconds since 1970.
    pub const DEFAULT_EPOCH_MS: u64 = 1_735_689_600_000;
    /// The most machine IDs that a registry hands out, whatever the layout.
    pub const MOST_MACHINES: u32 = 32_768;
    /// 0 · 42 · 9 · 13 since 2025: good until 2164.
    pub const DEFAULT: Self =
        Self { partition: 0, time: 42, machine: 9, sequence: 13, epoch_ms: Self::DEFAULT_EPOCH_MS };

    /// Checks widths and epoch of a layout to count in.
    ///
    /// # Errors
    /// `CONFIG` with option `layout`: `partition` 0 to 16, `time` 32 to 48, `machine` 0 to 31, `sequence` 1 to 22, `time`
    /// and `sequence` together at most 63 bits, all of them at most 64; the epoch at most 2^43 ms (the year 2248).
    pub fn new(partition: u32, time: u32, machine: u32, sequence: u32, epoch_ms: u64) -> Result<Self, Error> {
        within("partition", partition, 0, 16)?;
        within("time", time, 32, 48)?;
        within("machine", machine, 0, 31)?;
        within("sequence", sequence, 1, 22)?;
        // The machine ID stands above these in the word that is counted.
        if time + sequence > 63 {
            let found = time + sequence;
            let message = format!("layout: expected at most 63 bits of time and sequence together, found {found}");
            return Err(Error::config("layout", message));
        }
        Self::foreign(partition, time, machine, sequence, epoch_ms)
    }

    /// A layout of other software's, of any widths, to take its IDs apart and put them together. Few of these can be
    /// counted in for long.
    ///
    /// # Errors
    /// `CONFIG` with option `layout`: no bits for `time` or `sequence`, more than 64 together; the epoch as above.
    pub fn foreign(partition: u32, time: u32, machine: u32, sequence: u32, epoch_ms: u64) -> Result<Self, Error> {
        within("partition", partition, 0, 62)?;
        within("time", time, 1, 63)?;
        within("machine", machine, 0, 62)?;
        within("sequence", sequence, 1, 63)?;
        let sum = partition + time + machine + sequence;
        if sum > 64 {
            return Err(Error::config("layout", format!("layout: expected at most 64 bits together, found {sum}")));
        }
        if epoch_ms > 1 << 43 {
            return Err(Error::config(
                "layout",
                format!("layout.epoch: expected milliseconds since 1970, at most {}, found {epoch_ms}", 1_u64 << 43),
            ));
        }
        Ok(Self { partition, time, machine, sequence, epoch_ms })
    }

    /// Reads what [`Layout::to_string`] writes; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (bits, epoch) = text.split_once('@')?;
        let mut bits = bits.split('/').map(|part| part.parse().ok());
        let mut next = || bits.next().flatten();
        let layout = Self::new(next()?, next()?, next()?, next()?, epoch.parse().ok()?).ok()?;
        (layout.to_string() == text).then_some(layout)
    }

    /// Milliseconds since 1970 at which timestamp 0 lies.
    #[must_use]
    pub const fn epoch_ms(&self) -> u64 {
        self.epoch_ms
    }

    /// Bits of the count.
    #[must_use]
    pub const fn sequence_bits(&self) -> u32 {
        self.sequence
    }

    /// Bits of the timestamp.
    #[must_use]
    pub const fn time_bits(&self) -> u32 {
        self.time
    }

    /// Bits of the machine ID.
    #[must_use]
    pub const fn machine_bits(&self) -> u32 {
        self.machine
    }

    /// Bits of the partition.
    #[must_use]
    pub const fn partition_bits(&self) -> u32 {
        self.partition
    }

    /// How many machine IDs the layout can tell apart, at most 32 768.
    #[must_use]
    pub const fn machines(&self) -> u32 {
        if self.machine < 15 { 1 << self.machine } else { Self::MOST_MACHINES }
    }

    /// How many partitions the layout can tell apart; one, where it has no bits for them.
    #[must_use]
    pub const fn partitions(&self) -> u64 {
        1 << self.partition
    }

    /// Whether there is a partition of this number.
    ///
    /// # Errors
    /// `CONFIG` with option `partition`.
    pub fn check_partition(&self, partition: u64) -> Result<(), Error> {
        if partition < self.partitions() {
            return Ok(());
        }
        let last = self.partitions() - 1;
        let expected =
            if last == 0 { "no partition, since the layout has none".into() } else { format!("0 to {last}") };
        Err(Error::config("partition", format!("partition: expected {expected}, found {partition}")))
    }

    /// The first timestamp that is never put into a nonce: the last one the field can hold stays unused, so that no
    /// counting word can ever reach the value that means "closed".
    #[must_use]
    pub const fn end(&self) -> u64 {
        mask(self.time)
    }

    /// Turns milliseconds since 1970 into a timestamp of this layout.
    ///
    /// # Errors
    /// `TIME` when the moment lies before the epoch or at or past the layout's end.
    pub fn timestamp(&self, unix_ms: u64) -> Result<u64, Error> {
        let Some(timestamp) = unix_ms.checked_sub(self.epoch_ms) else {
            return Err(Error::new(
                Code::Time,
                format!("the time {unix_ms} (ms since 1970) lies before the layout's epoch {}", self.epoch_ms),
            ));
        };
        if timestamp >= self.end() {
            return Err(Error::new(
                Code::Time,
                format!("the time {unix_ms} (ms since 1970) lies past the end of the layout, {}", self.end_unix_ms()),
            ));
        }
        Ok(timestamp)
    }

    /// Milliseconds since 1970 of a timestamp of this layout.
    #[must_use]
    pub const fn unix_ms(&self, timestamp: u64) -> u64 {
        self.epoch_ms + timestamp
    }

    /// Milliseconds since 1970 at which the layout ends, exclusive.
    #[must_use]
    pub const fn end_unix_ms(&self) -> u64 {
        self.epoch_ms + self.end()
    }

    /// In the layout's last year, how many whole days of it are left at a moment; whoever counts should be warned.
    #[must_use]
    pub const fn days_left(&self, unix_ms: u64) -> Option<u64> {
        const DAY_MS: u64 = 86_400_000;
        match self.end_unix_ms().checked_sub(unix_ms) {
            Some(left) if left > 0 && left < 365 * DAY_MS => Some(left / DAY_MS),
            _ => None,
        }
    }

    /// Puts the parts into a nonce. Parts that are too wide are cut; callers hold to the layout's ranges.
    #[must_use]
    pub const fn pack(&self, parts: Parts) -> u64 {
        self.partition_start(parts.partition) | self.pack_unpartitioned(parts)
    }

    /// The least nonce of a partition.
    #[must_use]
    pub const fn partition_start(&self, partition: u64) -> u64 {
        if self.partition == 0 {
            return 0;
        }
        (partition & mask(self.partition)) << (self.time + self.machine + self.sequence)
    }

    /// The nonces of a partition: from the least one to the one after the greatest, which may be 2^64.
    ///
    /// # Errors
    /// As [`Layout::check_partition`].
    pub fn partition_range(&self, partition: u64) -> Result<(u64, u128), Error> {
        self.check_partition(partition)?;
        let start = self.partition_start(partition);
        Ok((start, u128::from(start) + (1 << (self.time + self.machine + self.sequence))))
    }

    #[inline]
    pub(crate) const fn pack_unpartitioned(&self, parts: Parts) -> u64 {
        (parts.timestamp & mask(self.time)) << (self.machine + self.sequence)
            | (parts.machine & mask(self.machine)) << self.sequence
            | (parts.count & mask(self.sequence))
    }

    /// Takes a nonce apart; bits above the layout are ignored (see [`Layout::fits`]).
    #[must_use]
    pub const fn unpack(&self, nonce: u64) -> Parts {
        let above_sequence = nonce >> self.sequence;
        let above_machine = above_sequence >> self.machine;
        Parts {
            partition: if self.partition == 0 { 0 } else { (above_machine >> self.time) & mask(self.partition) },
            timestamp: above_machine & mask(self.time),
            machine: above_sequence & mask(self.machine),
            count: nonce & mask(self.sequence),
        }
    }

    /// Whether a number uses none of the bits above the layout.
    #[must_use]
    pub const fn fits(&self, nonce: u64) -> bool {
        let bits = self.partition + self.time + self.machine + self.sequence;
        bits == 64 || nonce >> bits == 0
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::DEFAULT
    }
}

fn within(name: &str, bits: u32, least: u32, most: u32) -> Result<(), Error> {
    if (least..=most).contains(&bits) {
        return Ok(());
    }
    Err(Error::config("layout", format!("layout.{name}: expected {least} to {most} bits, found {bits}")))
}

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn layouts() -> impl Strategy<Value = Layout> {
        (0_u32..=10, 32_u32..=48, 0_u32..=20, 1_u32..=22)
            .prop_filter_map("at most 64 bits", |(p, t, m, s)| Layout::new(p, t, m, s, Layout::DEFAULT_EPOCH_MS).ok())
    }

    /// Widths that add up to 64 or less, in any proportion.
    pub(crate) fn foreign() -> impl Strategy<Value = Layout> {
        (0_u32..=62, 1_u32..=63, 0_u32..=62, 1_u32..=63)
            .prop_filter_map("at most 64 bits", |(p, t, m, s)| Layout::foreign(p, t, m, s, 1000).ok())
    }

    #[test]
    fn what_is_no_layout_is_not_read_as_one() {
        for text in [
            "",
            "0/42/9/13",
            "0/42/9@1",
            "0/42/9/13/1@1",
            "00/42/9/13@1",
            "0/42/9/13@-1",
            "0/42/99/13@1",
            "0/42/9/13@x",
        ] {
            assert_eq!(Layout::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn writing_and_reading_are_inverse(layout in layouts()) {
            prop_assert_eq!(Layout::parse(&layout.to_string()), Some(layout));
        }

        #[test]
        fn packing_and_unpacking_are_inverse(layout in prop_oneof![layouts(), foreign()], a: u64, b: u64, c: u64, d: u64) {
            let parts = Parts {
                partition: a & mask(layout.partition),
                timestamp: b & mask(layout.time),
                machine: c & mask(layout.machine),
                count: d & mask(layout.sequence),
            };
            prop_assert_eq!(layout.unpack(layout.pack(parts)), parts);
            prop_assert!(layout.fits(layout.pack(parts)));
        }
    }

    #[test]
    fn the_default_is_nononcenses() {
        let parts = Parts { partition: 0, timestamp: 1000, machine: 5, count: 2 };
        assert_eq!(Layout::DEFAULT.pack(parts), 0x0000_0000_fa00_a002);
    }

    #[test]
    fn widths_out_of_range_are_refused_with_the_option() {
        for (p, t, m, s, part) in [
            (17, 42, 9, 13, "layout.partition"),
            (0, 31, 9, 13, "layout.time"),
            (0, 32, 32, 1, "layout.machine"),
            (0, 42, 9, 23, "layout.sequence"),
            (0, 48, 9, 13, "at most 64 bits"),
        ] {
            let error = Layout::new(p, t, m, s, 0).unwrap_err();
            assert_eq!(error.fields().option, Some("layout"));
            assert!(error.message().contains(part), "{}", error.message());
        }
        for (p, t, m, s) in [(0, 0, 9, 13), (0, 42, 9, 0), (63, 1, 0, 1), (0, 1, 63, 1), (20, 20, 20, 5)] {
            assert_eq!(Layout::foreign(p, t, m, s, 0).unwrap_err().fields().option, Some("layout"));
        }
    }

    #[test]
    fn there_are_at_most_32_768_machine_ids_and_at_least_one() {
        for (bits, machines) in [(0, 1), (1, 2), (14, 16_384), (15, 32_768), (16, 32_768), (20, 32_768)] {
            assert_eq!(Layout::new(0, 42, bits, 2, 0).unwrap().machines(), machines);
        }
        assert_eq!(Layout::foreign(0, 1, 62, 1, 0).unwrap().machines(), 32_768);
    }

    #[test]
    fn times_outside_are_refused() {
        let layout = Layout::DEFAULT;
        assert_eq!(layout.timestamp(Layout::DEFAULT_EPOCH_MS).unwrap(), 0);
        assert_eq!(layout.timestamp(Layout::DEFAULT_EPOCH_MS - 1).unwrap_err().code(), Code::Time);
        assert_eq!(layout.timestamp(layout.end_unix_ms()).unwrap_err().code(), Code::Time);
        assert_eq!(layout.timestamp(layout.end_unix_ms() - 1).unwrap(), layout.end() - 1);
    }

    #[test]
    fn the_last_year_is_told_in_days() {
        let (layout, day) = (Layout::DEFAULT, 86_400_000);
        for (before_end, left) in
            [(366 * day, None), (365 * day, None), (365 * day - 1, Some(364)), (1, Some(0)), (0, None)]
        {
            assert_eq!(layout.days_left(layout.end_unix_ms() - before_end), left, "{before_end}");
        }
        assert_eq!(layout.days_left(layout.end_unix_ms() + 1), None);
    }
}
