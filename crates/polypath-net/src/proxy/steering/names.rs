//! The names that answers of DNS have given to addresses.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polypath_ip::{NameTable, Packet};
use polypath_units::Timestamp;

/// What packets through a gateway have told of names. All behind it share them: where one of them
/// has asked, others may have the answer from a cache, and over the other version of IP.
#[derive(Debug, Default)]
pub(super) struct KnownNames(Mutex<NameTable>);

impl KnownNames {
    pub(super) fn on_sent(&self, packet: &Packet<&[u8]>, now: Timestamp) {
        if NameTable::concerns(packet) {
            self.table().on_sent(packet, now);
        }
    }

    pub(super) fn on_received(&self, packet: &Packet<&[u8]>, now: Timestamp) {
        if NameTable::concerns(packet) {
            self.table().on_received(packet, now);
        }
    }

    /// Those of an address now.
    pub(super) fn of(&self, address: IpAddr, now: Timestamp) -> Vec<Arc<str>> {
        self.table().names(address, now)
    }

    fn table(&self) -> MutexGuard<'_, NameTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Steering, SteeringRules};
    use super::*;
    use polypath_bond::FlowMode;
    use polypath_ip::{IpHeader, Ports};
    use polypath_policy::Policy;
    use std::path::Path;

    fn datagram([source, destination]: [IpAddr; 2], ports: Ports, message: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        let header = IpHeader::new(source, destination).unwrap();
        header.write_udp(ports, message, &mut packet).unwrap();
        packet
    }

    /// A question for the addresses of `a.org`, and the answer to it: 192.0.2.1.
    pub(crate) fn dns_exchange() -> [Vec<u8>; 2] {
        let question = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01a\x03org\0\0\x01\0\x01";
        let answer = b"\0\x07\x81\x80\0\x01\0\x01\0\0\0\0\x01a\x03org\0\0\x01\0\x01\
                       \xc0\x0c\0\x01\0\x01\0\0\x01\x2c\0\x04\xc0\0\x02\x01";
        let [client, server] = [1, 2].map(|last| IpAddr::from([10, 0, 0, last]));
        [
            datagram([client, server], Ports { source: 9, destination: 53 }, question),
            datagram([server, client], Ports { source: 53, destination: 9 }, answer),
        ]
    }

    #[test]
    fn a_connection_to_an_address_is_one_to_its_name() {
        let rules = "[[rule]]\nname = \"no a\"\ndomain = \"a.org\"\nmode = \"drop\"\n";
        let policy = Policy::parse(Path::new("p"), rules).unwrap();
        let steering = Steering::new(SteeringRules::new(policy, FlowMode::Aggregate));
        let admits = |target: &str| steering.admit(None, &target.parse().unwrap()).is_ok();
        assert!(admits("192.0.2.1:443"), "nobody has asked yet");
        let [question, answer] = dns_exchange();
        steering.on_sent(&Packet::parse(&question[..]).unwrap());
        steering.on_received(&Packet::parse(&answer[..]).unwrap());
        for (target, admitted) in [
            ("192.0.2.1:443", false),
            ("192.0.2.2:443", true),
            ("a.org:443", false),
            ("b.org:1", true),
        ] {
            assert_eq!(admits(target), admitted, "{target}");
        }
        steering.replace(SteeringRules::default());
        let packet = Packet::parse(&question[..]).unwrap();
        assert!(steering.learn(&packet).names.is_empty(), "no rule looks at names");
    }
}
