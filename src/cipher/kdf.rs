//! From one secret to the key of every cipher: PBKDF2-HMAC-SHA256, 1000 iterations, one salt a cipher and size, as
//! NoNoncense derives them, so that an Elixir service with the same secret reads the same IDs.

use std::fmt;

use pbkdf2::pbkdf2_hmac;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::error::Error;

/// The secret from which every cipher key is derived: at least 32 bytes, wiped when dropped, never shown.
pub struct BaseKey(Zeroizing<Box<[u8]>>);

impl BaseKey {
    /// The fewest bytes of a base key.
    pub const SHORTEST: usize = 32;

    /// Keeps a copy of the secret; wiping the original is the caller's part.
    ///
    /// # Errors
    /// `CONFIG` with option `key` when there are fewer than 32 bytes; the message tells their number alone.
    pub fn new(secret: &[u8]) -> Result<Self, Error> {
        if secret.len() < Self::SHORTEST {
            let message = format!("key: expected at least {} bytes, found {}", Self::SHORTEST, secret.len());
            return Err(Error::config("key", message));
        }
        Ok(Self(Zeroizing::new(secret.into())))
    }

    /// The `N` bytes that belong to a salt (`vectors/02` lists the salts of the originals), wiped when dropped.
    #[must_use]
    pub fn derive<const N: usize>(&self, salt: &str) -> Zeroizing<[u8; N]> {
        const ITERATIONS: u32 = 1000;
        let mut key = Zeroizing::new([0; N]);
        pbkdf2_hmac::<Sha256>(&self.0, salt.as_bytes(), ITERATIONS, &mut *key);
        key
    }

    /// What two processes compare to learn whether they hold the same secret. It is derived like a cipher key, under a
    /// salt of its own: it tells nothing about those keys, and guessing a weak secret from it costs as much as from a
    /// masked ID.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 16] {
        *self.derive("mintid_fingerprint")
    }
}

impl fmt::Debug for BaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BaseKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn a_short_key_is_refused_without_being_shown() {
        for length in [0, 1, 31] {
            let error = BaseKey::new(&vec![b'k'; length]).unwrap_err();
            assert_eq!((error.code(), error.fields().option), (Code::Config, Some("key")));
            assert!(error.message().ends_with(&format!("found {length}")), "{error}");
        }
        assert!(BaseKey::new(&[b'k'; 32]).is_ok());
        assert!(BaseKey::new(&[b'k'; 1000]).is_ok());
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", BaseKey::new(&[b'k'; 32]).unwrap()), "BaseKey(…)");
    }

    /// Registries keep fingerprints: this value must never change.
    #[test]
    fn a_fingerprint_tells_keys_apart_and_never_changes() {
        let key = BaseKey::new(b"0123456789abcdef0123456789abcdef").unwrap();
        assert_eq!(format!("{:032x}", u128::from_be_bytes(key.fingerprint())), "d508cc47e7015a93a4f6daafe4df3e94");
        assert_eq!(key.fingerprint(), BaseKey::new(b"0123456789abcdef0123456789abcdef").unwrap().fingerprint());
        assert_ne!(key.fingerprint(), BaseKey::new(b"0123456789abcdef0123456789abcdeg").unwrap().fingerprint());
        assert_ne!(key.fingerprint(), *key.derive::<16>("speck64_128"));
    }
}
