//! RSA with OAEP, with a server's public key: how a password is sent to a server that does not remember it, without TLS.

use num_bigint::BigUint;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject as _;
use sha1::{Digest, Sha1};

use crate::coordinator::tls::rsa_key;

/// A hash of SHA-1.
const HASH: usize = 20;

/// A server's key.
pub(super) struct Key {
    modulus: BigUint,
    exponent: BigUint,
    /// Of the modulus, in bytes.
    size: usize,
}

impl Key {
    /// From PEM (`-----BEGIN PUBLIC KEY-----`).
    pub(super) fn read(pem: &[u8]) -> Option<Self> {
        const SHORTEST: usize = 128;
        const LONGEST: usize = 2048;
        let key = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
        let (modulus, exponent) = rsa_key(&key)?;
        let modulus = BigUint::from_bytes_be(modulus);
        let exponent = BigUint::from_bytes_be(exponent);
        let size = modulus.bits().div_ceil(8) as usize;
        ((SHORTEST..=LONGEST).contains(&size) && exponent.bits() > 1).then_some(Self { modulus, exponent, size })
    }

    /// `seed` is random, and used once. `None` for a message that is too long for the key.
    pub(super) fn encrypt(&self, message: &[u8], seed: [u8; HASH]) -> Option<Vec<u8>> {
        let room = self.size.checked_sub(2 * HASH + 2)?.checked_sub(message.len())?;
        let mut block = [Sha1::digest([]).as_slice(), &vec![0; room], &[1], message].concat();
        mask(&mut block, &seed);
        let mut seed = seed;
        mask(&mut seed, &block);
        let padded = BigUint::from_bytes_be(&[&[0], &seed[..], &block].concat());
        let encrypted = padded.modpow(&self.exponent, &self.modulus).to_bytes_be();
        Some([&vec![0; self.size - encrypted.len()], &encrypted[..]].concat())
    }
}

/// MGF1.
fn mask(target: &mut [u8], seed: &[u8]) {
    for (counter, part) in (0_u32..).zip(target.chunks_mut(HASH)) {
        let hash = Sha1::new().chain_update(seed).chain_update(counter.to_be_bytes()).finalize();
        part.iter_mut().zip(hash).for_each(|(byte, mask)| *byte ^= mask);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::coordinator::mysql::protocol) const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDce2s8UA91pzONMcgdIEo+WENN
8lezJKke2B2ocMwtKScEaTSIfTIBOqD1F2nfTNWpQmfw0Xk3bJDRAV/ltgfiBTdZ
JApSBiaPbyBI9tqbWKmOB0fqV0X50QqRFIXLMm5cHENy7F5nIBMOm5wNKRlFT1kK
eWbB0ls1OA9cdCZZQwIDAQAB
-----END PUBLIC KEY-----";

    /// The two numbers of its private key.
    pub(in crate::coordinator::mysql::protocol) const MODULUS: &[u8] =
        b"dc7b6b3c500f75a7338d31c81d204a3e58434df257b324a91ed81da870cc2d2927046934887d32013aa0f51769df4cd5a942\
          67f0d179376c90d1015fe5b607e2053759240a5206268f6f2048f6da9b58a98e0747ea5745f9d10a911485cb326e5c1c4372\
          ec5e6720130e9b9c0d2919454f590a7966c1d25b35380f5c74265943";
    pub(in crate::coordinator::mysql::protocol) const PRIVATE: &[u8] =
        b"b6fcd7ab5ee6f5c6a74a701e9dcdc6d0a7807498c5a0b0b48c1ce1c0829d727dcd1c2414ad92fa857a9b4bcefad7917562dc\
          f25734035eb4841c72ff9c2ecfaa83f55fcd62048dbf191b2d37ac47071c57aed77a0ee9ba1353af2f5b00a0ad1ec1e77b12\
          b02813f492541cd1dae4dc1f4af2e28a72c661e9450259ce22ab4901";

    /// With the seed 0, 1, 2 and so on; OpenSSL opened it with the private key.
    const ENCRYPTED: &str = "37947266761e74fcc774e627678069963d9e4074b7c3cf611f91fd6cc1c25cc409a33f14ed000df32ac09a533508769105823159b14673840b07faad46003482\
                             29dae626483002940b3e8b54aed910c1c9e44d161c324a8be1018ddaf2d9479a9dd0030e3e5d69c1e63be436877527f12917477abf648f4e4eeb1174bcf25cbd";

    fn seed() -> [u8; HASH] {
        std::array::from_fn(|index| index as u8)
    }

    #[test]
    fn what_openssl_opens() {
        let encrypted = Key::read(PUBLIC.as_bytes()).unwrap().encrypt(b"secret\0", seed()).unwrap();
        assert_eq!(BigUint::from_bytes_be(&encrypted).to_str_radix(16), ENCRYPTED);
    }

    #[test]
    fn a_message_fits_or_is_refused() {
        let key = Key::read(PUBLIC.as_bytes()).unwrap();
        assert_eq!(key.encrypt(&[1; 86], seed()).unwrap().len(), 128);
        assert!(key.encrypt(&[1; 87], seed()).is_none() && key.encrypt(&[1; 200], seed()).is_none());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let body = PUBLIC.replace("MIGf", "MIGe");
        for pem in ["", "x", &body, &PUBLIC.replace("PUBLIC", "PRIVATE"), &PUBLIC[..100]] {
            assert!(Key::read(pem.as_bytes()).is_none(), "{pem}");
        }
    }
}
