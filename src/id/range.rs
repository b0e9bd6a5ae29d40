//! From an interval of time to the interval of database values that were made in it.

use super::{IdType, Kind};
use crate::codec::Format;
use crate::error::{Code, Error};
use crate::layout::Parts;

/// The first number that a signed column shows as negative.
const SIGN: u64 = 1 << 63;

impl IdType {
    /// The numbers `[from, to)` of the IDs made at or after `from_unix_ms` and before `to_unix_ms` in partition 0, for
    /// a query by time. Times outside the layout are taken to its ends, so that "everything before now" can be asked
    /// from 1970 on. A column of text sorts like the numbers only where it compares bytewise (`COLLATE "C"`).
    ///
    /// # Errors
    /// - `CONFIG` with option `kind`: not `sortable`; with option `dbFormat`: one that does not sort like
    ///   the number; with option `to`: earlier than `from`.
    /// - `TIME`: `dbFormat` is `signed` and the range holds the moment at which its numbers turn negative (2094 in the
    ///   default layout): no half-open range of the column says that.
    pub fn range(&self, from_unix_ms: i64, to_unix_ms: i64) -> Result<(u64, u64), Error> {
        if self.kind != Kind::Sortable {
            let found = self.kind.as_str();
            return Err(Error::config("kind", format!("a range of time: expected kind 'sortable', found '{found}'")));
        }
        if !self.db.format.sorts() {
            let padding = if matches!(self.db.format, Format::Unpadded(_)) { " without padding" } else { "" };
            let format = self.db.format.as_str();
            let message = format!("a range of time: text of dbFormat '{format}'{padding} does not sort by time");
            return Err(Error::config("dbFormat", message));
        }
        if from_unix_ms > to_unix_ms {
            let message = format!("to: expected a time at or after from ({from_unix_ms} ms), found {to_unix_ms} ms");
            return Err(Error::config("to", message));
        }
        let (from, to) = (self.first_at(from_unix_ms), self.first_at(to_unix_ms));
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

    /// The least number of a moment, or of the end of the layout that lies closest to it.
    fn first_at(&self, unix_ms: i64) -> u64 {
        let end = self.layout.end();
        let since_epoch = i128::from(unix_ms) - i128::from(self.layout.epoch_ms());
        let timestamp = u64::try_from(since_epoch.max(0)).map_or(end, |timestamp| timestamp.min(end));
        self.layout.pack(Parts { timestamp, ..Parts::default() })
    }
}
