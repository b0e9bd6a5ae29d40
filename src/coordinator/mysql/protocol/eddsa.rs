//! Ed25519 as MariaDB's plugins have it: the password, or what is derived from it, is the private key.

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use pbkdf2::pbkdf2_hmac;
use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

/// The part of a random text that each side gives to `parsec`.
pub(super) const NONCE: usize = 32;

/// `client_ed25519`: the password is the seed, whatever its length.
pub(super) fn ed25519(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    sign(password, nonce).to_vec()
}

/// `parsec`: the answer to a server's nonce and to how it derives keys, `P`, a factor and the salt. `None` where it derives
/// them in another way.
pub(super) fn parsec(password: &[u8], nonce: &[u8], derivation: &[u8], ours: [u8; NONCE]) -> Option<Vec<u8>> {
    const FACTORS: u8 = 3;
    let [b'P', factor @ 0..=FACTORS, salt @ ..] = derivation else { return None };
    let mut seed = Zeroizing::new([0; 32]);
    pbkdf2_hmac::<Sha512>(password, salt, 1024 << factor, &mut *seed);
    let signature = sign(&*seed, &[nonce, &ours].concat());
    Some([&ours[..], &signature].concat())
}

/// RFC 8032, with a seed of any length.
fn sign(seed: &[u8], message: &[u8]) -> [u8; 64] {
    let expanded = Zeroizing::new(<[u8; 64]>::from(Sha512::digest(seed)));
    let (low, prefix) = expanded.split_at(32);
    let mut secret = Zeroizing::new([0; 32]);
    secret.copy_from_slice(low);
    let secret = Zeroizing::new(Scalar::from_bytes_mod_order(clamp_integer(*secret)));
    let public = EdwardsPoint::mul_base(&secret).compress();
    let once = Zeroizing::new(wide(Sha512::new().chain_update(prefix).chain_update(message)));
    let point = EdwardsPoint::mul_base(&once).compress();
    let hash = Sha512::new().chain_update(point.as_bytes()).chain_update(public.as_bytes()).chain_update(message);
    let answer = *once + wide(hash) * *secret;
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(point.as_bytes());
    signature[32..].copy_from_slice(answer.as_bytes());
    signature
}

fn wide(hash: Sha512) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    /// RFC 8032, 7.1, tests 2 and 3.
    #[test]
    fn signatures_are_those_of_the_rfc() {
        for (seed, message, signature) in [
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                 085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
                 18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
            ),
        ] {
            assert_eq!(sign(&bytes(seed), &bytes(message)).to_vec(), bytes(signature));
        }
    }

    #[test]
    fn keys_are_derived_in_one_way_alone() {
        let derivation = [b"P\0".as_slice(), &[7; 18]].concat();
        let answer = parsec(b"secret", &[1; 32], &derivation, [2; NONCE]).unwrap();
        assert_eq!((answer.len(), &answer[..NONCE]), (96, &[2; NONCE][..]));
        for derivation in [&b""[..], b"P", b"Q\0salt", b"P\x04salt"] {
            assert!(parsec(b"secret", &[1; 32], derivation, [2; NONCE]).is_none());
        }
    }
}
