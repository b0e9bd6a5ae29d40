//! An ID type: what the IDs of one column look like. It composes layout, cipher, format and prefix, turns nonces into
//! the numbers that a database keeps, and these into what an application sees. It knows no lease and no clock.
//!
//! ```text
//! nonce ── encryption, if the kind says so ──> number ── dbFormat ──> database
//!                                                └─── mask ── format ── prefix ──> application
//! ```

mod block;
mod counting;
mod input;
mod inspect;
mod nonces;
mod plausible;
mod range;
mod spec;
mod spelling;
mod width;

pub use input::{Input, Value};
pub use inspect::Inspection;
pub use nonces::{NonceSource, Nonces};
pub use plausible::Window;
pub use spec::{Base, Kind, Spec, SpellingSpec};
pub use width::{Narrow, Wide, Width};

use std::sync::Arc;

use crate::codec::{Format, Invalid, Prefix};
use crate::error::{Code, Error};
use crate::layout::Layout;
use crate::nonce::Overflow;
use spelling::Spelling;

/// What the IDs of one column look like; immutable. Nothing here allocates per ID, except the error for a person.
#[derive(Debug)]
pub struct IdType<W: Width = Narrow> {
    width: W,
    kind: Kind,
    layout: Layout,
    /// Between nonce and number; present where the kind is encrypted, and only there.
    encryption: Option<Arc<W::Cipher>>,
    app: Spelling<W>,
    db: Spelling<W>,
    accepts: Box<[Spelling<W>]>,
    /// Empty for the space of its kind and layout.
    space: Box<str>,
    overflow: Overflow,
}

impl<W: Width> IdType<W> {
    /// How wide its numbers are.
    #[must_use]
    pub fn width(&self) -> W {
        self.width
    }

    /// How nonces of this type are counted.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How nonces of this type are laid out.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What every text of this type begins with.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.app.prefix
    }

    /// The number that the database keeps for a nonce.
    #[must_use]
    #[inline]
    pub fn number(&self, nonce: W::Number) -> W::Number {
        self.encryption.as_ref().map_or(nonce, |cipher| W::encrypt(cipher, nonce))
    }

    /// The nonce behind a number of the database's: the inverse of [`IdType::number`].
    #[must_use]
    #[inline]
    pub fn nonce(&self, number: W::Number) -> W::Number {
        self.encryption.as_ref().map_or(number, |cipher| W::decrypt(cipher, number))
    }

    /// Whether the database's values are bigints, and then whether they are signed.
    #[must_use]
    pub fn bigint_columns(&self) -> Option<bool> {
        self.db.is_bigint().then_some(self.db.format == Format::Signed)
    }

    /// What the application sees for a number.
    #[inline]
    pub fn write_app<'t>(&self, number: W::Number, text: &'t mut W::Text) -> Value<'t> {
        self.app.write(number, text)
    }

    /// What the database sees for a number.
    #[inline]
    pub fn write_db<'t>(&self, number: W::Number, text: &'t mut W::Text) -> Value<'t> {
        self.db.write(number, text)
    }

    /// The number behind what an application shows: the value of [`IdType::write_app`], or one of the accepted
    /// spellings. Where the value is a bigint, its decimal text and a safe integer will do too (that is how
    /// URLs and JSON carry it); each number still has one text.
    ///
    /// # Errors
    /// What is wrong with it as a value of this type, or as the accepted spelling whose prefix it has.
    #[inline]
    pub fn read_app(&self, input: Input<'_>) -> Result<W::Number, Invalid> {
        self.app.read(input).or_else(|why| self.read_accepted(input, why)).and_then(|number| self.made_here(number))
    }

    /// The number behind what the database holds. `dbFormat` says what that is, nothing is told by shape: a numeric one
    /// takes a bigint in range, its decimal text or a safe integer, since drivers differ; the others take their own
    /// text or bytes.
    ///
    /// # Errors
    /// What is wrong with it.
    #[inline]
    pub fn read_db(&self, input: Input<'_>) -> Result<W::Number, Invalid> {
        self.db.read(input).and_then(|number| self.made_here(number))
    }

    /// Whether a value is exactly what [`IdType::write_app`] gives for some number; accepted spellings are not.
    #[must_use]
    pub fn is_canonical(&self, input: Input<'_>) -> bool {
        let written = !self.app.is_bigint() || matches!(input, Input::Integer(_));
        written && self.app.read(input).and_then(|number| self.made_here(number)).is_ok()
    }

    /// The same ID as the application sees it, masked as it stands and with the prefix, in another format.
    ///
    /// # Errors
    /// Those of [`IdType::read_app`].
    pub fn respell<'t>(&self, input: Input<'_>, to: Format, text: &'t mut W::Text) -> Result<Value<'t>, Invalid> {
        let number = self.read_app(input)?;
        Ok(self.app.write_as(to, number, text))
    }

    /// Whether its numbers can be written in a format that `option` names.
    ///
    /// # Errors
    /// `CONFIG` with that option.
    pub fn check_format(&self, option: &'static str, format: Format) -> Result<(), Error> {
        self.width.check_format(option, format)
    }

    /// What an ID of this type looks like to the application, as a phrase like
    /// `"usr_" followed by 11 characters of base58`.
    #[must_use]
    pub fn describe(&self) -> String {
        let accepted = self.accepts.iter().map(Spelling::<W>::describe);
        std::iter::once(self.app.describe()).chain(accepted).collect::<Vec<_>>().join(", or ")
    }

    /// The error for a value that [`IdType::read_app`] refused.
    #[must_use]
    #[cold]
    pub fn invalid_app(&self, found: Input<'_>, why: Invalid) -> Error {
        invalid("an ID of this type", self.describe(), found, why)
    }

    /// The error for a value that [`IdType::read_db`] refused.
    #[must_use]
    #[cold]
    pub fn invalid_db(&self, found: Input<'_>, why: Invalid) -> Error {
        invalid("a database value of this type", self.db.describe(), found, why)
    }

    /// Refuses what the type's cipher cannot have made.
    #[inline]
    fn made_here(&self, number: W::Number) -> Result<W::Number, Invalid> {
        match &self.encryption {
            Some(cipher) if !W::may_be_of(cipher, number) => Err(Invalid::Range),
            _ => Ok(number),
        }
    }

    /// Tries the accepted spellings. The reason that survives is the one of the longest prefix that matched.
    #[cold]
    fn read_accepted(&self, input: Input<'_>, own: Invalid) -> Result<W::Number, Invalid> {
        let matched = |why, spelling: &Spelling<W>| match why {
            Invalid::Type | Invalid::Prefix => None,
            _ => Some(spelling.prefix.len()),
        };
        let mut closest = (matched(own, &self.app), own);
        for spelling in &self.accepts {
            match spelling.read(input) {
                Ok(number) => return Ok(number),
                Err(why) if matched(why, spelling) > closest.0 => closest = (matched(why, spelling), why),
                Err(_) => {}
            }
        }
        Err(closest.1)
    }
}

fn invalid(what: &str, expected: String, found: Input<'_>, why: Invalid) -> Error {
    let message = format!("not {what} ({}): expected {expected}, found {}", why.as_str(), found.shown());
    Error::new(Code::InvalidId, message).with(|fields| {
        fields.reason = Some(why.as_str());
        fields.expected = Some(expected);
    })
}

#[cfg(test)]
mod tests;
