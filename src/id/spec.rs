//! What a user asks of an ID type, and the combinations that are refused.

use std::sync::Arc;

use super::spelling::Spelling;
use super::{IdType, Narrow, Width};
use crate::cipher::no_key_of;
use crate::codec::{Format, Prefix};
use crate::error::{Error, shown};
use crate::layout::Layout;
use crate::nonce::Overflow;

/// How nonces are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Counts up from when the lease began.
    Counter,
    /// Carries the millisecond in which it was made, and sorts by it.
    Sortable,
    /// One of the two, encrypted before anybody sees it.
    Encrypted {
        /// What is encrypted.
        base: Base,
    },
}

/// What kind `encrypted` encrypts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// Nonces of kind `counter`.
    Counter,
    /// Nonces of kind `sortable`.
    Sortable,
}

/// The options of one ID type, formats already told apart.
#[derive(Debug)]
pub struct Spec<W: Width = Narrow> {
    /// `''`, or 1 to 64 URL-safe ASCII characters.
    pub prefix: String,
    /// How nonces are counted.
    pub kind: Kind,
    /// What the application sees.
    pub format: Format,
    /// What the database sees.
    pub db_format: Format,
    /// The cipher of the mask, `None` without one. Spellings with the same cipher share one `Arc`.
    pub mask: Option<Arc<W::Cipher>>,
    /// The cipher that kind `encrypted` needs; other kinds leave it alone.
    pub encryption: Option<Arc<W::Cipher>>,
    /// Spellings that are read and never written.
    pub accepts: Vec<SpellingSpec<W>>,
    /// Whether the database's text begins with the prefix too.
    pub persist_prefix: bool,
    /// How nonces are laid out.
    pub layout: Layout,
}

/// One more spelling that a type reads: how a prefix, a format or a key is changed.
#[derive(Debug)]
pub struct SpellingSpec<W: Width = Narrow> {
    /// As in [`Spec`].
    pub prefix: String,
    /// As in [`Spec`].
    pub format: Format,
    /// As in [`Spec`].
    pub mask: Option<Arc<W::Cipher>>,
}

// Derived, these would ask for ciphers that can be cloned, although only an `Arc` is.
impl<W: Width> Clone for Spec<W> {
    fn clone(&self) -> Self {
        Self {
            prefix: self.prefix.clone(),
            mask: self.mask.clone(),
            encryption: self.encryption.clone(),
            accepts: self.accepts.clone(),
            ..*self
        }
    }
}

impl<W: Width> Clone for SpellingSpec<W> {
    fn clone(&self) -> Self {
        Self { prefix: self.prefix.clone(), format: self.format, mask: self.mask.clone() }
    }
}

impl Kind {
    /// The public name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Sortable => "sortable",
            Self::Encrypted { .. } => "encrypted",
        }
    }

    /// Whether the timestamp of a nonce says when it was made, not merely when its lease began.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Sortable | Self::Encrypted { base: Base::Sortable })
    }
}

impl IdType {
    /// Checks the options of a type of 64 bits and composes it.
    ///
    /// # Errors
    /// Those of [`IdType::of_width`].
    pub fn new(spec: Spec) -> Result<Self, Error> {
        Self::of_width(Narrow, spec)
    }
}

impl<W: Width> IdType<W> {
    /// Checks the options of a type and composes it.
    ///
    /// # Errors
    /// - `CONFIG` with option `prefix`: longer than 64 characters, or not URL-safe ASCII.
    /// - `CONFIG` with option `mask`: a mask over kind `encrypted`.
    /// - `CONFIG` with option `cipher`: a mask of 96 bits by a cipher of 64.
    /// - `CONFIG` with option `format` or `dbFormat`: bigints of 96 or 128 bits.
    /// - `CONFIG` with option `persistPrefix`: no prefix to persist, or a numeric `dbFormat`.
    /// - `CONFIG` with option `accepts`: an entry with one of the first four faults, or two spellings that could read
    ///   one value as two IDs.
    /// - `NO_KEY`: kind `encrypted` without a cipher.
    pub fn of_width(width: W, spec: Spec<W>) -> Result<Self, Error> {
        let encrypted = matches!(spec.kind, Kind::Encrypted { .. });
        let prefix = Prefix::new(&spec.prefix)?;
        if encrypted && spec.mask.is_some() {
            return Err(Error::config(
                "mask",
                "mask: there is no point in masking what kind 'encrypted' has encrypted",
            ));
        }
        let encryption = match spec.encryption {
            Some(cipher) if encrypted => Some(cipher),
            None if encrypted => return Err(no_key_of(width.size(), "kind 'encrypted'")),
            _ => None,
        };
        width.check_format("format", spec.format)?;
        width.check_format("dbFormat", spec.db_format)?;
        spec.mask.as_ref().map_or(Ok(()), |mask| width.check_mask(mask))?;
        let db_prefix = if spec.persist_prefix { persisted(prefix, spec.db_format)? } else { Prefix::EMPTY };
        let app = Spelling { width, prefix, format: spec.format, mask: spec.mask };
        let accepts = accepted(&app, spec.accepts, encrypted)?;
        let db = Spelling { width, prefix: db_prefix, format: spec.db_format, mask: None };
        let (space, overflow) = (Box::default(), Overflow::Wait);
        Ok(Self { width, kind: spec.kind, layout: spec.layout, encryption, app, db, accepts, space, overflow })
    }
}

/// The prefix of the database's text.
fn persisted(prefix: Prefix, db_format: Format) -> Result<Prefix, Error> {
    if prefix.is_empty() {
        return Err(Error::config("persistPrefix", "persistPrefix: expected a type with a prefix, found none"));
    }
    if db_format.is_numeric() {
        let found = db_format.as_str();
        let message = format!("persistPrefix: expected dbFormat 'raw' or a text format, found '{found}'");
        return Err(Error::config("persistPrefix", message));
    }
    Ok(prefix)
}

/// The accepted spellings, each at peace with the type's own and with the others.
fn accepted<W: Width>(
    app: &Spelling<W>,
    specs: Vec<SpellingSpec<W>>,
    encrypted: bool,
) -> Result<Box<[Spelling<W>]>, Error> {
    let mut accepts: Vec<Spelling<W>> = Vec::with_capacity(specs.len());
    for (index, spec) in specs.into_iter().enumerate() {
        let refused = |why: &str| Error::config("accepts", format!("accepts[{index}]: {why}"));
        if encrypted && spec.mask.is_some() {
            return Err(refused("a type of kind 'encrypted' has no mask"));
        }
        let prefix = Prefix::new(&spec.prefix).map_err(|error| refused(error.message()))?;
        let width = app.width;
        width.check_format("format", spec.format).map_err(|error| refused(error.message()))?;
        spec.mask.as_ref().map_or(Ok(()), |mask| width.check_mask(mask)).map_err(|error| refused(error.message()))?;
        let spelling = Spelling { width, prefix, format: spec.format, mask: spec.mask };
        let earlier = std::iter::once(app).chain(&accepts);
        if let Some(at) = earlier.into_iter().position(|other| spelling.contradicts(other)) {
            let other = if at == 0 { "the type's own spelling".to_owned() } else { format!("accepts[{}]", at - 1) };
            let prefix = shown(&spec.prefix);
            let why = format!("with prefix {prefix} one value could be two IDs: this one's, and that of {other}");
            return Err(refused(&why));
        }
        accepts.push(spelling);
    }
    Ok(accepts.into())
}
