//! A cipher of 64 bits, whichever it is: what masks numbers of bigint columns and encrypts their nonces.

use super::{Algorithm, BaseKey, Blowfish, Des3, Ff1, Speck64};
use crate::error::Error;
use crate::layout::Size;

/// A bijection of the 64-bit numbers, chosen by an algorithm and a key. What it keeps of the key is wiped when it is
/// dropped, and never shown.
#[derive(Debug)]
pub struct Cipher(Rounds);

#[derive(Debug)]
enum Rounds {
    Speck(Speck64),
    Aes(Ff1),
    Blowfish(Blowfish),
    Des3(Des3),
}

impl Cipher {
    /// The most bytes of a tweak: a name, not a document.
    pub const LONGEST_TWEAK: usize = 256;

    /// The cipher of an explicit key.
    ///
    /// # Errors
    /// `CONFIG` with option `cipherKeys` where the key has another length than the algorithm's.
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        const SIZE: Size = Size::Bits64;
        Ok(Self(match algorithm {
            Algorithm::Speck => Rounds::Speck(Speck64::new(algorithm.key(SIZE, key)?)),
            Algorithm::Aes => Rounds::Aes(Ff1::new(algorithm.key(SIZE, key)?)),
            Algorithm::Blowfish => Rounds::Blowfish(Blowfish::new(algorithm.key(SIZE, key)?)),
            Algorithm::Des3 => Rounds::Des3(Des3::new(algorithm.key(SIZE, key)?)),
        }))
    }

    /// The cipher whose key is derived from a base key.
    #[must_use]
    pub fn derived(algorithm: Algorithm, base: &BaseKey) -> Self {
        Self(match algorithm {
            Algorithm::Speck => Rounds::Speck(Speck64::derived(base)),
            Algorithm::Aes => Rounds::Aes(Ff1::derived(base)),
            Algorithm::Blowfish => Rounds::Blowfish(Blowfish::derived(base, "blowfish_64")),
            Algorithm::Des3 => Rounds::Des3(Des3::derived(base, "des3_64")),
        })
    }

    /// The cipher that a tweak chooses under the same key: two columns with one key show one number as two texts.
    ///
    /// # Errors
    /// `CONFIG` with option `maskTweak`: more than [`Cipher::LONGEST_TWEAK`] bytes, or another algorithm than `aes`.
    pub fn with_tweak(&self, tweak: &[u8]) -> Result<Self, Error> {
        if tweak.len() > Self::LONGEST_TWEAK {
            let (most, found) = (Self::LONGEST_TWEAK, tweak.len());
            return Err(Error::config("maskTweak", format!("maskTweak: expected at most {most} bytes, found {found}")));
        }
        let Rounds::Aes(ff1) = &self.0 else {
            let found = self.algorithm().as_str();
            return Err(Error::config("maskTweak", format!("maskTweak: expected cipher 'aes', found '{found}'")));
        };
        Ok(Self(Rounds::Aes(ff1.with_tweak(tweak))))
    }

    /// Which cipher it is.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.0 {
            Rounds::Speck(_) => Algorithm::Speck,
            Rounds::Aes(_) => Algorithm::Aes,
            Rounds::Blowfish(_) => Algorithm::Blowfish,
            Rounds::Des3(_) => Algorithm::Des3,
        }
    }

    /// What tells this bijection from others: equal for equal algorithms, keys and tweaks, and for hardly any other. No
    /// key can be found from it sooner than from two masked IDs.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        u128::from(self.encrypt(0)) << 64 | u128::from(self.encrypt(u64::MAX))
    }

    /// The number that stands for `number`.
    #[must_use]
    #[inline]
    pub fn encrypt(&self, number: u64) -> u64 {
        match &self.0 {
            Rounds::Speck(speck) => speck.encrypt(number),
            others => others.encrypt(number),
        }
    }

    /// The number that `number` stands for: the inverse of [`Cipher::encrypt`].
    #[must_use]
    #[inline]
    pub fn decrypt(&self, number: u64) -> u64 {
        match &self.0 {
            Rounds::Speck(speck) => speck.decrypt(number),
            others => others.decrypt(number),
        }
    }

    /// Puts what stands for each number in its place: [`Cipher::encrypt`] for many; Speck and AES are several times as
    /// fast side by side.
    pub fn encrypt_in_place(&self, numbers: &mut [u64]) {
        match &self.0 {
            Rounds::Speck(speck) => speck.encrypt_in_place(numbers),
            Rounds::Aes(ff1) => ff1.encrypt_in_place(numbers),
            Rounds::Blowfish(blowfish) => each(numbers, |number| blowfish.encrypt(number)),
            Rounds::Des3(des3) => each(numbers, |number| des3.encrypt(number)),
        }
    }

    /// The inverse of [`Cipher::encrypt_in_place`].
    pub fn decrypt_in_place(&self, numbers: &mut [u64]) {
        match &self.0 {
            Rounds::Speck(speck) => speck.decrypt_in_place(numbers),
            Rounds::Aes(ff1) => ff1.decrypt_in_place(numbers),
            Rounds::Blowfish(blowfish) => each(numbers, |number| blowfish.decrypt(number)),
            Rounds::Des3(des3) => each(numbers, |number| des3.decrypt(number)),
        }
    }
}

