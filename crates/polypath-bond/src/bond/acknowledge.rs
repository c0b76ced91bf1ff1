//! Acknowledgements, and over which paths they go.

use super::{Bond, Transmit, Urgent};
use crate::codec::{AckFrame, Arrival, Frame};
use crate::path::Payload;
use polypath_units::{PathId, PathSet, Timestamp};

/// Below this share of the RTT of the path that an acknowledgement takes, another is worth a copy.
const FASTER: f64 = 0.8;

impl Bond {
    /// An acknowledgement that is due goes where data has just arrived: that path works. Of
    /// several, over the fastest.
    pub(super) fn poll_ack(&mut self, now: Timestamp) -> Option<Transmit> {
        if self.acks.due().is_none_or(|due| due > now) {
            return None;
        }
        let silent: PathSet = self.paths.iter().filter(|p| !p.acks_owed).map(|p| p.id).collect();
        let path = self.paths.fastest(silent, &self.congestion)?;
        let is_full = self.acks.is_full();
        let ack = self.take_ack();
        self.copy_to_fastest(&ack, is_full, path, now);
        let payload = Payload { ack: true, ..Payload::default() };
        Some(self.commit_frame(path, &Frame::Ack(ack), payload, 0))
    }

    /// While data arrives at a high rate, now and then a copy of an acknowledgement that goes over
    /// `path` goes over a faster path too, so that the receive window moves on earlier. Not each
    /// is copied: that might fill a path that carries little.
    fn copy_to_fastest(&mut self, ack: &AckFrame, is_full: bool, path: PathId, now: Timestamp) {
        let Some(fastest) = self.paths.fastest(PathSet::EMPTY, &self.congestion) else { return };
        let srtt = |id| self.congestion.rtt(id).and_then(|rtt| rtt.srtt());
        let gains = || srtt(fastest).zip(srtt(path)).is_some_and(|(a, b)| a < b.mul_f64(FASTER));
        let copied = is_full && fastest != path && self.acks.wants_copy(now) && gains();
        if copied {
            self.urgent.push_back(Urgent { frame: Frame::Ack(ack.clone()), avoid: PathSet::EMPTY });
        }
        if copied || fastest == path {
            self.acks.on_sent_over_fastest(now);
        }
    }

    fn take_ack(&mut self) -> AckFrame {
        let mut arrivals = Vec::new();
        for path in self.paths.iter_mut() {
            if std::mem::take(&mut path.acks_owed) {
                arrivals.push(Arrival { path: path.id, bytes: path.counters.bytes_received });
            }
        }
        self.acks.take(self.recv.window(), arrivals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{OVERHEAD, hub, settings};
    use crate::codec::{Frames, StreamFrame, StreamId};
    use crate::config::BondConfig;
    use bytes::{Bytes, BytesMut};
    use std::ops::Range;
    use std::time::Duration;

    /// A hub with a path of 100 ms and one of `rtt`, both measured.
    fn far_and(rtt: u64) -> Bond {
        let mut bond = hub(BondConfig::default(), None);
        let near = PathId::new(1).unwrap();
        bond.add_path(near, settings("b", None), Timestamp::ZERO);
        for (path, rtt) in [(PathId::default(), 100), (near, rtt)] {
            bond.on_packet_sent(path, 0, OVERHEAD, Payload::default(), Timestamp::ZERO);
            bond.on_packet_acked(path, 0, Timestamp::from_millis(rtt));
            bond.on_acks_end(path, Timestamp::from_millis(rtt));
        }
        bond
    }

    /// So many segments arrive over the far path: the paths of the acknowledgements.
    fn acknowledged(bond: &mut Bond, segments: u64, millis: u64) -> Vec<u8> {
        let now = Timestamp::from_millis(millis);
        for _ in 0..segments {
            let dsn = bond.acks.data.next();
            let data = Bytes::from_static(&[0; 1_000]);
            let frame = StreamFrame { dsn, id: StreamId(0), offset: dsn, fin: false, data };
            let mut datagram = BytesMut::new();
            Frame::Stream(frame).encode(&mut datagram, true);
            bond.on_datagram(PathId::default(), datagram.freeze(), now);
        }
        // What is left over waits for the delay.
        let later = now + Duration::from_millis(if segments < 8 { 5 } else { 0 });
        let sent = core::iter::from_fn(|| bond.poll_transmit(later));
        sent.filter(|sent| is_ack(&sent.datagram)).map(|sent| sent.path.get()).collect()
    }

    fn is_ack(datagram: &Bytes) -> bool {
        Frames::new(datagram.clone()).any(|frame| matches!(frame, Ok(Frame::Ack(_))))
    }

    #[test]
    fn a_faster_path_tells_as_well_now_and_then() {
        let mut bond = far_and(79);
        assert_eq!(acknowledged(&mut bond, 8, 110), [0, 1]);
        assert_eq!(acknowledged(&mut bond, 8, 114), [0]);
        assert_eq!(acknowledged(&mut bond, 8, 115), [0, 1]);
        assert_eq!(acknowledged(&mut bond, 7, 130), [0], "little arrives");
    }

    #[test]
    fn a_path_that_is_hardly_faster_does_not() {
        assert_eq!(acknowledged(&mut far_and(81), 8, 110), [0]);
    }

    /// Bytes of a stream arrive that have these DSN, from `offset` of the stream on.
    fn arrive(bond: &mut Bond, id: StreamId, dsns: Range<u64>, offset: u64) {
        for dsn in dsns.clone().step_by(1_000) {
            let data = Bytes::from(vec![7; (dsns.end - dsn).min(1_000) as usize]);
            let mut datagram = BytesMut::new();
            let frame =
                StreamFrame { dsn, id, offset: offset + dsn - dsns.start, fin: false, data };
            Frame::Stream(frame).encode(&mut datagram, true);
            bond.on_datagram(PathId::default(), datagram.freeze(), Timestamp::from_millis(1));
        }
    }

    /// The last window that the bond tells by `now`.
    fn told_window(bond: &mut Bond, now: Timestamp) -> Option<u64> {
        let sent: Vec<_> = core::iter::from_fn(|| bond.poll_transmit(now)).collect();
        let frames = sent.into_iter().flat_map(|sent| Frames::new(sent.datagram));
        let windows = frames.filter_map(|frame| match frame {
            Ok(Frame::Ack(ack)) => Some(ack.window),
            _ => None,
        });
        windows.last()
    }

    /// A byte is missing, and 13/16 of the buffer of 1 MiB, more than 3/4, wait for it. Another
    /// stream has all the other DSN: the peer can neither send nor expect anything, unless it hears
    /// that those have left the buffer.
    #[test]
    fn a_peer_without_credit_hears_of_what_is_in_order_beside_a_hole() {
        let buffer = 1 << 20;
        let mut bond = hub(BondConfig { receive_buffer: buffer, ..BondConfig::default() }, None);
        let held = buffer / 16 * 13;
        arrive(&mut bond, StreamId(0), 1..held, 1);
        assert_eq!(told_window(&mut bond, Timestamp::from_millis(100)), Some(buffer));
        arrive(&mut bond, StreamId(2), held..buffer, 0);
        let freed = buffer - held;
        assert_eq!(told_window(&mut bond, Timestamp::from_millis(200)), Some(buffer + freed));
        assert_eq!(told_window(&mut bond, Timestamp::from_millis(300)), None);
    }
}
