//! The light carrier: what a QUIC connection does for a path of the bond, without cryptography.
//!
//! Packet numbers, acknowledgements and probe time-outs as in RFC 9002 section 6.2; everything else
//! (loss detection, windows, pacing, scheduling, reinjection, failure) is the shipping bond's. Like
//! the bond's QUIC connections, the carrier gives a packet up itself after so long that the bond
//! has judged it before. Left out: encryption, MTU discovery, connection ids, migration.

use super::super::log::{EndEvent, EndLog, LogEntry};
use crate::endpoint::received::{AckRule, Received};
use crate::fabric::{LightAck, LightKind, LightPacket};
use crate::tcp::{LogDetail, PathMetrics};
use bytes::Bytes;
use polypath_bond::carrier::{ACK_DELAY, ACK_THRESHOLD, INITIAL_RTT, TIME_THRESHOLD};
use polypath_bond::{Bond, Payload};
use polypath_core::estimator::RttEstimator;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// Of timers.
const GRANULARITY: Duration = Duration::from_millis(1);

/// A packet that was sent and may be acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Timestamp,
    is_in_flight: bool,
}

/// The carrier of one path, at one end.
#[derive(Debug)]
pub(super) struct Carrier {
    pub(super) path: PathId,
    /// Packets from `first` on.
    sent: VecDeque<Sent>,
    first: u64,
    /// Of the sent ones, how many are in flight.
    in_flight: usize,
    largest_acked: Option<u64>,
    last_sent: Timestamp,
    rtt: RttEstimator,
    /// Probes since the last acknowledgement.
    probes: u32,
    /// When a packet below the largest acknowledged one is given up.
    give_up_at: Timestamp,
    /// Losses below this number stand in the log.
    logged_below: u64,
    pub(super) received: Received,
    pub(super) log: EndLog,
}

impl Carrier {
    pub(super) fn new(path: PathId) -> Self {
        Self {
            path,
            sent: VecDeque::new(),
            first: 0,
            in_flight: 0,
            largest_acked: None,
            last_sent: Timestamp::ZERO,
            rtt: RttEstimator::new(Duration::ZERO),
            probes: 0,
            give_up_at: Timestamp::MAX,
            logged_below: 0,
            received: Received::new(AckRule { every: ACK_THRESHOLD, delay: ACK_DELAY }),
            log: EndLog::default(),
        }
    }

