//! The secret of a bond, and proofs of it.

use core::fmt;

use ring::hmac;
use zeroize::Zeroize;

/// 32 bytes of which nobody may learn anything: the secret of a bond, or a proof of it.
///
/// They are wiped from memory on drop, [`Debug`](fmt::Debug) does not show them, and how long a
/// comparison takes does not tell where two differ.
#[derive(Clone)]
pub struct BondSecret([u8; 32]);

impl BondSecret {
    /// Nothing: what stands where no proof is needed.
    pub const NONE: Self = Self([0; 32]);

    /// The secret of these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, to be sent to the peer.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key that makes and checks proofs.
    pub(super) fn hmac_key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

/// Whether what one makes of an empty message verifies under the other, which takes the same time
/// for all secrets. Two that differ and make the same would be a collision of HMAC-SHA256.
impl PartialEq for BondSecret {
    fn eq(&self, other: &Self) -> bool {
        let made = hmac::sign(&other.hmac_key(), b"");
        hmac::verify(&self.hmac_key(), b"", made.as_ref()).is_ok()
    }
}

impl Eq for BondSecret {}

impl Drop for BondSecret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for BondSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BondSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_equal_if_all_their_bytes_are() {
        let bytes = [7; 32];
        assert_eq!(BondSecret::new(bytes), BondSecret::new(bytes));
        for at in 0..32 {
            let mut other = bytes;
            other[at] ^= 1;
            assert_ne!(BondSecret::new(other), BondSecret::new(bytes), "byte {at}");
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", BondSecret::new([7; 32])), "BondSecret");
    }
}
