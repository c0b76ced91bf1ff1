//! A sender and one bottleneck: fixed rate and delay, drop-tail queue, optional random loss. Just
//! enough of a network to close the loop around a controller.

use polypath_core::congestion::{Congestion, CongestionConfig};
use polypath_core::estimator::SentPacket;
use polypath_units::{Bandwidth, PathId, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

pub(crate) const MSS: u64 = 1_500;
pub(crate) const PATH: PathId = PathId::new(0).unwrap();
/// Packets acknowledged after a missing one that make it lost.
const REORDERING: u64 = 3;

/// The bottleneck.
#[derive(Clone, Copy)]
pub(crate) struct Bottleneck {
    pub(crate) rate: Bandwidth,
    pub(crate) rtt: Duration,
    /// Queue in bytes.
    pub(crate) queue: u64,
    /// Probability that a packet is lost before the queue.
    pub(crate) loss: f64,
}

impl Bottleneck {
    /// Bandwidth-delay product in bytes.
    pub(crate) fn bdp(&self) -> u64 {
        self.rate.bytes_in(self.rtt)
    }
}

/// Knuth's MMIX generator: the same losses everywhere.
struct Lcg(u64);

impl Lcg {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub(crate) struct Toy {
    pub(crate) congestion: Congestion,
    pub(crate) bottleneck: Bottleneck,
    /// What the application offers; `None` = more than the path takes.
    pub(crate) demand: Option<Bandwidth>,
    /// The rate that every acknowledgement tells; `None` = it tells none.
    pub(crate) told: Option<Bandwidth>,
    pub(crate) now: Timestamp,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    random: Lcg,
    busy_until: Timestamp,
    next_send: Timestamp,
    next_demand: Timestamp,
    next_number: u64,
    sent: VecDeque<(u64, SentPacket)>,
    acks: VecDeque<(Timestamp, u64)>,
}

impl Toy {
    pub(crate) fn new(config: CongestionConfig, bottleneck: Bottleneck) -> Self {
        let random = Lcg(config.seed);
        let mut congestion = Congestion::new(config);
        congestion.add_subflow(PATH, MSS, None);
        Self {
            congestion,
            bottleneck,
            demand: None,
            told: None,
            now: Timestamp::ZERO,
            delivered: 0,
            lost: 0,
            random,
            busy_until: Timestamp::ZERO,
            next_send: Timestamp::ZERO,
            next_demand: Timestamp::ZERO,
            next_number: 0,
            sent: VecDeque::new(),
            acks: VecDeque::new(),
        }
    }

    /// Runs for `duration` and returns the share of the rate that was delivered in that time.
    pub(crate) fn utilisation(&mut self, duration: Duration) -> f64 {
        let before = self.delivered;
        let end = self.now + duration;
        while self.now < end {
            self.step();
        }
        (self.delivered - before) as f64 / self.bottleneck.rate.bytes_in(duration) as f64
    }

    fn step(&mut self) {
        let room = self.congestion.bytes_in_flight(PATH) + MSS <= self.congestion.window(PATH);
        let may_send = self.next_send.max(self.next_demand);
        if room && may_send <= self.now {
            return self.send();
        }
        if room && self.next_demand > self.now {
            self.congestion.set_app_limited(PATH);
        }
        let ack = self.acks.front().map_or(Timestamp::MAX, |&(at, _)| at);
        if room && may_send < ack {
            self.now = may_send;
        } else if let Some((at, number)) = self.acks.pop_front() {
            self.now = at;
            self.on_ack(number);
        } else {
            self.on_timeout();
        }
    }

    fn send(&mut self) {
        let packet = self.congestion.on_sent(PATH, self.now, MSS);
        self.sent.push_back((self.next_number, packet));
        if let Some(arrival) = self.transmit() {
            self.acks.push_back((arrival + self.bottleneck.rtt, self.next_number));
        }
        self.next_number += 1;
        if let Some(rate) = self.congestion.pacing_rate(PATH) {
            self.next_send = self.next_send.max(self.now) + rate.time_to_send(MSS).unwrap();
        }
        if let Some(demand) = self.demand {
            self.next_demand = self.now + demand.time_to_send(MSS).unwrap();
        }
    }

    /// When the packet leaves the bottleneck; `None` if it is dropped.
    fn transmit(&mut self) -> Option<Timestamp> {
        let lost = self.random.uniform() < self.bottleneck.loss;
        let queued = self.bottleneck.rate.bytes_in(self.busy_until - self.now);
        if lost || queued + MSS > self.bottleneck.queue + MSS {
            return None;
        }
        let start = self.busy_until.max(self.now);
        self.busy_until = start + self.bottleneck.rate.time_to_send(MSS).unwrap();
        Some(self.busy_until)
    }

    fn on_ack(&mut self, number: u64) {
        self.delivered += MSS;
        if let Some(rate) = self.told {
            self.congestion.on_feedback(PATH, self.now, rate);
        }
        if let Ok(at) = self.sent.binary_search_by_key(&number, |&(n, _)| n) {
            let (_, packet) = self.sent.remove(at).unwrap();
            self.congestion.on_packet_acked(PATH, self.now, &packet);
            self.congestion.on_ack_end(PATH, self.now);
        }
        self.lose_up_to(number.saturating_sub(REORDERING));
    }

    /// Declares lost what is missing up to packet `last`.
    fn lose_up_to(&mut self, last: u64) {
        let mut newest = None;
        while let Some(&(_, packet)) = self.sent.front().filter(|&&(n, _)| n <= last) {
            self.sent.pop_front();
            self.lost += MSS;
            self.congestion.on_packet_lost(PATH, self.now, &packet);
            newest = Some(packet.sent_at);
        }
        if let Some(sent_at) = newest {
            self.congestion.on_loss(PATH, self.now, sent_at);
        }
    }

    /// Nothing will arrive any more: the timer expires.
    fn on_timeout(&mut self) {
        self.now += self.congestion.rtt(PATH).unwrap().rto();
        for (_, packet) in self.sent.drain(..) {
            self.congestion.on_packet_lost(PATH, self.now, &packet);
        }
        self.congestion.on_timeout(PATH, self.now);
    }
}
