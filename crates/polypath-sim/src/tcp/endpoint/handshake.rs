//! Opening a connection (RFC 9293 section 3.5) and settling its options.

use super::{Report, State, TcpEndpoint};
use crate::tcp::clock::TimestampClock;
use crate::tcp::config::Pacing;
use crate::tcp::feedback::Feedback;
use crate::tcp::receiver::Receiver;
use crate::tcp::segment::{FEEDBACK, Flags, HEADERS, Segment, SynOptions, Timestamps};
use crate::tcp::sender::{Negotiated, Sender};
use polypath_brf::Code;
use polypath_core::congestion::Congestion;
use polypath_units::{Bandwidth, Timestamp};

/// Bytes of the timestamps option in every segment.
const TIMESTAMP_BYTES: u32 = 12;

/// The sending of a SYN or SYN-ACK until it is answered.
#[derive(Debug)]
pub(super) struct Handshake {
    due: bool,
    transmissions: u32,
    first_sent_at: Timestamp,
    retransmit_at: Timestamp,
    /// The peer's SYN.
    peer: Option<Segment>,
    /// The application closed before the handshake was over.
    pub(super) close_wanted: bool,
}

impl Handshake {
    pub(super) const fn idle() -> Self {
        Self {
            due: false,
            transmissions: 0,
            first_sent_at: Timestamp::ZERO,
            retransmit_at: Timestamp::MAX,
            peer: None,
            close_wanted: false,
        }
    }

    pub(super) const fn due() -> Self {
        Self { due: true, ..Self::idle() }
    }

    pub(super) const fn next_timeout(&self) -> Timestamp {
        self.retransmit_at
    }
}

impl TcpEndpoint {
    /// A segment in LISTEN or SYN-SENT.
    pub(super) fn on_first_segment(
        &mut self,
        now: Timestamp,
        segment: &Segment,
        congestion: &mut Congestion,
    ) {
        let answers = segment.flags.contains(Flags::ACK) && segment.ack == 1;
        if segment.flags.contains(Flags::RST) {
            if self.state == State::SynSent && answers {
                self.end(Report::Reset, congestion);
            }
        } else if segment.flags.contains(Flags::SYN) {
            if self.state == State::Listen && !segment.flags.contains(Flags::ACK) {
                self.handshake.peer = Some(*segment);
                self.handshake.due = true;
                self.state = State::SynReceived;
            } else if self.state == State::SynSent && answers {
                self.establish(now, segment, segment.window, congestion);
                self.obey(now, segment, congestion);
                self.receiver.ack_at_once();
            }
        }
    }

    /// A segment in SYN-RECEIVED: whether it ends the handshake.
    pub(super) fn completes_handshake(
        &mut self,
        now: Timestamp,
        segment: &Segment,
        congestion: &mut Congestion,
    ) -> bool {
        if segment.flags.contains(Flags::RST) {
            self.end(Report::Reset, congestion);
            return false;
        }
        if segment.flags.contains(Flags::SYN) {
            self.handshake.due = true;
            return false;
        }
        let Some(peer) = self.handshake.peer.filter(|_| segment.flags.contains(Flags::ACK)) else {
            return false;
        };
        if segment.ack == 0 {
            return false;
        }
        self.establish(now, &peer, segment.window, congestion);
        true
    }

    fn establish(
        &mut self,
        now: Timestamp,
        peer: &Segment,
        window: u32,
        congestion: &mut Congestion,
    ) {
        let negotiated = self.negotiate(peer);
        let unsent = self.sender.unsent();
        self.sender = Sender::new(&self.config, self.path, negotiated, window);
        self.sender.write(unsent);
        let offered = Receiver::syn_window(&self.config);
        self.receiver = Receiver::new(&self.config, negotiated, offered);
        self.receiver.take_timestamp(peer);
        self.state = State::Established;
        self.start_congestion_control(now, negotiated, congestion);
        self.sender.refresh_timing(congestion);
        self.reports.push_back(Report::Established);
        if self.handshake.close_wanted {
            self.close();
        }
    }

    fn start_congestion_control(
        &self,
        now: Timestamp,
        negotiated: Negotiated,
        congestion: &mut Congestion,
    ) {
        congestion.add_subflow(self.path, u64::from(negotiated.mss), None);
        congestion.set_rto_bounds(self.path, self.config.rto);
        congestion.set_restart_after_idle(self.path, self.config.idle_restart);
        congestion.set_paced(self.path, self.config.pacing == Pacing::Internal);
        congestion.set_departs_ahead(self.path, true);
        if self.handshake.transmissions == 1 {
            congestion.on_rtt_sample(self.path, now - self.handshake.first_sent_at);
        } else if self.handshake.transmissions > 2 {
            // RFC 5681 section 3.1; Linux allows one loss.
            congestion.limit_window(self.path, u64::from(negotiated.mss));
        }
    }

