//! The largest segment that the ends of a TCP connection agree on.

use etherparse::{Ipv4Header, Ipv6Header, TcpHeader};

use crate::checksum;
use crate::packet::{Packet, Transport};

/// The checksum of a TCP header, in bytes from its begin.
const CHECKSUM: usize = 16;

// Options of TCP (RFC 9293, section 3.1).
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Lowers the maximum segment size that a SYN offers, if whole segments would make packets of
    /// more than `mtu` bytes, and mends the checksum. The answer to a SYN is one too. Whether it
    /// was lowered.
    ///
    /// The size is what an MTU leaves beside headers without options (RFC 9293, section 3.7.1). A
    /// SYN that offers none stays so: its sender is sent 536 bytes at most, or 1220 in IPv6.
    pub fn clamp_mss(&mut self, mtu: u16) -> bool {
        let Transport::Tcp(_, flags) = self.transport() else { return false };
        if !flags.syn {
            return false;
        }
        let ip = if self.is_ipv4() { Ipv4Header::MIN_LEN } else { Ipv6Header::LEN };
        let largest = usize::from(mtu).saturating_sub(ip + TcpHeader::MIN_LEN) as u16;
        match find_mss(self.payload()) {
            Some((at, offered)) if offered > largest => {
                checksum::replace(self.payload_mut(), CHECKSUM, at, &largest.to_be_bytes());
                true
            }
            _ => false,
        }
    }
}

/// Where in a segment of TCP the maximum segment size stands, and the size. What follows a
/// malformed option is not read.
fn find_mss(segment: &[u8]) -> Option<(usize, u16)> {
    let end = usize::from(segment.get(12)? >> 4) * 4;
    let mut at = TcpHeader::MIN_LEN;
    loop {
        let option = segment.get(at..end)?;
        at += match *option {
            [MAXIMUM_SEGMENT_SIZE, 4, high, low, ..] => {
                return Some((at + 2, u16::from_be_bytes([high, low])));
            }
            [NO_OPERATION, ..] => 1,
            [] | [END, ..] => return None,
            [_, length, ..] if length >= 2 => usize::from(length),
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, V4, V6};
    use etherparse::TcpOptionElement::{self, MaximumSegmentSize, Noop, Timestamp, WindowScale};
    use proptest::prelude::*;

    fn syn(v6: bool, options: &[TcpOptionElement]) -> Vec<u8> {
        fixtures::tcp(if v6 { V6 } else { V4 }, |mut header| {
            header.syn = true;
            header.set_options(options).unwrap();
            header
        })
    }

    fn clamped(mut bytes: Vec<u8>, mtu: u16) -> (bool, Vec<u8>) {
        let lowered = Packet::parse(&mut bytes[..]).unwrap().clamp_mss(mtu);
        (lowered, bytes)
    }

    #[test]
    fn a_syn_offers_what_fits_the_mtu() {
        for (v6, mtu, offered, expected) in [
            (false, 1400, 1460, 1360),
            (false, 1400, 1361, 1360),
            (false, 1400, 1360, 1360),
            (false, 1400, 536, 536),
            (false, 20, 1460, 0),
            (true, 1400, 1440, 1340),
            (true, 1280, 1221, 1220),
            (true, 1280, 1220, 1220),
        ] {
            let (lowered, bytes) = clamped(syn(v6, &[MaximumSegmentSize(offered)]), mtu);
            assert_eq!(lowered, offered != expected);
            assert_eq!(bytes, syn(v6, &[MaximumSegmentSize(expected)]), "{v6} {mtu} {offered}");
        }
    }

    #[test]
    fn the_option_is_found_behind_others_and_at_odd_places() {
        for before in [
            &[Noop][..],
            &[Noop, Noop],
            &[WindowScale(7)],
            &[WindowScale(7), Noop],
            &[Timestamp(1, 2)],
        ] {
            let options = |size| [before, &[MaximumSegmentSize(size)]].concat();
            let (lowered, bytes) = clamped(syn(false, &options(9000)), 1400);
            assert!(lowered);
            assert_eq!(bytes, syn(false, &options(1360)), "{before:?}");
        }
    }

    #[test]
    fn other_packets_stay_as_they_are() {
        let mut ack = syn(false, &[MaximumSegmentSize(1460)]);
        ack[20 + 13] = 0x10;
        let without_option = syn(true, &[WindowScale(7)]);
        let mut malformed = syn(false, &[WindowScale(7), MaximumSegmentSize(1460)]);
        malformed[20 + 21] = 0;
        let mut ended = syn(false, &[Noop, MaximumSegmentSize(1460)]);
        ended[20 + 20] = END;
        let mut later = syn(false, &[MaximumSegmentSize(1460)]);
        fixtures::make_fragment(&mut later, 16, true);
        for bytes in [ack, without_option, malformed, ended, later, fixtures::udp(V4, 1, 2, b"x")] {
            assert_eq!(clamped(bytes.clone(), 600), (false, bytes));
        }
    }

    proptest! {
        #[test]
        fn any_options_are_passed_over(options in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut options = options;
            options.resize(options.len().next_multiple_of(4), 0);
            let bytes = fixtures::tcp(V4, |mut header| {
                header.syn = true;
                header.set_options_raw(&options).unwrap();
                header
            });
            let (lowered, clamped) = clamped(bytes.clone(), 40);
            prop_assert_eq!(lowered, clamped != bytes);
            prop_assert!(fixtures::checksums_are_right(&clamped));
        }
    }
}
