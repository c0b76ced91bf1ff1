//! `polypath`: the controller that a bond has unless another is chosen.
//!
//! Polypath's own, on the model and the start-up of [`Bbr`];
//! `docs/algorithms/congestion/polypath.md` compares the two, and what replaces BBR's gain cycle
//! was chosen by comparison of all combinations (`docs/compare.md`). Bandwidth in bytes/s, windows
//! in bytes:
//!
//! ```text
//! bw     = max of rate samples over 10 rounds; of the last two once a queue has stood in a round
//! rtprop = min RTT, measured anew every 10 s in 3/4 of a BDP, and after 6 rounds with RTTs above
//!          1.5 times what the window explains, or 20 rounds above 1.1 times that
//! cwnd   -> ceil(1.0 * bw * rtprop) + room * (extra acked + 3 quanta)        pacing = 1.25 * bw
//! both times 2 after two rounds in which bw rose by a tenth without a queue, while it rises
//! ```
//!
//! - There is no gain cycle. A few milliseconds of data always wait at the link (three quanta, and
//!   what aggregation of ACKs explains), so that a rising rate is found a round later, instead of
//!   once in eight rounds; the window, not pacing, limits the flow. Where the rate has become many
//!   times what it was, as after a blockage, steps of a few milliseconds take long: after growth in
//!   two rounds in a row the gains are those of a start-up, until a round brings no growth.
//! - If a queue stood for a whole round (all its RTTs above 2 propagation times), the link was
//!   busy: what it delivered is its rate, even if the scheduler held data back. BBR keeps the
//!   maximum of ten rounds, which last seconds when the rate has fallen to a tenth.
//! - Where more than a twentieth is lost while a queue stands, the link's queue cannot hold what
//!   the window has above a BDP. That room is cut to 0.7, and comes back in rounds without such
//!   losses.
//! - Measuring the propagation time costs a quarter of a BDP for one round instead of all but four
//!   segments for 200 ms.
//! - A queue that stands although the window followed it is not the flow's own. Either the path has
//!   become longer, or others fill it: the propagation time is measured anew at once, and if it
//!   rose, the bandwidth is restored. A path that became a little longer shows after more rounds.
//!
//! Other losses affect it as little as BBR: they end start-up and are followed by packet
//! conservation. Each subflow acts on its own. Through one bottleneck with a loss-based TCP two
//! subflows still take only about half, because they give way to the queue of the TCP, which BBR
//! does not.

use super::bbr::steady::Steady;
use super::{Bbr, BbrParameters, CongestionAvoidance};
use crate::registry::{Description, Kind, Values, parameters};

