//! HyStart: slow start that ends at once when ACKs or round trips show a full pipe.
//!
//! Source: Ha and Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55 (2011),
//! sections 4.1 and 4.2, with the constants and rules of Linux `tcp_cubic.c`. Growth in bytes:
//!
//! ```text
//! w += acked;  leave when w >= 16 MSS and either
//!   ACK train:  ACKs at most 2 ms apart have gone on for longer than (rtt_min + 1 ms) / 2, without
//!               the half if the sender paces: that alone spreads them over half a round
//!   delay:      after 8 samples of the round, its least RTT > rtt_min + clamp(rtt_min / 8, 4, 16)
//! ```
//!
//! Where HyStart++ compares with the last round and slows down first, this compares with the
//! smallest RTT of the subflow and leaves at once. It acts again after a timeout. Rounds are
//! packet-timed. Deviation: Linux adds the time of four bursts of its sender to the length of a
//! train, 1 ms at most; here it is 1 ms (it is from 40 Mbit/s down for bursts of one segment, from
//! 2 Gbit/s down for bursts of 64 KiB).

use super::hystart_pp::rise;
use super::standard::counted_bytes;
use super::{Growth, SlowStart};
use crate::congestion::{Ack, Subflow};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

parameters! {
    /// The constants of Linux `tcp_cubic.c`.
    ///
    /// Defaults: those of Linux.
    pub struct ClassicHystartParameters {
        /// `hystart_low_window` in segments.
        pub low_window: f64 = 16.0, "low_window", "segments",
            "smallest window that is judged";
        /// `hystart_ack_delta_us` in ms.
        pub ack_gap_ms: f64 = 2.0, "ack_gap", "ms",
            "largest time between two ACKs of a train";
        /// Share of the smallest RTT that a train may last if the sender does not pace.
        pub unpaced_share: f64 = 0.5, "unpaced_share", "",
            "share of the smallest RTT that a train may last if the sender does not pace", 0.0 to 1000.0;
        /// What the smallest RTT is taken to be longer for a train, in ms.
        pub train_slack_ms: f64 = 1.0, "train_slack", "ms",
            "what the smallest RTT is taken to be longer for a train";
        /// `HYSTART_MIN_SAMPLES`.
        pub rtt_samples: f64 = 8.0, "rtt_samples", "samples",
            "RTT samples of a round before it is judged";
        /// `HYSTART_DELAY_MIN` in ms.
        pub min_rtt_threshold_ms: f64 = 4.0, "min_rtt_threshold", "ms",
            "smallest rise of the RTT that counts";
        /// `HYSTART_DELAY_MAX` in ms.
        pub max_rtt_threshold_ms: f64 = 16.0, "max_rtt_threshold", "ms",
            "rise of the RTT that always counts";
        /// What the smallest RTT is divided by for the rise that counts.
        pub min_rtt_divisor: f64 = 8.0, "min_rtt_divisor", "",
            "the rise that counts is the smallest RTT divided by this", 0.001 to 1e9;
    }
}

impl ClassicHystartParameters {
    /// The RTT from which on the pipe is taken to be full.
    fn full_rtt(&self, rtt_min: Duration) -> Duration {
        let Self { min_rtt_divisor, min_rtt_threshold_ms, max_rtt_threshold_ms, .. } = *self;
        rtt_min + rise(rtt_min, min_rtt_divisor, [min_rtt_threshold_ms, max_rtt_threshold_ms])
    }

    /// How long a train of ACKs may last.
    fn longest_train(&self, rtt_min: Duration, paced: bool) -> Duration {
        let slack = Duration::from_secs_f64(self.train_slack_ms / 1e3);
        (rtt_min + slack).mul_f64(if paced { 1.0 } else { self.unpaced_share })
    }
}

/// HyStart for all subflows of a connection, each on its own.
#[derive(Clone, Debug, Default)]
pub struct Hystart {
    parameters: ClassicHystartParameters,
    flows: PathMap<Flow>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Flow {
    /// No round has ended: the first ACK begins one.
    #[default]
    Fresh,
    Judged(Round),
    /// It has left slow start.
    Done,
}

/// What was seen of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Round {
    began: Timestamp,
    /// The last ACK of the train.
    train: Timestamp,
    min_rtt: Option<Duration>,
    samples: u32,
}

impl Round {
    const fn new(now: Timestamp) -> Self {
        Self { began: now, train: now, min_rtt: None, samples: 0 }
    }

    /// Whether the ACKs of the round have gone on for longer than `limit`, with gaps of at most
    /// `gap`.
    fn has_long_train(&mut self, now: Timestamp, gap: Duration, limit: Duration) -> bool {
        let unbroken = now - self.train <= gap;
        if unbroken {
            self.train = now;
        }
        unbroken && now - self.began > limit
    }

    fn has_long_rtt(
        &mut self,
        sample: Duration,
        rtt_min: Duration,
        parameters: &ClassicHystartParameters,
    ) -> bool {
        let least = self.min_rtt.map_or(sample, |min| min.min(sample));
        self.min_rtt = Some(least);
        let enough = f64::from(self.samples) >= parameters.rtt_samples;
        self.samples = self.samples.saturating_add(1);
        enough && least > parameters.full_rtt(rtt_min)
    }
}

