//! What stands before the number in a text, `usr_`: it tells people and programs what kind of thing an ID names.

use std::fmt;

use super::Invalid;
use crate::error::{Error, shown};

/// Nothing, or 1 to 64 characters that need no escaping in a URL: letters and digits of ASCII, `.` `_` `~` `-`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    bytes: [u8; Self::LONGEST],
    length: usize,
}

impl Prefix {
    /// The most characters of a prefix.
    pub const LONGEST: usize = 64;
    /// No prefix.
    pub const EMPTY: Self = Self { bytes: [0; Self::LONGEST], length: 0 };

    /// Checks a prefix.
    ///
    /// # Errors
    /// `CONFIG` with option `prefix`.
    pub fn new(prefix: &str) -> Result<Self, Error> {
        let refused = |why: String| Error::config("prefix", format!("prefix: {why}"));
        if let Some(stranger) = prefix.chars().find(|&character| !is_url_safe(character)) {
            let [stranger, prefix] = [shown(&stranger.to_string()), shown(prefix)];
            return Err(refused(format!("expected letters, digits and . _ ~ - alone, found {stranger} in {prefix}")));
        }
        let mut bytes = [0; Self::LONGEST];
        let Some(slot) = bytes.get_mut(..prefix.len()) else {
            return Err(refused(format!("expected at most {} characters, found {}", Self::LONGEST, prefix.len())));
        };
        slot.copy_from_slice(prefix.as_bytes());
        Ok(Self { bytes, length: prefix.len() })
    }

    /// The characters, all of them ASCII.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Whether there is no prefix.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// How many characters it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// What follows the prefix.
    ///
    /// # Errors
    /// `Prefix` if the text begins with anything else.
    #[inline]
    pub fn strip<'t>(&self, text: &'t [u8]) -> Result<&'t [u8], Invalid> {
        text.strip_prefix(self.as_bytes()).ok_or(Invalid::Prefix)
    }

    /// The characters and what fills them up to the most that there can be.
    #[inline]
    pub(super) const fn padded(&self) -> &[u8; Self::LONGEST] {
        &self.bytes
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prefix({:?})", self.as_str())
    }
}

fn is_url_safe(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '~' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_safe_prefixes_are_taken() {
        for text in ["", "u", "usr_", "-", "1", "12", "A.b-c_~", &"x".repeat(64)] {
            let prefix = Prefix::new(text).unwrap();
            assert_eq!((prefix.as_str(), prefix.len(), prefix.is_empty()), (text, text.len(), text.is_empty()));
            assert_eq!(prefix.strip(format!("{text}rest").as_bytes()), Ok(&b"rest"[..]));
        }
    }

    #[test]
    fn others_are_refused_by_name() {
        for text in ["é", "+", "a\0", "usr/", "usr:", "a b", " ", "usr%", &"x".repeat(65), &"é".repeat(40)] {
            let error = Prefix::new(text).unwrap_err();
            assert_eq!(error.fields().option, Some("prefix"), "{text}");
        }
        let message = Prefix::new("a\0b").unwrap_err().message().to_owned();
        assert!(message.contains(r#"found "\0" in "a\0b""#), "{message}");
    }

    #[test]
    fn only_the_exact_prefix_is_stripped() {
        let prefix = Prefix::new("usr_").unwrap();
        for text in ["", "usr", "USR_5", "usr5", " usr_5", "us_5"] {
            assert_eq!(prefix.strip(text.as_bytes()), Err(Invalid::Prefix), "{text}");
        }
    }
}
