//! IP packets from what is in them, for a hub that answers without a device for packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{
    IcmpEchoHeader, Icmpv4Header, Icmpv4Type, Icmpv6Header, Icmpv6Type, IpDscp, IpEcn, IpNumber,
    Ipv4Header, Ipv6Header, UdpHeader,
};
use polypath_policy::Dscp;

use crate::packet::Ports;

/// Bytes of an ICMP header, the four that differ by type included, and of a UDP header.
const UPPER_HEADER: usize = 8;

/// Hops that a packet may make, as Linux sets it.
const HOP_LIMIT: u8 = 64;

/// What the IP header of a new packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    addresses: Addresses,
    /// The differentiated services code point.
    pub dscp: Dscp,
    /// The field for explicit congestion notification.
    pub ecn: IpEcn,
    /// How many routers it may pass, and one.
    pub hop_limit: u8,
    /// In IPv4, lets routers fragment the packet; packets between the same addresses whose
    /// fragments may meet have different numbers (RFC 6864). Without, they must not. In IPv6 they
    /// never may.
    pub identification: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addresses {
    V4 { source: Ipv4Addr, destination: Ipv4Addr },
    V6 { source: Ipv6Addr, destination: Ipv6Addr },
}

/// Why a packet cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// One address is of IPv4, one of IPv6.
    #[error("a packet from {source_address} to {destination}; allowed: addresses of one family")]
    MixedFamilies {
        /// Where it would come from.
        source_address: IpAddr,
        /// Where it would go to.
        destination: IpAddr,
    },
    /// It would be longer than a packet can be.
    #[error("{length} bytes of payload; allowed: up to {most}")]
    TooLong {
        /// Bytes of payload.
        length: usize,
        /// How many a packet of this family has at most.
        most: usize,
    },
}

