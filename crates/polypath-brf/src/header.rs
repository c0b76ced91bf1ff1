//! The routing feedback header: what switches read and write of a datagram.
//!
//! Six bytes in clear in front of the QUIC packets of a UDP datagram (`docs/protocol.md`, routing
//! feedback). Its first byte is in the range that RFC 9443 leaves to no protocol, so that neither
//! QUIC (whose fixed bit it lacks) nor what else shares ports with it is taken for the header.

use crate::Code;

const MAGIC: [u8; 3] = [0x0b, b'R', b'F'];
const OPENS: u8 = 0x01;
const REPLIES: u8 = 0x02;
const DATA: u8 = 0x04;
const CLOSES: u8 = 0x08;
const FLAGS: u8 = OPENS | REPLIES | DATA | CLOSES;

/// What stands in front of a datagram whose sender obeys switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedbackHeader {
    /// The first datagram with a header of its sender on this path: as SYN of TCP.
    pub opens: bool,
    /// Its sender has seen a header of the peer, so that this answers: as ACK of TCP.
    pub replies: bool,
    /// It holds data: the rate that its flow may send at is used.
    pub data: bool,
    /// Nothing follows, in either direction: as RST of TCP.
    pub closes: bool,
    /// The rate of the other direction, as switches have written it on the way.
    pub code: Code,
}

impl FeedbackHeader {
    /// Its size in bytes.
    pub const SIZE: usize = 6;
    /// Where its code is.
    const CODE: usize = 4;

    /// The header of a datagram; `None` if it has none. Any other bytes are a datagram without one.
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let &[a, b, c, flags, high, low] = datagram.first_chunk::<{ Self::SIZE }>()?;
        if [a, b, c] != MAGIC || flags & !FLAGS != 0 {
            return None;
        }
        Some(Self {
            opens: flags & OPENS != 0,
            replies: flags & REPLIES != 0,
            data: flags & DATA != 0,
            closes: flags & CLOSES != 0,
            code: Code::from_be_bytes([high, low]),
        })
    }

    /// Appends it to `buf`.
    pub fn encode(&self, buf: &mut Vec<u8>) {
        let flags = [
            (self.opens, OPENS),
            (self.replies, REPLIES),
            (self.data, DATA),
            (self.closes, CLOSES),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).fold(0, |all, (_, flag)| all | flag);
        buf.extend_from_slice(&MAGIC);
        buf.push(flags);
        buf.extend_from_slice(&self.code.to_be_bytes());
    }

    /// What a switch does: writes a code into a datagram that has a header. Returns whether it has.
    /// The checksum of UDP is the caller's business.
    pub fn write_code(datagram: &mut [u8], code: Code) -> bool {
        let has = Self::decode(datagram).is_some();
        if let Some(field) = datagram.get_mut(Self::CODE..Self::SIZE).filter(|_| has) {
            field.copy_from_slice(&code.to_be_bytes());
        }
        has
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(header: FeedbackHeader) -> Vec<u8> {
        let mut buf = Vec::new();
        header.encode(&mut buf);
        buf
    }

    #[test]
    fn what_is_no_header_stays_as_it_is() {
        let short = &[0x0b, 0x52, 0x46, 0x02, 0][..];
        let unknown_flag = &[0x0b, 0x52, 0x46, 0x10, 0, 0];
        for bytes in [short, b"", &[0x40; 40], unknown_flag] {
            let mut datagram = bytes.to_vec();
            assert_eq!(FeedbackHeader::decode(bytes), None);
            assert!(!FeedbackHeader::write_code(&mut datagram, Code::new(7)));
            assert_eq!(datagram, bytes);
        }
    }

    proptest! {
        #[test]
        fn what_a_switch_writes_is_read(
            flags in 0..=FLAGS, number: u16, packet in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut datagram = [&MAGIC[..], &[flags, 0, 0], &packet].concat();
            let before = FeedbackHeader::decode(&datagram).unwrap();
            prop_assert!(FeedbackHeader::write_code(&mut datagram, Code::new(number)));
            let after = FeedbackHeader::decode(&datagram).unwrap();
            prop_assert_eq!(after, FeedbackHeader { code: Code::new(number), ..before });
            prop_assert_eq!(&encoded(after)[..], &datagram[..FeedbackHeader::SIZE]);
            prop_assert_eq!(&datagram[FeedbackHeader::SIZE..], &packet[..]);
        }
    }
}
