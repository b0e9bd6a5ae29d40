//! What comes in from JavaScript and what goes out to it, without napi's types.

use crate::error::shown;

/// A JavaScript value that may be an ID.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Input<'a> {
    /// A string as UTF-8 (not as Latin-1, which would cut `Ł` to `A`). At least `Text::LONGEST + 1` bytes of a longer
    /// one, so that no cut text can look like an ID.
    Text(&'a [u8]),
    /// A bigint. One past 127 bits is given as `i128::MIN` or `i128::MAX`.
    Integer(i128),
    /// A number.
    Number(f64),
    /// A Buffer or another `Uint8Array`.
    Bytes(&'a [u8]),
    /// Anything else, by the name that a message shows: `undefined`, `null`, `an object`, …
    Other(&'static str),
}

/// What JavaScript shall see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'t> {
    /// A string; ASCII.
    Text(&'t [u8]),
    /// A bigint of dbFormat or format `signed`.
    Signed(i64),
    /// A bigint of dbFormat or format `unsigned`.
    Unsigned(u64),
    /// A Buffer.
    Bytes(&'t [u8]),
}

impl Input<'_> {
    /// The value for a message: escaped, and at most about 64 characters of it.
    pub(super) fn shown(&self) -> String {
        match *self {
            Self::Text(text) => {
                // Enough for 64 characters; the rest of a long text is not even looked at.
                let start = text.get(..256).unwrap_or(text);
                shown(&String::from_utf8_lossy(start))
            }
            Self::Integer(i128::MIN | i128::MAX) => "a bigint of more than 127 bits".to_owned(),
            Self::Integer(integer) => format!("{integer}n"),
            Self::Number(number) => format!("the number {number}"),
            Self::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Self::Other(name) => name.to_owned(),
        }
    }
}
