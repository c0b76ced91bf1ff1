//! Packets in the words of policies.

use polypath_policy::Traffic;

use crate::packet::{Packet, UDP};

/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;

impl<T: AsRef<[u8]>> Packet<T> {
    /// What rules look at. Nobody knows of a name here; who does adds it.
    pub fn traffic(&self) -> Traffic<'static> {
        let ports = self.transport().ports();
        Traffic {
            source: Some(self.source()),
            source_port: ports.map(|ports| ports.source),
            destination: Some(self.destination()),
            port: ports.map(|ports| ports.destination),
            dscp: Some(self.dscp()),
            packet_size: Some(self.size()),
            ..Traffic::of(self.protocol())
        }
    }

    /// The bytes that a rule counts: of UDP its payload, of other protocols the IP packet. A
    /// fragment is a packet that is larger than it.
    fn size(&self) -> u32 {
        let bytes = match (self.protocol_number(), self.fragment()) {
            (UDP, None) => self.payload().len().saturating_sub(UDP_HEADER),
            _ => self.bytes().len(),
        };
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, V4, V6};

    #[test]
    fn packets_are_described_as_the_words_of_policies_are() {
        let udp = fixtures::udp(V4, 9, 5000, &[0; 160]);
        let tcp = fixtures::tcp(V6, |header| header);
        let ping = fixtures::echo_request(V4, 7);
        let mut fragment = fixtures::udp(V4, 9, 5000, &[0; 160]);
        fixtures::make_fragment(&mut fragment, 16, true);
        for (bytes, expected) in [
            (udp, "udp 192.0.2.2:5000 from 192.0.2.1:9 dscp 0 size 160"),
            (tcp, "tcp [2001:db8::2]:443 from [2001:db8::1]:50000 dscp 0 size 60"),
            (ping, "icmp 192.0.2.2 from 192.0.2.1 dscp 0 size 36"),
            (fragment, "udp 192.0.2.2 from 192.0.2.1 dscp 0 size 188"),
        ] {
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!(Ok(packet.traffic()), Traffic::parse(expected));
        }
    }
}
