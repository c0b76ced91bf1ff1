//! What carriers call: paths that come and go, packets sent, acknowledged, lost.

use super::Bond;
use crate::codec::{Control, Side};
use crate::flight::{Acked, InFlight, Standing};
use crate::flow::Piece;
use crate::path::{Path, Payload};
use bytes::Bytes;
use polypath_brf::Code;
use polypath_core::estimator::{RttEstimator, SentPacket};
use polypath_core::scheduler::Delivery;
use polypath_units::{Bandwidth, PathId, Timestamp};
use std::time::Duration;

/// A datagram to send on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The path.
    pub path: PathId,
    /// The content of one QUIC DATAGRAM frame.
    pub datagram: Bytes,
    /// What it holds: to be handed to [`Bond::on_packet_sent`] with the packet that carries it.
    pub payload: Payload,
}

/// What is known of a path when it is added.
#[derive(Clone, Debug, PartialEq)]
pub struct PathSettings {
    /// What people call it.
    pub name: String,
    /// Used only when no other path works.
    pub backup: bool,
    /// Share for weighted scheduling; 0 = from the estimated rate.
    pub weight: f64,
    /// Largest datagram that the carrier takes now, in bytes.
    pub max_datagram: usize,
    /// What the carrier adds to a datagram, in bytes of UDP payload.
    pub packet_overhead: usize,
    /// Round-trip time that setting up the carrier took, if it was measured: what schedulers go by
    /// until data has shown another.
    pub rtt: Option<Duration>,
}

impl Bond {
    /// Adds a path, or replaces the one with the same number, as after a new join.
    pub fn add_path(&mut self, id: PathId, settings: PathSettings, now: Timestamp) {
        self.drop_path(id);
        self.control.withdraw_remove(id);
        let mut path = Path::new(id, settings.name, now);
        path.keep_alive_at = (self.side == Side::Edge).then(|| now + self.keep_alive());
        path.weight = settings.weight;
        path.max_datagram = settings.max_datagram as u64;
        path.packet_overhead = settings.packet_overhead as u64;
        path.first_rtt = settings.rtt;
        self.congestion.add_subflow(id, path.packet_size(), settings.rtt);
        self.detector.on_add(id, now);
        self.paths.add(path, now);
        let side = self.side;
        self.paths.prefer(id, |preferences| preferences.on_join(id, side, settings.backup));
    }

    /// Removes a path whose carrier is gone: what it carried goes over the others.
    pub fn remove_path(&mut self, id: PathId) {
        self.drop_path(id);
    }

    /// Removes a path and tells the peer, over another one.
    pub(crate) fn abandon_path(&mut self, id: PathId) {
        self.drop_path(id);
        self.tell(Control::PathRemove { path: id });
    }

    fn drop_path(&mut self, id: PathId) {
        let Some(mut path) = self.paths.remove(id) else { return };
        for packet in path.flight.drain() {
            self.give_up(id, &packet.payload, path.last_arrival);
        }
        // An acknowledgement that has not left may be among what the carrier had.
        if path.committed > 0 {
            self.acks.demand(path.last_arrival);
        }
        self.chunks.on_path_gone(id);
        self.control.on_path_gone(id);
        self.flows.forget_path(id);
        self.delays.forget_path(id);
        self.congestion.remove_subflow(id);
        self.selection.on_remove(id);
        self.detector.on_remove(id);
    }

    /// Paths that the peer has removed since the last call: their connections are for nothing.
    pub(crate) fn take_removed(&mut self) -> Vec<PathId> {
        self.paths.take_removed()
    }

    /// The smoothed RTT of a path, once there is one.
    pub(crate) fn srtt(&self, id: PathId) -> Option<Duration> {
        self.congestion.rtt(id)?.srtt()
    }

    /// The largest datagram of a path changed. Returns whether it is smaller than before.
    pub(crate) fn set_max_datagram(&mut self, id: PathId, max_datagram: usize) -> bool {
        let Some(path) = self.paths.get_mut(id) else { return false };
        let before = std::mem::replace(&mut path.max_datagram, max_datagram as u64);
        if path.max_datagram != before {
            self.congestion.set_mss(id, path.packet_size());
        }
        path.max_datagram < before
    }

    /// The local interface of a path went down.
    pub fn on_path_down(&mut self, id: PathId, now: Timestamp) {
        if self.paths.contains(id) {
            self.detector.on_down(id, now);
            self.take_detector_actions(now);
        }
    }

