//! A cipher of 96 or 128 bits, whichever it is. There is no Blowfish and no Triple DES of 96 bits: `NoNoncense` puts a
//! block of 64 bits before four bytes of zero, and so do we, where it encrypts nonces of its own kind.

use super::{Aes, Algorithm, BaseKey, Blowfish, Des3, Speck96, Speck128};
use crate::error::Error;
use crate::layout::Size;

/// A bijection of the numbers of 96 or 128 bits, chosen by an algorithm and a key. What it keeps of the key is wiped
/// when it is dropped, and never shown.
#[derive(Debug)]
pub struct WideCipher(Rounds);

#[derive(Debug)]
enum Rounds {
    Speck96(Speck96),
    Blowfish96(Blowfish),
    Des3Of96(Des3),
    Aes128(Aes),
    Speck128(Speck128),
}

/// Bits of the tail that stays zero behind a block of 64 bits.
const TAIL: u32 = 32;

impl WideCipher {
    /// The cipher of an explicit key.
    ///
    /// # Errors
    /// `CONFIG` with option `cipher` where the algorithm does not have the size (that of 64 bits is not of this type), or
    /// with option `cipherKeys` where the key has another length than the algorithm's.
    pub fn new(algorithm: Algorithm, size: Size, key: &[u8]) -> Result<Self, Error> {
        Ok(Self(match (algorithm, size) {
            (Algorithm::Speck, Size::Bits96) => Rounds::Speck96(Speck96::new(algorithm.key(size, key)?)),
            (Algorithm::Blowfish, Size::Bits96) => Rounds::Blowfish96(Blowfish::new(algorithm.key(size, key)?)),
            (Algorithm::Des3, Size::Bits96) => Rounds::Des3Of96(Des3::new(algorithm.key(size, key)?)),
            (Algorithm::Aes, Size::Bits128) => Rounds::Aes128(Aes::new(algorithm.key(size, key)?)),
            (Algorithm::Speck, Size::Bits128) => Rounds::Speck128(Speck128::new(algorithm.key(size, key)?)),
            _ => return Err(algorithm.unfit(size)),
        }))
    }

    /// The cipher whose key is derived from a base key under `NoNoncense`'s salts.
    ///
    /// # Errors
    /// `CONFIG` with option `cipher`, as above.
    pub fn derived(algorithm: Algorithm, size: Size, base: &BaseKey) -> Result<Self, Error> {
        Ok(Self(match (algorithm, size) {
            (Algorithm::Speck, Size::Bits96) => Rounds::Speck96(Speck96::derived(base)),
            (Algorithm::Blowfish, Size::Bits96) => Rounds::Blowfish96(Blowfish::derived(base, "blowfish_96")),
            (Algorithm::Des3, Size::Bits96) => Rounds::Des3Of96(Des3::derived(base, "des3_96")),
            (Algorithm::Aes, Size::Bits128) => Rounds::Aes128(Aes::derived(base)),
            (Algorithm::Speck, Size::Bits128) => Rounds::Speck128(Speck128::derived(base)),
            _ => return Err(algorithm.unfit(size)),
        }))
    }

    /// Which cipher it is.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.0 {
            Rounds::Speck96(_) | Rounds::Speck128(_) => Algorithm::Speck,
            Rounds::Aes128(_) => Algorithm::Aes,
            Rounds::Blowfish96(_) => Algorithm::Blowfish,
            Rounds::Des3Of96(_) => Algorithm::Des3,
        }
    }

    /// How long its blocks are.
    #[must_use]
    pub const fn size(&self) -> Size {
        match self.0 {
            Rounds::Speck96(_) | Rounds::Blowfish96(_) | Rounds::Des3Of96(_) => Size::Bits96,
            Rounds::Aes128(_) | Rounds::Speck128(_) => Size::Bits128,
        }
    }

    /// Whether only the upper 64 bits are encrypted, and the others must be zero.
    #[must_use]
    pub const fn has_zero_tail(&self) -> bool {
        matches!(self.0, Rounds::Blowfish96(_) | Rounds::Des3Of96(_))
    }

    /// Whether a number may be encrypted or decrypted: it fits the size, and its tail is zero where that stays as it is.
    #[must_use]
    pub const fn takes(&self, number: u128) -> bool {
        number <= self.size().greatest() && (!self.has_zero_tail() || number as u32 == 0)
    }

    /// As [`super::Cipher::fingerprint`].
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.encrypt(0)
    }

    /// The number that stands for one that [`WideCipher::takes`].
    #[must_use]
    pub fn encrypt(&self, number: u128) -> u128 {
        match &self.0 {
            Rounds::Speck96(speck) => speck.encrypt(number),
            Rounds::Blowfish96(blowfish) => before_tail(number, |upper| blowfish.encrypt(upper)),
            Rounds::Des3Of96(des3) => before_tail(number, |upper| des3.encrypt(upper)),
            Rounds::Aes128(aes) => aes.encrypt(number),
            Rounds::Speck128(speck) => speck.encrypt(number),
        }
    }

    /// The number that one stands for: the inverse of [`WideCipher::encrypt`].
    #[must_use]
    pub fn decrypt(&self, number: u128) -> u128 {
        match &self.0 {
            Rounds::Speck96(speck) => speck.decrypt(number),
            Rounds::Blowfish96(blowfish) => before_tail(number, |upper| blowfish.decrypt(upper)),
            Rounds::Des3Of96(des3) => before_tail(number, |upper| des3.decrypt(upper)),
            Rounds::Aes128(aes) => aes.decrypt(number),
            Rounds::Speck128(speck) => speck.decrypt(number),
        }
    }
}

