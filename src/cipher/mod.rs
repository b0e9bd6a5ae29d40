//! Keys and block ciphers: blocks in, blocks out. A mask is one of these ciphers between the database's number and the
//! application's text; kind `encrypted` puts its nonces through one before anybody sees them.

mod aes;
mod algorithm;
mod blowfish;
mod des3;
mod ff1;
mod kdf;
mod keyring;
mod narrow;
mod speck;
mod wide;

pub use aes::Aes;
pub use algorithm::Algorithm;
pub use blowfish::Blowfish;
pub use des3::Des3;
pub use ff1::Ff1;
pub use kdf::BaseKey;
pub use keyring::{Keyring, Keys};
pub use narrow::Cipher;
pub use speck::{Speck64, Speck96, Speck128};
pub use wide::WideCipher;

use crate::error::{Code, Error};
use crate::layout::Size;

/// The error of a type that needs a cipher of 64 bits where no key was given; `what` names the option that asks for it
/// (`mask`, or `kind: 'encrypted'`).
#[must_use]
pub fn no_key(what: &str) -> Error {
    no_key_of(Size::Bits64, what)
}

/// [`no_key`] for ciphers of another size.
#[must_use]
pub fn no_key_of(size: Size, what: &str) -> Error {
    Error::new(Code::NoKey, format!("{what} needs a key: give the generator the option key, at least 32 bytes"))
        .with(|fields| fields.bits = Some(size.bits()))
}

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::*;

    /// What wipes itself is told by the compiler: the crates' own ciphers do only with their feature `zeroize`.
    #[test]
    fn whatever_keeps_a_key_is_wiped_when_dropped() {
        fn is_wiped<T: ZeroizeOnDrop>() {}
        is_wiped::<::aes::Aes256>();
        is_wiped::<::aes::Aes256Enc>();
        is_wiped::<::blowfish::Blowfish>();
        is_wiped::<::des::TdesEde3>();
        is_wiped::<Speck64>();
        is_wiped::<Speck96>();
        is_wiped::<Speck128>();
    }
}
