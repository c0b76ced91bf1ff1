//! How many routers a packet may still pass.

use crate::checksum;
use crate::packet::Packet;

/// Where IPv4 has the time to live, and its checksum, in bytes.
const TIME_TO_LIVE: usize = 8;
pub(crate) const IPV4_CHECKSUM: usize = 10;
/// Where IPv6 has the hop limit.
const HOP_LIMIT: usize = 7;

/// A packet that must go no further: its sender is answered with
/// [`IcmpError::TimeExceeded`](crate::IcmpError::TimeExceeded).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hop limit of {0}; a packet that is forwarded has 2 or more")]
pub struct HopLimitExceeded(u8);

impl<T: AsRef<[u8]>> Packet<T> {
    /// The time to live of IPv4, the hop limit of IPv6.
    pub fn hop_limit(&self) -> u8 {
        self.bytes()[if self.is_ipv4() { TIME_TO_LIVE } else { HOP_LIMIT }]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Takes one from the hop limit, as each router does (RFC 1812, section 5.3.1; RFC 8200,
    /// section 3), and mends the checksum of IPv4.
    ///
    /// # Errors
    /// When nothing would be left; the packet is as it was.
    pub fn decrement_hop_limit(&mut self) -> Result<(), HopLimitExceeded> {
        let limit = self.hop_limit();
        if limit <= 1 {
            return Err(HopLimitExceeded(limit));
        }
        if self.is_ipv4() {
            checksum::replace(self.header_mut(), IPV4_CHECKSUM, TIME_TO_LIVE, &[limit - 1]);
        } else {
            self.header_mut()[HOP_LIMIT] = limit - 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, V4, V6};

    #[test]
    fn the_hop_limit_goes_down_to_one() {
        for ends in [V4, V6] {
            let mut bytes = fixtures::udp(ends, 1, 2, b"x");
            let before = bytes.clone();
            let mut packet = Packet::parse(&mut bytes[..]).unwrap();
            for left in (1..fixtures::HOP_LIMIT).rev() {
                assert_eq!(packet.decrement_hop_limit(), Ok(()));
                assert_eq!(packet.hop_limit(), left);
                assert!(Packet::parse(packet.bytes()).is_ok(), "the checksum is right");
            }
            assert_eq!(packet.decrement_hop_limit(), Err(HopLimitExceeded(1)));
            assert_eq!(packet.hop_limit(), 1);
            let changed = bytes.iter().zip(&before).filter(|(new, old)| new != old).count();
            assert!(changed <= 3, "the limit and the checksum: {changed} bytes");
        }
    }

    #[test]
    fn what_has_no_hop_left_stays_so() {
        let mut bytes = fixtures::udp(V6, 1, 2, b"x");
        bytes[HOP_LIMIT] = 0;
        let mut packet = Packet::parse(&mut bytes[..]).unwrap();
        assert_eq!(packet.decrement_hop_limit(), Err(HopLimitExceeded(0)));
        assert_eq!(packet.hop_limit(), 0);
    }
}
