//! Which segments are lost.

use super::Sender;
use super::ack::News;
use crate::tcp::config::LossDetection;
use crate::tcp::log::{LossReason, TcpEvent};
use crate::tcp::rack::Context;
use crate::tcp::report::Report;
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;
use std::time::Duration;

impl Sender {
    /// Finds losses on an ACK. During an episode they join it; otherwise the caller begins one.
    pub(super) fn detect_losses(
        &mut self,
        now: Timestamp,
        news: &mut News,
        congestion: &mut Congestion,
    ) {
        news.lost |= match self.config.loss_detection {
            LossDetection::Rack => self.detect_by_time(now, congestion),
            LossDetection::DupackThreshold => self.detect_by_sacks(now, congestion),
        };
        if news.lost && self.episode.phase().repairs_losses() {
            congestion.on_loss(self.path, now, Timestamp::ZERO);
        }
    }

    /// RACK (RFC 8985 section 6.2, step 5): lost is what was sent a round trip and the reordering
    /// window before the newest segment delivered. Arms the timer for what may yet arrive.
    pub(super) fn detect_by_time(&mut self, now: Timestamp, congestion: &mut Congestion) -> bool {
        let window = self.reordering_window(congestion);
        let (mut lost, mut waiting) = (false, false);
        for kind in 0..2 {
            while let Some(id) = self.board.earliest_in_flight()[kind] {
                let Some(entry) = self.board.get(id) else { break };
                let (sent_at, order) = (entry.packet.sent_at, entry.order);
                if !self.rack.is_after(sent_at, order) {
                    break;
                }
                if self.rack.lost_at(sent_at, window) > now {
                    waiting = true;
                    break;
                }
                self.lose(now, id, LossReason::Time, congestion);
                lost = true;
            }
        }
        if waiting {
            self.timer.await_reordering(self.rack.all_lost_at(window));
        }
        lost
    }

    fn reordering_window(&self, congestion: &Congestion) -> Duration {
        let subflow = congestion.subflow(self.path);
        let srtt = subflow.and_then(|s| s.srtt).unwrap_or_default();
        self.rack.window(Context {
            in_recovery: self.episode.phase().repairs_losses(),
            dupack_threshold_reached: self.board.sacked_segments()
                >= u64::from(self.config.dupack_threshold),
            min_rtt: subflow.and_then(|s| s.min_rtt).unwrap_or_default(),
            srtt,
        })
    }

    /// `IsLost` of RFC 6675 section 4: enough was SACKed above it. What was sent again is left to
    /// the timer.
    fn detect_by_sacks(&mut self, now: Timestamp, congestion: &mut Congestion) -> bool {
        let Some(bound) = self.sacked_bound() else { return false };
        let mut lost = false;
        while let [Some(id), _] = self.board.earliest_in_flight() {
            if self.board.get(id).is_none_or(|entry| entry.end() > bound) {
                break;
            }
            self.lose(now, id, LossReason::SackedAbove, congestion);
            lost = true;
        }
        lost
    }

    /// The highest number above which `DupThresh` separate ranges, or more than
    /// `DupThresh - 1` segments, are SACKed.
    fn sacked_bound(&self) -> Option<u64> {
        let threshold = u64::from(self.config.dupack_threshold.max(1));
        let enough = (threshold - 1) * u64::from(self.options.mss) + 1;
        let mut above = 0;
        for (count, (start, end)) in (1..).zip(self.board.sacked().descending()) {
            above += end - start;
            if above >= enough || count >= threshold {
                return Some(start);
            }
        }
        None
    }

    /// Takes one segment for lost.
    pub(super) fn lose(
        &mut self,
        now: Timestamp,
        id: u64,
        reason: LossReason,
        congestion: &mut Congestion,
    ) {
        let Some(entry) = self.board.mark_lost(id) else { return };
        self.stats.lost += 1;
        congestion.on_packet_lost(self.path, now, &entry.packet);
        let (seq, len, tag) = (entry.seq, entry.len, entry.tag);
        self.report(Report::Lost { seq, len, tag });
        self.record(now, || TcpEvent::Lost { seq, len, reason });
    }
}
