//! Packets of IP without options or extension headers, as they come out of a device.

use std::net::IpAddr;

use polypath_gateway::device::TunReader;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// Where the addresses of a packet are, and how long each is.
fn places(packet: &[u8]) -> (usize, usize) {
    if packet[0] >> 4 == 4 { (12, 4) } else { (8, 16) }
}

/// Where the header of the transport protocol is.
fn transport(packet: &[u8]) -> usize {
    let (at, length) = places(packet);
    at + 2 * length
}

fn protocol(packet: &[u8]) -> u8 {
    if packet[0] >> 4 == 4 { packet[9] } else { packet[6] }
}

/// Packets of a protocol, at least as many as are wanted.
pub(crate) async fn read(reader: &mut TunReader, wanted: u8, count: usize) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while found.len() < count {
        let packets = reader.recv().await.unwrap();
        let of = packets.iter().filter(|packet| protocol(packet) == wanted);
        found.extend(of.map(<[u8]>::to_vec));
    }
    found
}

/// The next packet of a protocol.
pub(crate) async fn next(reader: &mut TunReader, wanted: u8) -> Vec<u8> {
    read(reader, wanted, 1).await.remove(0)
}

/// Source and destination.
pub(crate) fn addresses(packet: &[u8]) -> [IpAddr; 2] {
    let (at, length) = places(packet);
    let address = |bytes: &[u8]| match <[u8; 4]>::try_from(bytes) {
        Ok(bytes) => IpAddr::from(bytes),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes).unwrap()),
    };
    [address(&packet[at..at + length]), address(&packet[at + length..at + 2 * length])]
}

/// What a datagram carries.
pub(crate) fn payload(datagram: &[u8]) -> &[u8] {
    &datagram[transport(datagram) + 8..]
}

/// The header of TCP, with what follows.
pub(crate) fn segment(packet: &[u8]) -> &[u8] {
    &packet[transport(packet)..]
}

/// The same datagram on its way back. Sums do not depend on the order of what is added.
pub(crate) fn back(datagram: &[u8]) -> Vec<u8> {
    let mut back = datagram.to_vec();
    let ((at, length), ports) = (places(datagram), transport(datagram));
    back[at..ports].rotate_left(length);
    back[ports..ports + 4].rotate_left(2);
    back
}
