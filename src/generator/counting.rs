//! What counts for one ID type.

use std::sync::{Arc, OnceLock};

use super::{Generator, Membership};
use crate::error::Error;
use crate::id::IdType;
use crate::nonce::{Source, Space};

/// What counts the nonces of one ID type for one handle.
#[derive(Debug)]
pub struct Counting {
    generator: Arc<Generator>,
    space: Space,
    source: OnceLock<Source>,
}

impl Counting {
    /// For `id_type`, under the lease of `generator`.
    #[must_use]
    pub fn new(generator: Arc<Generator>, id_type: &IdType) -> Self {
        Self { generator, space: id_type.space(), source: OnceLock::new() }
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
                let source = member.factory().source(self.space.clone())?;
                Ok(self.source.get_or_init(|| source))
            }
            Membership::Not | Membership::Left => Err(self.generator.refusal()),
        }
    }
}
