//! How a password is proved without being sent: what each of the servers' plugins wants to see.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// `mysql_native_password`.
pub(super) fn native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mixed = Sha1::new().chain_update(nonce).chain_update(twice).finalize();
    xor(&once, &mixed)
}

/// `caching_sha2_password`, where the server still remembers the password.
pub(super) fn sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mixed = Sha256::new().chain_update(twice).chain_update(nonce).finalize();
    xor(&once, &mixed)
}

/// Each byte with that of the other, which is repeated.
pub(super) fn xor(bytes: &[u8], other: &[u8]) -> Vec<u8> {
    bytes.iter().zip(other.iter().cycle()).map(|(byte, other)| byte ^ other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The server checks as is done here: what it keeps is the double hash.
    #[test]
    fn a_server_that_keeps_the_double_hash_is_convinced() {
        let nonce = b"0123456789abcdefghij";
        let kept = Sha1::digest(Sha1::digest(b"secret"));
        let once = xor(&native(b"secret", nonce), &Sha1::new().chain_update(nonce).chain_update(kept).finalize());
        assert_eq!(Sha1::digest(&once), kept);
        let kept = Sha256::digest(Sha256::digest(b"secret"));
        let once = xor(&sha2(b"secret", nonce), &Sha256::new().chain_update(kept).chain_update(nonce).finalize());
        assert_eq!(Sha256::digest(&once), kept);
        // What `select password('secret')` says.
        let said = num_bigint::BigUint::parse_bytes(b"14e65567abdb5135d0cfd9a70b3032c179a49ee7", 16).unwrap();
        assert_eq!(Sha1::digest(Sha1::digest(b"secret")).to_vec(), said.to_bytes_be());
    }
}
