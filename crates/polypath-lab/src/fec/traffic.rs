//! What is sent: datagrams with a deadline.

use super::world::HEADERS;
use polypath_units::Timestamp;
use serde::Serialize;
use std::time::Duration;

/// A kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrafficKind {
    /// A call: 160 B fifty times a second.
    Call,
    /// A game: 120 B sixty times a second.
    Game,
    /// Video: thirty frames a second in datagrams of 1,200 B, which its sender spreads over the
    /// first half of a frame's time.
    Video,
    /// What an inner QUIC connection or UDP brings: 1,200 B, evenly.
    Bulk,
}

/// Traffic of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Traffic {
    pub kind: TrafficKind,
    /// The payload of video and bulk, in Mbit/s.
    pub mbit_s: f64,
    /// None goes out from then on.
    pub stop: Timestamp,
}

/// The payload of a full datagram, in bytes.
const FULL: u32 = 1_200;
/// A burst is spread over this share of the time to the next, as senders of video do lest queues
/// overflow.
const SPREAD: f64 = 0.5;

impl TrafficKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Call, Self::Game, Self::Video, Self::Bulk];

    /// `call`, `game`, `video` or `bulk`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Game => "game",
            Self::Video => "video",
            Self::Bulk => "bulk",
        }
    }
}

impl Traffic {
    /// From one burst to the next.
    fn interval(&self) -> Duration {
        Duration::from_secs_f64(match self.kind {
            TrafficKind::Call => 1.0 / 50.0,
            TrafficKind::Game => 1.0 / 60.0,
            TrafficKind::Video => 1.0 / 30.0,
            TrafficKind::Bulk => f64::from(FULL) * 8e-6 / self.mbit_s,
        })
    }

    /// The payload of each datagram of a burst, in bytes.
    fn burst(&self) -> Vec<u32> {
        let frame = (self.mbit_s * 1e6 / 8.0 / 30.0) as u32;
        match self.kind {
            TrafficKind::Call => vec![160],
            TrafficKind::Game => vec![120],
            TrafficKind::Bulk => vec![FULL],
            TrafficKind::Video => {
                let full = vec![FULL; (frame / FULL) as usize];
                let rest = Some(frame % FULL).filter(|&bytes| bytes > 0);
                full.into_iter().chain(rest).collect()
            }
        }
    }

    /// What it takes of the lines if each datagram is sent once, in Mbit/s.
    pub(super) fn wire_mbit_s(&self) -> f64 {
        let bytes: u32 = self.burst().iter().map(|bytes| bytes + HEADERS).sum();
        f64::from(bytes) * 8e-6 / self.interval().as_secs_f64()
    }

    /// Datagrams in a second.
    pub(super) fn datagrams_s(&self) -> f64 {
        self.burst().len() as f64 / self.interval().as_secs_f64()
    }
}

/// Datagrams as they become due.
#[derive(Clone, Debug)]
pub(super) struct Source {
    interval: Duration,
    burst: Vec<u32>,
    /// The beginning of the burst, and how many of its datagrams have gone out.
    burst_at: Timestamp,
    gone: usize,
    stop: Timestamp,
}

impl Source {
    pub(super) fn new(traffic: &Traffic, start: Timestamp) -> Self {
        let (interval, burst) = (traffic.interval(), traffic.burst());
        Self { interval, burst, burst_at: start, gone: 0, stop: traffic.stop }
    }

    /// The payload of the next datagram that is due, in bytes.
    pub(super) fn poll(&mut self, now: Timestamp) -> Option<u32> {
        if self.next_due() > now {
            return None;
        }
        let bytes = self.burst.get(self.gone).copied();
        self.gone += 1;
        if self.gone >= self.burst.len() {
            self.gone = 0;
            self.burst_at += self.interval;
        }
        bytes
    }

    pub(super) fn next_due(&self) -> Timestamp {
        let spread =
            self.interval.mul_f64(SPREAD * self.gone as f64 / self.burst.len().max(1) as f64);
        Some(self.burst_at + spread).filter(|&at| at < self.stop).unwrap_or(Timestamp::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 Mbit/s are 375,000 B/s, a thirtieth of which is 12,500 B: ten full datagrams and 500 B, of
    /// which the last is due 10/11 of half a frame's time after the first.
    #[test]
    fn a_frame_is_spread() {
        let stop = Timestamp::from_millis(100);
        let traffic = Traffic { kind: TrafficKind::Video, mbit_s: 3.0, stop };
        let mut source = Source::new(&traffic, Timestamp::ZERO);
        assert_eq!(source.poll(Timestamp::ZERO), Some(1_200));
        assert_eq!(source.poll(Timestamp::ZERO), None);
        let before: Vec<_> =
            std::iter::from_fn(|| source.poll(Timestamp::from_millis(15))).collect();
        assert_eq!(before, [1_200; 9]);
        assert_eq!(source.poll(Timestamp::from_millis(16)), Some(500));
        let more = std::iter::from_fn(|| source.poll(stop)).count();
        assert_eq!(more, 2 * 11 + 1, "two frames, and the first datagram of one at 99.99 ms");
        assert!((traffic.datagrams_s() - 330.0).abs() < 1e-3);
    }

    #[test]
    fn bulk_has_its_rate() {
        let traffic =
            Traffic { kind: TrafficKind::Bulk, mbit_s: 9.6, stop: Timestamp::from_millis(1_000) };
        assert!((traffic.datagrams_s() - 1_000.0).abs() < 1e-6);
    }
}
