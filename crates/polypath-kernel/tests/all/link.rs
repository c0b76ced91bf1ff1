//! A path of the traces: a queue in front of a link, with random losses.

use polypath_core::congestion::Congestion;
use polypath_core::estimator::SentPacket;
use polypath_core::random::SplitMix64;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// By how much a packet may take longer than the link says. ACKs that are spaced alike to the
/// nanosecond make equal samples of the bandwidth, whose rounding errors are then all that CABE's
/// estimator finds to differ: in f64 others than here.
const JITTER: f64 = 1.0 / 16.0;

/// What a path is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// Bytes/s.
    pub(crate) rate: f64,
    /// The RTT without a queue.
    pub(crate) base: Duration,
    /// The longest queue, in base RTTs.
    pub(crate) buffer: f64,
    /// The share of packets that are lost beside.
    pub(crate) loss: f64,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Flying {
    packet: SentPacket,
    sent_at: Timestamp,
    /// When its ACK arrives; `None` if it is lost.
    acked_at: Option<Timestamp>,
}

/// Packets that an ACK has shown to be lost, and that it acknowledges.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    pub(crate) lost: Vec<SentPacket>,
    pub(crate) acked: Vec<SentPacket>,
}

/// A path with what is on its way.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) id: PathId,
    pub(crate) profile: Profile,
    pub(crate) mss: u64,
    /// The share of the window that the application fills.
    pub(crate) appetite: f64,
    /// Nothing is sent before.
    pub(crate) sleeps_until: Timestamp,
    pub(crate) usable: bool,
    free_at: Timestamp,
    flying: VecDeque<Flying>,
}

impl Link {
    pub(crate) fn new(id: PathId, profile: Profile, mss: u64, now: Timestamp) -> Self {
        Self {
            id,
            profile,
            mss,
            appetite: 1.0,
            sleeps_until: now,
            usable: true,
            free_at: now,
            flying: VecDeque::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.flying.is_empty()
    }

    /// The size of the next packet: a segment, or more of them where windows are large, so that a
    /// round trip has about 24 ACKs at most.
    pub(crate) fn next_size(&self, congestion: &Congestion) -> u64 {
        let window = congestion.window(self.id) as f64;
        (window / 24.0 / self.mss as f64).floor().max(1.0) as u64 * self.mss
    }

    /// Whether it may send `bytes` now.
    pub(crate) fn may_send(&self, congestion: &Congestion, now: Timestamp, bytes: u64) -> bool {
        let used = (congestion.bytes_in_flight(self.id) + bytes) as f64;
        now >= self.sleeps_until && used <= congestion.window(self.id) as f64 * self.appetite
    }

    /// A packet enters the queue.
    pub(crate) fn send(&mut self, packet: SentPacket, now: Timestamp, random: &mut SplitMix64) {
        let begins = self.free_at.max(now);
        let queue = begins.since(now);
        let lost = queue > self.profile.base.mul_f64(self.profile.buffer)
            || random.unit() < self.profile.loss;
        let mut acked_at = None;
        if !lost {
            let jitter = 1.0 + random.unit() * JITTER;
            let secs = jitter * packet.bytes as f64 / self.profile.rate;
            self.free_at = begins + Duration::from_secs_f64(secs);
            acked_at = Some(self.free_at + self.profile.base);
        }
        self.flying.push_back(Flying { packet, sent_at: now, acked_at });
    }

    /// When something happens here next: the next ACK, the expiry of the timer, the end of sleep.
    pub(crate) fn next_event(&self, congestion: &Congestion) -> Timestamp {
        let timeout = congestion.rtt(self.id).map_or(Duration::from_secs(1), |rtt| rtt.rto());
        let acked = self.flying.iter().find_map(|flying| flying.acked_at);
        let expires = self.flying.back().map(|flying| flying.sent_at + timeout);
        acked.or(expires).unwrap_or(self.sleeps_until)
    }

    /// Whether the timer expires at its next event: everything on its way is lost.
    pub(crate) fn is_stuck(&self) -> bool {
        !self.flying.is_empty() && self.flying.iter().all(|flying| flying.acked_at.is_none())
    }

    /// What arrives until `now`, up to `most` packets of it at once.
    pub(crate) fn arrive(&mut self, now: Timestamp, most: usize) -> Arrived {
        let mut arrived = Arrived::default();
        while arrived.acked.len() < most
            && self.flying.iter().any(|f| f.acked_at.is_some_and(|at| at <= now))
        {
            let Some(first) = self.flying.pop_front() else { break };
            match first.acked_at {
                Some(_) => arrived.acked.push(first.packet),
                None => arrived.lost.push(first.packet),
            }
        }
        arrived
    }

    /// Everything on its way is given up.
    pub(crate) fn give_up(&mut self) -> Vec<SentPacket> {
        self.flying.drain(..).map(|flying| flying.packet).collect()
    }
}