impl Hystart {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::SlowStart,
        name: "hystart",
        purpose: "doubling until ACK trains or the RTT tell of a full pipe, as Linux's CUBIC",
        source: "Ha and Rhee 2011, sections 4.1 and 4.2; Linux tcp_cubic.c",
        parameters: ClassicHystartParameters::PARAMETERS,
    };

    /// HyStart with other constants.
    pub fn new(parameters: ClassicHystartParameters) -> Self {
        Self { parameters, flows: PathMap::default() }
    }

    /// An instance for the registry.
    pub fn build(values: &Values) -> Box<dyn SlowStart> {
        Box::new(Self::new(ClassicHystartParameters::of(values)))
    }
}

impl SlowStart for Hystart {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &[Subflow]) -> Growth {
        let growth = Growth::Grow(counted_bytes(ack, 0.0));
        let parameters = self.parameters;
        let state = subflows.iter().find(|state| state.id == subflow);
        let flow = self.flows.get_or_insert_with(subflow, Flow::default);
        if *flow == Flow::Fresh {
            *flow = Flow::Judged(Round::new(ack.now));
        }
        let (Flow::Judged(round), Some(state)) = (&mut *flow, state) else { return growth };
        let Some((sample, rtt_min)) = ack.rtt.zip(state.min_rtt) else { return growth };
        if state.cwnd < parameters.low_window * state.mss as f64 {
            return growth;
        }
        let gap = Duration::from_secs_f64(parameters.ack_gap_ms / 1e3);
        let limit = parameters.longest_train(rtt_min, state.paced);
        let train = round.has_long_train(ack.now, gap, limit);
        if round.has_long_rtt(sample, rtt_min, &parameters) || train {
            *flow = Flow::Done;
            return Growth::Exit;
        }
        growth
    }

    fn on_round(&mut self, subflow: PathId, ack: &Ack, _subflows: &[Subflow]) {
        let flow = self.flows.get_or_insert_with(subflow, Flow::default);
        if *flow != Flow::Done {
            *flow = Flow::Judged(Round::new(ack.now));
        }
    }

    fn on_timeout(&mut self, subflow: PathId) {
        self.flows.remove(subflow);
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.flows.remove(subflow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, path, subflows};

    const P: u8 = 0;

    /// An ACK at a time with an RTT, both in microseconds, for a subflow of 40 ms and 20 segments
    /// that is not paced.
    fn acked(hystart: &mut Hystart, at_us: u64, rtt_us: u64) -> Growth {
        let mut flows = subflows(1_000, &[(20_000.0, 40)]);
        flows.get_mut(path(P)).unwrap().paced = false;
        let rtt = Some(Duration::from_micros(rtt_us));
        let now = Timestamp::from_micros(at_us);
        hystart.on_ack(path(P), &Ack { now, rtt, ..ack(1_000, 1_000) }, flows.as_slice())
    }

    fn round_at(hystart: &mut Hystart, at_us: u64) {
        let now = Timestamp::from_micros(at_us);
        hystart.on_round(path(P), &Ack { now, ..ack(1_000, 1_000) }, &[]);
    }

    /// (40 + 1) / 2 ms from the beginning of the round, without a gap of more than 2 ms.
    #[test]
    fn a_train_of_acks_of_half_the_rtt_ends_it() {
        for (gap_us, last_us, ends) in
            [(2_000, 20_500, false), (2_000, 20_501, true), (2_001, 30_000, false)]
        {
            let mut hystart = Hystart::default();
            round_at(&mut hystart, 0);
            let mut at = 0;
            while at + gap_us < last_us {
                at += gap_us;
                assert_eq!(acked(&mut hystart, at, 40_000), Growth::Grow(1_000.0));
            }
            let last = acked(&mut hystart, last_us, 40_000);
            assert_eq!(last == Growth::Exit, ends, "gaps of {gap_us} us until {last_us} us");
        }
    }

    #[test]
    fn a_paced_train_may_last_a_whole_rtt() {
        let limit = |paced| {
            ClassicHystartParameters::DEFAULT.longest_train(Duration::from_millis(40), paced)
        };
        assert_eq!([true, false].map(|paced| limit(paced).as_micros()), [41_000, 20_500]);
    }

    /// An eighth above 40 ms, in the ninth sample of a round.
    #[test]
    fn a_rise_of_the_rtt_by_an_eighth_ends_it() {
        for (rtt_us, ends) in [(45_000, false), (45_001, true)] {
            let mut hystart = Hystart::default();
            round_at(&mut hystart, 0);
            for n in 1..=8 {
                assert_eq!(acked(&mut hystart, n * 3_000, rtt_us), Growth::Grow(1_000.0));
            }
            assert_eq!(acked(&mut hystart, 27_000, rtt_us) == Growth::Exit, ends, "{rtt_us} us");
        }
    }

    #[test]
    fn it_ends_once_until_a_timeout() {
        let mut hystart = Hystart::default();
        let ends = |hystart: &mut Hystart, from: u64| {
            round_at(hystart, from);
            (1..=9).any(|n| acked(hystart, from + n * 3_000, 80_000) == Growth::Exit)
        };
        assert!(ends(&mut hystart, 0) && !ends(&mut hystart, 100_000));
        hystart.on_timeout(path(P));
        assert!(ends(&mut hystart, 200_000));
    }

    #[test]
    fn a_small_window_is_not_judged() {
        let mut hystart = Hystart::default();
        let flows = subflows(1_000, &[(15_999.0, 40)]);
        for n in 1..30 {
            let rtt = Some(Duration::from_millis(80));
            let ack = Ack { now: Timestamp::from_millis(n), rtt, ..ack(1_000, 1_000) };
            assert_eq!(hystart.on_ack(path(P), &ack, flows.as_slice()), Growth::Grow(1_000.0));
        }
    }
}
