//! From an interval of time to the interval of database values that were made in it.

use super::{IdType, Kind};
use crate::codec::Format;
use crate::error::{Code, Error};
use crate::layout::Parts;

/// The first number that a signed column shows as negative.
const SIGN: u64 = 1 << 63;

impl IdType {
    /// [`IdType::range_in`] partition 0.
    ///
    /// # Errors
    /// As there.
    pub fn range(&self, from_unix_ms: i64, to_unix_ms: i64) -> Result<(u64, u64), Error> {
        self.range_in(0, from_unix_ms, to_unix_ms)
    }

    /// The numbers `[from, to)` of the IDs made at or after `from_unix_ms` and before `to_unix_ms` in a partition, for
    /// a query by time. Times outside the layout are taken to its ends, so that "everything before now" can be asked
    /// from 1970 on. A column of text sorts like the numbers only where it compares bytewise (`COLLATE "C"`).
    ///
    /// # Errors
    /// - `CONFIG` with option `kind`: not `sortable`; with option `dbFormat`: one that does not sort like the number; with
    ///   option `to`: earlier than `from`; with option `partition`: there is none of this number.
    /// - `TIME`: `dbFormat` is `signed` and the range holds the moment at which its numbers turn negative (2094 in the
    ///   default layout): no half-open range of the column says that.
    pub fn range_in(&self, partition: u64, from_unix_ms: i64, to_unix_ms: i64) -> Result<(u64, u64), Error> {
        if self.kind != Kind::Sortable {
            let found = self.kind.as_str();
            return Err(Error::config("kind", format!("a range of time: expected kind 'sortable', found '{found}'")));
        }
        self.check_sorting("a range of time")?;
        if from_unix_ms > to_unix_ms {
            let message = format!("to: expected a time at or after from ({from_unix_ms} ms), found {to_unix_ms} ms");
            return Err(Error::config("to", message));
        }
        self.layout.check_partition(partition)?;
        let [from, to] = [from_unix_ms, to_unix_ms].map(|unix_ms| self.first_at(partition, unix_ms));
        if self.db.format == Format::Signed && from < SIGN && to >= SIGN {
            let turn = self.layout.unix_ms(self.layout.unpack(SIGN).timestamp);
            return Err(Error::new(
                Code::Time,
                format!(
                    "a range of time: dbFormat 'signed' turns negative at {turn} ms since 1970; ask before and after it"
                ),
            ));
        }
        Ok((from, to))
    }

    /// The numbers `[from, to)` of a partition; `to` is `None` where the column's values end with it. What a signed column
    /// shows as negative comes before the rest there.
    ///
    /// # Errors
    /// - `CONFIG` with option `kind`: encrypted numbers are all over the column; with option `dbFormat`: one that does not
    ///   sort like the number; with option `partition`: there is none of this number.
    /// - `TIME`: `dbFormat` is `signed`, and the only partition has negative numbers too.
    pub fn partition_range(&self, partition: u64) -> Result<(u64, Option<u64>), Error> {
        if matches!(self.kind, Kind::Encrypted { .. }) {
            return Err(Error::config("kind", "a partition's range: expected one that is not 'encrypted'"));
        }
        self.check_sorting("a partition's range")?;
        let (from, to) = self.layout.partition_range(partition)?;
        let signed = self.db.format == Format::Signed;
        let to = match u64::try_from(to) {
            Ok(SIGN) if signed => None,
            Ok(to) => Some(to),
            // The negative ones end before zero.
            Err(_) if signed && from > 0 => Some(0),
            Err(_) if signed => {
                let message =
                    "a partition's range: dbFormat 'signed' has negative numbers in the layout's only partition";
                return Err(Error::new(Code::Time, message));
            }
            Err(_) => None,
        };
        Ok((from, to))
    }

    fn check_sorting(&self, what: &str) -> Result<(), Error> {
        if self.db.format.sorts() {
            return Ok(());
        }
        let padding = if self.db.format.positional().is_some() { " without padding" } else { "" };
        let format = self.db.format.as_str();
        let message = format!("{what}: text of dbFormat '{format}'{padding} does not sort like the number");
        Err(Error::config("dbFormat", message))
    }

    /// The least number of a moment, or of the end of the layout that lies closest to it.
    fn first_at(&self, partition: u64, unix_ms: i64) -> u64 {
        let end = self.layout.end();
        let since_epoch = i128::from(unix_ms) - i128::from(self.layout.epoch_ms());
        let timestamp = u64::try_from(since_epoch.max(0)).map_or(end, |timestamp| timestamp.min(end));
        self.layout.pack(Parts { partition, timestamp, ..Parts::default() })
    }
}

#[cfg(test)]
#[path = "range_tests.rs"]
mod tests;
