//! An echo request and its answer.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

/// A request whose checksum is that of an identifier and number that are 7 and 1.
const REQUEST: [u8; 8] = [8, 0, 0xf7, 0xf7, 0, 7, 0, 1];

/// Asks an address of IPv4, and waits for the answer.
pub(crate) fn ping(address: IpAddr) {
    let mut socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    socket.send_to(&REQUEST, &SocketAddr::new(address, 0).into()).unwrap();
    let mut packet = [0; 1_500];
    loop {
        let length = socket.read(&mut packet).unwrap();
        // Behind 20 bytes of IP header.
        if length >= 28 && packet[20] == 0 && packet[24..28] == REQUEST[4..] {
            return;
        }
    }
}
