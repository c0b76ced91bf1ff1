//! A path of the bond: what its datagrams hold, its pacing, its probes, its counters.

use crate::flight::Flight;
use crate::flow::Piece;
use crate::meter::RateMeter;
use crate::pacer::Pacer;
use crate::send::ChunkRef;
use polypath_core::estimator::RttEstimator;
use polypath_core::failure::FailureCause;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// What a datagram, and so the packet that carries it, holds that must be tracked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    pub(crate) chunk: Option<ChunkRef>,
    /// Further chunks, when one packet carries several datagrams.
    pub(crate) more: Vec<ChunkRef>,
    pub(crate) control: Vec<u64>,
    pub(crate) probe: Option<u64>,
    /// It holds an acknowledgement, which must be said again if it is lost.
    pub(crate) ack: bool,
    /// It holds a datagram of a flow, or a part of one.
    pub(crate) datagram: bool,
    /// Those that it holds: all until it has left, then those that are sent again if they are lost.
    pub(crate) pieces: Vec<Piece>,
    /// Length of the datagrams in bytes, and their number.
    pub(crate) len: u64,
    pub(crate) datagrams: u64,
}

impl Payload {
    /// Joins what two datagrams in one packet hold.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.more.extend(other.chunk);
        self.more.extend(other.more);
        self.control.extend(other.control);
        self.probe = self.probe.or(other.probe);
        self.ack |= other.ack;
        self.datagram |= other.datagram;
        self.pieces.extend(other.pieces);
        self.len += other.len;
        self.datagrams += other.datagrams;
        self
    }

    /// Whether it holds data of streams or flows, and not only what the bond says of itself.
    pub fn is_data(&self) -> bool {
        self.datagram || self.chunk.is_some()
    }

    pub(crate) fn chunks(&self) -> impl Iterator<Item = ChunkRef> {
        self.chunk.iter().chain(&self.more).copied()
    }
}

/// Whether a path carries data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// It carries data.
    Active,
    /// It was declared failed and is being probed.
    Failed,
}

/// Counters of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCounters {
    /// Packets sent.
    pub packets_sent: u64,
    /// Bytes sent, as UDP payload.
    pub bytes_sent: u64,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Bond payload bytes received, repeated data included.
    pub bytes_received: u64,
    /// DSN space sent for the first time.
    pub bytes_new: u64,
    /// DSN space sent again that another packet had carried before.
    pub bytes_reinjected: u64,
    /// How often the path was declared failed.
    pub failures: u64,
    /// Why it was declared failed last.
    pub last_failure: Option<FailureCause>,
}

/// Why a path is probed, and so how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It has failed. It is probed at the shortest interval for 2 s, so that a short fade costs no
    /// more than it lasted.
    Failed,
    /// It is silent, and the peer does not say why. From one probe to the next passes an eighth of
    /// the time since the first: a peer that is silent because it is busy must not be kept busy. A
    /// thousand edges would otherwise send their hub 40,000 probes a second.
    Silent,
}

/// Probing of a path that has failed, or may have: a full-size datagram, at first every 50 ms.
#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) next_at: Timestamp,
    doubt: Doubt,
    interval: Duration,
    next_id: u64,
    started_at: Timestamp,
    /// Probes with an id below this are answered late: they were for an earlier failure.
    first_id: u64,
}

impl Probe {
    const MIN_INTERVAL: Duration = Duration::from_millis(50);
    const MAX_INTERVAL: Duration = Duration::from_millis(400);
    /// How long a path that has failed is probed at the shortest interval.
    const FAST: Duration = Duration::from_secs(2);

    fn new() -> Self {
        Self {
            next_at: Timestamp::MAX,
            doubt: Doubt::Silent,
            interval: Self::MIN_INTERVAL,
            next_id: 0,
            started_at: Timestamp::ZERO,
            first_id: 0,
        }
    }

    /// Begins to probe, or goes on for this reason.
    pub(crate) fn start(&mut self, doubt: Doubt, now: Timestamp) {
        self.doubt = doubt;
        if self.next_at < Timestamp::MAX {
            return;
        }
        self.first_id = self.next_id;
        self.started_at = now;
        self.interval = Self::MIN_INTERVAL;
        self.next_at = now;
    }

    pub(crate) fn stop(&mut self) {
        self.next_at = Timestamp::MAX;
    }

    /// The number of the probe that is sent now.
    pub(crate) fn take(&mut self, now: Timestamp) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let since = now - self.started_at;
        self.interval = match self.doubt {
            Doubt::Failed if since < Self::FAST => Self::MIN_INTERVAL,
            Doubt::Failed => self.interval * 2,
            Doubt::Silent => since / 8,
        }
        .clamp(Self::MIN_INTERVAL, Self::MAX_INTERVAL);
        self.next_at = now + self.interval;
        id
    }

    /// The number of a small PING, which proves nothing.
    pub(crate) fn take_small(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    pub(crate) fn is_current(&self, id: u64) -> bool {
        (self.first_id..self.next_id).contains(&id)
    }
}

