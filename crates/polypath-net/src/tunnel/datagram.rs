//! UDP datagrams in a bond datagram flow: an address header, then the payload (docs/tunnel.md,
//! section 5).

use super::wire::{Reader, Short};
use super::{AddressError, Target};

/// Longest address header in bytes: type, length, 255 bytes of name, port.
pub const MAX_DATAGRAM_HEADER: usize = 1 + 1 + 255 + 2;

/// Bytes that are no datagram of an association.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatagramError {
    /// The datagram ends inside its header: unlike on a stream, no more will come.
    #[error("datagram of {length} bytes ends inside its address header of at least {needed}")]
    Truncated {
        /// Bytes of the datagram.
        length: usize,
        /// Bytes that the header needs.
        needed: usize,
    },
    /// The header is malformed.
    #[error(transparent)]
    Address(#[from] AddressError),
}

/// A datagram for `target` (edge to hub) or from it (hub to edge).
pub fn encode_datagram(target: &Target, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAX_DATAGRAM_HEADER + payload.len());
    target.encode(&mut out);
    out.extend(payload);
    out
}

/// Splits a received datagram into its address and its payload.
pub fn decode_datagram(datagram: &[u8]) -> Result<(Target, &[u8]), DatagramError> {
    let mut reader = Reader::new(datagram);
    let target = Target::read(&mut reader)?.map_err(|Short { total }| {
        DatagramError::Truncated { length: datagram.len(), needed: total }
    })?;
    Ok((target, reader.rest()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_payload_is_a_datagram_too() {
        let target: Target = "[2001:db8::1]:53".parse().unwrap();
        let bytes = encode_datagram(&target, &[]);
        assert_eq!(decode_datagram(&bytes), Ok((target, &[][..])));
    }

    #[test]
    fn a_cut_header_is_an_error_not_a_wait() {
        assert_eq!(
            decode_datagram(&[1, 192, 0]),
            Err(DatagramError::Truncated { length: 3, needed: 5 })
        );
    }
}
