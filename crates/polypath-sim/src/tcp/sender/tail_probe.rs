//! Tail loss probes (RFC 8985 section 7).

use super::ack::News;
use super::{Phase, Sender};
use crate::tcp::log::TcpEvent;
use crate::tcp::segment::Outgoing;
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;
use std::time::Duration;

/// A probe that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailProbe {
    until: u64,
    retransmission: bool,
}

/// What became of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Unknown,
    NothingLost,
    /// No duplicate was reported: the probe repaired a loss.
    Repaired,
}

impl TailProbe {
    /// Whether a duplicate that ends at `end` is the probe's.
    pub(super) const fn is_duplicated_at(&self, end: u64) -> bool {
        self.retransmission && end == self.until
    }

    /// RFC 8985 section 7.4.
    const fn outcome(&self, una: u64, news: &News) -> Outcome {
        if una < self.until {
            Outcome::Unknown
        } else if !self.retransmission || news.dsack {
            Outcome::NothingLost
        } else if una > self.until {
            Outcome::Repaired
        } else if news.duplicate && !news.sacked {
            Outcome::NothingLost
        } else {
            Outcome::Unknown
        }
    }
}

impl Sender {
    /// Whether a probe may be planned (RFC 8985 section 7.2).
    pub(super) fn may_probe_tail(&self) -> bool {
        self.config.tlp
            && matches!(self.episode.phase(), Phase::Open | Phase::Cwr)
            && self.tail_probe.is_none()
            && self.uses_rack()
            && self.board.sacked_segments() == 0
    }

    /// PTO of RFC 8985 section 7.2.
    pub(super) fn tail_probe_timeout(&self) -> Duration {
        let single = self.board.len() == 1;
        let extra = if single { self.config.probe_delayed_ack } else { self.config.probe_slack };
        self.timer.probe_timeout(extra).unwrap_or(self.config.rto.initial)
    }

    /// New data if there is some, else the last segment again (RFC 8985 section 7.3).
    pub(super) fn send_tail_probe(
        &mut self,
        now: Timestamp,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        let last = self.board.next_id().checked_sub(1)?;
        self.board.get(last)?;
        let new = self.send_new_data(now, u64::from(self.options.mss), congestion);
        let retransmission = new.is_none();
        let segment = new.or_else(|| self.send_again(now, last, congestion))?;
        self.stats.tail_loss_probes += 1;
        self.tail_probe = Some(TailProbe { until: self.nxt, retransmission });
        self.timer.restart(now);
        self.record(now, || TcpEvent::TailLossProbe);
        Some(segment)
    }

    /// Looks what an ACK tells of the probe. A repaired loss lowers the window.
    pub(super) fn settle_tail_probe(
        &mut self,
        now: Timestamp,
        news: &News,
        congestion: &mut Congestion,
    ) {
        let Some(probe) = self.tail_probe else { return };
        let outcome = probe.outcome(self.una, news);
        if outcome == Outcome::Unknown {
            return;
        }
        self.tail_probe = None;
        if outcome == Outcome::Repaired {
            congestion.on_loss(self.path, now, Timestamp::MAX);
            congestion.end_recovery(self.path);
            let window = congestion.window(self.path);
            self.record(now, || TcpEvent::TailLossRepaired { window });
        }
    }
}
