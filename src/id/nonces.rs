//! Nonces for their own sake, in any size and kind, without a type around them: for encryption, tokens, other formats.

use std::sync::Arc;

use super::{Base, Kind};
use crate::cipher::{Cipher, Keyring, WideCipher};
use crate::error::Error;
use crate::layout::{Layout, Parts, Size};
use crate::nonce::{Factory, Order, Source, Space, WideSource};

/// What the nonces of one size and kind look like.
#[derive(Debug, Clone)]
pub struct Nonces {
    kind: Kind,
    size: Size,
    layout: Layout,
    /// Present where the kind is encrypted, and only there.
    encryption: Option<Encryption>,
}

#[derive(Debug, Clone)]
enum Encryption {
    Narrow(Arc<Cipher>),
    Wide(Arc<WideCipher>),
}

impl Nonces {
    /// Nonces of a size and kind under the generator's keys.
    ///
    /// # Errors
    /// `NO_KEY` where they are to be encrypted and there is no key.
    pub fn new(size: Size, kind: Kind, layout: Layout, keys: &Keyring) -> Result<Self, Error> {
        const WHAT: &str = "kind 'encrypted'";
        let encryption = match (kind, size) {
            (Kind::Counter | Kind::Sortable, _) => None,
            (Kind::Encrypted { .. }, Size::Bits64) => Some(Encryption::Narrow(keys.cipher(None, None, &[], WHAT)?)),
            (Kind::Encrypted { .. }, size) => Some(Encryption::Wide(keys.wide_cipher(size, None, None, WHAT)?)),
        };
        Ok(Self { kind, size, layout, encryption })
    }

    pub(super) fn of_type(size: Size, kind: Kind, layout: Layout, encryption: Option<Arc<WideCipher>>) -> Self {
        Self { kind, size, layout, encryption: encryption.map(Encryption::Wide) }
    }

    /// The size of the nonces.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// Where they are counted; what is encrypted has a space of its own, a cipher and key.
    #[must_use]
    pub fn space(&self) -> Space {
        let space = Space::new(self.kind.order(), self.layout);
        match &self.encryption {
            Some(Encryption::Narrow(cipher)) => space.encrypted(cipher.fingerprint()),
            Some(Encryption::Wide(cipher)) => space.encrypted(cipher.fingerprint()),
            None => space,
        }
    }

    /// What counts them under the leases of `factory`.
    ///
    /// # Errors
    /// As [`Factory::source`].
    pub fn source(&self, factory: &Arc<Factory>) -> Result<NonceSource, Error> {
        self.source_in(factory, self.space())
    }

    pub(super) fn source_in(&self, factory: &Arc<Factory>, space: Space) -> Result<NonceSource, Error> {
        let counted = if self.counted_size() == Size::Bits64 {
            Counted::Narrow(factory.source(space)?)
        } else {
            Counted::Wide(factory.wide_source(space)?)
        };
        Ok(NonceSource { nonces: self.clone(), counted })
    }

    /// Takes a nonce apart. Any number has parts: nothing in it proves that it was counted.
    #[must_use]
    pub fn parts(&self, nonce: u128) -> Parts {
        let plain = match &self.encryption {
            None => nonce,
            Some(Encryption::Narrow(cipher)) => cipher.decrypt(nonce as u64).into(),
            Some(Encryption::Wide(cipher)) => cipher.decrypt(nonce),
        };
        let counted = self.counted_size();
        self.layout.unpack_sized(counted, plain >> (self.size.bits() - counted.bits()))
    }

    /// Where only the upper 64 bits are encrypted, these alone are counted.
    fn counted_size(&self) -> Size {
        match &self.encryption {
            Some(Encryption::Wide(cipher)) if cipher.has_zero_tail() => Size::Bits64,
            _ => self.size,
        }
    }

    fn encrypted(&self, plain: u128) -> u128 {
        match &self.encryption {
            None => plain,
            Some(Encryption::Narrow(cipher)) => cipher.encrypt(plain as u64).into(),
            Some(Encryption::Wide(cipher)) => cipher.encrypt(plain << (self.size.bits() - self.counted_size().bits())),
        }
    }
}

impl Kind {
    /// How the nonces behind this kind are counted.
    #[must_use]
    pub const fn order(self) -> Order {
        match self {
            Self::Counter | Self::Encrypted { base: Base::Counter } => Order::Counter,
            Self::Sortable | Self::Encrypted { base: Base::Sortable } => Order::Sortable,
        }
    }
}

/// What counts [`Nonces`]. Cloning shares the sequence.
#[derive(Debug, Clone)]
pub struct NonceSource {
    nonces: Nonces,
    counted: Counted,
}

#[derive(Debug, Clone)]
enum Counted {
    Narrow(Source),
    Wide(WideSource),
}

impl NonceSource {
    /// The next nonce, in the lower bits.
    ///
    /// # Errors
    /// As [`Source::next`].
    pub fn next(&self) -> Result<u128, Error> {
        let plain = match &self.counted {
            Counted::Narrow(source) => source.next()?.into(),
            Counted::Wide(source) => source.next(self.nonces.size)?,
        };
        Ok(self.nonces.encrypted(plain))
    }

