//! Packet-timed rounds and delivery-rate samples.
//!
//! Source: draft-ietf-ccwg-bbr, "Tracking packet-timed round trips" and "Delivery rate samples".
//! Each packet carries a snapshot of the sender's counters ([`SentPacket`]); its acknowledgement
//! turns that into the rate over the longer of the send and the ACK phase:
//!
//! ```text
//! interval = max(P.sent_at - P.first_sent_at, delivered_at - P.delivered_at)
//! rate     = (delivered - P.delivered) / interval      valid if interval >= rtt_min and > 0
//! ```

use super::FlightTime;
use crate::congestion::RateSample;
use polypath_units::Timestamp;
use std::time::Duration;

/// A round takes at least this share of what the packets acknowledged in it took. Where packets
/// overtake each other, a fast one ends a round long before the others have come, and ten rounds,
/// or three without growth, are no time at all. Where they do not, a round is as long as its
/// packets take, but where the RTT falls to less than half.
const LEAST_ROUND: f64 = 0.5;

/// What the sender knew when it sent a packet. The world keeps it with the packet and hands it
/// back when the packet is acknowledged, lost or forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Size in bytes, as counted against the window.
    pub bytes: u64,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// Whether its acknowledgement cannot tell it from an earlier transmission of the same data
    /// (TCP without timestamps): it then gives no RTT sample (Karn's rule). The world sets it.
    pub ambiguous: bool,
    pub(crate) incarnation: u32,
    /// Whether it was sent in slow start.
    pub(crate) in_slow_start: bool,
    delivered: u64,
    delivered_at: Timestamp,
    first_sent_at: Timestamp,
    app_limited: bool,
    in_flight: u64,
    lost: u64,
}

impl SentPacket {
    /// Total bytes delivered when it was sent.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether the sender was application-limited when it was sent.
    pub const fn app_limited(&self) -> bool {
        self.app_limited
    }

    /// Bytes in flight when it was sent, itself included.
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }
}

/// Counts deliveries of one subflow; makes rounds and rate samples of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryTracker {
    delivered: u64,
    delivered_at: Timestamp,
    first_sent_at: Timestamp,
    /// The sender is application-limited until this much is delivered; 0 = it is not.
    app_limited_until: u64,
    lost: u64,
    round: u64,
    next_round_delivered: u64,
    round_began: Timestamp,
    /// Of what was acknowledged in the present round.
    flight_time: FlightTime,
}

impl DeliveryTracker {
    /// A packet of `bytes` is sent while `in_flight` bytes, itself not included, are in flight.
    pub fn on_sent(&mut self, now: Timestamp, bytes: u64, in_flight: u64) -> SentPacket {
        if in_flight == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SentPacket {
            bytes,
            sent_at: now,
            ambiguous: false,
            incarnation: 0,
            in_slow_start: false,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited_until != 0,
            in_flight: in_flight.saturating_add(bytes),
            lost: self.lost,
        }
    }

    /// A packet was acknowledged.
    pub fn on_acked(&mut self, now: Timestamp, packet: &SentPacket) {
        self.flight_time.add(now.since(packet.sent_at), packet.bytes);
        self.delivered = self.delivered.saturating_add(packet.bytes);
        self.delivered_at = now;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
    }

    /// A packet was declared lost.
    pub const fn on_lost(&mut self, packet: &SentPacket) {
        self.lost = self.lost.saturating_add(packet.bytes);
    }

    /// A packet that was declared lost is in flight after all.
    pub const fn on_loss_reverted(&mut self, packet: &SentPacket) {
        self.lost = self.lost.saturating_sub(packet.bytes);
    }

    /// The rate sample of an ACK event, taken after every packet of it went through
    /// [`DeliveryTracker::on_acked`]; `newest` is the one of them that was sent last. `None` if
    /// the interval is shorter than `rtt_min`: the ACKs were compressed.
    pub fn sample(&mut self, newest: &SentPacket, rtt_min: Duration) -> Option<RateSample> {
        self.first_sent_at = newest.sent_at;
        let send_elapsed = newest.sent_at.since(newest.first_sent_at);
        let ack_elapsed = self.delivered_at.since(newest.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        if interval.is_zero() || interval < rtt_min {
            return None;
        }
        let delivered = self.delivered.saturating_sub(newest.delivered);
        Some(RateSample {
            delivered,
            interval,
            bytes_per_sec: delivered as f64 / interval.as_secs_f64(),
            app_limited: newest.app_limited,
            lost: self.lost_since(newest),
            tx_in_flight: newest.in_flight,
        })
    }

    /// Whether a packet-timed round ends with the ACK whose newest packet is `newest`: it was
    /// sent after everything of the last round was delivered, and the round was not a short one.
    pub(crate) fn end_round(&mut self, newest: &SentPacket) -> bool {
        let ended = newest.delivered >= self.next_round_delivered && !self.round_is_short();
        if ended {
            self.round_began = self.delivered_at;
            self.flight_time = FlightTime::default();
            self.next_round_delivered = self.delivered;
            self.round += 1;
        }
        ended
    }

    fn round_is_short(&self) -> bool {
        let usual = self.flight_time.mean().unwrap_or_default();
        self.delivered_at.since(self.round_began) < usual.mul_f64(LEAST_ROUND)
    }

    /// The sender has room but nothing to send: packets sent from now until all that is in flight
    /// is delivered tell only a lower bound of the rate.
    pub fn set_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = self.delivered.saturating_add(in_flight).max(1);
    }

