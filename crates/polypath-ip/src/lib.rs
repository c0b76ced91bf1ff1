//! What a gateway knows of the IP packets that it carries between a device (TUN) and a bond.
//!
//! - [`Packet`] reads the headers of any bytes, or says what is wrong with them ([`PacketError`]).
//!   It tells a policy what the packet is ([`Packet::traffic`]) and changes what routers and
//!   tunnels change: hop limit, ECN (RFC 6040), the segment size of a SYN.
//! - A [`ConversationKey`] names a conversation, the same in both directions; a
//!   [`ConversationTable`] remembers a bounded number of them, and a [`FragmentTracker`] finds
//!   those of fragments.
//! - A [`NameTable`] knows which names addresses have, from the answers of DNS that pass.
//! - [`answer`] makes ICMP errors, [`IpHeader`] makes UDP packets and echo replies, and a
//!   [`PrefixSet`] says where packets may come from.
//!
//! There is no I/O here, no clock and no randomness. Nothing that a packet can contain panics. The
//! way of a packet allocates nothing: answers are written into a buffer of the caller, and only a
//! new conversation can make a table grow. Headers are read and written by `etherparse`,
//! messages of DNS by `simple-dns`.
#![forbid(unsafe_code)]

mod build;
pub mod checksum;
mod clamp;
mod conversation;
mod ecn;
mod error;
#[cfg(test)]
mod fixtures;
mod hop_limit;
mod icmp;
mod names;
mod packet;
mod prefixes;
mod traffic;

pub use build::{BuildError, IpHeader};
pub use conversation::{
    Conversation, ConversationKey, ConversationKeyError, ConversationTable, Direction, Endpoint,
    Event, FragmentTracker, HashKey, IdleClass, IdleTimeouts, Membership,
};
pub use ecn::{MarkedNotCapable, decapsulate, encapsulate};
pub use error::{Header, MAX_EXTENSION_HEADERS, PacketError, PacketErrorKind};
pub use etherparse::IpEcn;
pub use hop_limit::HopLimitExceeded;
pub use icmp::{IcmpError, MAX_ICMPV4_ERROR, MAX_ICMPV6_ERROR, Unanswerable, answer};
pub use names::{LEAST_TIME, LONGEST_TIME, MAX_NAMED_ADDRESSES, MAX_NAMES_OF_ADDRESS, NameTable};
pub use packet::{Fragment, Packet, Ports, Quoted, TcpFlags, Transport};
pub use prefixes::PrefixSet;
