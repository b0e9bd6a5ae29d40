//! Which sequence a nonce is counted in.

use std::sync::Arc;

use super::Order;
use crate::error::{Error, shown};
use crate::layout::Layout;

/// A set of nonces that are unique among each other, or one partition of it. Every ID type that counts in the same one
/// shares its sequence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Space {
    order: Order,
    layout: Layout,
    /// What the nonces are encrypted with afterwards: only what went through one cipher and key is unique then.
    encryption: Option<u128>,
    /// Empty where the others say all.
    name: Arc<str>,
    partition: u64,
}

impl Space {
    /// The space of all nonces of a kind and a layout that name no other.
    #[must_use]
    pub fn new(order: Order, layout: Layout) -> Self {
        Self { order, layout, encryption: None, name: Arc::default(), partition: 0 }
    }

    /// The same space of nonces that are encrypted with what has this fingerprint.
    #[must_use]
    pub fn encrypted(self, fingerprint: u128) -> Self {
        Self { encryption: Some(fingerprint), ..self }
    }

    /// The space of a name; '' is the one without.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: name.into(), ..self }
    }

    /// A partition, which has a sequence of its own.
    ///
    /// # Errors
    /// `CONFIG` with option `partition` where the layout has no room for it.
    pub fn in_partition(self, partition: u64) -> Result<Self, Error> {
        self.layout.check_partition(partition)?;
        Ok(Self { partition, ..self })
    }

    /// How its sequences count.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// How its nonces are laid out.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its name, '' where it has none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which partition, 0 where there are none.
    #[must_use]
    pub fn partition(&self) -> u64 {
        self.partition
    }

    /// Whether nonces of both can be counted under one name: each name has one kind, layout, cipher and key.
    ///
    /// # Errors
    /// `CONFIG` with option `space`.
    pub(super) fn agrees_with(&self, other: &Self) -> Result<(), Error> {
        let differs = if self.order != other.order {
            "kind"
        } else if self.layout != other.layout {
            "layout"
        } else if self.encryption != other.encryption {
            "encryption"
        } else {
            return Ok(());
        };
        let name = shown(&self.name);
        Err(Error::config(
            "space",
            format!("space: {name} is counted with another {differs} elsewhere in this process"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_lies_in_the_layout() {
        let layout = Layout::new(4, 42, 4, 13, 0).unwrap();
        let space = Space::new(Order::Sortable, layout);
        assert_eq!(space.clone().in_partition(15).unwrap().partition(), 15);
        assert_eq!(space.in_partition(16).unwrap_err().fields().option, Some("partition"));
        let without = Space::new(Order::Sortable, Layout::DEFAULT);
        assert_eq!(without.clone().in_partition(0), Ok(without.clone()));
        assert_eq!(without.in_partition(1).unwrap_err().fields().option, Some("partition"));
    }
}
