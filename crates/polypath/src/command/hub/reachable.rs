//! The addresses that stand in the join string when the operator names none.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use polypath_host::interfaces::{Interface, Kind, Snapshot};

/// Where a hub that listens there can be reached; never nothing if it listens anywhere.
pub(super) fn reachable(listening: &[SocketAddr], interfaces: &Snapshot) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    for &address in listening {
        if address.ip().is_unspecified() {
            let own = own_addresses(address.is_ipv4(), interfaces).into_iter();
            found.extend(own.map(|ip| SocketAddr::new(ip, address.port())));
        } else {
            found.push(address);
        }
    }
    if found.iter().any(|address| !address.ip().is_unspecified()) {
        return found.into_iter().filter(|address| !address.ip().is_unspecified()).collect();
    }
    tracing::warn!(
        "no interface has an address that other hosts can reach, so the join string is for this \
         host alone; allowed: --advertise HOST:PORT"
    );
    let loopback = |address: &SocketAddr| match address.ip() {
        IpAddr::V4(_) => (Ipv4Addr::LOCALHOST, address.port()).into(),
        IpAddr::V6(_) => (Ipv6Addr::LOCALHOST, address.port()).into(),
    };
    listening.iter().map(loopback).collect()
}

/// A wildcard stands for the addresses of all uplinks; without any, for those of all interfaces,
/// which is what a hub in a closed network has.
fn own_addresses(ipv4: bool, interfaces: &Snapshot) -> Vec<IpAddr> {
    let same = |ip: &IpAddr| ip.is_ipv4() == ipv4;
    let uplinks = interfaces.values().filter(|interface| interface.is_usable());
    let ips: Vec<_> = uplinks.flat_map(Interface::source_addresses).filter(same).collect();
    if !ips.is_empty() {
        return ips;
    }
    let works = |i: &&Interface| i.up && i.running && i.kind != Kind::Loopback;
    let all = interfaces.values().filter(works);
    all.flat_map(Interface::global_addresses).filter(same).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_host::interfaces::Address;

    fn interface(name: &str, kind: Kind, ip: &str, has_route: bool) -> Interface {
        Interface {
            name: name.to_owned(),
            index: 1,
            kind,
            addresses: vec![Address { ip: ip.parse().unwrap(), prefix_len: 24 }],
            mtu: 1500,
            up: true,
            running: true,
            default_route_v4: has_route,
            default_route_v6: false,
        }
    }

    fn found(interfaces: &[&Interface]) -> Vec<String> {
        let snapshot = interfaces.iter().copied().cloned().zip(1..).map(|(i, n)| (n, i)).collect();
        let found = reachable(&["0.0.0.0:4433".parse().unwrap()], &snapshot);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn uplinks_come_before_other_interfaces_and_these_before_loopback() {
        let lo = interface("lo", Kind::Loopback, "127.0.0.1", false);
        let lan = interface("eth1", Kind::Ethernet, "10.0.0.1", false);
        let wan = interface("eth0", Kind::Ethernet, "192.0.2.1", true);
        assert_eq!(found(&[&lo, &lan, &wan]), ["192.0.2.1:4433"]);
        assert_eq!(found(&[&lo, &lan]), ["10.0.0.1:4433"]);
        assert_eq!(found(&[&lo]), ["127.0.0.1:4433"]);
    }

    #[test]
    fn an_address_that_was_named_stands() {
        let named = ["10.0.0.9:1".parse().unwrap()];
        assert_eq!(reachable(&named, &Snapshot::new()), named);
    }
}
