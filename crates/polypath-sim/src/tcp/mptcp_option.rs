//! The multipath option of a segment (RFC 8684), to be filled by MPTCP.

use core::num::NonZeroU16;

/// A mapping of subflow bytes to the data sequence (RFC 8684 section 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Data sequence number of the first byte.
    pub dsn: u64,
    /// Subflow sequence number of the first byte, relative to the subflow's beginning.
    pub ssn: u32,
    /// Bytes mapped; a DATA_FIN counts as one.
    pub len: NonZeroU16,
}

/// Data sequence signal (RFC 8684 section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dss {
    /// The connection-level acknowledgement.
    pub data_ack: Option<u64>,
    /// What the payload is.
    pub mapping: Option<Mapping>,
    /// Whether the data ends with this mapping.
    pub data_fin: bool,
}

/// A multipath option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpOption {
    /// The first subflow of a connection (section 3.1).
    MpCapable {
        /// Identifies the connection; stands for the keys.
        connection: u64,
    },
    /// A further subflow (section 3.2).
    MpJoin {
        /// The connection to join; stands for token and HMAC.
        connection: u64,
        /// Address identifier of the sender.
        address_id: u8,
        /// Whether the subflow is to be used only if no other works.
        backup: bool,
    },
    /// Data sequence signal (section 3.3).
    Dss(Dss),
    /// Changes the priority of the subflow (section 3.3.8).
    MpPrio {
        /// Whether the subflow is to be used only if no other works.
        backup: bool,
    },
    /// A further address of the sender (section 3.4.1).
    AddAddr {
        /// Address identifier.
        address_id: u8,
        /// Whether this repeats an announcement of the peer.
        echo: bool,
    },
    /// An address is gone (section 3.4.2).
    RemoveAddr {
        /// Address identifier.
        address_id: u8,
    },
    /// The connection is aborted (section 3.5).
    MpFastclose {
        /// The connection that is closed; stands for the key.
        connection: u64,
    },
    /// The mapping failed; back to plain TCP (section 3.7).
    MpFail {
        /// First data sequence number that failed.
        dsn: u64,
    },
}

impl MptcpOption {
    /// Bytes in the header, padded to 4: 64-bit data sequence numbers and 32-bit acknowledgements
    /// of them as Linux sends, IPv4 addresses, the form of the segment that carries it most often
    /// (for MP_CAPABLE and MP_JOIN the SYN).
    pub const fn bytes(self) -> u32 {
        match self {
            Self::MpCapable { .. } | Self::MpJoin { .. } | Self::MpFail { .. } => 12,
            Self::Dss(dss) => dss.bytes(),
            Self::MpPrio { .. } | Self::RemoveAddr { .. } => 4,
            Self::AddAddr { echo, .. } => 8 + if echo { 0 } else { 8 },
            Self::MpFastclose { .. } => 12,
        }
    }
}

impl Dss {
    const fn bytes(self) -> u32 {
        let ack = if self.data_ack.is_some() { 4 } else { 0 };
        // Data sequence number, subflow sequence number and length, without the checksum.
        let mapping = if self.mapping.is_some() { 8 + 4 + 2 } else { 0 };
        (4 + ack + mapping as u32).next_multiple_of(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_sequence_signal_has_at_most_24_bytes() {
        let mapping = Some(Mapping { dsn: 0, ssn: 0, len: NonZeroU16::MIN });
        let bytes = |data_ack, mapping| Dss { data_ack, mapping, data_fin: false }.bytes();
        assert_eq!(bytes(Some(0), mapping), 24);
        assert_eq!(bytes(None, mapping), 20);
        assert_eq!(bytes(Some(0), None), 8);
        assert_eq!(bytes(None, None), 4);
    }
}
