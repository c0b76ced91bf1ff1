//! The proof that a connection belongs to a bond.
//!
//! HMAC-SHA256 (RFC 2104) under the bond's secret of keying material that only the two ends of
//! this TLS connection can export (RFC 8446, section 7.5): a proof seen on one connection is
//! worthless on every other.

use noq_proto::Connection;
use ring::hmac;
use zeroize::Zeroizing;

/// The exporter label of RFC 5705, section 4.
const LABEL: &[u8] = b"polypath join";

/// Why a proof cannot be made or is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JoinProofError {
    /// The connection has no keying material yet.
    #[error("the handshake of the connection is not complete, so it can prove nothing yet")]
    HandshakeIncomplete,
    /// The proof was made with another secret or for another connection.
    #[error("the join proof does not match: the peer does not know the secret of this bond")]
    Mismatch,
}

/// Proves knowledge of `bond_secret` on `connection`; both ends compute the same proof.
///
/// # Errors
/// Until the handshake is complete.
pub(crate) fn join_proof(
    bond_secret: &[u8; 32],
    connection: &Connection,
) -> Result<[u8; 32], JoinProofError> {
    let material = exported(connection)?;
    let mut proof = [0; 32];
    proof.copy_from_slice(hmac::sign(&key(bond_secret), &*material).as_ref());
    Ok(proof)
}

/// Checks in constant time that `proof` was made with `bond_secret` for `connection`.
///
/// # Errors
/// Until the handshake is complete, and when the proof does not match.
pub(crate) fn verify_join_proof(
    bond_secret: &[u8; 32],
    connection: &Connection,
    proof: &[u8; 32],
) -> Result<(), JoinProofError> {
    let material = exported(connection)?;
    hmac::verify(&key(bond_secret), &*material, proof).map_err(|_| JoinProofError::Mismatch)
}

fn key(bond_secret: &[u8; 32]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, bond_secret)
}

fn exported(connection: &Connection) -> Result<Zeroizing<[u8; 32]>, JoinProofError> {
    let mut material = Zeroizing::new([0; 32]);
    connection
        .crypto_session()
        .export_keying_material(&mut *material, LABEL, b"")
        .map_err(|_| JoinProofError::HandshakeIncomplete)?;
    Ok(material)
}
