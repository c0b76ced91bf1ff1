//! Copies of late data on a path that would deliver it earlier.
//!
//! When nothing new may be sent, because the receiver's window is full or the data is at its end,
//! an idle fast path can overtake a slow one that holds the oldest data (opportunistic
//! retransmission, Raiciu et al., NSDI 2012, section 4.2; `docs/decisions/0005-late-copies.md`).
//! Here the test is the expected arrival instead of "the oldest segment only": the copy must arrive
//! clearly earlier, or the original is overdue: it should have arrived, and its acknowledgement
//! too. While data waits, this is done only if
//! [`BondConfig::opportunistic_retransmission`](crate::BondConfig) says so; with `penalisation` the
//! slower path that blocks the window has its own halved.
//!
//! At the end of the data two more reasons hold, because a loss there is found out late and all
//! that is left to do is to wait for its repair:
//!
//! - what a slower path carries that loses packets, or may do so for all that is known, is copied
//!   at once (reinjection at the tail: XLINK, Zheng et al., SIGCOMM 2021, section 5.1);
//! - the oldest chunk that the path itself has not delivered in time is sent again on it (tail
//!   loss probe: RFC 8985 section 7, with the time-out of RFC 9002 section 6.2.1).

use super::{Bond, Transmit};
use crate::send::SentChunk;
use polypath_core::scheduler::PathView;
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// Chunks looked at, from the oldest, while data waits for the window: only the oldest hold it up.
pub(super) const DEPTH: usize = 64;
/// The same at the end of the data, where each may be the last to arrive.
const TAIL_DEPTH: usize = 1_024;
/// The copy must arrive earlier by this much at least.
const MIN_GAIN: Duration = Duration::from_millis(1);
/// A path loses packets if it loses this share of them. One on which fewer than the inverse were
/// sent is not known well enough.
const RISK: f64 = 0.002;

/// When what was sent on a path at `sent` is expected to have arrived.
fn expected_arrival(view: &PathView, sent: Timestamp) -> Timestamp {
    let one_way = view.srtt.unwrap_or(Duration::from_secs(1)) / 2;
    sent + one_way
}

impl Bond {
    /// A copy of the oldest late chunk on the fastest path that has room, carries data now and
    /// would help it: a fast path that brings nothing does not keep the others from it.
    pub(super) fn poll_late_copy(&mut self, now: Timestamp) -> Option<Transmit> {
        if self.chunks.una() == self.chunks.next_dsn() {
            return None;
        }
        let mut rest = self.paths.active();
        let Some(fastest) = self.fastest_idle(rest) else {
            self.selection.wake_when_paced(now);
            return None;
        };
        self.penalise_if_blocked(fastest.id, now);
        if !self.is_tail() && !self.config.composition.opportunistic_retransmission {
            return None;
        }
        while let Some(fast) = self.fastest_idle(rest) {
            if let Some(copy) = self.copy_late(&fast, now) {
                return Some(copy);
            }
            rest = rest.without(fast.id);
        }
        None
    }

    /// The fastest of these paths that has room and a known RTT.
    pub(super) fn fastest_idle(&self, paths: PathSet) -> Option<PathView> {
        let open = self.selection.open().filter(|view| paths.contains(view.id));
        open.filter(|view| view.srtt.is_some()).min_by_key(|view| view.srtt).copied()
    }

    /// A copy on this path of the oldest chunk that it would help.
    fn copy_late(&mut self, fast: &PathView, now: Timestamp) -> Option<Transmit> {
        let depth = if self.is_tail() { TAIL_DEPTH } else { DEPTH };
        match self.chunks.find_late(depth, now, |chunk| self.copy_due(fast, chunk, now)) {
            Ok(dsn) => {
                if self.window_is_exhausted() {
                    self.selection.on_window_blocked();
                }
                self.build_copy(fast.id, dsn, now)
            }
            Err(later) => {
                self.selection.wake_at(later);
                None
            }
        }
    }

