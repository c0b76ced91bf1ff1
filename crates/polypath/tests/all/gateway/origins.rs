//! Rules for where traffic comes from, whose packets have one address by the time that they are
//! decided about.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};

use super::super::namespace::Namespace;
use super::sites::{SERVER, Sites};
use super::{PATIENCE, exchange, icmp};

/// Tests that make namespaces run as root.
const RULES: &str = r#"
    [[rule]]
    name = "own"
    protocol = ["tcp", "udp"]
    interface = "host"
    user = ["root", 4294967294]
    mode = "drop"
    [[rule]]
    name = "LAN"
    protocol = ["tcp", "udp"]
    interface = "l0"
    source = "192.168.5.2"
    mode = "drop"
"#;

/// A connection that is reset, and a datagram that is dropped.
fn is_dropped(host: &Namespace, listener: &TcpListener) {
    let address = listener.local_addr().unwrap();
    let mut refused = host.within(|| TcpStream::connect(address).unwrap());
    refused.set_read_timeout(PATIENCE).unwrap();
    assert_eq!(refused.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let sending = host.within(|| UdpSocket::bind(("0.0.0.0", 0)).unwrap());
    sending.send_to(b"?", (SERVER.0, 9)).unwrap();
    // Behind the datagram, on the same way: when it is answered, that has been decided about.
    host.within(|| icmp::ping(SERVER.0));
}

#[test]
fn rules_tell_the_host_from_the_lan_and_its_users_apart() {
    let test = "rules_tell_the_host_from_the_lan_and_its_users_apart";
    let Some(sites) = Sites::new(test) else { return };
    let policy = sites.world.path("policy.toml");
    fs::write(&policy, RULES).unwrap();
    let gateway = sites.start(&[], &["--policy", &policy]);
    let listener = sites.server.within(|| TcpListener::bind((SERVER.0, 0)).unwrap());
    for (rule, host) in [&sites.edge, &sites.lan].into_iter().enumerate() {
        is_dropped(host, &listener);
        let status = gateway.status();
        assert_eq!(status["rules"][rule]["dropped"], 2, "{status}");
    }
    // Another host of the LAN, by another address of the same one.
    sites.lan.ip("addr add 192.168.5.3/24 dev l0");
    sites.lan.ip("route replace default via 192.168.5.1 src 192.168.5.3");
    let address = listener.local_addr().unwrap();
    exchange(sites.lan.within(|| TcpStream::connect(address).unwrap()), &listener);
}
