//! RED: random early detection (Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993).

use super::check::require;
use super::config::Room;
use super::fifo::Fifo;
use super::leaf::has_room;
use super::{Pipe, QueueLimit};
use crate::accounting::Accounting;
use crate::config_error::ConfigError;
use crate::counters::DropReason;
use crate::item::Item;
use crate::packet::Packet;
use crate::rng::Random;
use polypath_units::Timestamp;
use std::time::Duration;

/// The parameters of RED.
#[derive(Clone, Debug, PartialEq)]
pub struct RedConfig {
    /// Between which average queues the drop probability rises (5 and 15 packets: the
    /// paper's lower one, and three times that, as Floyd advised in 1997).
    pub thresholds: RedThresholds,
    /// The drop probability at the upper threshold (0.1, Floyd 1997).
    pub max_probability: f64,
    /// The weight of a new sample in the average, w_q (0.002).
    pub weight: f64,
    /// Whether the probability rises on to 1 at twice the upper threshold instead of jumping to 1
    /// (Floyd 2000). On by default.
    pub gentle: bool,
    /// Whether ECN-capable packets are marked instead of dropped while the probability is below
    /// 1. Off by default.
    pub ecn: bool,
    /// The mean packet in bytes (1000 B): its transmission time counts idle time, and in byte mode
    /// the probability of a packet is proportional to its size over this one.
    pub mean_packet: u32,
    /// The most that may really wait (100 packets).
    pub limit: QueueLimit,
}

/// Two average queue sizes; their unit is that in which the queue is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RedThresholds {
    /// In packets: every packet is as likely to be dropped.
    Packets {
        /// No drops below.
        min: u64,
        /// The drop probability has reached its maximum.
        max: u64,
    },
    /// In bytes: large packets are more likely to be dropped.
    Bytes {
        /// No drops below.
        min: u64,
        /// The drop probability has reached its maximum.
        max: u64,
    },
}

impl Default for RedConfig {
    fn default() -> Self {
        Self {
            thresholds: RedThresholds::Packets { min: 5, max: 15 },
            max_probability: 0.1,
            weight: 0.002,
            gentle: true,
            ecn: false,
            mean_packet: 1000,
            limit: QueueLimit::Packets(100),
        }
    }
}

impl RedConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        const NAME: &str = "red";
        self.limit.check()?;
        let (min, max) = self.thresholds.bounds();
        let allowed = "more than the lower threshold is allowed";
        require(min < max, (NAME, "max_threshold"), max, allowed)?;
        let allowed = "above 0 and up to 1 is allowed";
        let share = |given: f64| given > 0.0 && given <= 1.0;
        let probability = self.max_probability;
        require(share(probability), (NAME, "max_probability"), probability, allowed)?;
        require(share(self.weight), (NAME, "weight"), self.weight, allowed)?;
        require(self.mean_packet > 0, (NAME, "mean_packet"), self.mean_packet, "from 1 B on")
    }
}

impl RedThresholds {
    fn bounds(self) -> (f64, f64) {
        let (Self::Packets { min, max } | Self::Bytes { min, max }) = self;
        (min as f64, max as f64)
    }

    fn is_bytes(self) -> bool {
        matches!(self, Self::Bytes { .. })
    }
}

/// What RED does with an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// Marked, or dropped if it cannot be.
    Early,
    /// Dropped: the average is beyond all thresholds.
    Forced,
}

/// RED at work.
#[derive(Clone, Debug)]
pub(crate) struct Red<P> {
    config: RedConfig,
    room: Room,
    /// The transmission time of the mean packet; `None` at rate zero.
    packet_time: Option<Duration>,
    average: f64,
    /// Packets since the last one that was marked or dropped early; `None` while the average is
    /// below the thresholds (-1 in the paper).
    count: Option<u64>,
    idle_since: Option<Timestamp>,
    random: Random,
    pub(super) fifo: Fifo<P>,
}

