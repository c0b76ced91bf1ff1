//! Marks of congestion (ECN) that a path puts on the bond's packets.

use std::net::{Ipv4Addr, UdpSocket};

use socket2::SockRef;

use super::PATIENCE;
use super::sites::{LAN, SERVER, Sites};

/// Every packet of the bond that comes to the hub, by either path, has experienced congestion.
const MARKING: &str = "table inet marking {
    chain in {
        type filter hook prerouting priority -300;
        iifname { \"p1\", \"p2\" } udp dport 4433 ip ecn set ce
    }
}";

/// Counts what comes to the server's port 9, by its ECN field.
const COUNTING: &str = "table inet counting {
    chain in {
        type filter hook input priority 0;
        udp dport 9 ip ecn ce counter comment \"marked\"
        udp dport 9 ip ecn not-ect counter comment \"not capable\"
        udp dport 9 ip ecn ect0 counter comment \"unmarked\"
    }
}";

const ECT0: u32 = 2;

/// Those are lost that a path marks and whose transport knows no marks, if the gateway drops them.
#[test]
fn a_packet_has_the_mark_of_its_path_if_its_transport_understands_it() {
    let test = "a_packet_has_the_mark_of_its_path_if_its_transport_understands_it";
    let Some(sites) = Sites::new(test) else { return };
    let _gateway = sites.start(&[], &[]);
    sites.hub.run("nft", MARKING);
    sites.server.run("nft", COUNTING);
    let server = sites.server.within(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 9)).unwrap());
    server.set_read_timeout(PATIENCE).unwrap();
    let client = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    for (tos, capable) in [(ECT0, "marked"), (0, "not capable")] {
        SockRef::from(&client).set_tos_v4(tos).unwrap();
        for payload in [&[7; 100][..], &[7; 1_472]] {
            client.send_to(payload, (SERVER.0, 9)).unwrap();
            assert_eq!(server.recv(&mut [0; 2_000]).unwrap(), payload.len());
        }
        let counted = sites.server.output("nft", "list table inet counting");
        let of = |name: &str| {
            counted.lines().find(|line| line.contains(&format!("\"{name}\""))).unwrap().to_owned()
        };
        assert!(of(capable).contains("packets 2 "), "{counted}");
        assert!(of("unmarked").contains("packets 0 "), "{counted}");
    }
}
