//! The proof that a connection belongs to a bond.
//!
//! HMAC-SHA256 (RFC 2104) under the bond's secret of keying material that only the two ends of
//! this TLS connection can export (RFC 8446, section 7.5): a proof seen on one connection is
//! worthless on every other.

use super::BondSecret;
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
    bond_secret: &BondSecret,
    connection: &Connection,
) -> Result<BondSecret, JoinProofError> {
    let material = exported(connection)?;
    let mut proof = [0; 32];
    proof.copy_from_slice(hmac::sign(&bond_secret.hmac_key(), &*material).as_ref());
    Ok(BondSecret::new(proof))
}

/// Checks in constant time that `proof` was made with `bond_secret` for `connection`.
///
/// # Errors
/// Until the handshake is complete, and when the proof does not match.
pub(crate) fn verify_join_proof(
    bond_secret: &BondSecret,
    connection: &Connection,
    proof: &BondSecret,
) -> Result<(), JoinProofError> {
    let material = exported(connection)?;
    hmac::verify(&bond_secret.hmac_key(), &*material, proof.as_bytes())
        .map_err(|_| JoinProofError::Mismatch)
}

fn exported(connection: &Connection) -> Result<Zeroizing<[u8; 32]>, JoinProofError> {
    let mut material = Zeroizing::new([0; 32]);
    connection
        .crypto_session()
        .export_keying_material(&mut *material, LABEL, b"")
        .map_err(|_| JoinProofError::HandshakeIncomplete)?;
    Ok(material)
}