    /// Total bytes delivered.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes declared lost since `packet` was sent.
    pub(crate) const fn lost_since(&self, packet: &SentPacket) -> u64 {
        self.lost.saturating_sub(packet.lost)
    }

    /// Total bytes declared lost.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// The number of the present round: 0 before the first ACK.
    pub const fn round(&self) -> u64 {
        self.round
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn packet_and_tracker() -> (SentPacket, DeliveryTracker) {
        let mut tracker = DeliveryTracker {
            delivered: 10_000,
            delivered_at: at(100),
            first_sent_at: at(80),
            ..Default::default()
        };
        let packet = tracker.on_sent(at(110), 30_000, 1);
        tracker.on_acked(at(150), &packet);
        (packet, tracker)
    }

    #[test]
    fn t_rate_1() {
        let (packet, mut tracker) = packet_and_tracker();
        assert_eq!(tracker.delivered(), 40_000);
        let sample = tracker.sample(&packet, Duration::from_millis(40)).unwrap();
        assert_eq!(sample.interval, Duration::from_millis(50));
        assert!((sample.bytes_per_sec - 600_000.0).abs() < 1e-6);
        let (packet, mut tracker) = packet_and_tracker();
        assert_eq!(tracker.sample(&packet, Duration::from_millis(60)), None);
    }

    #[test]
    fn the_application_limit_ends_when_all_marked_data_is_delivered() {
        let mut tracker = DeliveryTracker::default();
        let first = tracker.on_sent(at(0), 1_000, 0);
        tracker.set_app_limited(1_000);
        let second = tracker.on_sent(at(1), 1_000, 1_000);
        tracker.on_acked(at(10), &first);
        let third = tracker.on_sent(at(10), 1_000, 1_000);
        tracker.on_acked(at(11), &second);
        let fourth = tracker.on_sent(at(11), 1_000, 1_000);
        let limited = [first, second, third, fourth].map(|p| p.app_limited());
        assert_eq!(limited, [false, true, true, false]);
    }

    #[test]
    fn a_round_ends_with_the_first_packet_sent_after_the_last_round() {
        let mut tracker = DeliveryTracker::default();
        let [a, b] = [0, 1].map(|t| tracker.on_sent(at(t), 100, t * 100));
        tracker.on_acked(at(10), &a);
        assert!(tracker.end_round(&a));
        let c = tracker.on_sent(at(10), 100, 100);
        tracker.on_acked(at(11), &b);
        assert!(!tracker.end_round(&b), "sent before the round began");
        tracker.on_acked(at(20), &c);
        assert!(tracker.end_round(&c));
        assert_eq!(tracker.round(), 2);
    }

    #[test]
    fn a_packet_that_overtakes_others_ends_no_round_before_they_have_come() {
        let mut tracker = DeliveryTracker::default();
        let [first, slow] = [0, 20].map(|sent| tracker.on_sent(at(sent), 1_000, 0));
        tracker.on_acked(at(100), &first);
        assert!(tracker.end_round(&first));
        let mut ends_with = |packet: SentPacket, acked| {
            tracker.on_acked(at(acked), &packet);
            let ended = tracker.end_round(&packet);
            (ended, tracker.on_sent(at(acked), 1_000, 1_000))
        };
        let (ended, fast) = ends_with(slow, 105);
        assert!(!ended, "sent before the round began");
        let (ended, fast) = ends_with(fast, 115);
        assert!(!ended, "15 ms, and the two took 85 and 10 ms");
        assert!(ends_with(fast, 125).0, "25 ms, and the three took 105 ms together");
    }

    #[test]
    fn a_sample_counts_what_was_lost_since_the_packet_was_sent() {
        let mut tracker = DeliveryTracker::default();
        let [a, b] = [0, 1].map(|t| tracker.on_sent(at(t), 100, t * 100));
        tracker.on_lost(&a);
        tracker.on_acked(at(20), &b);
        let sample = tracker.sample(&b, Duration::ZERO).unwrap();
        assert_eq!((sample.lost, sample.tx_in_flight, tracker.lost()), (100, 200, 100));
    }
}
