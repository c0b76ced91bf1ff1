//! An acknowledgement arrives.

use super::{Phase, Sender};
use crate::tcp::clock::TimestampClock;
use crate::tcp::log::{PathMetrics, TcpEvent};
use crate::tcp::prr::Delivery;
use crate::tcp::rack::Rack;
use crate::tcp::report::Report;
use crate::tcp::scoreboard::{Entry, Scoreboard, Whereabouts};
use crate::tcp::segment::{Flags, Segment};
use core::ops::Range;
use polypath_core::congestion::Congestion;
use polypath_core::estimator::SentPacket;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;

/// What one acknowledgement told.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    /// Segments newly delivered; a FIN alone is one without payload.
    segments: u64,
    /// Payload bytes newly delivered, cumulatively or selectively.
    pub(super) delivered: u64,
    /// Payload bytes newly acknowledged cumulatively.
    pub(super) acked: u64,
    /// Whether the cumulative acknowledgement advanced.
    pub(super) advanced: bool,
    /// Whether something was newly SACKed.
    pub(super) sacked: bool,
    /// Whether data that was never sent again, of before the present episode, was delivered.
    pub(super) original: bool,
    /// Whether something that had been sent again was delivered.
    pub(super) retransmitted: bool,
    /// Whether a later segment had been delivered before.
    reordered: bool,
    /// Whether it reports a duplicate.
    pub(super) dsack: bool,
    /// Whether it is a duplicate ACK (RFC 5681 section 2).
    pub(super) duplicate: bool,
    /// Whether segments were declared lost on it.
    pub(super) lost: bool,
    /// When the newest segment delivered was sent.
    newest_sent_at: Timestamp,
    /// The timestamp echoed.
    pub(super) echo: Option<u32>,
}

/// What takes note of a delivery, beside the scoreboard.
struct Delivering<'a> {
    now: Timestamp,
    path: PathId,
    congestion: &'a mut Congestion,
    rack: &'a mut Rack,
    news: &'a mut News,
    lost_in_error: &'a mut u64,
    /// Where single segments are reported, if they are.
    reports: Option<&'a mut VecDeque<Report>>,
    fack: u64,
    episode_end: u64,
    clock: &'a mut TimestampClock,
}

impl Delivering<'_> {
    #[inline]
    fn deliver(&mut self, entry: &Entry) {
        if entry.whereabouts == Whereabouts::Sacked {
            return;
        }
        if let Some(reports) = &mut self.reports {
            reports.push_back(Report::Acked { seq: entry.seq, len: entry.len, tag: entry.tag });
        }
        let mut packet = entry.packet;
        if entry.whereabouts == Whereabouts::Lost {
            *self.lost_in_error += 1;
            self.congestion.on_loss_reverted(self.path, &packet);
        }
        let (sent_at, retransmitted) = (packet.sent_at, entry.is_retransmitted());
        let spurious = retransmitted && self.mark_ambiguous(&mut packet);
        self.congestion.on_packet_acked(self.path, self.now, &packet);
        self.rack.on_delivered(self.now, sent_at, entry.order, spurious);
        let news = &mut *self.news;
        news.segments += 1;
        news.delivered += u64::from(entry.len);
        news.retransmitted |= retransmitted;
        news.original |= !retransmitted && entry.end() <= self.episode_end;
        news.reordered |= !retransmitted && entry.end() <= self.fack;
        news.newest_sent_at = news.newest_sent_at.max(sent_at);
    }

    /// Delivers what the blocks report that lies in `outstanding`; a DSACK reports nothing new.
    fn deliver_sacked(
        &mut self,
        board: &mut Scoreboard,
        segment: &Segment,
        outstanding: Range<u64>,
    ) {
        let before = self.news.segments;
        for (start, end) in segment.sack_blocks().skip(usize::from(segment.sack.has_dsack())) {
            if start >= outstanding.start && end <= outstanding.end && start < end {
                board.sack(start, end, |entry| self.deliver(entry));
            }
        }
        self.news.sacked = self.news.segments > before;
    }

    /// Tells whether the ACK of a segment that was sent again may answer an earlier transmission
    /// (Karn's rule), and whether RACK must not count it (RFC 8985 section 6.2, step 2).
    #[cold]
    fn mark_ambiguous(&mut self, packet: &mut SentPacket) -> bool {
        let sent = self.clock.value_at(packet.sent_at);
        packet.ambiguous = self.news.echo.is_none_or(|echo| echo < sent);
        let subflow = self.congestion.subflow(self.path);
        let min_rtt = subflow.and_then(|subflow| subflow.min_rtt).unwrap_or_default();
        (packet.ambiguous && self.news.echo.is_some()) || self.now - packet.sent_at < min_rtt
    }
}

impl Sender {
    /// A segment with a valid acknowledgement arrived. `false` if it acknowledges what was never
    /// sent.
    pub(in crate::tcp) fn on_ack(
        &mut self,
        now: Timestamp,
        segment: &Segment,
        congestion: &mut Congestion,
    ) -> bool {
        if segment.ack > self.nxt {
            return false;
        }
        self.timer.on_ack();
        self.attempts.on_segment();
        let mut news = self.first_look(segment);
        self.take_deliveries(now, segment, &mut news, congestion);
        self.take_window(segment, &mut news);
        if news.advanced {
            self.attempts.on_progress();
        }
        if self.is_eventful(segment, &news) {
            self.on_eventful_ack(now, segment, &mut news, congestion);
        }
        if news.segments > 0 || news.advanced {
            if !news.advanced {
                congestion.hold_growth(self.path);
            }
            congestion.on_ack_end(self.path, now);
            self.refresh_timing(congestion);
            self.after_delivery(now, &news, congestion);
        }
        true
    }

