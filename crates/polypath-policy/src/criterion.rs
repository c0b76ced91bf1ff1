//! What a descriptor may ask of traffic.

use std::fmt;

/// One thing that a [`TrafficDescriptor`](crate::TrafficDescriptor) may ask for, named as the key
/// of a rule in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The protocol above IP.
    Protocol,
    /// The address that it comes from.
    Source,
    /// The port that it comes from.
    SourcePort,
    /// The address that it goes to.
    Destination,
    /// The port that it goes to.
    Port,
    /// The name of what it goes to.
    Domain,
    /// What its sender says of it in the IP header.
    Dscp,
    /// The bytes of a packet.
    PacketSize,
    /// The interface that it has come by.
    Interface,
    /// Whose program on this host it comes from.
    User,
}

impl Criterion {
    /// All of them, in the order in which they are looked at.
    pub const ALL: [Self; 10] = [
        Self::Protocol,
        Self::Source,
        Self::SourcePort,
        Self::Destination,
        Self::Port,
        Self::Domain,
        Self::Dscp,
        Self::PacketSize,
        Self::Interface,
        Self::User,
    ];

    /// Its key in a file.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Source => "source",
            Self::SourcePort => "source_port",
            Self::Destination => "destination",
            Self::Port => "port",
            Self::Domain => "domain",
            Self::Dscp => "dscp",
            Self::PacketSize => "packet_size",
            Self::Interface => "interface",
            Self::User => "user",
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}