    /// Slows the path down that keeps the receive window closed, of the bond or of a stream, for
    /// data that `fast` could carry. A full send buffer alone is no reason.
    fn penalise_if_blocked(&mut self, fast: PathId, now: Timestamp) {
        if self.config.composition.penalisation
            && self.send.unsent() > 0
            && let Some(oldest) = self.chunks.oldest()
        {
            self.congestion.penalise_slower(fast, oldest.sent_on, now);
        }
    }

    /// When a copy of the chunk on `fast` is worth it, if ever.
    fn copy_due(&self, fast: &PathView, chunk: &SentChunk, now: Timestamp) -> Option<Timestamp> {
        let (path, sent) = chunk.last_sent?;
        if chunk.sent_on.contains(fast.id) {
            let probe = chunk.is_oldest && path == fast.id && self.is_tail();
            return probe.then(|| sent + self.probe_timeout(fast));
        }
        let slow = self.selection.views().iter().find(|view| view.id == path)?;
        let srtt = fast.srtt.unwrap_or_default();
        let expected = expected_arrival(slow, sent);
        let overtaken = expected_arrival(fast, now) + (srtt / 4).max(MIN_GAIN);
        if expected > overtaken || (fast.srtt < slow.srtt && self.is_tail() && self.is_risky(slow))
        {
            return Some(now);
        }
        let answer = srtt / 2 + self.peer.max_ack_delay;
        Some(expected + answer + slow.rtt_var.max(MIN_GAIN))
    }

    /// Whether all that there is has been sent.
    fn is_tail(&self) -> bool {
        self.send.unsent() == 0 && !self.send.has_waiting()
    }

    /// Whether a path loses packets, or has carried too few to know.
    fn is_risky(&self, view: &PathView) -> bool {
        let sent = self.paths.get(view.id).map_or(0, |path| path.counters.packets_sent);
        view.loss >= RISK || (sent as f64) < 1.0 / RISK
    }

    /// How long the acknowledgement of a segment may take: by RFC 9002, but no longer than two RTTs
    /// (RFC 8985 section 7.2) where a queue has just made the RTT vary.
    fn probe_timeout(&self, view: &PathView) -> Duration {
        let srtt = view.srtt.unwrap_or_default();
        srtt + (4 * view.rtt_var).min(srtt).max(MIN_GAIN) + self.peer.max_ack_delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{hub, send_all, settings};
    use crate::config::BondConfig;
    use bytes::Bytes;
    use std::collections::BTreeMap;

    /// Sends all that goes now, as packets from `number`: the DSNs on each path.
    fn send(bond: &mut Bond, number: &mut u64, now: Timestamp) -> BTreeMap<PathId, Vec<u64>> {
        let mut sent = BTreeMap::<_, Vec<_>>::new();
        for (path, start) in send_all(bond, number, now) {
            sent.entry(path).or_default().extend(start);
        }
        sent
    }

    /// Five segments on a path of 20 ms, which answers nothing and has room for more. A path of 100
    /// ms joins. What is sent at 0 should have come after 10 ms, and its acknowledgement over the
    /// slower path after 50 ms, the peer's delay and the variation of the first.
    #[test]
    fn a_fast_path_that_brings_nothing_does_not_keep_a_slower_one_from_copies() {
        let ms = Duration::from_millis;
        let (fast, slow) = (PathId::default(), PathId::new(1).unwrap());
        let mut bond = hub(BondConfig::default(), Some(ms(20)));
        let id = bond.open_stream().unwrap();
        bond.write(id, &Bytes::from(vec![0; 5_500])).unwrap();
        let mut number = 0;
        let first = send(&mut bond, &mut number, Timestamp::ZERO).remove(&fast).unwrap();
        assert_eq!(first.len(), 5);
        bond.add_path(slow, settings("b", Some(ms(100))), Timestamp::from_millis(61));
        let overdue = Timestamp::ZERO + ms(10 + 50) + bond.peer.max_ack_delay + ms(1);
        let before = send(&mut bond, &mut number, overdue - ms(1));
        assert_eq!(before.get(&slow), None);
        let copies = send(&mut bond, &mut number, overdue).remove(&slow).unwrap();
        assert_eq!(copies, first[1..], "the fast path has repeated the oldest itself");
    }
}
