//! What a switch looks at of a packet.

use super::{Class, Code, PortId};
use std::net::IpAddr;

/// The five numbers that name a flow, in the direction in which its packets travel. The two
/// directions of a connection are two flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Where its packets come from.
    pub source: IpAddr,
    /// Where they go.
    pub destination: IpAddr,
    /// Port of the source.
    pub source_port: u16,
    /// Port of the destination.
    pub destination_port: u16,
    /// Number of the protocol above IP: 6 is TCP.
    pub protocol: u8,
}

impl FlowKey {
    /// The other direction: the flow that the acknowledgements of this one belong to.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            protocol: self.protocol,
        }
    }
}

/// The flags of a TCP header that a switch needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags {
    /// A connection is opened.
    pub syn: bool,
    /// The packet acknowledges.
    pub ack: bool,
    /// No data follows.
    pub fin: bool,
    /// The connection is gone.
    pub rst: bool,
}

/// A packet that a switch forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its flow.
    pub flow: FlowKey,
    /// Its class.
    pub class: Class,
    /// Where it leaves.
    pub port: PortId,
    /// Its bytes on the wire.
    pub bytes: u32,
    /// Bytes of data in it.
    pub payload: u32,
    /// Its flags; none for UDP.
    pub flags: TcpFlags,
    /// The feedback field that it carries; [`Code::UNASSIGNED`] if it has none.
    pub code: Code,
    /// What connection a subflow belongs to, where the host knows (MPTCP token, bond): any number.
    pub connection: Option<u64>,
}

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is queued.
    Forward {
        /// In the queue of this class.
        queue: Class,
        /// With this feedback field. The checksum is the host's business.
        code: Code,
    },
    /// It exceeds the limit of the UDP class.
    Drop,
}