parameters! {
    /// The constants of `polypath`.
    pub struct PolypathParameters {
        /// Pacing gain of start-up, 2/ln 2 as BBR has it.
        pub high_gain: f64 = BbrParameters::DEFAULT.high_gain, "high_gain", "",
            "pacing gain of start-up; drain uses its inverse", 1.0 to 100.0;
        /// Window gain of start-up and drain.
        pub startup_cwnd_gain: f64 = BbrParameters::DEFAULT.startup_cwnd_gain,
            "startup_cwnd_gain", "", "window gain of start-up and drain", 0.1 to 100.0;
        /// Window after start-up in bandwidth-delay products. Below 1 the measured bandwidth falls
        /// with the window where an RTT is so long that three quanta do not make up for it.
        pub cwnd_gain: f64 = 1.0, "cwnd_gain", "",
            "window after start-up in bandwidth-delay products", 0.1 to 100.0;
        /// Pacing gain after start-up.
        pub pacing_gain: f64 = 1.25, "pacing_gain", "", "pacing gain after start-up", 0.1 to 100.0;
        /// The smallest window in segments.
        pub min_cwnd_segments: f64 = 4.0, "min_cwnd", "segments", "smallest window", 1.0 to 1e6;
        /// Rounds over which the bandwidth is the maximum.
        pub bandwidth_rounds: f64 = 10.0, "bandwidth_rounds", "rounds",
            "window of the bandwidth maximum while no queue stands", 1.0 to 1e6;
        /// Seconds after which the propagation time is measured anew.
        pub rtprop_secs: f64 = 10.0, "rtprop_window", "s",
            "age at which the propagation time is measured anew", 0.001 to 1e9;
        /// What may be in flight then, in bandwidth-delay products.
        pub probe_rtt_gain: f64 = 0.75, "probe_rtt_gain", "",
            "window of that measurement in bandwidth-delay products", 0.0 to 1.0;
        /// RTTs above this many propagation times show a queue.
        pub queue_rtts: f64 = 2.0, "queue_rtts", "",
            "RTT in propagation times above which a queue stands", 1.0 to 1e6;
        /// RTTs above this many times what the window explains show a queue that is not ours.
        pub foreign_rtts: f64 = 1.5, "foreign_rtts", "",
            "RTT in times of what the window explains above which a queue is not ours", 1.0 to 1e6;
        /// Rounds of that after which the propagation time is measured anew.
        pub patience_rounds: f64 = 6.0, "patience", "rounds",
            "rounds of such a queue after which the propagation time is measured anew", 1.0 to 1e6;
        /// RTTs above this many times what the window explains show a queue that is partly foreign.
        pub excess_rtts: f64 = 1.1, "excess_rtts", "",
            "RTT in times of what the window explains above which not all of the queue is ours", 1.0 to 1e6;
        /// Rounds of that after which the propagation time is measured anew.
        pub excess_rounds: f64 = 20.0, "excess_rounds", "rounds",
            "rounds of that after which the propagation time is measured anew", 1.0 to 1e6;
        /// Factor of the bandwidth from round to round that is growth.
        pub growth: f64 = 1.1, "growth", "",
            "factor by which the bandwidth rises in a round of growth", 1.0 to 100.0;
        /// Rounds of growth in a row that make the link a faster one.
        pub growth_rounds: f64 = 2.0, "growth_rounds", "rounds",
            "rounds of growth in a row after which growth_gain holds", 1.0 to 1e6;
        /// Pacing and window gain from then on, until a round without growth.
        pub growth_gain: f64 = 2.0, "growth_gain", "",
            "pacing and window gain while the bandwidth grows; 1 = never more", 1.0 to 100.0;
        /// Share of losses with a queue above which the window has more room than the queue.
        pub overflow_loss: f64 = 0.05, "overflow_loss", "",
            "share of losses with a queue above which the room above a BDP is cut; 1 = never", 0.0 to 1.0;
        /// What is left of the room above a BDP then.
        pub overflow_cut: f64 = 0.7, "overflow_cut", "",
            "factor by which the room above a BDP is cut", 0.0 to 1.0;
        /// What the room grows by in a round without, as a share of all of it.
        pub overflow_growth: f64 = 0.05, "overflow_growth", "",
            "share of the room above a BDP that comes back in a round without such losses", 0.0 to 1.0;
    }
}

impl PolypathParameters {
    /// What replaces the gain cycle.
    pub(super) const fn steady(&self) -> Steady {
        Steady {
            pacing_gain: self.pacing_gain,
            probe_rtt_gain: self.probe_rtt_gain,
            queue_rtts: self.queue_rtts,
            foreign_rtts: self.foreign_rtts,
            patience_rounds: self.patience_rounds,
            excess_rtts: self.excess_rtts,
            excess_rounds: self.excess_rounds,
            growth: self.growth,
            growth_rounds: self.growth_rounds,
            growth_gain: self.growth_gain,
            overflow_loss: self.overflow_loss,
            overflow_cut: self.overflow_cut,
            overflow_growth: self.overflow_growth,
        }
    }
}

/// The default controller of a bond: [`Bbr`] without a gain cycle.
#[derive(Clone, Copy, Debug)]
pub enum Polypath {}

