//! What counts nonces of any size for one handle.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{Generator, Membership};
use crate::error::Error;
use crate::id::NonceSource;
use crate::nonce::Factory;

type Find = dyn Fn(&Arc<Factory>) -> Result<NonceSource, Error> + Send + Sync;

/// What counts nonces of one size and kind for one handle, with the handle's lease.
pub struct CountingNonces {
    generator: Arc<Generator>,
    find: Box<Find>,
    source: OnceLock<NonceSource>,
}

impl CountingNonces {
    /// For what `find` finds in a factory.
    #[must_use]
    pub fn new(
        generator: Arc<Generator>,
        find: impl Fn(&Arc<Factory>) -> Result<NonceSource, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { generator, find: Box::new(find), source: OnceLock::new() }
    }

    /// The next nonce, in the lower bits.
    ///
    /// # Errors
    /// `NOT_READY`, `LEASE_LOST` or `CLOSED` as this handle's thread was told; those of [`NonceSource::next`].
    pub fn next(&self) -> Result<u128, Error> {
        self.source()?.next()
    }

    /// Fills `nonces` in the order of counting, or gives none out.
    ///
    /// # Errors
    /// As [`CountingNonces::next`].
    pub fn fill(&self, nonces: &mut [u128]) -> Result<(), Error> {
        self.source()?.fill(nonces)
    }

    fn source(&self) -> Result<&NonceSource, Error> {
        if !self.generator.gate.is_open() {
            return Err(self.generator.refusal());
        }
        if let Some(source) = self.source.get() {
            return Ok(source);
        }
        match &*self.generator.member() {
            Membership::Joined(member) => {
                let source = (self.find)(member.factory())?;
                Ok(self.source.get_or_init(|| source))
            }
            Membership::Not | Membership::Left => Err(self.generator.refusal()),
        }
    }
}

impl fmt::Debug for CountingNonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingNonces").field("source", &self.source).finish_non_exhaustive()
    }
}