impl IpHeader {
    /// A header with these addresses, for best effort, without ECN, that no router fragments.
    ///
    /// # Errors
    /// When they are of different families.
    pub fn new(source: IpAddr, destination: IpAddr) -> Result<Self, BuildError> {
        let addresses = match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Addresses::V4 { source, destination },
            (IpAddr::V6(source), IpAddr::V6(destination)) => Addresses::V6 { source, destination },
            (source_address, destination) => {
                return Err(BuildError::MixedFamilies { source_address, destination });
            }
        };
        Ok(Self {
            addresses,
            dscp: Dscp::of_byte(0),
            ecn: IpEcn::NotEct,
            hop_limit: HOP_LIMIT,
            identification: None,
        })
    }

    /// Puts a UDP packet behind what is in `out`.
    ///
    /// # Errors
    /// When the payload is too long; `out` is as it was.
    pub fn write_udp(
        &self,
        ports: Ports,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), BuildError> {
        let length = self.upper_length(payload)?;
        let mut header = UdpHeader {
            source_port: ports.source,
            destination_port: ports.destination,
            length,
            checksum: 0,
        };
        let checksum = match self.addresses {
            Addresses::V4 { source, destination } => {
                header.calc_checksum_ipv4_raw(source.octets(), destination.octets(), payload)
            }
            Addresses::V6 { source, destination } => {
                header.calc_checksum_ipv6_raw(source.octets(), destination.octets(), payload)
            }
        };
        header.checksum = checksum.map_err(|_| self.too_long(payload))?;
        self.write(IpNumber::UDP, length, out);
        out.extend_from_slice(&header.to_bytes());
        out.extend_from_slice(payload);
        Ok(())
    }

    /// Puts the answer to an echo request behind what is in `out`: identifier, sequence number and
    /// payload are those of the request (RFC 792; RFC 4443, section 4.2).
    ///
    /// # Errors
    /// When the payload is too long; `out` is as it was.
    pub fn write_echo_reply(
        &self,
        identifier: u16,
        sequence: u16,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), BuildError> {
        let echo = IcmpEchoHeader { id: identifier, seq: sequence };
        self.write_icmp(Icmpv4Type::EchoReply(echo), Icmpv6Type::EchoReply(echo), payload, out)
    }

    /// Puts a message of ICMP behind what is in `out`: the one that is of the header's family.
    pub(crate) fn write_icmp(
        &self,
        v4: Icmpv4Type,
        v6: Icmpv6Type,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), BuildError> {
        let length = self.upper_length(payload)?;
        match self.addresses {
            Addresses::V4 { .. } => {
                self.write(IpNumber::ICMP, length, out);
                out.extend_from_slice(&Icmpv4Header::with_checksum(v4, payload).to_bytes());
            }
            Addresses::V6 { source, destination } => {
                let [source, destination] = [source, destination].map(|end| end.octets());
                let header = Icmpv6Header::with_checksum(v6, source, destination, payload);
                let header = header.map_err(|_| self.too_long(payload))?;
                self.write(IpNumber::IPV6_ICMP, length, out);
                out.extend_from_slice(&header.to_bytes());
            }
        }
        out.extend_from_slice(payload);
        Ok(())
    }

    /// The length of an upper header with this payload.
    fn upper_length(&self, payload: &[u8]) -> Result<u16, BuildError> {
        let fits = payload.len() <= self.longest_payload();
        let length = u16::try_from(UPPER_HEADER + payload.len()).ok().filter(|_| fits);
        length.ok_or_else(|| self.too_long(payload))
    }

    fn longest_payload(&self) -> usize {
        let headers = match self.addresses {
            Addresses::V4 { .. } => Ipv4Header::MIN_LEN + UPPER_HEADER,
            Addresses::V6 { .. } => UPPER_HEADER,
        };
        usize::from(u16::MAX) - headers
    }

    fn too_long(&self, payload: &[u8]) -> BuildError {
        BuildError::TooLong { length: payload.len(), most: self.longest_payload() }
    }

    /// Writes the header, of a packet with so many bytes behind it.
    fn write(&self, protocol: IpNumber, length: u16, out: &mut Vec<u8>) {
        match self.addresses {
            Addresses::V4 { source, destination } => {
                let header = self.ipv4(protocol, length, source, destination);
                out.extend_from_slice(&header.to_bytes());
            }
            Addresses::V6 { source, destination } => {
                let header = Ipv6Header {
                    traffic_class: self.dscp.number() << 2 | self.ecn as u8,
                    payload_length: length,
                    next_header: protocol,
                    hop_limit: self.hop_limit,
                    source: source.octets(),
                    destination: destination.octets(),
                    ..Ipv6Header::default()
                };
                out.extend_from_slice(&header.to_bytes());
            }
        }
    }

    fn ipv4(
        &self,
        protocol: IpNumber,
        length: u16,
        source: Ipv4Addr,
        destination: Ipv4Addr,
    ) -> Ipv4Header {
        let mut header = Ipv4Header {
            dscp: IpDscp::try_from(self.dscp.number()).expect("a DSCP is below 64"),
            ecn: self.ecn,
            total_len: Ipv4Header::MIN_LEN as u16 + length,
            identification: self.identification.unwrap_or_default(),
            dont_fragment: self.identification.is_none(),
            time_to_live: self.hop_limit,
            protocol,
            source: source.octets(),
            destination: destination.octets(),
            ..Ipv4Header::default()
        };
        header.header_checksum = header.calc_header_checksum();
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, Ends, V4, V6};
    use crate::packet::{Packet, Transport};

    fn header((source, destination): Ends) -> IpHeader {
        IpHeader::new(source, destination).unwrap()
    }

    #[test]
    fn udp_packets_are_those_of_another_encoder() {
        for ends in [V4, V6] {
            for payload in [&b""[..], b"x", &[0xa5; 1400]] {
                let mut out = b"before".to_vec();
                let ports = Ports { source: 53, destination: 9 };
                header(ends).write_udp(ports, payload, &mut out).unwrap();
                let built = out.split_off(b"before".len());
                assert_eq!(out, b"before");
                assert_eq!(built, fixtures::udp(ends, 53, 9, payload));
                assert!(fixtures::checksums_are_right(&built));
            }
        }
    }

    #[test]
    fn echo_replies_are_those_of_another_encoder() {
        for ends in [V4, V6] {
            let mut built = Vec::new();
            let (identifier, sequence) = (7, fixtures::SEQUENCE);
            let written = header(ends);
            written.write_echo_reply(identifier, sequence, fixtures::ECHO, &mut built).unwrap();
            assert_eq!(built, fixtures::echo_reply(ends, identifier));
            assert!(fixtures::checksums_are_right(&built));
        }
    }

    #[test]
    fn headers_say_what_is_asked_for() {
        for ends in [V4, V6] {
            let mut built = Vec::new();
            let header = IpHeader {
                dscp: Dscp::new(46).unwrap(),
                ecn: IpEcn::CongestionExperienced,
                hop_limit: 3,
                identification: Some(0x1234),
                ..header(ends)
            };
            let ports = Ports { source: 1, destination: 2 };
            header.write_udp(ports, b"x", &mut built).unwrap();
            let packet = Packet::parse(&built).unwrap();
            assert_eq!((packet.dscp(), packet.ecn()), (header.dscp, header.ecn));
            assert_eq!((packet.source(), packet.destination()), ends);
            assert_eq!(*packet.transport(), Transport::Datagram(ports));
            assert_eq!(packet.hop_limit(), 3);
            assert_eq!(packet.must_not_be_fragmented(), ends == V6);
            if ends == V4 {
                assert_eq!(built[4..6], [0x12, 0x34]);
            }
        }
    }

    /// A UDP checksum of zero is sent as its other form: zero means that there is none (RFC 768;
    /// RFC 8200, section 8.1).
    #[test]
    fn no_udp_checksum_is_zero() {
        for ends in [V4, V6] {
            let ports = Ports { source: 1, destination: 2 };
            let built = |payload: [u8; 2]| {
                let mut built = Vec::new();
                header(ends).write_udp(ports, &payload, &mut built).unwrap();
                let checksum = built.len() - payload.len() - 2;
                u16::from_be_bytes([built[checksum], built[checksum + 1]])
            };
            // What is left of a sum of all ones is added.
            let checksum = built([0, 0]);
            assert_eq!(built(checksum.to_be_bytes()), 0xffff);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (ends, most) in [(V4, 65_507), (V6, 65_527)] {
            let ports = Ports { source: 1, destination: 2 };
            let mut out = Vec::new();
            let header = header(ends);
            header.write_udp(ports, &vec![0; most], &mut out).unwrap();
            assert!(Packet::parse(&out[..]).is_ok());
            let length = most + 1;
            for long in [length, 1 << 17] {
                let payload = vec![0; long];
                let error = Err(BuildError::TooLong { length: long, most });
                out.clear();
                assert_eq!(header.write_udp(ports, &payload, &mut out), error);
                assert_eq!(header.write_echo_reply(1, 2, &payload, &mut out), error);
                assert!(out.is_empty());
            }
        }
        let mixed = IpHeader::new(V4.0, V6.1).unwrap_err();
        assert_eq!(
            mixed.to_string(),
            "a packet from 192.0.2.1 to 2001:db8::2; allowed: addresses of one family"
        );
    }
}
