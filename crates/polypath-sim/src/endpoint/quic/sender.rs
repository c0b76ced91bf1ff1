//! The sending half: what leaves when, and what was lost (RFC 9002).

use super::{MAX_ACK_DELAY, QuicConfig};
use crate::endpoint::PathReport;
use crate::fabric::{LightAck, QuicKind, QuicPacket};
use crate::tcp::Ranges;
use polypath_core::congestion::Congestion;
use polypath_core::estimator::SentPacket;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// The only path.
pub(super) const PATH: PathId = PathId::new(0).expect("0 is the number of a path");
/// Section 6.1.2: a packet is lost after 9/8 of the RTT, but no less than the granularity of
/// timers.
const TIME_THRESHOLD: f64 = 9.0 / 8.0;
const GRANULARITY: Duration = Duration::from_millis(1);
/// Before the first sample (section 6.2.2).
const INITIAL_RTT: Duration = Duration::from_millis(333);
/// A window is lost for good if nothing came for so many probe timeouts (section 7.6.1).
const PERSISTENT: u32 = 3;
/// Paced packets may leave in bursts that take so long at the pacing rate.
const BURST: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
struct Sent {
    packet: SentPacket,
    bytes: (u64, u64),
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Acked,
    Lost,
}

#[derive(Debug)]
pub(super) struct Sender {
    congestion: Congestion,
    threshold: u64,
    /// Payload of a full packet.
    payload: u64,
    full_packet: u64,
    is_open: bool,
    written: u64,
    /// Where the stream ends, once it is closed.
    closed: bool,
    /// The next byte that was never sent.
    next: u64,
    end_sent: bool,
    /// Parts of the stream that are to be sent again.
    again: Ranges,
    /// Packets from `first` on.
    sent: VecDeque<Sent>,
    first: u64,
    largest_acked: Option<u64>,
    loss_at: Timestamp,
    last_sent: Timestamp,
    probes: u32,
    /// A probe is to leave whatever the window says.
    probe_due: bool,
    paced_until: Timestamp,
    sent_bytes: u64,
    lost: u64,
    sent_again: u64,
    spurious: u64,
    timeouts: u64,
}

impl Sender {
    pub(super) fn new(config: &QuicConfig) -> Self {
        Self {
            congestion: Congestion::new(config.congestion.clone()),
            threshold: config.packet_threshold.into(),
            payload: (config.max_packet - QuicPacket::OVERHEAD).into(),
            full_packet: config.max_packet.into(),
            is_open: false,
            written: 0,
            closed: false,
            next: 0,
            end_sent: false,
            again: Ranges::default(),
            sent: VecDeque::new(),
            first: 0,
            largest_acked: None,
            loss_at: Timestamp::MAX,
            last_sent: Timestamp::ZERO,
            probes: 0,
            probe_due: false,
            paced_until: Timestamp::ZERO,
            sent_bytes: 0,
            lost: 0,
            sent_again: 0,
            spurious: 0,
            timeouts: 0,
        }
    }

    pub(super) const fn congestion(&self) -> &Congestion {
        &self.congestion
    }

    pub(super) const fn spurious(&self) -> u64 {
        self.spurious
    }

    pub(super) const fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// The counters of its path.
    pub(super) fn report(&self, path: PathReport) -> PathReport {
        let &Self { sent_bytes, lost, sent_again, .. } = self;
        PathReport { sent_bytes, lost, retransmitted: sent_again, ..path }
    }