impl Polypath {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "polypath",
        purpose: "BBR's model with a window that follows standing queues: the default of a bond",
        source: "Polypath; model and start-up of BBR (CACM 60(2), 2017; draft-ietf-ccwg-bbr)",
        parameters: PolypathParameters::PARAMETERS,
    };

    /// The controller with other constants.
    pub fn controller(parameters: PolypathParameters) -> Bbr {
        let bbr = BbrParameters {
            high_gain: parameters.high_gain,
            startup_cwnd_gain: parameters.startup_cwnd_gain,
            cwnd_gain: parameters.cwnd_gain,
            min_cwnd_segments: parameters.min_cwnd_segments,
            bandwidth_rounds: parameters.bandwidth_rounds,
            rtprop_secs: parameters.rtprop_secs,
            // Acknowledgements delimit rounds: one is enough.
            probe_rtt_ms: 0.0,
            ..BbrParameters::DEFAULT
        };
        Bbr::steady(bbr, parameters.steady())
    }

    /// An instance for the registry. Nothing in it is random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::controller(PolypathParameters::of(values)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, path, rate, subflows};
    use crate::congestion::{Ack, RateSample, Subflows};
    use polypath_units::Timestamp;
    use std::time::Duration;

    const MSS: u64 = 1_500;
    /// 100 Mbit/s in bytes/s; over 20 ms a BDP of 250,000 bytes.
    const RATE: f64 = 12.5e6;

    /// A sender whose rounds consist of one ACK each.
    struct Sender {
        control: Bbr,
        subflows: Subflows,
        now: Timestamp,
        delivered: u64,
    }

    impl Sender {
        fn new() -> Self {
            Self {
                control: Polypath::controller(PolypathParameters::DEFAULT),
                subflows: subflows(MSS, &[(400.0 * MSS as f64, 20)]),
                now: Timestamp::ZERO,
                delivered: 0,
            }
        }

        /// Through start-up and drain.
        fn steady() -> Self {
            let mut sender = Self::new();
            (0..5).for_each(|_| sender.round(20, RATE));
            sender.round_with(20, RATE, |ack| Ack { bytes_in_flight: 100_000, ..ack });
            (0..3).for_each(|_| sender.round(20, RATE));
            sender
        }

        fn round(&mut self, rtt_ms: u64, bytes_per_sec: f64) {
            self.round_with(rtt_ms, bytes_per_sec, |ack| ack);
        }

        /// A round of this RTT in which the link delivers at this rate.
        fn round_with(&mut self, rtt_ms: u64, bytes_per_sec: f64, change: impl Fn(Ack) -> Ack) {
            let rtt = Duration::from_millis(rtt_ms);
            self.now += rtt;
            let acked = (bytes_per_sec * rtt.as_secs_f64()) as u64;
            let prior_delivered = self.delivered;
            self.delivered += acked;
            let event = change(Ack {
                now: self.now,
                rtt: Some(rtt),
                rate: Some(rate(bytes_per_sec)),
                delivered: self.delivered,
                prior_delivered,
                round_start: true,
                bytes_in_flight: self.cwnd() as u64,
                ..ack(acked, MSS)
            });
            self.control.on_ack(path(0), &event, &mut self.subflows);
        }

        fn cwnd(&self) -> f64 {
            self.subflows.get(path(0)).expect("it was inserted").cwnd
        }

        fn bandwidth(&self) -> f64 {
            self.control.bandwidth_estimate(path(0)).expect("a rate was measured")
        }

        /// Pacing over the bandwidth.
        fn gain(&self) -> f64 {
            self.pacing() / (0.99 * self.bandwidth())
        }

        fn pacing(&self) -> f64 {
            let pacing = self.control.pacing_rate(path(0)).expect("an RTT was measured");
            pacing.bytes_per_sec()
        }
    }

    /// A BDP is 167 segments, a quantum of a millisecond at 1.25 times the rate less 1 % is 10 of
    /// them, and the even number above 167 + 30 is 198. ACKs of whole rounds look like aggregation:
    /// the window may hold that in addition, 100 ms at the rate at most.
    #[test]
    fn the_window_is_three_quanta_above_the_bdp() {
        let sender = Sender::steady();
        assert!((sender.pacing() / (1.25 * 0.99 * RATE) - 1.0).abs() < 1e-9);
        let cwnd = sender.cwnd() / MSS as f64;
        assert!((198.0..=198.0 + 0.1 * RATE / MSS as f64).contains(&cwnd), "{cwnd}");
        let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
        let mut sender = sender;
        (0..10).for_each(|_| sender.round_with(20, RATE, quiet));
        assert_eq!(sender.cwnd() / MSS as f64, 198.0);
    }

    /// A tenth is lost behind a queue: 0.7 of the quanta's 30 segments are left above the BDP.
    /// Without a queue all of them are left.
    #[test]
    fn what_the_queue_does_not_hold_the_window_leaves_out() {
        let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
        for (rtt, segments) in [(26, 188.0), (25, 198.0)] {
            let mut sender = Sender::steady();
            sender.round_with(rtt, RATE, |ack| Ack { lost_bytes: ack.acked_bytes / 9, ..ack });
            (0..10).for_each(|_| sender.round_with(20, RATE, quiet));
            assert_eq!(sender.cwnd() / MSS as f64, segments, "{rtt} ms");
        }
    }

    /// The rate falls to a quarter. The first round with a queue still knows samples of before; the
    /// second does not. That the scheduler sent nothing meanwhile makes no difference.
    #[test]
    fn a_standing_queue_tells_the_rate() {
        let mut sender = Sender::steady();
        let held_back = |ack: Ack| {
            let rate = ack.rate.map(|sample| RateSample { app_limited: true, ..sample });
            Ack { rate, ..ack }
        };
        (0..2).for_each(|_| sender.round_with(60, RATE / 4.0, held_back));
        assert!((sender.pacing() / (1.25 * 0.99 * RATE) - 1.0).abs() < 1e-9);
        (0..2).for_each(|_| sender.round_with(60, RATE / 4.0, held_back));
        assert!((sender.pacing() / (1.25 * 0.99 * RATE / 4.0) - 1.0).abs() < 1e-9);
    }

    /// Without a queue, an application-limited sample is a lower bound and lowers nothing.
    #[test]
    fn without_a_queue_little_data_says_nothing_of_the_rate() {
        let mut sender = Sender::steady();
        for _ in 0..30 {
            sender.round_with(20, RATE / 4.0, |ack| {
                let rate = ack.rate.map(|sample| RateSample { app_limited: true, ..sample });
                Ack { rate, ..ack }
            });
        }
        assert!((sender.pacing() / (1.25 * 0.99 * RATE) - 1.0).abs() < 1e-9);
    }

    /// The path becomes three times as long. The window over the RTT is a third of the rate, the
    /// bandwidth falls, and the queue stays: after six rounds less than a BDP is in flight for a
    /// round, and then the new propagation time and the old bandwidth hold.
    #[test]
    fn a_longer_path_is_found_and_costs_no_bandwidth() {
        let mut sender = Sender::steady();
        let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
        (0..10).for_each(|_| sender.round_with(20, RATE, quiet));
        (0..7).for_each(|_| sender.round_with(60, sender.cwnd() / 0.06, quiet));
        assert!(sender.pacing() < 0.5 * RATE, "the queue has been followed: {}", sender.pacing());
        for _ in 0..4 {
            let little = |ack: Ack| Ack { bytes_in_flight: 0, ..ack };
            sender.round_with(60, RATE / 10.0, little);
        }
        assert!((sender.pacing() / (1.25 * 0.99 * RATE) - 1.0).abs() < 1e-9, "{}", sender.pacing());
        (0..5).for_each(|_| sender.round(60, RATE));
        assert!(sender.cwnd() > 1.1 * 3.0 * 250_000.0, "{}", sender.cwnd());
    }

    /// The path becomes longer by two fifths, less than what shows a queue: what is measured falls
    /// with the window, until after 20 rounds the propagation time is measured anew. It is 28 ms
    /// then.
    #[test]
    fn a_path_that_becomes_a_little_longer_is_found() {
        let mut sender = Sender::steady();
        let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
        (0..10).for_each(|_| sender.round_with(20, RATE, quiet));
        let probes = |sender: &Sender| sender.control.holds_back(path(0));
        let mut rounds = 0;
        while !probes(&sender) {
            sender.round_with(28, sender.cwnd() / 0.028, quiet);
            rounds += 1;
        }
        assert_eq!(rounds, 21, "the first round's RTTs are known when it ends");
        let little = |ack: Ack| Ack { bytes_in_flight: 0, ..ack };
        (0..4).for_each(|_| sender.round_with(28, RATE / 10.0, little));
        (0..20).for_each(|_| sender.round_with(28, RATE, |ack| ack));
        (0..10).for_each(|_| sender.round_with(28, RATE, quiet));
        // 234 segments, and the quanta of 10.
        assert_eq!(sender.cwnd() / MSS as f64, 264.0);
    }

    /// The rate of the link is now eight times as much. Each round delivers what was in flight. One
    /// round of growth may be chance; after the second the gain is 2, until what is delivered grows
    /// no more.
    #[test]
    fn growth_in_two_rounds_in_a_row_doubles_the_gains() {
        let mut sender = Sender::steady();
        let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
        (0..12).for_each(|_| sender.round_with(20, RATE, quiet));
        sender.round(20, 1.12 * RATE);
        assert!((sender.gain() - 1.25).abs() < 1e-9, "{}", sender.gain());
        sender.round(20, 1.25 * RATE);
        assert!((sender.gain() - 2.0).abs() < 1e-9, "{}", sender.gain());
        assert!(sender.cwnd() > 1.9 * 1.12 * 250_000.0, "{}", sender.cwnd());
        sender.round(20, 1.25 * RATE);
        assert!((sender.gain() - 1.25).abs() < 1e-9, "{}", sender.gain());
    }

    fn limited(ack: Ack) -> Ack {
        let rate = ack.rate.map(|sample| RateSample { app_limited: true, ..sample });
        Ack { rate, ..ack }
    }

    /// The receive window or the scheduler limits all samples of a sender: where every RTT shows a
    /// queue, three rounds without growth end start-up all the same, and the window is one BDP.
    #[test]
    fn a_limited_sender_that_queues_leaves_start_up() {
        let mut sender = Sender::new();
        sender.round_with(20, RATE, limited);
        (0..5).for_each(|_| sender.round_with(26, RATE, limited));
        sender.round_with(26, RATE, |ack| Ack { bytes_in_flight: 100_000, ..limited(ack) });
        assert!((sender.gain() - 1.25).abs() < 1e-9, "{}", sender.gain());
        let mut unqueued = Sender::new();
        (0..50).for_each(|_| unqueued.round_with(24, RATE, limited));
        assert!(unqueued.gain() > 2.8, "{}", unqueued.gain());
    }

    /// The receive window opens in bursts: three quarters of each find no queue.
    #[test]
    fn a_limited_sender_that_queues_at_times_leaves_start_up() {
        let mut sender = Sender::new();
        sender.round_with(20, RATE, limited);
        for _ in 0..5 {
            let part = |ack: Ack| Ack { acked_bytes: 3 * ack.acked_bytes, ..limited(ack) };
            sender.round_with(20, RATE, part);
            let last = |ack: Ack| Ack { round_start: false, ..limited(ack) };
            sender.round_with(26, RATE, last);
        }
        sender.round_with(26, RATE, |ack| Ack { bytes_in_flight: 100_000, ..limited(ack) });
        assert!((sender.gain() - 1.25).abs() < 1e-9, "{}", sender.gain());
    }

    /// The queue of start-up is the sender's own, and no reason to measure the propagation time.
    #[test]
    fn a_queue_in_start_up_is_not_foreign() {
        let mut sender = Sender::new();
        sender.round_with(20, RATE, limited);
        for n in 0..100 {
            // Growth, so that it does not end.
            sender.round_with(60, RATE * 1.3f64.powi(n), limited);
            assert!(!sender.control.holds_back(path(0)));
        }
    }

    /// After ten seconds without an RTT as low as the estimate, three quarters of a BDP: 187,500
    /// bytes.
    #[test]
    fn the_propagation_time_is_measured_in_less_than_a_bdp() {
        let mut sender = Sender::steady();
        let mut least = f64::INFINITY;
        for _ in 0..500 {
            sender.round(21, RATE);
            least = least.min(sender.cwnd());
        }
        assert!((least - 187_500.0).abs() < MSS as f64, "{least}");
    }
}
