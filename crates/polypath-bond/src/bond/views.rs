//! What schedulers and failure detectors are shown.

use super::Bond;
use crate::send::SegmentInfo;
use polypath_core::failure::{FailureDetector, PathHealth, ReceiveState, SendState};
use polypath_core::scheduler::QueueView;

/// Shown as waiting beside what is queued while a writer is blocked: there is more to come.
const MORE_TO_COME: u64 = 1 << 40;

impl Bond {
    /// What a scheduler is shown of the data, for a segment of `segment` bytes; `again` if it has
    /// been cut before.
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
            blocked_since_last: self.selection.is_window_blocked(),
        }
    }

    /// Asks the failure detector something, and shows it the paths and what was sent.
    pub(super) fn ask_detector<T>(
        &mut self,
        ask: impl FnOnce(&mut dyn FailureDetector, &[PathHealth], &SendState) -> T,
    ) -> T {
        let state = self.send_state();
        let (congestion, peer_delay) = (&self.congestion, self.peer.max_ack_delay);
        let health = self.paths.ids().map(|id| congestion.health(id, peer_delay));
        ask(&mut *self.detector, self.scratch.health.fill(health), &state)
    }

    fn send_state(&self) -> SendState {
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
            mss: self.paths.iter().map(|path| path.max_datagram).max().unwrap_or(0),
        }
    }
}