    /// Fills `nonces` in the order of counting. On an error nothing of what was counted is given out.
    ///
    /// # Errors
    /// As [`Source::next`].
    pub fn fill(&self, nonces: &mut [u128]) -> Result<(), Error> {
        match &self.counted {
            Counted::Narrow(source) => nonces.iter_mut().try_for_each(|nonce| {
                *nonce = source.next()?.into();
                Ok(())
            })?,
            Counted::Wide(source) => source.fill(self.nonces.size, nonces)?,
        }
        for nonce in nonces {
            *nonce = self.nonces.encrypted(*nonce);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::*;
    use crate::cipher::{Algorithm, BaseKey, Keys};
    use crate::clock::{Clock, ManualClock};
    use crate::error::Code;
    use crate::nonce::{Doubt, Fence, Opening};

    const KINDS: [Kind; 4] = [
        Kind::Counter,
        Kind::Sortable,
        Kind::Encrypted { base: Base::Counter },
        Kind::Encrypted { base: Base::Sortable },
    ];

    fn factory() -> Arc<Factory> {
        let clock = Arc::new(ManualClock::default());
        let factory = Arc::new(Factory::new(Layout::DEFAULT, clock.clone()));
        let fence = Fence { machine: 77, start: 1000, end: 9000 };
        factory.open(Opening { fence, now: 1000, arrived: clock.tick(), extend: None, doubt: Doubt::new(|| {}) });
        factory
    }

    fn keyring(narrow: Algorithm, middle: Algorithm, wide: Algorithm) -> Keyring {
        let algorithms = BTreeMap::from([(64, narrow), (96, middle), (128, wide)]);
        let base = Some(BaseKey::new(&[b'k'; 32]).unwrap());
        Keyring::new(Keys { base, algorithms, ..Keys::default() }).unwrap()
    }

    #[test]
    fn every_size_kind_and_cipher_is_counted_and_found_again_behind_its_cipher() {
        for keys in [
            keyring(Algorithm::Speck, Algorithm::Speck, Algorithm::Aes),
            keyring(Algorithm::Blowfish, Algorithm::Blowfish, Algorithm::Speck),
            keyring(Algorithm::Des3, Algorithm::Des3, Algorithm::Aes),
            keyring(Algorithm::Aes, Algorithm::Speck, Algorithm::Speck),
        ] {
            for (size, kind) in Size::ALL.into_iter().flat_map(|size| KINDS.map(|kind| (size, kind))) {
                let nonces = Nonces::new(size, kind, Layout::DEFAULT, &keys).unwrap();
                let source = nonces.source(&factory()).unwrap();
                let mut made = vec![0; 100];
                source.fill(&mut made[..60]).unwrap();
                made[60..].fill_with(|| source.next().unwrap());
                for (count, &nonce) in made.iter().enumerate() {
                    assert!(nonce <= nonces.size().greatest());
                    let expected = Parts { partition: 0, timestamp: 1000, machine: 77, count: count as u64 };
                    assert_eq!(nonces.parts(nonce), expected, "{size:?} {kind:?}");
                    let mut bytes = nonce.to_be_bytes()[16 - size.bytes()..].to_vec();
                    if nonces.encryption.is_some() {
                        keys.decrypt(&mut bytes).unwrap();
                    }
                    let plain = bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
                    let shift = size.bits() - nonces.counted_size().bits();
                    let packed = Layout::DEFAULT.pack_sized(nonces.counted_size(), expected) << shift;
                    assert_eq!(plain, packed);
                }
                assert_eq!(made.iter().collect::<HashSet<_>>().len(), made.len());
            }
        }
    }

    #[test]
    fn what_is_encrypted_under_another_key_has_another_space() {
        let keys = keyring(Algorithm::Blowfish, Algorithm::Blowfish, Algorithm::Speck);
        let of = |size, kind, keys| Nonces::new(size, kind, Layout::DEFAULT, keys).unwrap().space();
        let encrypted = Kind::Encrypted { base: Base::Counter };
        let mut spaces: HashSet<_> = Size::ALL.map(|size| of(size, encrypted, &keys)).into();
        spaces.extend(Size::ALL.map(|size| of(size, Kind::Encrypted { base: Base::Sortable }, &keys)));
        let other = keyring(Algorithm::Speck, Algorithm::Speck, Algorithm::Speck);
        spaces.extend([Size::Bits64, Size::Bits96].map(|size| of(size, encrypted, &other)));
        assert_eq!(spaces.len(), 8);
        assert!(spaces.contains(&of(Size::Bits128, encrypted, &other)), "the same cipher and key");
        assert_eq!(of(Size::Bits96, Kind::Counter, &keys), of(Size::Bits128, Kind::Counter, &other));
    }

    #[test]
    fn encrypted_nonces_need_a_key() {
        let keys = Keyring::new(Keys::default()).unwrap();
        for size in Size::ALL {
            let error = Nonces::new(size, KINDS[2], Layout::DEFAULT, &keys).unwrap_err();
            assert_eq!((error.code(), error.fields().bits), (Code::NoKey, Some(size.bits())));
            assert!(Nonces::new(size, Kind::Sortable, Layout::DEFAULT, &keys).is_ok());
        }
    }
}
