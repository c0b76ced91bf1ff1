//! Copies of late data on a path that would deliver it earlier.
//!
//! When nothing new may be sent, because the receiver's window is full or the data is at its end,
//! an idle fast path can overtake a slow one that holds the oldest data (opportunistic
//! retransmission, Raiciu et al., NSDI 2012, section 4.2; algorithms 4.14). Here the test is the
//! expected arrival instead of "the oldest segment only": the copy must arrive clearly earlier, or
//! the original is overdue: it should have arrived, and its acknowledgement too.

use super::{Bond, Transmit};
use polypath_core::scheduler::PathView;
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// Chunks looked at, from the oldest.
const DEPTH: usize = 64;
/// The copy must arrive earlier by this much at least.
const MIN_GAIN: Duration = Duration::from_millis(1);

/// When what was sent on a path at `sent` is expected to have arrived.
fn expected_arrival(view: &PathView, sent: Timestamp) -> Timestamp {
    let one_way = view.srtt.unwrap_or(Duration::from_secs(1)) / 2;
    sent + one_way
}

impl Bond {
    /// A copy of the oldest late chunk on the fastest path with room.
    pub(super) fn poll_late_copy(&mut self, now: Timestamp) -> Option<Transmit> {
        if self.chunks.una() == self.chunks.next_dsn() {
            return None;
        }
        let idle = self.views.iter().filter(|view| view.available && view.srtt.is_some());
        let fast = *idle.min_by_key(|view| view.srtt)?;
        let gain = (fast.srtt.unwrap_or_default() / 4).max(MIN_GAIN);
        let overtaken = expected_arrival(&fast, now) + gain;
        let answer = fast.srtt.unwrap_or_default() / 2 + self.peer.max_ack_delay;
        let views = &self.views;
        let is_late = |sent_on: PathSet, last: Option<(PathId, Timestamp)>| {
            let Some((path, sent)) = last else { return false };
            let Some(slow) = views.iter().find(|view| view.id == path) else { return false };
            let expected = expected_arrival(slow, sent);
            let overdue = expected + answer + slow.rtt_var.max(MIN_GAIN) <= now;
            !sent_on.contains(fast.id) && (expected > overtaken || overdue)
        };
        let dsn = self.chunks.find_late(DEPTH, is_late)?;
        self.window_blocked |= self.send.is_ready();
        self.build_copy(fast.id, dsn, now)
    }
}
