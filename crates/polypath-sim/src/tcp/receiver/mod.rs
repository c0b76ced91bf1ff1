//! The receiving half: reassembly, and what goes into acknowledgements.

mod acks;
mod reassembly;
mod window;

use super::clock::TimestampClock;
use super::config::TcpConfig;
use super::feedback::Feedback;
use super::report::Report;
use super::sack_blocks::SackBlocks;
use super::segment::{Flags, Outgoing, Segment, Timestamps};
use super::sender::Negotiated;
use super::stats::TcpStats;
use acks::AckPolicy;
use polypath_units::Timestamp;
use reassembly::{Arrival, Reassembly};
use std::collections::VecDeque;
use window::ReceiveWindow;

#[derive(Debug)]
pub(super) struct Receiver {
    negotiated: Negotiated,
    clock: TimestampClock,
    data: Reassembly,
    acks: AckPolicy,
    window: ReceiveWindow,
    /// TS.Recent and Last.ACK.sent of RFC 7323 section 4.3.
    recent_timestamp: u32,
    last_ack_sent: u64,
    /// Whether congestion marks are being echoed (RFC 3168 section 6.1.3).
    echo_congestion: bool,
    fin_taken: bool,
    pub(super) reports: VecDeque<Report>,
}

impl Receiver {
    /// A receiver that got the peer's SYN, number 0, and offered `offered` bytes of window.
    pub(super) fn new(config: &TcpConfig, negotiated: Negotiated, offered: u32) -> Self {
        Self {
            negotiated,
            clock: TimestampClock::new(config),
            data: Reassembly::new(config.segment_reports),
            acks: AckPolicy::new(config, negotiated.mss),
            window: ReceiveWindow::new(config, negotiated.mss, 1 + u64::from(offered)),
            recent_timestamp: 0,
            last_ack_sent: 1,
            echo_congestion: false,
            fin_taken: false,
            reports: VecDeque::new(),
        }
    }

    /// The next number expected.
    pub(super) const fn nxt(&self) -> u64 {
        self.data.nxt()
    }

    /// Payload bytes delivered in order.
    pub(super) fn bytes_in_order(&self) -> u64 {
        self.data.bytes_in_order()
    }

    /// Payload bytes in order that the application has not read.
    pub(super) fn unread(&self) -> u64 {
        self.bytes_in_order() - self.window.read_bytes()
    }

    /// Bytes that have come beyond a hole.
    pub(super) fn out_of_order(&self) -> u64 {
        self.data.out_of_order()
    }

    /// Whether the peer's FIN is in order.
    pub(super) const fn is_finished(&self) -> bool {
        self.data.is_finished()
    }

    /// Whether a segment lies in the window (RFC 9293 section 3.10.7.4).
    pub(super) const fn is_acceptable(&self, segment: &Segment) -> bool {
        segment.end() >= self.last_ack_sent && segment.seq <= self.window.edge()
    }

    /// The window that a SYN offers.
    pub(super) fn syn_window(config: &TcpConfig) -> u32 {
        ReceiveWindow::of_syn(config)
    }

    /// The timestamp of the peer's SYN.
    pub(super) fn take_timestamp(&mut self, syn: &Segment) {
        self.recent_timestamp = syn.timestamps.map_or(0, |timestamps| timestamps.value);
    }

    /// A segment of an established connection arrived; `ce` if it was marked congested.
    pub(super) fn on_segment(
        &mut self,
        now: Timestamp,
        segment: &Segment,
        ce: bool,
        stats: &mut TcpStats,
    ) {
        if let Some(timestamps) = segment.timestamps
            && segment.seq <= self.last_ack_sent
        {
            self.recent_timestamp = self.recent_timestamp.max(timestamps.value);
        }
        if segment.is_pure_ack() {
            // A probe: it lies below what was acknowledged and must be answered.
            if segment.seq < self.last_ack_sent {
                self.acks.at_once();
            }
            return;
        }
        self.take_congestion_mark(segment, ce);
        self.take_data(now, segment, stats);
    }

    fn take_congestion_mark(&mut self, segment: &Segment, ce: bool) {
        if !self.negotiated.ecn {
            return;
        }
        if segment.flags.contains(Flags::CWR) {
            self.echo_congestion = false;
        }
        if ce && !self.echo_congestion {
            self.echo_congestion = true;
            self.acks.at_once();
        }
    }

