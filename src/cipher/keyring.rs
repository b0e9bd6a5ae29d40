//! All keys of one generator and the ciphers made from them, each made once, when it is first asked for.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;

use super::{Algorithm, BaseKey, Cipher, WideCipher, no_key_of};
use crate::error::{Error, shown};
use crate::layout::Size;

/// What a keyring is made of; everything may be left out.
#[derive(Default)]
pub struct Keys {
    /// The secret behind everything that names no other key (option `key`).
    pub base: Option<BaseKey>,
    /// Further secrets by name (option `keys`).
    pub named: BTreeMap<String, BaseKey>,
    /// Keys that are used as they are, one a size, instead of those that follow from `base` (option `cipherKeys`).
    pub explicit: BTreeMap<u32, Zeroizing<Vec<u8>>>,
    /// The cipher of each size where nothing else is said (option `ciphers`); by bits, as `explicit`.
    pub algorithms: BTreeMap<u32, Algorithm>,
}

/// The ciphers of one generator. Keys are wiped when it is dropped, and never shown.
pub struct Keyring {
    base: Option<BaseKey>,
    named: BTreeMap<String, BaseKey>,
    algorithms: [Algorithm; Size::ALL.len()],
    explicit: Option<Arc<Cipher>>,
    explicit_wide: Vec<Arc<WideCipher>>,
    made: Mutex<Made>,
}

/// Which cipher, by the name of its key, algorithm, and tweak or size.
#[derive(Default)]
struct Made {
    narrow: HashMap<(Option<String>, Algorithm, Vec<u8>), Arc<Cipher>>,
    wide: HashMap<(Option<String>, Algorithm, Size), Arc<WideCipher>>,
}

impl Keyring {
    /// Checks that keys and ciphers fit each other.
    ///
    /// # Errors
    /// `CONFIG` with option `ciphers` (a size that does not exist, or that the cipher does not have) or `cipherKeys` (a
    /// size that does not exist, or a key of another length than its cipher's).
    pub fn new(keys: Keys) -> Result<Self, Error> {
        let Keys { base, named, explicit, algorithms: chosen } = keys;
        let mut algorithms = Size::ALL.map(Algorithm::default_for);
        for (bits, algorithm) in chosen {
            let size = size("ciphers", bits)?;
            if algorithm.key_length(size).is_none() {
                return Err(Error::config("ciphers", format!("ciphers.{bits}: {}", algorithm.unfit(size).message())));
            }
            algorithms[size as usize] = algorithm;
        }
        let (mut narrow, mut wide) = (None, Vec::new());
        for (bits, key) in explicit {
            match size("cipherKeys", bits)? {
                Size::Bits64 => narrow = Some(Arc::new(Cipher::new(algorithms[0], &key)?)),
                size => wide.push(Arc::new(WideCipher::new(algorithms[size as usize], size, &key)?)),
            }
        }
        Ok(Self { base, named, algorithms, explicit: narrow, explicit_wide: wide, made: Mutex::default() })
    }

    /// What the key without a name is compared by: it is the one that all processes of a registry must share, others come
    /// and go.
    #[must_use]
    pub fn fingerprint(&self) -> Option<[u8; 16]> {
        self.base.as_ref().map(BaseKey::fingerprint)
    }

    /// A cipher of 64 bits: of the key `key`, or of the one without a name, by `algorithm`, or the one that the generator
    /// has for 64 bits. `what` names the option that asks for it.
    ///
    /// # Errors
    /// `NO_KEY` where there is no key without a name; `CONFIG` with option `mask` (no key of that name) or `maskTweak`.
    pub fn cipher(
        &self,
        key: Option<&str>,
        algorithm: Option<Algorithm>,
        tweak: &[u8],
        what: &str,
    ) -> Result<Arc<Cipher>, Error> {
        let algorithm = algorithm.unwrap_or(self.algorithms[0]);
        let mut made = self.made();
        let id = (key.map(str::to_owned), algorithm, tweak.to_vec());
        if let Some(cipher) = made.narrow.get(&id) {
            return Ok(Arc::clone(cipher));
        }
        let explicit = self.explicit.as_ref().filter(|cipher| key.is_none() && cipher.algorithm() == algorithm);
        let cipher = match explicit {
            Some(cipher) => Arc::clone(cipher),
            None => Arc::new(Cipher::derived(algorithm, self.base_key(key, Size::Bits64, what)?)),
        };
        let cipher = if tweak.is_empty() { cipher } else { Arc::new(cipher.with_tweak(tweak)?) };
        Ok(Arc::clone(made.narrow.entry(id).or_insert(cipher)))
    }