    /// A packet of `bytes` left on a path; `payload` joins what its datagrams hold, if any.
    pub fn on_packet_sent(
        &mut self,
        id: PathId,
        number: u64,
        bytes: u64,
        mut payload: Payload,
        now: Timestamp,
    ) {
        payload.pieces.retain(|piece| self.flows.resends(piece.flow));
        let Some(path) = self.paths.get_mut(id) else { return };
        if !path.flight.admits(number) {
            // A packet of the handshake that was repeated: its numbers are others.
            self.on_unsent(id, &payload, now);
            return;
        }
        let standing = if path.is_failed() { Standing::WrittenOff } else { Standing::Counted };
        path.pacer.on_sent(bytes);
        path.counters.packets_sent += 1;
        path.counters.bytes_sent += bytes;
        path.uncommit(&payload);
        if payload.is_data() {
            path.sending.count(payload.len, now);
        }
        if self.congestion.bytes_in_flight(id) == 0 {
            path.recent_rtt = RttEstimator::default();
        }
        let window = self.congestion.window(id);
        let packet = self.congestion.on_sent(id, now, bytes);
        self.window_opened |= self.congestion.window(id) > window;
        self.detector.on_sent(id, now);
        if standing == Standing::WrittenOff {
            self.give_up(id, &payload, now);
        }
        if let Some(path) = self.paths.get_mut(id) {
            path.flight.insert(number, InFlight { packet, payload, standing });
        }
    }

    /// Whether sending has opened a window since the last call, as it does when a path sends again
    /// after it was idle: more may be sent at once.
    pub(crate) fn take_window_opened(&mut self) -> bool {
        std::mem::take(&mut self.window_opened)
    }

    /// The carrier's peer acknowledged a packet. End a batch with [`Bond::on_acks_end`].
    pub fn on_packet_acked(&mut self, id: PathId, number: u64, now: Timestamp) {
        let Some(path) = self.paths.get_mut(id) else { return };
        let packet = match path.flight.on_acked(number, now, self.congestion.rtt(id)) {
            Some(Acked::InFlight(packet)) => packet,
            Some(Acked::Late { packet, spurious }) => {
                path.counters.packets_lost -= 1;
                return self.on_late_packet(id, &packet, spurious, now);
            }
            None => return,
        };
        self.congestion.on_packet_acked(id, now, &packet.packet);
        for chunk in packet.payload.chunks() {
            self.chunks.on_hint(chunk, id, now);
            let (start, end) = (chunk.dsn, chunk.dsn + chunk.len);
            let delivery = Delivery { path: id, start, end, data_ack: self.chunks.una() };
            self.selection.on_delivered(&delivery, now);
        }
    }

    /// A packet has arrived that was declared lost.
    fn on_late_packet(&mut self, id: PathId, packet: &SentPacket, spurious: bool, now: Timestamp) {
        self.congestion.on_loss_reverted(id, packet);
        if spurious {
            self.congestion.on_spurious_loss(id);
        }
        self.congestion.on_packet_acked(id, now, packet);
    }

    /// Switches told a path its rate: to be called before the acknowledgements that came with it
    /// are reported. They count bytes on the wire, congestion control the packets of the carrier:
    /// `headers` is what is added to each of those, in bytes.
    pub fn on_feedback(&mut self, id: PathId, code: Code, headers: u64, now: Timestamp) {
        let (Some(rate), Some(path)) = (code.bytes_per_sec(), self.paths.get(id)) else { return };
        let packet = path.packet_size();
        let share = packet as f64 / (packet + headers) as f64;
        self.congestion.on_feedback(id, now, Bandwidth::from_bytes_per_sec(rate * share));
    }

    /// All packets of one acknowledgement have been reported.
    pub fn on_acks_end(&mut self, id: PathId, now: Timestamp) {
        self.congestion.on_ack_end(id, now);
        self.paths.on_acks(now);
        let Some(path) = self.paths.get_mut(id) else { return };
        if let Some(sample) = self.congestion.rtt(id).and_then(|rtt| rtt.latest()) {
            path.recent_rtt.on_sample(sample);
            self.delays.on_measured(id, now);
        }
        path.flight.end_acks();
        path.is_suspected = false;
        if !path.is_failed() {
            path.probe.stop();
        }
        self.detect_losses(id, now);
        self.detector.on_ack(id, now);
        self.take_detector_actions(now);
    }

    /// The carrier's peer reported congestion marks (ECN-CE).
    pub(crate) fn on_congestion_marks(
        &mut self,
        id: PathId,
        newest_sent: Timestamp,
        now: Timestamp,
    ) {
        self.congestion.on_ecn(id, now, newest_sent);
    }

