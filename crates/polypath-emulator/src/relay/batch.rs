//! Datagrams that one call can send.

use bytes::Bytes;
use noq_udp::EcnCodepoint;
use polypath_link::Packet;
use polypath_units::Timestamp;

/// A datagram on its way through a path.
#[derive(Clone, Debug)]
pub(super) struct Datagram {
    /// The client that it comes from or goes to.
    pub(super) client: u64,
    pub(super) ecn: Option<EcnCodepoint>,
    pub(super) payload: Bytes,
}

/// A client is a flow. Nothing tells classes apart: the type of service is not read.
impl Packet for Datagram {
    fn flow(&self) -> u64 {
        self.client
    }

    fn mark_ce(&mut self) -> bool {
        let capable = self.ecn.is_some();
        self.ecn = self.ecn.map(|_| EcnCodepoint::Ce);
        capable
    }
}

/// What the kernel takes at once in one segmented send, with room for headers.
const MAX_BYTES: usize = 65_000;

/// Consecutive datagrams of one client, all of one size but the last, which may be smaller.
#[derive(Debug, Default)]
pub(super) struct Batch {
    client: u64,
    ecn: Option<EcnCodepoint>,
    contents: Vec<u8>,
    segment: usize,
    /// When each datagram was due.
    due: Vec<Timestamp>,
}

impl Batch {
    pub(super) fn client(&self) -> u64 {
        self.client
    }

    pub(super) fn ecn(&self) -> Option<EcnCodepoint> {
        self.ecn
    }

    pub(super) fn contents(&self) -> &[u8] {
        &self.contents
    }

    pub(super) fn segment_size(&self) -> Option<usize> {
        (self.len() > 1).then_some(self.segment)
    }

    /// How many datagrams it holds.
    pub(super) fn len(&self) -> usize {
        self.due.len()
    }

    pub(super) fn due(&self) -> &[Timestamp] {
        &self.due
    }

    /// Whether `datagram` can join the batch, at most `max_segments` in all.
    pub(super) fn fits(&self, datagram: &Datagram, max_segments: usize) -> bool {
        let ends_with_full_segment = self.contents.len() == self.len() * self.segment;
        let size = datagram.payload.len();
        self.len() == 0
            || (self.len() < max_segments
                && self.client == datagram.client
                && self.ecn == datagram.ecn
                && ends_with_full_segment
                && (1..=self.segment).contains(&size)
                && self.contents.len() + size <= MAX_BYTES)
    }

    /// Adds a datagram that fits and was due at `due`.
    pub(super) fn push(&mut self, due: Timestamp, datagram: &Datagram) {
        if self.len() == 0 {
            (self.client, self.ecn) = (datagram.client, datagram.ecn);
            self.segment = datagram.payload.len();
        }
        self.contents.extend_from_slice(&datagram.payload);
        self.due.push(due);
    }

    /// Empties it and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.contents.clear();
        self.due.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(client: u64, size: usize) -> Datagram {
        Datagram { client, ecn: None, payload: Bytes::from(vec![0; size]) }
    }

    fn batch_of(sizes: &[usize]) -> Batch {
        let mut batch = Batch::default();
        for &size in sizes {
            assert!(batch.fits(&datagram(1, size), 64), "{sizes:?}");
            batch.push(Timestamp::ZERO, &datagram(1, size));
        }
        batch
    }

    #[test]
    fn only_the_last_datagram_may_be_smaller() {
        assert!(!batch_of(&[100]).fits(&datagram(1, 101), 64));
        assert!(batch_of(&[100, 100]).fits(&datagram(1, 40), 64));
        assert!(!batch_of(&[100, 40]).fits(&datagram(1, 40), 64));
    }

    #[test]
    fn a_batch_has_one_client_and_bounds() {
        assert!(!batch_of(&[100]).fits(&datagram(2, 100), 64));
        assert!(!batch_of(&[100, 100]).fits(&datagram(1, 100), 2));
        assert!(!batch_of(&[40_000]).fits(&datagram(1, 30_000), 64));
        assert!(!batch_of(&[100]).fits(&datagram(1, 0), 64), "a segment has at least one byte");
    }
}
