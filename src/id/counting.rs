//! Where the nonces of a type are counted, and what counts them.

use std::sync::Arc;

use super::{IdType, Kind, NonceSource, Nonces, Wide, Width};
use crate::error::Error;
use crate::nonce::{Factory, Overflow, Source, Space};

impl<W: Width> IdType<W> {
    /// The same type counted in the space of a name, with whatever else names it. '' is the space of its kind and layout.
    #[must_use]
    pub fn in_space(self, name: &str) -> Self {
        Self { space: name.into(), ..self }
    }

    /// Where its nonces are counted. Types of one kind and layout share a space unless they name one; nonces that are
    /// encrypted have one of their own, a cipher and key, since what is unique after encryption is only what went through
    /// the same one.
    #[must_use]
    pub fn space(&self) -> Space {
        let space = Space::new(self.kind.order(), self.layout).named(&self.space);
        match &self.encryption {
            Some(cipher) => space.encrypted(W::fingerprint(cipher)),
            None => space,
        }
    }
}

impl IdType {
    /// The same type with something else to do when a millisecond is used up.
    ///
    /// # Errors
    /// `CONFIG` with option `overflow` where the type does not sort by time.
    pub fn with_overflow(self, overflow: Overflow) -> Result<Self, Error> {
        if self.kind != Kind::Sortable {
            let found = self.kind.as_str();
            return Err(Error::config(
                "overflow",
                format!("overflow: expected a type of kind 'sortable', found '{found}'"),
            ));
        }
        Ok(Self { overflow, ..self })
    }

    /// What happens when a millisecond is used up.
    #[must_use]
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// What counts the nonces of a partition under the leases of `factory`.
    ///
    /// # Errors
    /// `CONFIG` with option `partition` where there is none of this number; those of [`Factory::source`].
    pub fn source(&self, factory: &Arc<Factory>, partition: u64) -> Result<Source, Error> {
        Ok(factory.source(self.space().in_partition(partition)?)?.with_overflow(self.overflow))
    }
}

impl IdType<Wide> {
    /// What counts the numbers of the type under the leases of `factory`, encrypted where its kind says so.
    ///
    /// # Errors
    /// Those of [`Factory::source`].
    pub fn source(&self, factory: &Arc<Factory>) -> Result<NonceSource, Error> {
        let nonces = Nonces::of_type(self.width.size(), self.kind, self.layout, self.encryption.clone());
        nonces.source_in(factory, self.space())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cipher::{Algorithm, Cipher};
    use crate::clock::{Clock, ManualClock};
    use crate::codec::Format;
    use crate::id::{Base, Spec};
    use crate::layout::Layout;
    use crate::nonce::{Doubt, Fence, Opening};

    fn spec(kind: Kind) -> Spec {
        Spec {
            prefix: String::new(),
            kind,
            format: Format::Base58,
            db_format: Format::Signed,
            mask: None,
            encryption: Some(Arc::new(Cipher::new(Algorithm::Speck, &[7; 16]).unwrap())),
            accepts: Vec::new(),
            persist_prefix: false,
            layout: Layout::new(4, 41, 9, 9, 1000).unwrap(),
        }
    }

    #[test]
    fn types_of_one_kind_and_layout_share_a_space_unless_they_name_one() {
        let of = |kind| IdType::new(spec(kind)).unwrap();
        let encrypted = Kind::Encrypted { base: Base::Counter };
        let all = [
            of(Kind::Counter).space(),
            of(Kind::Sortable).space(),
            of(encrypted).space(),
            of(Kind::Encrypted { base: Base::Sortable }).space(),
            of(Kind::Counter).in_space("a").space(),
            of(Kind::Counter).in_space("b").space(),
            IdType::new(Spec { layout: Layout::DEFAULT, ..spec(Kind::Counter) }).unwrap().space(),
            IdType::new(Spec {
                encryption: Some(Arc::new(Cipher::new(Algorithm::Speck, &[8; 16]).unwrap())),
                ..spec(encrypted)
            })
            .unwrap()
            .space(),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(of(Kind::Counter).in_space("").space(), all[0]);
        assert_eq!(IdType::new(Spec { prefix: "x_".into(), ..spec(Kind::Counter) }).unwrap().space(), all[0]);
    }

    #[test]
    fn only_what_sorts_by_time_can_overflow() {
        for kind in [Kind::Counter, Kind::Encrypted { base: Base::Counter }, Kind::Encrypted { base: Base::Sortable }] {
            let error = IdType::new(spec(kind)).unwrap().with_overflow(Overflow::Drift).unwrap_err();
            assert_eq!(error.fields().option, Some("overflow"));
        }
    }

    #[test]
    fn what_counts_a_type_knows_its_partition_and_overflow() {
        let id_type = IdType::new(spec(Kind::Sortable)).unwrap().with_overflow(Overflow::Drift).unwrap();
        let clock = Arc::new(ManualClock::default());
        let factory = Arc::new(Factory::new(*id_type.layout(), clock.clone()));
        let fence = Fence { machine: 3, start: 10, end: 9000 };
        factory.open(Opening { fence, now: 10, arrived: clock.tick(), extend: None, doubt: Doubt::new(|| {}) });
        let source = id_type.source(&factory, 9).unwrap();
        let mut nonces = [0; 513];
        source.fill(&mut nonces).unwrap();
        let seen = id_type.inspect(nonces[512]);
        assert_eq!((seen.partition, seen.timestamp, seen.machine_id, seen.sequence), (9, 1011, 3, 0));
        assert_eq!(id_type.source(&factory, 16).unwrap_err().fields().option, Some("partition"));
    }
}