    /// The carrier could not take a datagram after all: what it held travels again.
    pub(crate) fn on_unsent(&mut self, id: PathId, payload: &Payload, now: Timestamp) {
        if let Some(path) = self.paths.get_mut(id) {
            path.uncommit(payload);
        }
        self.give_up(id, payload, now);
    }

    /// The carrier could not take a datagram because it carries only smaller ones now.
    pub(crate) fn on_too_large(&mut self, id: PathId, mut payload: Payload, now: Timestamp) {
        let pieces = std::mem::take(&mut payload.pieces);
        self.on_unsent(id, &payload, now);
        for Piece { flow, queued } in pieces.into_iter().rev() {
            self.flows.put_back(flow, id, queued);
        }
    }

    /// What a datagram held must travel again.
    pub(super) fn give_up(&mut self, id: PathId, payload: &Payload, now: Timestamp) {
        for chunk in payload.chunks() {
            self.chunks.on_lost(chunk, id);
        }
        for &seq in &payload.control {
            self.control.on_lost(seq, id);
        }
        self.flows.on_lost(id, &payload.pieces, now);
        if payload.ack {
            self.acks.demand(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{hub, settings};
    use crate::codec::{Frame, Frames};
    use crate::config::BondConfig;
    use bytes::BytesMut;

    const NOW: Timestamp = Timestamp::from_millis(10);

    /// A hub with two paths, whose acknowledgement is in the queue of the first one's carrier.
    fn owing() -> Bond {
        let mut bond = hub(BondConfig::default(), None);
        bond.add_path(PathId::new(1).unwrap(), settings("b", None), Timestamp::ZERO);
        let mut datagram = BytesMut::new();
        let message = Control::MaxData { max: 0 };
        Frame::Control { seq: 0, message }.encode(&mut datagram, true);
        bond.on_datagram(PathId::default(), datagram.freeze(), NOW);
        assert_eq!(acknowledged(&mut bond), [0]);
        bond
    }

    /// The paths of the datagrams that are sent now and have such a frame.
    fn sent(bond: &mut Bond, is_meant: fn(&Frame) -> bool) -> Vec<u8> {
        let sent = std::iter::from_fn(|| bond.poll_transmit(NOW));
        let has_it = |sent: &Transmit| {
            Frames::new(sent.datagram.clone()).any(|frame| is_meant(&frame.unwrap()))
        };
        sent.filter(has_it).map(|sent| sent.path.get()).collect()
    }

    fn acknowledged(bond: &mut Bond) -> Vec<u8> {
        sent(bond, |frame| matches!(frame, Frame::Ack(_)))
    }

    /// The peer may have no credit for anything that would be acknowledged again.
    #[test]
    fn an_acknowledgement_that_has_not_left_is_made_again_when_its_path_ends() {
        let mut bond = owing();
        bond.remove_path(PathId::default());
        assert_eq!(acknowledged(&mut bond), [1]);
    }

    #[test]
    fn an_acknowledgement_that_has_not_left_is_made_again_when_its_path_fails() {
        let mut bond = owing();
        bond.on_path_down(PathId::default(), NOW);
        assert_eq!(acknowledged(&mut bond), [1]);
    }

    /// At once, not when the time has passed after which any message is sent again.
    #[test]
    fn messages_that_have_not_left_are_sent_again_when_their_path_ends_or_fails() {
        let ends: [fn(&mut Bond); 2] = [
            |bond| bond.remove_path(PathId::default()),
            |bond| bond.on_path_down(PathId::default(), NOW),
        ];
        for end in ends {
            let mut bond = owing();
            let messages = |bond: &mut Bond| sent(bond, |f| matches!(f, Frame::Control { .. }));
            bond.tell(Control::MaxStreams { max: 200 });
            assert_eq!(messages(&mut bond), [0]);
            end(&mut bond);
            assert_eq!(messages(&mut bond), [1]);
            // What was sent again is not lost with the first copy.
            let lost = Payload { control: vec![0], ..Payload::default() };
            bond.on_unsent(PathId::default(), &lost, NOW);
            assert_eq!(messages(&mut bond), []);
        }
    }

    #[test]
    fn a_path_that_ends_with_nothing_to_send_asks_for_no_acknowledgement() {
        let mut bond = owing();
        bond.remove_path(PathId::new(1).unwrap());
        assert_eq!(acknowledged(&mut bond), []);
    }
}
