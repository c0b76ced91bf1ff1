//! Contiguous bytes of a stream that wait for their reader.

use bytes::{Bytes, BytesMut};

/// Shorter pieces are copied: about half a packet. What is longer stays a part of the packet that
/// it came in, and so keeps all of it in memory.
pub(crate) const SHORT: usize = 700;
/// Short pieces are joined up to this length: long against [`SHORT`], and soon given back when it
/// has been read.
const BLOCK: usize = 4_096;

/// A packet's data as it came, or short pieces joined.
#[derive(Debug)]
pub(crate) enum Fragment {
    Whole(Bytes),
    Joined(BytesMut),
}

impl Fragment {
    pub(crate) fn new(data: Bytes) -> Self {
        if data.len() < SHORT { Self::Joined(BytesMut::from(&data[..])) } else { Self::Whole(data) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Whole(data) => data,
            Self::Joined(data) => data,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes().len() as u64
    }

    pub(crate) fn is_short(&self) -> bool {
        self.bytes().len() < SHORT
    }

    /// Appends what follows if it is short and there is room. Returns whether it was appended.
    pub(crate) fn join(&mut self, next: &[u8]) -> bool {
        match self {
            Self::Joined(data) if next.len() < SHORT && data.len() + next.len() <= BLOCK => {
                data.extend_from_slice(next);
                true
            }
            _ => false,
        }
    }

    /// Takes at most `max` bytes; what is left stays, if anything is.
    pub(crate) fn take(self, max: usize) -> (Bytes, Option<Self>) {
        if self.bytes().len() <= max {
            return (self.into_bytes(), None);
        }
        match self {
            Self::Whole(mut data) => (data.split_to(max), Some(Self::Whole(data))),
            Self::Joined(mut data) => (data.split_to(max).freeze(), Some(Self::Joined(data))),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Whole(data) => data,
            Self::Joined(data) => data.freeze(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pieces_are_joined_up_to_a_block_and_a_packet_stays_as_it_came() {
        let packet = Bytes::from(vec![1; SHORT]);
        let mut whole = Fragment::new(packet.clone());
        assert!(!whole.join(&[2]));
        assert_eq!(whole.bytes().as_ptr(), packet.as_ptr(), "not copied");

        let mut short = Fragment::new(packet.slice(1..));
        assert_ne!(short.bytes().as_ptr(), packet[1..].as_ptr(), "the packet is not kept");
        assert!(!short.join(&packet), "a packet's data is not copied");
        while short.join(&[3]) {}
        assert_eq!(short.len(), BLOCK as u64);
    }

    #[test]
    fn what_is_left_goes_on_growing() {
        let mut fragment = Fragment::new(Bytes::from_static(b"abc"));
        assert!(fragment.join(b"de"));
        let (first, left) = fragment.take(2);
        let mut left = left.unwrap();
        assert!(left.join(b"f"));
        let (second, nothing) = left.take(9);
        assert_eq!((&first[..], &second[..]), (&b"ab"[..], &b"cdef"[..]));
        assert!(nothing.is_none());
    }
}
