//! The parts of a server's certificate, or of its key, that are looked at without verifying it.

#[cfg(any(feature = "postgres", test))]
use sha2::{Digest, Sha256, Sha384, Sha512};

/// The public key with its algorithm (`SubjectPublicKeyInfo`), as it stands in the certificate.
pub(super) fn public_key(certificate: &[u8]) -> Option<&[u8]> {
    let (signed, _) = parts(certificate)?;
    let mut rest = signed.content;
    // An explicit version is left out in version 1; then serial number, algorithm, issuer, validity, subject.
    if element(rest)?.tag == 0xA0 {
        rest = element(rest)?.rest;
    }
    for _ in 0..5 {
        rest = element(rest)?.rest;
    }
    Some(element(rest)?.whole)
}

/// What `tls-server-end-point` binds to (RFC 5929): the certificate's hash, by the hash of its own signature, but never MD5
/// or SHA-1. `None` where the signature has no such hash.
#[cfg(any(feature = "postgres", test))]
pub(in crate::coordinator) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04];
    let (_, algorithm) = parts(certificate)?;
    let name = element(algorithm.content).filter(|name| name.tag == 0x06)?.content;
    match (name.strip_prefix(RSA), name.strip_prefix(ECDSA)) {
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => Some(Sha256::digest(certificate).to_vec()),
        (Some([12]), _) | (_, Some([3, 3])) => Some(Sha384::digest(certificate).to_vec()),
        (Some([13]), _) | (_, Some([3, 4])) => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// Modulus and exponent of a public key with its algorithm, where that is RSA.
#[cfg(any(feature = "mysql", test))]
pub(in crate::coordinator) fn rsa_key(public_key: &[u8]) -> Option<(&[u8], &[u8])> {
    const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
    let algorithm = element(element(public_key)?.content)?;
    element(algorithm.content).filter(|name| name.tag == 0x06 && name.content == RSA)?;
    let bits = element(algorithm.rest).filter(|bits| bits.tag == 0x03)?;
    let modulus = element(element(bits.content.strip_prefix(&[0])?)?.content).filter(|number| number.tag == 0x02)?;
    let exponent = element(modulus.rest).filter(|number| number.tag == 0x02)?;
    Some((modulus.content, exponent.content))
}

/// What is signed, and how.
fn parts(certificate: &[u8]) -> Option<(Element<'_>, Element<'_>)> {
    let signed = element(element(certificate)?.content)?;
    let algorithm = element(signed.rest)?;
    Some((signed, algorithm))
}

/// One element of DER, and what comes after it.
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    whole: &'a [u8],
    rest: &'a [u8],
}

fn element(input: &[u8]) -> Option<Element<'_>> {
    let (&tag, after) = input.split_first()?;
    let (&first, mut after) = after.split_first()?;
    let mut length = usize::from(first);
    if first >= 0x80 {
        let (bytes, rest) = after.split_at_checked(usize::from(first & 0x7F)).filter(|(bytes, _)| bytes.len() <= 4)?;
        length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        after = rest;
    }
    let (content, rest) = after.split_at_checked(length)?;
    Some(Element { tag, content, whole: &input[..input.len() - rest.len()], rest })
}

#[cfg(test)]
mod tests {
    use rcgen::{
        CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PublicKeyData,
    };

    use super::*;

    fn certificate(key: &KeyPair) -> Vec<u8> {
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(key).unwrap().der().to_vec()
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        let der = certificate(&KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap());
        assert_eq!(end_point(&der), Some(Sha256::digest(&der).to_vec()));
        let der = certificate(&KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384).unwrap());
        assert_eq!(end_point(&der), Some(Sha384::digest(&der).to_vec()));
        // Nobody has said what that would be bound to.
        assert_eq!(end_point(&certificate(&KeyPair::generate_for(&PKCS_ED25519).unwrap())), None);
    }

    #[test]
    fn the_public_key_is_found() {
        for algorithm in [&PKCS_ECDSA_P256_SHA256, &PKCS_ED25519] {
            let key = KeyPair::generate_for(algorithm).unwrap();
            assert_eq!(public_key(&certificate(&key)), Some(key.subject_public_key_info().as_slice()));
        }
    }

    #[test]
    fn what_is_no_certificate_has_neither() {
        let der = certificate(&KeyPair::generate().unwrap());
        for length in 0..der.len() {
            assert_eq!((end_point(&der[..length]), public_key(&der[..length])), (None, None), "{length}");
        }
        for input in [
            &[0x30, 0x80][..],
            &[0x30, 0x85, 1, 1, 1, 1, 1],
            &[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0x30, 0x02, 0x30, 0x00],
        ] {
            assert_eq!((end_point(input), public_key(input)), (None, None));
        }
    }
}