impl<P: Packet> Red<P> {
    pub(super) fn new(config: &RedConfig, pipe: Pipe<'_>, random: Random) -> Self {
        Self {
            config: config.clone(),
            room: Room::of(config.limit, pipe),
            packet_time: packet_time(config, pipe),
            average: 0.0,
            count: None,
            idle_since: None,
            random,
            fifo: Fifo::new(),
        }
    }

    pub(super) fn fit(&mut self, pipe: Pipe<'_>) {
        self.room = Room::of(self.config.limit, pipe);
        self.packet_time = packet_time(&self.config, pipe);
    }

    pub(super) fn enqueue(
        &mut self,
        mut item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        self.update_average(item.entered);
        let verdict = self.judge(item.bytes);
        if verdict != Verdict::Pass {
            self.count = Some(0);
            if verdict == Verdict::Forced || !accounting.mark(&mut item, self.config.ecn) {
                return Err(accounting.drop_waiting(DropReason::Aqm, item));
            }
        }
        if !has_room(&self.fifo, self.room, item.bytes, idle) {
            self.count = Some(0);
            return Err(accounting.drop_waiting(DropReason::QueueFull, item));
        }
        self.fifo.push(item);
        Ok(())
    }

    pub(super) fn dequeue(&mut self, now: Timestamp) -> Option<Item<P>> {
        let item = self.fifo.pop();
        if item.is_none() {
            self.idle_since.get_or_insert(now);
        }
        item
    }

    /// A moving average of what arrivals find. After an idle time it is what it would be if as many
    /// small packets had arrived as could have been sent.
    fn update_average(&mut self, now: Timestamp) {
        let weight = self.config.weight;
        if let Some(since) = self.idle_since.take() {
            let packets = self.packet_time.map_or(0.0, |time| {
                now.since(since).as_nanos() as f64 / time.as_nanos().max(1) as f64
            });
            self.average *= libm::pow(1.0 - weight, packets);
            return;
        }
        let queue = match self.config.thresholds.is_bytes() {
            true => self.fifo.bytes() as f64,
            false => self.fifo.len() as f64,
        };
        self.average += weight * (queue - self.average);
    }

    fn judge(&mut self, bytes: u32) -> Verdict {
        let Some(probability) = self.base_probability() else {
            self.count = None;
            return Verdict::Pass;
        };
        if probability >= 1.0 {
            return Verdict::Forced;
        }
        let count = self.count.map_or(0, |count| count + 1);
        self.count = Some(count);
        let size = f64::from(bytes) / f64::from(self.config.mean_packet);
        let scale = if self.config.thresholds.is_bytes() { size } else { 1.0 };
        match self.random.chance(spread(probability * scale, count)) {
            true => Verdict::Early,
            false => Verdict::Pass,
        }
    }

    /// p_b of the paper for the average now; `None` below the thresholds.
    fn base_probability(&self) -> Option<f64> {
        let ((min, max), top) = (self.config.thresholds.bounds(), self.config.max_probability);
        let average = self.average;
        if average < min {
            None
        } else if average < max {
            Some(top * (average - min) / (max - min))
        } else if self.config.gentle {
            Some((top + (1.0 - top) * (average / max - 1.0)).min(1.0))
        } else {
            Some(1.0)
        }
    }
}

/// p_a of the paper: makes the gaps between drops uniform instead of geometric.
fn spread(probability: f64, count: u64) -> f64 {
    let rest = 1.0 - count as f64 * probability;
    if rest > probability { probability / rest } else { 1.0 }
}