    /// Options that both ends have. Options of every data segment take their bytes from it.
    fn negotiate(&self, peer: &Segment) -> Negotiated {
        let config = &self.config;
        let timestamps = config.timestamps && peer.timestamps.is_some();
        let peer_mss = peer.syn.map_or(u32::MAX, |options| u32::from(options.mss));
        let feedback = config.feedback && peer.feedback.is_some();
        let options = config.option_reserve
            + if timestamps { TIMESTAMP_BYTES } else { 0 }
            + if feedback { FEEDBACK } else { 0 };
        let sack = config.sack && peer.syn.is_some_and(|options| options.sack);
        let mss = config.mss.min(peer_mss).saturating_sub(options).max(1);
        let ecn = config.ecn && peer.flags.contains(Flags::ECE);
        Negotiated { mss, sack, timestamps, ecn, feedback }
    }

    pub(super) fn poll_handshake(&mut self, now: Timestamp) -> Option<Segment> {
        if !core::mem::take(&mut self.handshake.due) {
            return None;
        }
        if self.handshake.transmissions == 0 {
            self.handshake.first_sent_at = now;
        }
        let back_off = 1u32.checked_shl(self.handshake.transmissions).unwrap_or(u32::MAX);
        let wait = self.config.rto.initial.saturating_mul(back_off).min(self.config.rto.max);
        self.handshake.retransmit_at = now + wait;
        self.handshake.transmissions += 1;
        Some(self.syn(now))
    }

    fn syn(&self, now: Timestamp) -> Segment {
        let peer = self.handshake.peer.as_ref();
        let ecn = self.config.ecn && peer.is_none_or(|syn| syn.flags.contains(Flags::ECE));
        let flags = Flags::SYN
            .with_if(Flags::ACK, peer.is_some())
            .with_if(Flags::ECE, ecn)
            .with_if(Flags::CWR, ecn && peer.is_none());
        let offers = |option: fn(&SynOptions) -> bool| {
            peer.is_none_or(|segment| segment.syn.as_ref().is_some_and(option))
        };
        let options = SynOptions {
            mss: u16::try_from(self.config.mss).unwrap_or(u16::MAX),
            sack: self.config.sack && offers(|options| options.sack),
            window_scale: self.config.window_scale && offers(|options| options.window_scale),
        };
        let feedback =
            self.config.feedback && peer.is_none_or(|segment| segment.feedback.is_some());
        let echo = peer.map(|syn| syn.timestamps.map(|timestamps| timestamps.value));
        let timestamps = match echo {
            None => Some(0),
            Some(value) => value,
        };
        Segment {
            ack: u64::from(peer.is_some()),
            window: Receiver::syn_window(&self.config),
            syn: Some(options),
            timestamps: timestamps.filter(|_| self.config.timestamps).map(|echo| Timestamps {
                value: TimestampClock::new(&self.config).value_at(now),
                echo,
            }),
            feedback: Feedback::if_wanted(feedback),
            ..Segment::empty(0, flags)
        }
    }

    /// Tells the congestion control the rate that switches wrote into a segment, if any. Switches
    /// count bytes on the wire and the sender paces payload: full segments of it carry this share.
    pub(super) fn obey(&self, now: Timestamp, segment: &Segment, congestion: &mut Congestion) {
        let Some(rate) = segment.feedback.code().and_then(Code::bytes_per_sec) else { return };
        if !self.config.feedback {
            return;
        }
        let payload = f64::from(self.mss());
        let timestamps = if segment.timestamps.is_some() { TIMESTAMP_BYTES } else { 0 };
        let headers = HEADERS + timestamps + FEEDBACK + self.config.option_reserve;
        let share = payload / (payload + f64::from(headers));
        congestion.on_feedback(self.path, now, Bandwidth::from_bytes_per_sec(rate * share));
    }

    pub(super) fn on_handshake_timeout(&mut self, now: Timestamp) {
        if now < self.handshake.retransmit_at {
            return;
        }
        self.handshake.retransmit_at = Timestamp::MAX;
        if self.handshake.transmissions > self.config.max_syn_retries {
            self.state = State::Closed;
            self.reports.push_back(Report::GaveUp);
        } else {
            self.handshake.due = true;
        }
    }
}
