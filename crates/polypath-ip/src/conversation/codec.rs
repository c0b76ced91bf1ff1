//! What a conversation is called between the ends of a gateway (docs/tunnel.md, section 6).

use std::net::IpAddr;

use polypath_policy::Protocol;

use super::key::ConversationKey;
use crate::packet::{Ports, Selector};

const V4: u8 = 4;
const V6: u8 = 6;
const NOTHING: u8 = 0;
const PORTS: u8 = 1;
const IDENTIFIER: u8 = 2;

/// Why bytes name no conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversationKeyError {
    /// They have another length than what they say they are.
    #[error("{present} bytes for a conversation that takes {needed}")]
    Length {
        /// Bytes that it takes.
        needed: usize,
        /// Bytes that are there.
        present: usize,
    },
    /// The version of IP.
    #[error("IP version {0} in the name of a conversation; allowed: 4 and 6")]
    Version(u8),
    /// What tells it apart from others between its addresses.
    #[error("selector {0} in the name of a conversation; allowed: 0 to 2")]
    Selector(u8),
}

impl ConversationKey {
    /// The key as bytes: version of IP, protocol, selector (0 none, 1 ports, 2 identifier), the
    /// source and the destination, each with 4 or 16 bytes, and the two ports in that order, or the
    /// identifier.
    pub fn encode(&self) -> Vec<u8> {
        let version = if self.source.is_ipv4() { V4 } else { V6 };
        let (selector, tail) = match self.selector {
            Selector::Nothing => (NOTHING, Vec::new()),
            Selector::Ports(Ports { source, destination }) => {
                (PORTS, [source.to_be_bytes(), destination.to_be_bytes()].concat())
            }
            Selector::Query(identifier) => (IDENTIFIER, identifier.to_be_bytes().into()),
        };
        let mut bytes = vec![version, self.protocol.number(), selector];
        for address in [self.source, self.destination] {
            match address {
                IpAddr::V4(address) => bytes.extend(address.octets()),
                IpAddr::V6(address) => bytes.extend(address.octets()),
            }
        }
        bytes.extend(tail);
        bytes
    }

    /// Reads a key, whichever end comes first.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, ConversationKeyError> {
        let length = |needed| ConversationKeyError::Length { needed, present: bytes.len() };
        let (&[version, protocol, kind], rest) =
            bytes.split_first_chunk().ok_or_else(|| length(3))?;
        let address = match version {
            V4 => 4,
            V6 => 16,
            other => return Err(ConversationKeyError::Version(other)),
        };
        let tail = match kind {
            NOTHING => 0,
            PORTS => 4,
            IDENTIFIER => 2,
            other => return Err(ConversationKeyError::Selector(other)),
        };
        if rest.len() != 2 * address + tail {
            return Err(length(3 + 2 * address + tail));
        }
        let (addresses, tail) = rest.split_at(2 * address);
        let (source, destination) = addresses.split_at(address);
        let selector = match *tail {
            [a, b, c, d] => Selector::Ports(Ports {
                source: u16::from_be_bytes([a, b]),
                destination: u16::from_be_bytes([c, d]),
            }),
            [a, b] => Selector::Query(u16::from_be_bytes([a, b])),
            _ => Selector::Nothing,
        };
        let protocol = Protocol::new(protocol);
        Ok(Self::new(read(source), read(destination), protocol, selector).0)
    }
}

/// An address of 4 or 16 bytes.
fn read(bytes: &[u8]) -> IpAddr {
    match <[u8; 4]>::try_from(bytes) {
        Ok(v4) => v4.into(),
        Err(_) => <[u8; 16]>::try_from(bytes).unwrap_or_default().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;
    use crate::fixtures::{self, V4 as ENDS, V6 as ENDS_V6};

    fn key(bytes: &[u8]) -> ConversationKey {
        Packet::parse(bytes).unwrap().membership().key
    }

    /// The example of docs/tunnel.md.
    #[test]
    fn a_key_is_the_same_after_it_was_bytes() {
        let bytes = key(&fixtures::udp(ENDS, 9, 53, b"x")).encode();
        assert_eq!(bytes, [4, 17, 1, 192, 0, 2, 1, 192, 0, 2, 2, 0, 9, 0, 53]);
        for ends in [ENDS, ENDS_V6] {
            for packet in [
                fixtures::udp(ends, 9, 53, b"x"),
                fixtures::echo_request(ends, 7),
                fixtures::esp(ends, 0x1000),
            ] {
                let key = key(&packet);
                assert_eq!(ConversationKey::decode(&key.encode()), Ok(key));
            }
        }
    }

    #[test]
    fn either_end_may_come_first() {
        let reversed = [4, 17, 1, 192, 0, 2, 2, 192, 0, 2, 1, 0, 53, 0, 9];
        let expected = key(&fixtures::udp(ENDS, 9, 53, b"x"));
        assert_eq!(ConversationKey::decode(&reversed), Ok(expected));
    }

    #[test]
    fn what_is_no_key_is_refused_with_what_is_wrong() {
        use ConversationKeyError::{Length, Selector, Version};
        let whole = key(&fixtures::udp(ENDS_V6, 9, 53, b"x")).encode();
        for length in 0..whole.len() {
            let needed = if length < 3 { 3 } else { whole.len() };
            let expected = Err(Length { needed, present: length });
            assert_eq!(ConversationKey::decode(&whole[..length]), expected);
        }
        let longer = [&whole[..], &[0]].concat();
        let (needed, present) = (whole.len(), longer.len());
        assert_eq!(ConversationKey::decode(&longer), Err(Length { needed, present }));
        for (at, error) in [(0, Version(5)), (2, Selector(5))] {
            let mut broken = whole.clone();
            broken[at] = 5;
            assert_eq!(ConversationKey::decode(&broken), Err(error));
        }
    }
}
