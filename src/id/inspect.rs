//! What an ID tells about itself.

use super::{IdType, Kind, Width};

/// The parts of one ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inspection {
    /// How the type counts.
    pub kind: Kind,
    /// Milliseconds since 1970.
    pub timestamp: u64,
    /// Whether the timestamp says when the ID was made; otherwise it says when its lease began, or a little later.
    pub exact: bool,
    /// The machine ID under which it was counted.
    pub machine_id: u64,
    /// The count within the timestamp.
    pub sequence: u64,
    /// Partition number, 0 where the layout has none.
    pub partition: u64,
}

impl<W: Width> IdType<W> {
    /// Takes a number of the database's apart. Any number has parts: nothing in it proves that it was minted.
    #[must_use]
    pub fn inspect(&self, number: W::Number) -> Inspection {
        let (parts, _) = self.width.unpack(&self.layout, self.encryption.as_deref(), self.nonce(number));
        Inspection {
            kind: self.kind,
            timestamp: self.layout.unix_ms(parts.timestamp),
            exact: self.kind.is_exact(),
            machine_id: parts.machine,
            sequence: parts.count,
            partition: parts.partition,
        }
    }
}
