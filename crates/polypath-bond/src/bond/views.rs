//! What schedulers and failure detectors are shown.

use super::Bond;
use crate::path::Path;
use crate::send::SegmentInfo;
use polypath_core::congestion::Congestion;
use polypath_core::failure::{ReceiveState, SendState};
use polypath_core::scheduler::{PathView, QueueView};
use polypath_units::Timestamp;

/// What a frame header and small frames beside it take of a datagram at most; a path whose
/// datagrams are not larger cannot carry data.
pub(super) const MIN_DATAGRAM: u64 = 64;

/// Shown as waiting beside what is queued while a writer is blocked: there is more to come.
const MORE_TO_COME: u64 = 1 << 40;

fn view(path: &mut Path, congestion: &Congestion, now: Timestamp) -> PathView {
    let known = congestion.view(path.id, now);
    let recent = path.recent_rtt.srtt().filter(|_| known.in_flight > 0);
    let in_flight = known.in_flight + path.committed;
    let rate = congestion.pacing_rate(path.id);
    let ready = path.pacer.ready_at(now, rate, path.packet_size(), path.committed);
    let has_room = in_flight + path.packet_size() <= known.cwnd;
    let usable = !path.is_failed() && path.max_datagram > MIN_DATAGRAM;
    PathView {
        // Of a path that was idle and has no new sample the queue has drained.
        srtt: recent.or(known.min_rtt).or(path.first_rtt),
        min_rtt: known.min_rtt.or(path.first_rtt),
        in_flight,
        mss: path.packet_size(),
        available: usable && has_room && ready <= now,
        paced_until: ready,
        failed: !usable,
        backup: path.backup,
        weight: path.weight,
        ..known
    }
}

impl Bond {
    /// Renews `self.views`.
    pub(super) fn look_at_paths(&mut self, now: Timestamp) {
        let congestion = &self.congestion;
        self.views.clear();
        self.views.extend(self.paths.values_mut().map(|path| view(path, congestion, now)));
    }

    pub(super) fn queue_view(&self, segment: u64, again: Option<&SegmentInfo>) -> QueueView {
        let reserved = self.chunks.reserved();
        let more = if self.send.has_waiting() { MORE_TO_COME } else { 0 };
        let window = self.peer.window.saturating_sub(self.chunks.next_dsn());
        QueueView {
            segment,
            unsent: (self.send.unsent() + reserved).max(segment) + more,
            send_window: window.min(self.send.sendable()) + reserved,
            window: self.peer.window.saturating_sub(self.chunks.una()),
            outstanding: self.chunks.unacked() - reserved,
            sent_on: again.map_or_else(Default::default, |segment| segment.sent_on),
            reinjection: again.is_some_and(|segment| !segment.is_new),
            to_reinject: self.chunks.to_reinject(),
            blocked_since_last: self.window_blocked,
        }
    }

    /// Renews `self.health`.
    pub(super) fn look_at_health(&mut self) {
        let (congestion, peer_delay) = (&self.congestion, self.peer.max_ack_delay);
        self.health.clear();
        self.health.extend(self.paths.keys().map(|&id| congestion.health(id, peer_delay)));
    }

    pub(super) fn send_state(&self) -> SendState {
        SendState {
            window_exhausted: self.window_is_exhausted(),
            oldest: self.chunks.oldest().and_then(|oldest| oldest.last_sent),
        }
    }

    /// Whether data waits for the receiver's window alone: the bond's, or those of its streams.
    pub(super) fn window_is_exhausted(&self) -> bool {
        let bond = self.send.is_ready() && self.peer.window <= self.chunks.next_dsn();
        bond || self.send.is_blocked()
    }

    pub(super) fn receive_state(&self) -> ReceiveState {
        ReceiveState {
            rcv_nxt: self.acks.data.next(),
            max_end: self.acks.data.max_end(),
            window: self.acks.advertised().saturating_sub(self.acks.data.next()),
            mss: self.paths.values().map(|path| path.max_datagram).max().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::hub;
    use crate::config::BondConfig;
    use std::time::Duration;

    /// What a scheduler sees of a path that has just joined.
    fn joined(rtt: Option<Duration>) -> PathView {
        let mut bond = hub(BondConfig::default(), rtt);
        bond.look_at_paths(Timestamp::ZERO);
        bond.views[0]
    }

    #[test]
    fn a_path_that_joins_shows_the_rtt_of_its_set_up() {
        let rtt = Some(Duration::from_millis(100));
        let view = joined(rtt);
        assert_eq!((view.srtt, view.min_rtt), (rtt, rtt));
        let view = joined(None);
        assert_eq!((view.srtt, view.min_rtt), (None, None));
    }
}