    /// The RTT of the handshake.
    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        self.rtt.on_sample(rtt);
    }

    /// Numbers and sends a datagram, or a probe, and tells the bond.
    pub(super) fn send(
        &mut self,
        datagram: Option<Bytes>,
        payload: Payload,
        bond: &mut Bond,
        now: Timestamp,
    ) -> LightPacket {
        let number = self.first + self.sent.len() as u64;
        self.sent.push_back(Sent { at: now, is_in_flight: true });
        self.in_flight += 1;
        self.last_sent = now;
        let ack = (self.received.due() <= now).then(|| self.received.take(now));
        let packet = LightPacket::new(LightKind::Data { number, datagram }, ack);
        bond.on_packet_sent(self.path, number, packet.quic_bytes().into(), payload, now);
        packet
    }

    /// The peer acknowledged packets.
    pub(super) fn on_ack(&mut self, ack: &LightAck, bond: &mut Bond, now: Timestamp) {
        let Some(&(_, largest)) = ack.ranges.first() else { return };
        let end = self.first + self.sent.len() as u64;
        self.sample_rtt(largest, ack.delay, now);
        let mut newly = 0;
        for &(from, to) in &ack.ranges {
            for number in from.max(self.first)..(to + 1).min(end) {
                let sent = &mut self.sent[(number - self.first) as usize];
                if std::mem::take(&mut sent.is_in_flight) {
                    bond.on_packet_acked(self.path, number, now);
                    newly += 1;
                }
            }
        }
        if newly == 0 {
            return;
        }
        self.in_flight -= newly;
        self.largest_acked = self.largest_acked.max(Some(largest));
        self.probes = 0;
        bond.on_acks_end(self.path, now);
        let path = self.path;
        self.log.record(LogDetail::Segments, || {
            let metrics = PathMetrics::of(bond.congestion(), path);
            LogEntry { time: now, path, event: EndEvent::PacketsAcked { metrics } }
        });
        self.give_up(bond, now);
    }

    /// A sample, if the newest packet of the acknowledgement is newly acknowledged (section 5.1).
    fn sample_rtt(&mut self, largest: u64, delay: Duration, now: Timestamp) {
        let index = largest.checked_sub(self.first).map(|index| index as usize);
        let newest = index.and_then(|index| self.sent.get(index)).filter(|sent| sent.is_in_flight);
        let Some(newest) = newest else { return };
        let sample = now.since(newest.at);
        let adjusted = sample.saturating_sub(delay.min(ACK_DELAY));
        let least = self.rtt.min().unwrap_or(sample);
        self.rtt.on_sample(if adjusted >= least { adjusted } else { sample });
    }

    /// Writes down what the bond has declared lost.
    pub(super) fn log_losses(&mut self, bond: &Bond, now: Timestamp) {
        if !self.log.keeps(LogDetail::Events) {
            return;
        }
        let (path, from) = (self.path, self.logged_below);
        for number in bond.declared_lost(path).filter(|&number| number >= from) {
            let lost = || LogEntry { time: now, path, event: EndEvent::PacketLost { number } };
            self.log.record(LogDetail::Events, lost);
            self.logged_below = number + 1;
        }
    }

    /// Gives up what has been missing for long.
    fn give_up(&mut self, bond: &mut Bond, now: Timestamp) {
        self.give_up_at = Timestamp::MAX;
        let Some(largest) = self.largest_acked else { return };
        let wait = self.patience();
        let mut newest_lost = None;
        let below = (largest + 1).saturating_sub(self.first).min(self.sent.len() as u64);
        for number in self.first..self.first + below {
            let sent = &mut self.sent[(number - self.first) as usize];
            if !sent.is_in_flight {
                continue;
            }
            if sent.at + wait <= now {
                sent.is_in_flight = false;
                self.in_flight -= 1;
                newest_lost = Some(sent.at);
                bond.on_packet_lost(self.path, number, now);
            } else {
                self.give_up_at = self.give_up_at.min(sent.at + wait);
            }
        }
        self.trim();
        if let Some(newest) = newest_lost {
            bond.on_losses_end(self.path, newest, now);
        }
    }

    fn patience(&self) -> Duration {
        let rtt = self.rtt.srtt().max(self.rtt.latest()).unwrap_or(INITIAL_RTT);
        rtt.mul_f64(TIME_THRESHOLD.into()).max(GRANULARITY)
    }

    fn trim(&mut self) {
        while self.sent.front().is_some_and(|sent| !sent.is_in_flight) {
            self.sent.pop_front();
            self.first += 1;
        }
    }

    /// When the timer fires: to give a packet up, else a probe (section 6.2.1).
    pub(super) fn next_timer(&self) -> Timestamp {
        if self.give_up_at < Timestamp::MAX {
            return self.give_up_at;
        }
        if self.in_flight == 0 {
            return Timestamp::MAX;
        }
        self.last_sent + self.probe_timeout()
    }

    fn probe_timeout(&self) -> Duration {
        let srtt = self.rtt.srtt().unwrap_or(INITIAL_RTT);
        let variation = (4 * self.rtt.rttvar()).max(GRANULARITY);
        (srtt + variation + ACK_DELAY) * (1 << self.probes.min(6))
    }

    /// The timer has fired. Returns whether a probe must be sent.
    pub(super) fn on_timer(&mut self, bond: &mut Bond, now: Timestamp) -> bool {
        if self.give_up_at <= now {
            self.give_up(bond, now);
            return false;
        }
        self.probes += 1;
        let (path, count) = (self.path, self.probes);
        let probe = || LogEntry { time: now, path, event: EndEvent::ProbeTimeout { count } };
        self.log.record(LogDetail::Events, probe);
        true
    }
}
