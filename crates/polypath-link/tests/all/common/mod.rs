//! What the tests of queues share.
#![allow(unreachable_pub, reason = "tests alone use it")]

use polypath_link::{Link, LinkConfig, Packet, QueueConfig, QueueLimit, SendOutcome};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// A packet that records what happened to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    pub number: u64,
    pub bytes: u32,
    pub flow: u64,
    pub class: u8,
    /// Whether it is ECN-capable, and whether it bears the CE mark.
    pub ecn: bool,
    pub marked: bool,
    pub sent: Timestamp,
}

impl Probe {
    pub fn new(number: u64, bytes: u32) -> Self {
        let sent = Timestamp::ZERO;
        Self { number, bytes, flow: 0, class: 0, ecn: false, marked: false, sent }
    }
}

impl Packet for Probe {
    fn flow(&self) -> u64 {
        self.flow
    }

    fn class(&self) -> u8 {
        self.class
    }

    fn mark_ce(&mut self) -> bool {
        self.marked |= self.ecn;
        self.marked
    }
}

pub const MS: Duration = Duration::from_millis(1);

pub fn mbit(rate: f64) -> Bandwidth {
    Bandwidth::from_mbit_per_sec(rate)
}

/// A link without delay.
pub fn link(rate: Bandwidth, queue: impl Into<QueueConfig>) -> Link<Probe> {
    let queue = queue.into();
    Link::new(LinkConfig { queue, ..LinkConfig::new(rate, Duration::ZERO) }, 7).unwrap()
}

/// No limit.
pub const ENDLESS: QueueLimit = QueueLimit::Packets(u64::MAX);

/// Sends `probe` at `now`.
pub fn send(link: &mut Link<Probe>, now: Timestamp, probe: Probe) -> SendOutcome {
    link.send(now, probe.bytes, Probe { sent: now, ..probe })
}

/// Everything that comes out by `until`, with its time.
pub fn arrivals(link: &mut Link<Probe>, until: Timestamp) -> Vec<(Timestamp, Probe)> {
    let mut all = Vec::new();
    while let Some(at) = link.next_event().filter(|&at| at <= until) {
        all.extend(std::iter::from_fn(|| link.poll(at)).map(|packet| (at, packet)));
    }
    all
}

/// A source of numbers uniform in (0, 1): SplitMix64.
pub struct Dice(pub u64);

impl Dice {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + 0.5 / (1_u64 << 53) as f64
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        mean.mul_f64(-self.uniform().ln())
    }
}