/// A path as the bond keeps it.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) id: PathId,
    pub(crate) name: String,
    pub(crate) state: PathState,
    pub(crate) backup: bool,
    pub(crate) weight: f64,
    /// Largest datagram that the carrier takes now, in bytes.
    pub(crate) max_datagram: u64,
    /// The same less packet overhead: what one packet adds to the congestion window's use.
    pub(crate) packet_overhead: u64,
    /// Round-trip time of the carrier's set-up: all that is known before data is acknowledged.
    pub(crate) first_rtt: Option<Duration>,
    pub(crate) pacer: Pacer,
    pub(crate) flight: Flight,
    /// RTT since the path was idle last: before, a queue of its own made it longer.
    pub(crate) recent_rtt: RttEstimator,
    /// Bytes handed to the carrier and not sent yet, with packet overhead.
    pub(crate) committed: u64,
    pub(crate) probe: Probe,
    /// The peer was asked whether anything arrives, and nothing was acknowledged since.
    pub(crate) is_suspected: bool,
    /// Probes of the peer to answer.
    pub(crate) pongs: VecDeque<u64>,
    /// Data arrived on it since the last acknowledgement.
    pub(crate) acks_owed: bool,
    pub(crate) last_arrival: Timestamp,
    /// Edge: when a path that stays idle is used, to keep it alive.
    pub(crate) keep_alive_at: Option<Timestamp>,
    pub(crate) counters: PathCounters,
    /// Datagrams of the bond that hold data.
    pub(crate) sending: RateMeter,
    pub(crate) receiving: RateMeter,
}

/// Probes that wait to be answered, at most: more are not needed to show that the path works.
const MAX_PONGS: usize = 8;

impl Path {
    pub(crate) fn new(id: PathId, name: String, now: Timestamp) -> Self {
        Self {
            id,
            name,
            state: PathState::Active,
            backup: false,
            weight: 0.0,
            max_datagram: 0,
            packet_overhead: 0,
            first_rtt: None,
            pacer: Pacer::new(now),
            flight: Flight::default(),
            recent_rtt: RttEstimator::default(),
            committed: 0,
            probe: Probe::new(),
            is_suspected: false,
            pongs: VecDeque::new(),
            acks_owed: false,
            last_arrival: now,
            keep_alive_at: None,
            counters: PathCounters::default(),
            sending: RateMeter::default(),
            receiving: RateMeter::default(),
        }
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.state == PathState::Failed
    }

    /// Whether it has failed, and nothing has arrived on it for so long since.
    pub(crate) fn is_silent(&self, now: Timestamp, silence: Duration) -> bool {
        let since = self.probe.started_at.max(self.last_arrival);
        self.is_failed() && now - since >= silence
    }

    /// When the path must be used to stay alive. A failed one is probed instead.
    pub(crate) fn keep_alive_due(&self) -> Option<Timestamp> {
        self.keep_alive_at.filter(|_| !self.is_failed())
    }

    /// Bytes that a full packet takes of the congestion window.
    pub(crate) fn packet_size(&self) -> u64 {
        self.max_datagram + self.packet_overhead
    }

    /// A datagram was handed to the carrier.
    pub(crate) fn commit(&mut self, payload: &Payload) {
        self.committed += self.share_of(payload);
    }

    /// The carrier has sent what it was handed, or gave it back. Each datagram counted a packet's
    /// overhead, also those that then shared one.
    pub(crate) fn uncommit(&mut self, payload: &Payload) {
        self.committed = self.committed.saturating_sub(self.share_of(payload));
    }

    fn share_of(&self, payload: &Payload) -> u64 {
        payload.len + payload.datagrams * self.packet_overhead
    }

    pub(crate) fn owe_pong(&mut self, id: u64) {
        if self.pongs.len() < MAX_PONGS {
            self.pongs.push_back(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probing_slows_down_and_forgets_earlier_failures() {
        let begin = Timestamp::from_millis(5);
        for (doubt, after_one_second) in [(Doubt::Failed, 50), (Doubt::Silent, 125)] {
            let mut probe = Probe::new();
            probe.start(doubt, begin);
            let first = probe.take(begin);
            assert_eq!(probe.next_at, begin + Duration::from_millis(50));
            let mut now = begin + Duration::from_secs(1);
            probe.take(now);
            assert_eq!(probe.next_at, now + Duration::from_millis(after_one_second));
            for _ in 0..100 {
                now = probe.next_at;
                probe.take(now);
            }
            assert_eq!(probe.next_at, now + Probe::MAX_INTERVAL);
            assert!(probe.is_current(first));
            probe.start(doubt, now);
            assert!(probe.is_current(first), "it goes on");
            probe.stop();
            probe.start(doubt, now);
            assert!(!probe.is_current(first));
        }
    }
}
