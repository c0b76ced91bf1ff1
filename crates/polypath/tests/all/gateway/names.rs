//! Rules for names, where what passes goes to addresses.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;

use super::name_answer::answer;
use super::sites::{SERVER, Sites};
use super::{PATIENCE, exchange, icmp};

const RULES: &str = "[[rule]]\nname = \"no ads\"\nprotocol = [\"tcp\", \"udp\"]\n\
                     domain = \"*.ads.example\"\nmode = \"drop\"\n";

/// `www.ads.example`, asked for its address.
pub(super) const QUESTION: &[u8] = b"\x03www\x03ads\x07example\0\0\x01\0\x01";

/// A connection that the rule drops is reset, a datagram is gone; what was allowed before it was
/// asked for still is not the rule's after that.
#[test]
fn a_rule_for_a_name_holds_for_the_address_that_somebody_was_told() {
    let test = "a_rule_for_a_name_holds_for_the_address_that_somebody_was_told";
    let Some(sites) = Sites::new(test) else { return };
    let policy = sites.world.path("policy.toml");
    fs::write(&policy, RULES).unwrap();
    let gateway = sites.start(&[], &["--policy", &policy]);
    let listener = sites.server.within(|| TcpListener::bind((SERVER.0, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    let connect = || sites.lan.within(|| TcpStream::connect(address).unwrap());
    exchange(connect(), &listener);

    let server = sites.server.within(|| UdpSocket::bind((SERVER.0, 53)).unwrap());
    server.set_read_timeout(PATIENCE).unwrap();
    // The host asks, and the rule holds for hosts behind it, too.
    let asking = sites.edge.within(|| UdpSocket::bind(("0.0.0.0", 0)).unwrap());
    asking.set_read_timeout(PATIENCE).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| answer(&server, SERVER));
        let question = [&b"\0\x07\x01\0\0\x01\0\0\0\0\0\0"[..], QUESTION].concat();
        asking.send_to(&question, (SERVER.0, 53)).unwrap();
        asking.recv(&mut [0; 512]).unwrap();
    });

    let mut refused = connect();
    refused.set_read_timeout(PATIENCE).unwrap();
    assert_eq!(refused.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let sending = sites.lan.within(|| UdpSocket::bind(("0.0.0.0", 0)).unwrap());
    sending.send_to(b"?", (SERVER.0, 9)).unwrap();
    // Behind the datagram, on the same way: when it is answered, that has been decided about.
    sites.lan.within(|| icmp::ping(SERVER.0));
    let status = gateway.status();
    assert_eq!(status["rules"][0]["dropped"], 2, "{status}");
    assert_eq!(status["gateway"]["dropped_by_rule"], 1, "{status}");
}