    /// The handshake is over; its RTT, if it was measured.
    pub(super) fn open(&mut self, rtt: Option<Duration>) {
        self.congestion.add_subflow(PATH, self.full_packet, rtt);
        self.is_open = true;
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    pub(super) fn withdraw(&mut self) -> u64 {
        let unsent = self.written - self.next;
        self.written = self.next;
        unsent
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// What is to be sent: a part that is to be sent again, or new data, or the end alone.
    fn wanted(&self) -> Option<(u64, u64)> {
        if let Some((from, to)) = self.again.first() {
            return Some((from, to.min(from + self.payload)));
        }
        let to = self.written.min(self.next + self.payload);
        let has_end = self.closed && !self.end_sent;
        (to > self.next || has_end).then_some((self.next, to))
    }

    /// The next packet that leaves now.
    pub(super) fn poll(&mut self, now: Timestamp) -> Option<QuicKind> {
        if std::mem::take(&mut self.probe_due) {
            let bytes = self.wanted().or_else(|| self.oldest()).unwrap_or((self.next, self.next));
            return Some(self.emit(bytes, now));
        }
        let Some(bytes) = self.wanted() else {
            self.congestion.set_app_limited(PATH);
            return None;
        };
        let (window, in_flight) =
            (self.congestion.window(PATH), self.congestion.bytes_in_flight(PATH));
        if in_flight + self.full_packet > window || self.paced_until > now {
            return None;
        }
        Some(self.emit(bytes, now))
    }

    /// The bytes of the oldest packet in flight.
    fn oldest(&self) -> Option<(u64, u64)> {
        let mut in_flight = self.sent.iter().filter(|sent| sent.state == State::InFlight);
        in_flight.next().map(|sent| sent.bytes)
    }

    fn emit(&mut self, (from, to): (u64, u64), now: Timestamp) -> QuicKind {
        let number = self.first + self.sent.len() as u64;
        if from < self.next {
            self.sent_again += 1;
            self.again.remove_below(to);
        }
        self.next = self.next.max(to);
        let ends = self.closed && to == self.written;
        self.end_sent |= ends;
        let size = u64::from(QuicPacket::OVERHEAD) + (to - from);
        let packet = self.congestion.on_sent(PATH, now, size);
        self.sent.push_back(Sent { packet, bytes: (from, to), state: State::InFlight });
        self.sent_bytes += to - from;
        self.last_sent = now;
        if let Some(rate) = self.congestion.pacing_rate(PATH) {
            let time = rate.time_to_send(size).unwrap_or_default();
            let since = Timestamp::ZERO + now.since(Timestamp::ZERO).saturating_sub(BURST);
            self.paced_until = self.paced_until.max(since) + time;
        }
        QuicKind::Data { number, bytes: (from, to), ends }
    }

    /// The peer acknowledged packets.
    pub(super) fn on_ack(&mut self, ack: &LightAck, now: Timestamp) {
        let Some(&(_, largest)) = ack.ranges.first() else { return };
        let end = self.first + self.sent.len() as u64;
        let mut newly = false;
        for &(from, to) in &ack.ranges {
            for number in from.max(self.first)..(to + 1).min(end) {
                newly |= self.acked((number - self.first) as usize, now);
            }
        }
        if !newly {
            return;
        }
        self.largest_acked = self.largest_acked.max(Some(largest));
        self.probes = 0;
        self.congestion.on_ack_end(PATH, now);
        self.detect(now);
    }

    /// A packet has come. Returns whether it was in flight.
    fn acked(&mut self, at: usize, now: Timestamp) -> bool {
        let sent = &mut self.sent[at];
        let before = std::mem::replace(&mut sent.state, State::Acked);
        let packet = sent.packet;
        match before {
            State::InFlight => self.congestion.on_packet_acked(PATH, now, &packet),
            State::Lost => self.spurious += 1,
            State::Acked => {}
        }
        before == State::InFlight
    }

    /// Takes for lost what has been missing for long, by number or by time.
    fn detect(&mut self, now: Timestamp) {
        self.loss_at = Timestamp::MAX;
        let Some(largest) = self.largest_acked else { return };
        let wait = self.patience();
        let below = (largest + 1).saturating_sub(self.first).min(self.sent.len() as u64);
        let mut lost: Option<(Timestamp, Timestamp)> = None;
        let mut is_persistent = true;
        for at in 0..below as usize {
            let sent = &self.sent[at];
            if sent.state == State::Acked {
                is_persistent &= lost.is_none();
            }
            if sent.state != State::InFlight {
                continue;
            }
            let sent_at = sent.packet.sent_at;
            if self.first + at as u64 + self.threshold <= largest || sent_at + wait <= now {
                self.lose(at, now);
                lost = Some((lost.map_or(sent_at, |(oldest, _)| oldest), sent_at));
            } else {
                self.loss_at = self.loss_at.min(sent_at + wait);
            }
        }
        if let Some((oldest, newest)) = lost {
            if is_persistent && newest.since(oldest) > self.probe_timeout() * PERSISTENT {
                self.congestion.on_timeout(PATH, now);
            } else {
                self.congestion.on_loss(PATH, now, newest);
            }
        }
        self.trim(now);
    }

    fn lose(&mut self, at: usize, now: Timestamp) {
        let sent = &mut self.sent[at];
        sent.state = State::Lost;
        let (packet, (from, to)) = (sent.packet, sent.bytes);
        self.lost += 1;
        self.congestion.on_packet_lost(PATH, now, &packet);
        if to > from {
            self.again.insert(from, to, |_, _| {});
        }
        // The end alone, or a part with it.
        self.end_sent &= !(self.closed && to == self.written);
    }

    /// Forgets packets of which everything is known, those taken for lost after as long as their
    /// acknowledgements may be late.
    fn trim(&mut self, now: Timestamp) {
        let late = self.probe_timeout() * PERSISTENT;
        while let Some(sent) = self.sent.front() {
            let is_over = match sent.state {
                State::InFlight => false,
                State::Acked => true,
                State::Lost => sent.packet.sent_at + late <= now,
            };
            if !is_over {
                return;
            }
            self.sent.pop_front();
            self.first += 1;
        }
    }

    fn patience(&self) -> Duration {
        let rtt = self.congestion.rtt(PATH).and_then(|rtt| rtt.srtt().max(rtt.latest()));
        rtt.unwrap_or(INITIAL_RTT).mul_f64(TIME_THRESHOLD).max(GRANULARITY)
    }

    fn probe_timeout(&self) -> Duration {
        let rtt = self.congestion.rtt(PATH).and_then(|rtt| Some((rtt.srtt()?, rtt.rttvar())));
        let (srtt, variation) = rtt.unwrap_or((INITIAL_RTT, INITIAL_RTT / 2));
        srtt + (4 * variation).max(GRANULARITY) + MAX_ACK_DELAY
    }

    fn probe_at(&self) -> Timestamp {
        if self.congestion.bytes_in_flight(PATH) == 0 {
            return Timestamp::MAX;
        }
        self.last_sent + self.probe_timeout() * (1 << self.probes.min(6))
    }

    /// Looks whether a timer has fired.
    pub(super) fn on_timer(&mut self, now: Timestamp) {
        if self.loss_at <= now {
            self.detect(now);
        } else if self.probe_at() <= now {
            self.probes += 1;
            self.timeouts += 1;
            self.probe_due = true;
        }
    }

    pub(super) fn next_due(&self) -> Timestamp {
        if !self.is_open {
            return Timestamp::MAX;
        }
        let paced = if self.paced_until > self.last_sent && self.may_send() {
            self.paced_until
        } else {
            Timestamp::MAX
        };
        let timer = if self.loss_at < Timestamp::MAX { self.loss_at } else { self.probe_at() };
        paced.min(timer)
    }

    /// Whether only pacing holds something back.
    fn may_send(&self) -> bool {
        let in_flight = self.congestion.bytes_in_flight(PATH);
        self.wanted().is_some() && in_flight + self.full_packet <= self.congestion.window(PATH)
    }
}