    fn first_look(&self, segment: &Segment) -> News {
        News {
            segments: 0,
            delivered: 0,
            acked: 0,
            advanced: segment.ack > self.una,
            sacked: false,
            original: false,
            retransmitted: false,
            reordered: false,
            dsack: segment.sack.has_dsack(),
            duplicate: segment.ack == self.una
                && segment.is_pure_ack()
                && !segment.sack.has_dsack()
                && !self.board.is_empty(),
            lost: false,
            newest_sent_at: Timestamp::ZERO,
            echo: segment.timestamps.filter(|_| self.options.timestamps).map(|t| t.echo),
        }
    }

    fn take_deliveries(
        &mut self,
        now: Timestamp,
        segment: &Segment,
        news: &mut News,
        congestion: &mut Congestion,
    ) {
        let mut delivering = Delivering {
            now,
            path: self.path,
            congestion,
            rack: &mut self.rack,
            news,
            lost_in_error: &mut self.stats.lost_in_error,
            reports: self.config.segment_reports.then_some(&mut self.reports),
            fack: self.fack,
            episode_end: self.episode.until(),
            clock: &mut self.clock,
        };
        while let Some(entry) = self.board.pop_acked(segment.ack) {
            delivering.news.acked += u64::from(entry.len);
            delivering.deliver(&entry);
        }
        if segment.ack > self.una {
            self.una = segment.ack;
            self.board.forget_sacks_below(segment.ack);
        }
        if self.options.sack && !segment.sack.is_empty() {
            delivering.deliver_sacked(&mut self.board, segment, self.una..self.nxt);
        }
        self.take_note_of(news);
    }

    fn take_note_of(&mut self, news: &News) {
        self.fack = self.fack.max(self.una);
        if news.sacked {
            self.fack = self.fack.max(self.board.sacked().end().unwrap_or(0));
        }
        self.stats.bytes_acked += news.delivered;
        if news.reordered {
            self.rack.on_reordering();
        }
    }

    fn take_window(&mut self, segment: &Segment, news: &mut News) {
        if !news.advanced && !self.peer_window.heeds(segment) {
            return;
        }
        news.duplicate &= !self.peer_window.take(segment);
        if segment.window > 0 {
            self.attempts.on_open_window();
        }
    }

    /// Whether there is more to it than new data acknowledged in order.
    fn is_eventful(&self, segment: &Segment, news: &News) -> bool {
        self.episode.phase() != Phase::Open
            || !segment.sack.is_empty()
            || self.tail_probe.is_some()
            || news.duplicate
            || self.duplicate_acks.count() > 0
            || segment.flags.contains(Flags::ECE)
    }

    fn on_eventful_ack(
        &mut self,
        now: Timestamp,
        segment: &Segment,
        news: &mut News,
        congestion: &mut Congestion,
    ) {
        if news.dsack {
            self.on_dsack(segment);
        }
        self.settle_tail_probe(now, news, congestion);
        if self.options.ecn && segment.flags.contains(Flags::ECE) {
            self.on_ecn_echo(now, congestion);
        }
        if self.options.sack {
            self.advance_phase(now, news, congestion);
        } else {
            self.advance_new_reno(now, news, congestion);
        }
        if news.delivered > 0 {
            self.episode.on_delivery(Delivery {
                bytes: news.delivered,
                in_flight: self.board.bytes_in_flight(),
                safe: news.advanced && !news.lost,
            });
        }
    }

    fn on_dsack(&mut self, segment: &Segment) {
        self.stats.dsacks += 1;
        let Some((start, end)) = segment.sack_blocks().next() else { return };
        let segments = (end - start).div_ceil(u64::from(self.options.mss)) as u32;
        self.episode.on_dsack(end, segments);
        let of_probe = self.tail_probe.is_some_and(|probe| probe.is_duplicated_at(end));
        if !of_probe {
            self.rack.on_dsack(self.una, self.nxt);
        }
    }

    /// Restarts the timer. A SACK does so only if it answers what was sent before the first
    /// unacknowledged segment last was: answers to later segments would put the timer off for as
    /// long as new data flows, and the loss of a retransmission would never be found (Linux
    /// `tcp_clean_rtx_queue`).
    fn after_delivery(&mut self, now: Timestamp, news: &News, congestion: &Congestion) {
        let head_sent_at = self.board.front().map(|entry| entry.packet.sent_at);
        if news.advanced || (news.sacked && head_sent_at.is_some_and(|at| news.newest_sent_at < at))
        {
            self.on_progress(now, news);
        }
        let path = self.path;
        let (ack, delivered) = (self.una, news.delivered);
        self.log.record_segment(now, || TcpEvent::Acked {
            ack,
            delivered,
            metrics: PathMetrics::of(congestion, path),
        });
    }
}
