//! Packets of the handshake among those that a connection sends.
//!
//! They have numbers of their own, and the library forgets those that it still has in flight when
//! their keys are discarded (RFC 9001 section 4.9): nobody ever says that they were acknowledged or
//! lost. Their acknowledgements prove nothing of the bond's packets either.

use crate::codec::Reader;

/// The lengths in bytes of the packets with a long header at the front of a datagram (RFC 9000
/// section 17.2): all packets of Initial and Handshake, which come before those with a short one.
pub(super) fn long_packets(datagram: &[u8]) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut rest = datagram;
    while let Some(length) = long_packet(rest) {
        lengths.push(length);
        rest = &rest[length..];
    }
    lengths
}

/// The length of the first packet; `None` if its header is a short one, or there is none.
fn long_packet(datagram: &[u8]) -> Option<usize> {
    const LONG: u8 = 0x80;
    const TYPE: u8 = 0x30;
    const INITIAL: u8 = 0;
    let mut reader = Reader::new(datagram);
    let first = reader.byte("first byte").ok().filter(|first| first & LONG != 0)?;
    reader.bytes(4, "version").ok()?;
    for _ in ["destination", "source"] {
        let length = reader.byte("length of a connection ID").ok()?;
        reader.bytes(length.into(), "connection ID").ok()?;
    }
    if first & TYPE == INITIAL {
        let length = reader.varint("length of the token").ok()?;
        reader.bytes(length.try_into().ok()?, "token").ok()?;
    }
    let length = reader.varint("length").ok()?;
    reader.bytes(length.try_into().ok()?, "packet").ok()?;
    Some(datagram.len() - reader.remaining())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of this type, with a token or without, whose number and payload have 300 bytes.
    fn long(first: u8, token: Option<&[u8]>) -> Vec<u8> {
        let ids = [&[first, 0, 0, 0, 1, 3, 7, 7, 7, 0][..]].concat();
        let token = token.map(|token| [&[token.len() as u8][..], token].concat());
        [ids, token.unwrap_or_default(), vec![0x41, 0x2c], vec![0xff; 300]].concat()
    }

    #[test]
    fn packets_with_a_long_header_are_found_ahead_of_one_with_a_short() {
        let (initial, handshake) = (long(0xc1, Some(b"token")), long(0xe3, None));
        let short = vec![0x41; 80];
        let both = [initial.len(), handshake.len()];
        assert_eq!(both, [10 + 6 + 302, 10 + 302]);
        assert_eq!(long_packets(&[&initial[..], &handshake, &short].concat()), both);
        assert_eq!(long_packets(&[&handshake[..], &short].concat()), both[1..]);
        assert_eq!(long_packets(&long(0xc1, Some(b""))), [10 + 1 + 302]);
        assert_eq!(long_packets(&short), []);
    }

    #[test]
    fn what_is_cut_off_is_no_packet() {
        let datagram = long(0xc1, Some(b"token"));
        for end in 0..datagram.len() {
            assert_eq!(long_packets(&datagram[..end]), [], "{end}");
        }
    }
}