    fn take_data(&mut self, now: Timestamp, segment: &Segment, stats: &mut TcpStats) {
        stats.segments_received += 1;
        if segment.end() > self.window.edge() + 1 {
            self.acks.at_once();
            return;
        }
        let before = self.bytes_in_order();
        let arrival = self.data.insert(segment, &mut self.reports);
        match arrival {
            Arrival::Duplicate => {
                stats.duplicates_received += 1;
                self.acks.on_duplicate();
            }
            Arrival::OutOfOrder => {
                stats.out_of_order_received += 1;
                match (self.negotiated.sack, self.window.rtt()) {
                    (true, Some(rtt)) => self.acks.on_out_of_order(now, self.nxt(), rtt),
                    _ => self.acks.at_once(),
                }
            }
            Arrival::FilledHole => self.acks.at_once(),
            Arrival::InOrder => self.acks.on_in_order(now, segment.len, self.nxt()),
        }
        stats.bytes_delivered += self.bytes_in_order() - before;
        if self.is_finished() && !self.fin_taken {
            self.fin_taken = true;
            self.acks.at_once();
            self.reports.push_back(Report::PeerFinished);
        }
        let echo = segment.timestamps.map(|timestamps| timestamps.echo).filter(|&echo| echo > 0);
        let value = self.clock.value_at(now);
        let measured = echo.map(|echo| self.clock.time_of(value.saturating_sub(echo).max(1)));
        self.window.on_data(now, self.data.nxt(), measured);
        self.read_what_is_due(now);
    }

    /// The application reads what its way of reading lets it.
    pub(super) fn read_what_is_due(&mut self, now: Timestamp) {
        let available = self.bytes_in_order();
        if self.window.read_due(now, available) {
            self.offer_window();
        }
    }

    /// The application reads up to `bytes`; returns how many it got.
    pub(super) fn read(&mut self, now: Timestamp, bytes: u64) -> u64 {
        let taken = bytes.min(self.unread());
        if self.window.read(now, taken) {
            self.offer_window();
        }
        taken
    }

    /// Tells the peer of a window that has at least doubled (Linux `tcp_cleanup_rbuf`).
    fn offer_window(&mut self) {
        if self.window.is_worth_telling(self.nxt()) {
            self.acks.at_once();
        }
    }

    /// Whether an acknowledgement must be sent, alone if need be.
    #[inline]
    pub(super) const fn is_ack_due(&self) -> bool {
        self.acks.is_due()
    }

    /// An acknowledgement is sent at the next opportunity.
    pub(super) const fn ack_at_once(&mut self) {
        self.acks.at_once();
    }

    /// When the receiver wants [`Receiver::on_timeout`].
    #[inline]
    pub(super) fn next_timeout(&self) -> Timestamp {
        self.acks.next_timeout().min(self.window.next_read(self.bytes_in_order()))
    }

    pub(super) fn on_timeout(&mut self, now: Timestamp) {
        self.acks.on_timeout(now, self.data.nxt());
        self.read_what_is_due(now);
    }

    /// Makes the segment that leaves now: the sender's part and the acknowledgement.
    #[inline]
    pub(super) fn complete(&mut self, now: Timestamp, outgoing: Outgoing) -> Segment {
        let Outgoing { seq, tag, len, flags, ect } = outgoing;
        let ack = self.nxt();
        self.last_ack_sent = ack;
        self.acks.on_ack_sent(ack);
        let timestamps = self.negotiated.timestamps;
        Segment {
            seq,
            ack,
            tag,
            len,
            window: self.window.offer(ack),
            flags: flags.with_if(Flags::ECE, self.echo_congestion),
            ect,
            syn: None,
            sack: if self.data.has_sacks() { self.take_sacks(ack) } else { SackBlocks::NONE },
            timestamps: timestamps.then(|| Timestamps {
                value: self.clock.value_at(now),
                echo: self.recent_timestamp,
            }),
            feedback: Feedback::if_wanted(self.negotiated.feedback),
            mptcp: None,
        }
    }

    #[cold]
    fn take_sacks(&mut self, ack: u64) -> SackBlocks {
        let dsack = self.data.take_dsack();
        if !self.negotiated.sack {
            return SackBlocks::NONE;
        }
        let mut sack = SackBlocks::new(ack, dsack, self.data.sack_blocks());
        sack.truncate(match (self.negotiated.timestamps, self.negotiated.feedback) {
            (true, true) => 2,
            (true, false) => 3,
            (false, _) => 4,
        });
        sack
    }
}
