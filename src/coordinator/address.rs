//! Addresses of servers as users write them: what the drivers' URLs and parameters have in common.

pub(super) mod parameters;
pub(super) mod url;

use std::fmt;

pub(super) use self::parameters::Parameters;

/// A part of an address, percent-encoded where it has to be: one spelling, and nothing that could break a line of a log.
pub(super) struct Plain<'a>(pub(super) &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if c.is_alphanumeric() || "-._~$".contains(c) {
                write!(f, "{c}")?;
            } else {
                c.encode_utf8(&mut [0; 4]).bytes().try_for_each(|byte| write!(f, "%{byte:02X}"))?;
            }
        }
        Ok(())
    }
}