/// Out of line, so that nothing of the slower ciphers stands in the way of the fastest.
impl Rounds {
    #[inline(never)]
    fn encrypt(&self, number: u64) -> u64 {
        match self {
            Self::Speck(speck) => speck.encrypt(number),
            Self::Aes(ff1) => ff1.encrypt(number),
            Self::Blowfish(blowfish) => blowfish.encrypt(number),
            Self::Des3(des3) => des3.encrypt(number),
        }
    }

    #[inline(never)]
    fn decrypt(&self, number: u64) -> u64 {
        match self {
            Self::Speck(speck) => speck.decrypt(number),
            Self::Aes(ff1) => ff1.decrypt(number),
            Self::Blowfish(blowfish) => blowfish.decrypt(number),
            Self::Des3(des3) => des3.decrypt(number),
        }
    }
}

impl From<Speck64> for Cipher {
    fn from(speck: Speck64) -> Self {
        Self(Rounds::Speck(speck))
    }
}

fn each(numbers: &mut [u64], of: impl Fn(u64) -> u64) {
    for number in numbers {
        *number = of(*number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn of(algorithm: Algorithm, fill: u8) -> Cipher {
        Cipher::new(algorithm, &vec![fill; algorithm.key_length(Size::Bits64).unwrap()]).unwrap()
    }

    proptest! {
        #[test]
        fn a_block_is_its_numbers(
            algorithm in select(Algorithm::ALL.to_vec()), key in vec(any::<u8>(), 32), numbers in vec(any::<u64>(), 0..80),
        ) {
            let cipher = Cipher::new(algorithm, &key[..algorithm.key_length(Size::Bits64).unwrap()]).unwrap();
            let mut block = numbers.clone();
            cipher.encrypt_in_place(&mut block);
            prop_assert_eq!(&block, &numbers.iter().map(|&number| cipher.encrypt(number)).collect::<Vec<_>>());
            prop_assert_eq!(&numbers, &block.iter().map(|&number| cipher.decrypt(number)).collect::<Vec<_>>());
            cipher.decrypt_in_place(&mut block);
            prop_assert_eq!(block, numbers);
        }
    }

    #[test]
    fn keys_of_another_length_are_refused_without_being_shown() {
        for algorithm in Algorithm::ALL {
            let length = algorithm.key_length(Size::Bits64).unwrap();
            for found in [0, length - 1, length + 1, 2 * length] {
                let error = Cipher::new(algorithm, &vec![b'k'; found]).unwrap_err();
                assert_eq!(error.fields().option, Some("cipherKeys"));
                let name = algorithm.as_str();
                let expected = format!("cipherKeys.64: expected {length} bytes for '{name}', found {found}");
                assert_eq!(error.message(), expected);
            }
        }
    }

    #[test]
    fn a_derived_key_is_the_ciphers_own() {
        let base = BaseKey::new(&[b'k'; 32]).unwrap();
        for (algorithm, salt) in [
            (Algorithm::Speck, "speck64_128"),
            (Algorithm::Aes, "aes_64"),
            (Algorithm::Blowfish, "blowfish_64"),
            (Algorithm::Des3, "des3_64"),
        ] {
            let key = base.derive::<32>(salt);
            // PBKDF2 gives 32 bytes at a time: a shorter key is the beginning of a longer one.
            let explicit = Cipher::new(algorithm, &key[..algorithm.key_length(Size::Bits64).unwrap()]).unwrap();
            let derived = Cipher::derived(algorithm, &base);
            assert_eq!((derived.algorithm(), derived.fingerprint()), (algorithm, explicit.fingerprint()));
        }
    }

    #[test]
    fn fingerprints_tell_algorithms_keys_and_tweaks_apart() {
        let mut seen: Vec<_> = Algorithm::ALL
            .into_iter()
            .flat_map(|algorithm| [1, 2].map(|fill| of(algorithm, fill).fingerprint()))
            .collect();
        seen.extend([&b"a"[..], b"b"].map(|tweak| of(Algorithm::Aes, 1).with_tweak(tweak).unwrap().fingerprint()));
        assert_eq!(of(Algorithm::Aes, 1).with_tweak(b"").unwrap().fingerprint(), of(Algorithm::Aes, 1).fingerprint());
        let distinct: std::collections::HashSet<_> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len());
    }

    #[test]
    fn tweaks_are_for_aes_and_of_limited_length() {
        let option = |cipher: Cipher, tweak: &[u8]| cipher.with_tweak(tweak).unwrap_err().fields().option;
        for algorithm in [Algorithm::Speck, Algorithm::Blowfish, Algorithm::Des3] {
            assert_eq!(option(of(algorithm, 1), b"users"), Some("maskTweak"));
        }
        assert!(of(Algorithm::Aes, 1).with_tweak(&[0; Cipher::LONGEST_TWEAK]).is_ok());
        assert_eq!(option(of(Algorithm::Aes, 1), &[0; Cipher::LONGEST_TWEAK + 1]), Some("maskTweak"));
    }

    #[test]
    fn debug_shows_no_key() {
        for algorithm in Algorithm::ALL {
            let shown = format!("{:?}", of(algorithm, 0xab));
            assert!(shown.ends_with("(…)))") && !shown.contains("171"), "{shown}");
        }
    }
}
