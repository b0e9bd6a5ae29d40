//! Why bytes are not the spelling of a number: one small word, made without allocation. Whoever tells a person about it
//! adds what was expected and what was found.

/// What is wrong with a text or a value. The string of each reason is public (`error.reason` in JavaScript).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Invalid {
    /// Not a value of the kind that an ID is: a text where bytes belong, null, …
    Type,
    /// It does not begin with the prefix.
    Prefix,
    /// Too few or too many characters or bytes.
    Length,
    /// A character that the format does not have.
    Character,
    /// It could be read as a number, but that number is spelled differently.
    NotCanonical,
    /// A number that does not fit.
    Range,
    /// A JavaScript number that is not a whole one within ±(2^53 - 1): it may have been another one before rounding.
    UnsafeNumber,
    /// A number that stands for an ID that cannot have been made yet, or not by this type.
    Implausible,
}

impl Invalid {
    /// The public word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Prefix => "prefix",
            Self::Length => "length",
            Self::Character => "character",
            Self::NotCanonical => "not canonical",
            Self::Range => "range",
            Self::UnsafeNumber => "unsafe number",
            Self::Implausible => "implausible",
        }
    }
}