    /// As [`Keyring::cipher`], of 96 or 128 bits.
    ///
    /// # Errors
    /// Also `CONFIG` with option `cipher` where the algorithm does not have the size.
    pub fn wide_cipher(
        &self,
        size: Size,
        key: Option<&str>,
        algorithm: Option<Algorithm>,
        what: &str,
    ) -> Result<Arc<WideCipher>, Error> {
        let algorithm = algorithm.unwrap_or(self.algorithms[size as usize]);
        let explicit =
            self.explicit_wide.iter().find(|cipher| (cipher.algorithm(), cipher.size()) == (algorithm, size));
        if let (None, Some(cipher)) = (key, explicit) {
            return Ok(Arc::clone(cipher));
        }
        let mut made = self.made();
        let id = (key.map(str::to_owned), algorithm, size);
        if let Some(cipher) = made.wide.get(&id) {
            return Ok(Arc::clone(cipher));
        }
        let cipher = WideCipher::derived(algorithm, size, self.base_key(key, size, what)?)?;
        Ok(Arc::clone(made.wide.entry(id).or_insert(Arc::new(cipher))))
    }

    /// Encrypts the big-endian bytes of a nonce of any size in place, under the generator's cipher for that size.
    ///
    /// # Errors
    /// `NO_KEY`; `CONFIG` with option `nonce` where it has another length than 8, 12 or 16 bytes, or where the cipher is
    /// one of 64 bits and the last four of 12 bytes are not zero.
    pub fn encrypt(&self, nonce: &mut [u8]) -> Result<(), Error> {
        self.crypt(nonce, Cipher::encrypt, WideCipher::encrypt)
    }

    /// The inverse of [`Keyring::encrypt`].
    ///
    /// # Errors
    /// As [`Keyring::encrypt`].
    pub fn decrypt(&self, nonce: &mut [u8]) -> Result<(), Error> {
        self.crypt(nonce, Cipher::decrypt, WideCipher::decrypt)
    }

    fn crypt(
        &self,
        nonce: &mut [u8],
        narrow: fn(&Cipher, u64) -> u64,
        wide: fn(&WideCipher, u128) -> u128,
    ) -> Result<(), Error> {
        const WHAT: &str = "a nonce";
        let number = nonce.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
        let number = match Size::of_bytes(nonce.len()) {
            Some(Size::Bits64) => narrow(&*self.cipher(None, None, &[], WHAT)?, number as u64).into(),
            Some(size) => {
                let cipher = self.wide_cipher(size, None, None, WHAT)?;
                if !cipher.takes(number) {
                    let name = cipher.algorithm().as_str();
                    let message = format!("nonce: expected four bytes of zero at the end of 12 under '{name}'");
                    return Err(Error::config("nonce", message));
                }
                wide(&cipher, number)
            }
            None => {
                let message = format!("nonce: expected 8, 12 or 16 bytes, found {}", nonce.len());
                return Err(Error::config("nonce", message));
            }
        };
        for (byte, new) in nonce.iter_mut().rev().zip(number.to_le_bytes()) {
            *byte = new;
        }
        Ok(())
    }

    fn base_key(&self, key: Option<&str>, size: Size, what: &str) -> Result<&BaseKey, Error> {
        let Some(name) = key else { return self.base.as_ref().ok_or_else(|| no_key_of(size, what)) };
        self.named.get(name).ok_or_else(|| {
            let message =
                format!("mask: expected true or the name of one of the generator's keys, found {}", shown(name));
            Error::config("mask", message)
        })
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("named", &self.named.keys()).finish_non_exhaustive()
    }
}

fn size(option: &'static str, bits: u32) -> Result<Size, Error> {
    Size::of_bits(bits)
        .ok_or_else(|| Error::config(option, format!("{option}: expected 64, 96 and 128 bits, found {bits}")))
}

#[cfg(test)]
#[path = "keyring_tests.rs"]
mod tests;
