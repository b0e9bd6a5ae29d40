//! What counts for one ID type.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::{Generator, Membership};
use crate::error::Error;
use crate::id::IdType;
use crate::nonce::{Overflow, Source, Space};

/// What counts the nonces of one ID type for one handle.
#[derive(Debug)]
pub struct Counting {
    generator: Arc<Generator>,
    space: Space,
    overflow: Overflow,
    /// What counts partition 0.
    source: OnceLock<Source>,
    others: RwLock<HashMap<u64, Source>>,
}

impl Counting {
    /// For `id_type`, under the lease of `generator`.
    #[must_use]
    pub fn new(generator: Arc<Generator>, id_type: &IdType) -> Self {
        Self {
            generator,
            space: id_type.space(),
            overflow: id_type.overflow(),
            source: OnceLock::new(),
            others: RwLock::default(),
        }
    }

    /// The next nonce.
    ///
    /// # Errors
    /// `NOT_READY`, `LEASE_LOST` or `CLOSED` as this handle's thread was told; those of [`Source::next`].
    #[inline]
    pub fn next(&self) -> Result<u64, Error> {
        self.source()?.next()
    }

    /// Fills `nonces` in ascending order, or gives none out.
    ///
    /// # Errors
    /// As [`Counting::next`].
    pub fn fill(&self, nonces: &mut [u64]) -> Result<(), Error> {
        self.source()?.fill(nonces)
    }

    /// The next nonce of a partition.
    ///
    /// # Errors
    /// As [`Counting::next`]; `CONFIG` with option `partition` where there is none of this number.
    pub fn next_in(&self, partition: u64) -> Result<u64, Error> {
        self.source_of(partition)?.next()
    }

    /// The next nonce of a partition at a given time, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`Counting::next_in`], and those of [`Source::next_at`].
    pub fn next_at(&self, partition: u64, unix_ms: u64) -> Result<u64, Error> {
        self.source_of(partition)?.next_at(unix_ms)
    }

    /// Fills `nonces` in ascending order, all in a partition, or gives none out.
    ///
    /// # Errors
    /// As [`Counting::next_in`].
    pub fn fill_in(&self, partition: u64, nonces: &mut [u64]) -> Result<(), Error> {
        self.source_of(partition)?.fill(nonces)
    }

    fn source_of(&self, partition: u64) -> Result<Source, Error> {
        let first = self.source()?;
        if partition == self.space.partition() {
            return Ok(first.clone());
        }
        if let Some(source) = self.others.read().unwrap_or_else(PoisonError::into_inner).get(&partition) {
            return Ok(source.clone());
        }
        let source = first.in_partition(partition)?;
        self.others.write().unwrap_or_else(PoisonError::into_inner).insert(partition, source.clone());
        Ok(source)
    }

    #[inline]
    fn source(&self) -> Result<&Source, Error> {
        if !self.generator.gate.is_open() {
            return Err(self.generator.refusal());
        }
        match self.source.get() {
            Some(source) => Ok(source),
            None => self.find_source(),
        }
    }

    #[cold]
    fn find_source(&self) -> Result<&Source, Error> {
        match &*self.generator.member() {
            Membership::Joined(member) => {
                let source = member.factory().source(self.space.clone())?.with_overflow(self.overflow);
                Ok(self.source.get_or_init(|| source))
            }
            Membership::Not | Membership::Left => Err(self.generator.refusal()),
        }
    }
}