fn before_tail(number: u128, of: impl Fn(u64) -> u64) -> u128 {
    u128::from(of((number >> TAIL) as u64)) << TAIL | u128::from(number as u32)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const ALL: [(Algorithm, Size); 5] = [
        (Algorithm::Speck, Size::Bits96),
        (Algorithm::Blowfish, Size::Bits96),
        (Algorithm::Des3, Size::Bits96),
        (Algorithm::Aes, Size::Bits128),
        (Algorithm::Speck, Size::Bits128),
    ];

    fn of((algorithm, size): (Algorithm, Size), key: &[u8]) -> WideCipher {
        WideCipher::new(algorithm, size, &key[..algorithm.key_length(size).unwrap()]).unwrap()
    }

    proptest! {
        #[test]
        fn each_is_a_bijection_of_what_it_takes(
            which in select(ALL.to_vec()), key in vec(any::<u8>(), 32), a: u128, b: u128,
        ) {
            let cipher = of(which, &key);
            let taken = |number: u128| {
                let number = number & which.1.greatest();
                if cipher.has_zero_tail() { number >> TAIL << TAIL } else { number }
            };
            let (a, b) = (taken(a), taken(b));
            prop_assert!(cipher.takes(a) && cipher.takes(cipher.encrypt(a)));
            prop_assert_eq!(cipher.decrypt(cipher.encrypt(a)), a);
            prop_assert_eq!(cipher.encrypt(cipher.decrypt(a)), a);
            prop_assert_eq!(cipher.encrypt(a) == cipher.encrypt(b), a == b);
        }
    }

    #[test]
    fn sizes_that_a_cipher_does_not_have_are_refused() {
        let base = BaseKey::new(&[b'k'; 32]).unwrap();
        for (algorithm, size) in
            Algorithm::ALL.into_iter().flat_map(|algorithm| Size::ALL.map(|size| (algorithm, size)))
        {
            let made = [WideCipher::new(algorithm, size, &[0; 32]), WideCipher::derived(algorithm, size, &base)];
            let option = made.map(|made| made.err().and_then(|error| error.fields().option));
            match algorithm.key_length(size) {
                _ if size == Size::Bits64 => assert_eq!(option, [Some("cipher"), Some("cipher")]),
                None => assert_eq!(option, [Some("cipher"), Some("cipher")]),
                Some(32) => assert_eq!(option, [None, None]),
                Some(_) => assert_eq!(option, [Some("cipherKeys"), None]),
            }
        }
    }

    #[test]
    fn a_tail_or_a_number_that_does_not_fit_is_not_taken() {
        for which in ALL {
            let cipher = of(which, &[7; 32]);
            assert_eq!((cipher.algorithm(), cipher.size()), which);
            assert!(cipher.takes(0) && cipher.takes(1 << TAIL));
            assert_eq!(cipher.takes(1), !cipher.has_zero_tail());
            assert_eq!(cipher.takes(1 << 96), which.1 == Size::Bits128);
        }
    }

    #[test]
    fn fingerprints_tell_keys_and_ciphers_apart() {
        let all: Vec<_> =
            ALL.into_iter().flat_map(|which| [1, 2].map(|fill| of(which, &[fill; 32]).fingerprint())).collect();
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn debug_shows_no_key() {
        for which in ALL {
            let shown = format!("{:?}", of(which, &[0xab; 32]));
            assert!(shown.ends_with("(…)))") && !shown.contains("171"), "{shown}");
        }
    }
}
