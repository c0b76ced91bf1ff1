//! Keys of Multipath TCP and what is derived from them (RFC 8684 sections 3.1 and 3.2).

use crate::fabric::EndpointId;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// The key of one end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(pub(super) [u8; 8]);

impl Key {
    /// The key of an end: a hash of its number, for simulated ends have none.
    pub(super) fn of(end: EndpointId) -> Self {
        let digest = Sha256::new_with_prefix(b"polypath key").chain_update(end.0.to_be_bytes());
        Self(head(&digest.finalize()))
    }

    /// What identifies the connection at this end: the first 32 bits of the key's hash.
    pub(super) fn token(self) -> [u8; 4] {
        head(&Sha256::digest(self.0))
    }

    /// The initial data sequence number of this end: the last 64 bits of the key's hash.
    pub(super) fn initial_dsn(self) -> u64 {
        let digest: [u8; 32] = Sha256::digest(self.0).into();
        u64::from_be_bytes(head(&digest[24..]))
    }
}

/// The random number that an end puts into the join of a path: a hash again.
pub(super) fn nonce(end: EndpointId, path: u8) -> [u8; 4] {
    let hash = Sha256::new_with_prefix(b"polypath nonce").chain_update(end.0.to_be_bytes());
    head(&hash.chain_update([path]).finalize())
}

/// HMAC-SHA256 under our key and the peer's, one after the other.
pub(super) fn mac(ours: Key, theirs: Key, message: &[u8]) -> [u8; 32] {
    let key = [ours.0, theirs.0];
    let hmac = Hmac::<Sha256>::new_from_slice(key.as_flattened());
    let hmac = hmac.expect("HMAC takes keys of any length");
    hmac.chain_update(message).finalize().into_bytes().into()
}

/// The first `N` bytes.
///
/// # Panics
/// If there are fewer.
pub(super) fn head<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|at| bytes[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of the key 01 02 .. 08 as computed by coreutils' `sha256sum`.
    #[test]
    fn token_and_sequence_number_are_the_ends_of_the_hash() {
        let key = Key([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(key.token(), [0x66, 0x84, 0x0d, 0xda]);
        assert_eq!(key.initial_dsn(), 0xf5a1_01d3_d29d_6f72);
    }

    /// The value is that of `openssl dgst -sha256 -mac HMAC`: no key of RFC 4231 has 16 bytes.
    #[test]
    fn the_mac_is_hmac_sha256_over_both_keys() {
        let mac = mac(Key([0x0b; 8]), Key([0x0b; 8]), b"Hi There");
        assert_eq!(mac[..4], [0x49, 0x2c, 0xe0, 0x20]);
    }
}