fn packet_time(config: &RedConfig, pipe: Pipe<'_>) -> Option<Duration> {
    pipe.rate().time_to_send(config.mean_packet.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_units::Bandwidth;

    /// How many of `packets` of this size RED drops early while the average stays, and the longest
    /// gap.
    fn drops(config: &RedConfig, average: f64, bytes: u32, packets: u64) -> (u64, u64) {
        let rate = Bandwidth::from_mbit_per_sec(10.0).into();
        let pipe = Pipe { rate: &rate, delay: Duration::ZERO };
        let [random] = Random::streams(1);
        let mut red: Red<()> = Red::new(config, pipe, random);
        red.average = average;
        let (mut drops, mut longest, mut gap) = (0, 0, 0);
        for _ in 0..packets {
            gap += 1;
            if red.judge(bytes) == Verdict::Early {
                (drops, longest, gap) = (drops + 1, longest.max(gap), 0);
                red.count = Some(0);
            }
        }
        (drops, longest)
    }

    /// With p_a = p_b / (1 - count p_b) gaps are uniform in 1 to g = 1 / p_b - 1 (as the
    /// paper derives), so
    /// the drop rate is 2 p_b. Gaps have variance (g^2 - 1) / 12 and mean m = (g + 1) / 2, so drops
    /// of n packets have variance n (g^2 - 1) / 12 / m^3; the bound is five standard deviations.
    fn check(config: &RedConfig, average: f64, bytes: u32, base: f64) {
        let packets = 200_000;
        let (drops, longest) = drops(config, average, bytes, packets);
        let (expected, longest_gap) = (packets as f64 * 2.0 * base, 1.0 / base - 1.0);
        let mean = (longest_gap + 1.0) / 2.0;
        let variance = packets as f64 * (longest_gap.powi(2) - 1.0) / 12.0 / mean.powi(3);
        let error = (drops as f64 - expected).abs();
        assert!(error < 5.0 * variance.sqrt(), "{drops} drops, not {expected}");
        // Rounding may put the certain drop off by one packet.
        assert!((longest_gap - 0.5..longest_gap + 1.5).contains(&(longest as f64)), "{longest}");
    }

    #[test]
    fn drops_rise_linearly_between_the_thresholds() {
        let config = RedConfig::default();
        for (average, base) in [(7.0, 0.02), (9.0, 0.04), (10.0, 0.05)] {
            check(&config, average, 1500, base);
        }
        assert_eq!(drops(&config, 4.99, 1500, 100_000).0, 0);
    }

    /// Floyd 2000: from the maximum at the upper threshold on to 1 at twice that.
    #[test]
    fn a_gentle_rise_goes_on_above_them() {
        // 0.1 + 0.9 / 6 = 0.25 at 15 x 7 / 6.
        check(&RedConfig::default(), 17.5, 1500, 0.25);
        let steep = RedConfig { gentle: false, ..RedConfig::default() };
        let rate = Bandwidth::from_mbit_per_sec(10.0).into();
        let pipe = Pipe { rate: &rate, delay: Duration::ZERO };
        let [random] = Random::streams(1);
        let mut red: Red<()> = Red::new(&steep, pipe, random);
        red.average = 15.0;
        assert_eq!(red.judge(1500), Verdict::Forced);
    }

    #[test]
    fn in_byte_mode_small_packets_are_dropped_less_often() {
        let thresholds = RedThresholds::Bytes { min: 5_000, max: 15_000 };
        let config = RedConfig { thresholds, ..RedConfig::default() };
        check(&config, 10_000.0, 1000, 0.05);
        check(&config, 10_000.0, 500, 0.025);
        let packets = RedConfig::default();
        check(&packets, 10.0, 500, 0.05);
    }

    /// At 8 Mbit/s a mean packet of 1000 B takes 1 ms: 10 ms of idle time are ten samples of an
    /// empty queue.
    #[test]
    fn idle_time_decays_the_average() {
        let rate = Bandwidth::from_mbit_per_sec(8.0).into();
        let pipe = Pipe { rate: &rate, delay: Duration::ZERO };
        let [random] = Random::streams(1);
        let mut red: Red<()> = Red::new(&RedConfig::default(), pipe, random);
        red.average = 10.0;
        red.dequeue(Timestamp::from_millis(5));
        red.dequeue(Timestamp::from_millis(7));
        red.update_average(Timestamp::from_millis(15));
        let expected = (0..10).fold(10.0, |average, _| average * (1.0 - 0.002));
        assert!((red.average - expected).abs() < 1e-12, "{}", red.average);
    }
}
