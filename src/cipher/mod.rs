//! Keys and block ciphers: blocks in, blocks out. A mask is one of these ciphers between the database's number and the
//! application's text; kind `encrypted` puts its nonces through one before anybody sees them.

mod kdf;
mod speck;

pub use kdf::BaseKey;
pub use speck::Speck64;

use crate::error::{Code, Error};

/// The error of a type that needs a cipher of 64 bits where no key was given; `what` names the option that asks for it
/// (`mask`, or `kind: 'encrypted'`).
#[must_use]
pub fn no_key(what: &str) -> Error {
    Error::new(Code::NoKey, format!("{what} needs a key: give the generator the option key, at least 32 bytes"))
        .with(|fields| fields.bits = Some(64))
}
