//! HyStart++: slow start that ends when the RTT rises.
//!
//! Source: RFC 9406 sections 4.2 and 4.3. Growth in bytes, times in ms:
//!
//! ```text
//! slow start:      w += min(acked, L * MSS)
//!   enter CSS if 8 samples and cur_min >= last_min + clamp(last_min / 8, 4, 16)
//! CSS:             w += min(acked, L * MSS) / 4          (conservative slow start)
//!   back to slow start if 8 samples and cur_min < css_base;  leave after 5 rounds
//! ```
//!
//! Rounds are packet-timed (draft-ietf-ccwg-bbr), which ends them with the same ACK as `window_end`
//! of section 4.2. It acts only on the first slow start; after a loss or a timeout growth is
//! standard. Deviation: L is unlimited by default because every Polypath sender paces (section 4.3
//! recommends that; 8 without pacing).

use super::standard::counted_bytes;
use super::{Growth, SlowStart};
use crate::congestion::{Ack, Subflow};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::PathId;
use std::time::Duration;

parameters! {
    /// The constants of RFC 9406 section 4.3.
    ///
    /// Defaults: the values that RFC 9406 recommends for a sender that paces.
    pub struct HystartParameters {
        /// `MIN_RTT_THRESH` in ms.
        pub min_rtt_threshold_ms: f64 = 4.0, "min_rtt_threshold", "ms",
            "smallest rise of the RTT that counts";
        /// `MAX_RTT_THRESH` in ms.
        pub max_rtt_threshold_ms: f64 = 16.0, "max_rtt_threshold", "ms",
            "rise of the RTT that always counts";
        /// `MIN_RTT_DIVISOR`.
        pub min_rtt_divisor: f64 = 8.0, "min_rtt_divisor", "",
            "the rise that counts is the RTT of the last round divided by this", 0.001 to 1e9;
        /// `N_RTT_SAMPLE`.
        pub rtt_samples: f64 = 8.0, "rtt_samples", "samples",
            "RTT samples of a round needed to judge it";
        /// `CSS_GROWTH_DIVISOR`.
        pub css_growth_divisor: f64 = 4.0, "css_growth_divisor", "",
            "growth in conservative slow start is divided by this", 1.0 to 1e9;
        /// `CSS_ROUNDS`.
        pub css_rounds: f64 = 5.0, "css_rounds", "rounds",
            "length of conservative slow start";
        /// `L` in segments; 0 = no limit.
        pub burst_limit: f64 = 0.0, "burst_limit", "segments",
            "L: largest growth for one ACK; 0 = no limit, for paced senders";
    }
}

impl HystartParameters {
    /// How much the RTT must rise over `last_min` to end slow start.
    fn threshold(&self, last_min: Duration) -> Duration {
        let Self { min_rtt_divisor, min_rtt_threshold_ms, max_rtt_threshold_ms, .. } = *self;
        rise(last_min, min_rtt_divisor, [min_rtt_threshold_ms, max_rtt_threshold_ms])
    }
}

/// The rise of the RTT that counts: `rtt` by the divisor, within limits in ms.
pub(super) fn rise(rtt: Duration, divisor: f64, [least_ms, most_ms]: [f64; 2]) -> Duration {
    let millis = (rtt.as_secs_f64() * 1e3 / divisor).min(most_ms).max(least_ms);
    Duration::from_secs_f64(millis / 1e3)
}

/// HyStart++ for all subflows of a connection, each on its own.
#[derive(Clone, Debug, Default)]
pub struct HystartPp {
    parameters: HystartParameters,
    flows: PathMap<Flow>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flow {
    last_min: Option<Duration>,
    cur_min: Option<Duration>,
    samples: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    SlowStart,
    /// Conservative slow start, with the RTT at its beginning and the rounds spent in it.
    Conservative { base: Duration, rounds: u32 },
    /// The first slow start is over.
    Done,
}

impl Flow {
    fn on_round(&mut self) {
        self.last_min = self.cur_min.take();
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
        }
    }

    fn on_sample(&mut self, rtt: Duration, parameters: &HystartParameters) {
        let cur_min = self.cur_min.map_or(rtt, |min| min.min(rtt));
        self.cur_min = Some(cur_min);
        self.samples = self.samples.saturating_add(1);
        if f64::from(self.samples) >= parameters.rtt_samples {
            self.judge(cur_min, parameters);
        }
    }

    fn judge(&mut self, cur_min: Duration, parameters: &HystartParameters) {
        match (self.phase, self.last_min) {
            (Phase::SlowStart, Some(last_min))
                if cur_min >= last_min + parameters.threshold(last_min) =>
            {
                self.phase = Phase::Conservative { base: cur_min, rounds: 0 };
            }
            (Phase::Conservative { base, .. }, _) if cur_min < base => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }

    fn exhausted(&self, parameters: &HystartParameters) -> bool {
        matches!(self.phase, Phase::Conservative { rounds, .. }
            if f64::from(rounds) >= parameters.css_rounds)
    }
}

impl HystartPp {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::SlowStart,
        name: "hystart_pp",
        purpose: "doubling until the RTT rises, then a slower growth for five rounds",
        source: "RFC 9406 section 4",
        parameters: HystartParameters::PARAMETERS,
    };

    /// HyStart++ with other constants.
    pub fn new(parameters: HystartParameters) -> Self {
        Self { parameters, flows: PathMap::default() }
    }

    /// An instance for the registry.
    pub fn build(values: &Values) -> Box<dyn SlowStart> {
        Box::new(Self::new(HystartParameters::of(values)))
    }

    fn flow(&mut self, subflow: PathId) -> &mut Flow {
        self.flows.get_or_insert_with(subflow, Flow::default)
    }
}

impl SlowStart for HystartPp {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, _subflows: &[Subflow]) -> Growth {
        let parameters = self.parameters;
        let flow = self.flow(subflow);
        if let Some(rtt) = ack.rtt {
            flow.on_sample(rtt, &parameters);
        }
        if flow.exhausted(&parameters) {
            flow.phase = Phase::Done;
            return Growth::Exit;
        }
        let counted = counted_bytes(ack, parameters.burst_limit);
        match flow.phase {
            Phase::Conservative { .. } => Growth::Grow(counted / parameters.css_growth_divisor),
            Phase::SlowStart | Phase::Done => Growth::Grow(counted),
        }
    }

    fn on_round(&mut self, subflow: PathId, _ack: &Ack, _subflows: &[Subflow]) {
        self.flow(subflow).on_round();
    }

    fn on_congestion(&mut self, subflow: PathId) {
        self.flow(subflow).phase = Phase::Done;
    }

    fn on_timeout(&mut self, subflow: PathId) {
        self.flow(subflow).phase = Phase::Done;
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.flows.remove(subflow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, path};

    const P: u8 = 0;

    fn sampled(millis: u64) -> Ack {
        Ack { rtt: Some(Duration::from_millis(millis)), ..ack(1_000, 1_000) }
    }

    /// A round with `samples` ACKs that all show `millis`.
    fn round(hystart: &mut HystartPp, millis: u64, samples: usize) -> Vec<Growth> {
        hystart.on_round(path(P), &sampled(millis), &[]);
        (0..samples).map(|_| hystart.on_ack(path(P), &sampled(millis), &[])).collect()
    }

    fn phase(hystart: &HystartPp) -> Phase {
        hystart.flows.get(path(P)).unwrap().phase
    }

    #[test]
    fn t_hs_1() {
        let threshold =
            |last| HystartParameters::DEFAULT.threshold(Duration::from_millis(last)).as_millis();
        assert_eq!([40, 16, 200].map(threshold), [5, 4, 16]);
        for (rise, enters) in [(45, true), (44, false)] {
            let mut hystart = HystartPp::default();
            round(&mut hystart, 40, 8);
            round(&mut hystart, rise, 7);
            assert_eq!(phase(&hystart), Phase::SlowStart, "seven samples are too few");
            hystart.on_ack(path(P), &sampled(rise), &[]);
            let base = Duration::from_millis(45);
            assert_eq!(phase(&hystart) == Phase::Conservative { base, rounds: 0 }, enters);
        }
    }

    #[test]
    fn t_hs_2() {
        let limited = HystartParameters { burst_limit: 8.0, ..HystartParameters::DEFAULT };
        let mut hystart = HystartPp::new(limited);
        let big = Ack { acked_bytes: 10_000, ..sampled(40) };
        assert_eq!(hystart.on_ack(path(P), &big, &[]), Growth::Grow(8_000.0));
        round(&mut hystart, 40, 8);
        round(&mut hystart, 60, 8);
        let big = Ack { acked_bytes: 10_000, ..sampled(60) };
        assert_eq!(hystart.on_ack(path(P), &big, &[]), Growth::Grow(2_000.0));
    }

    #[test]
    fn the_fifth_round_of_conservative_growth_is_the_last() {
        let mut hystart = HystartPp::default();
        round(&mut hystart, 40, 8);
        // The round in which it begins counts: four more end within it.
        round(&mut hystart, 60, 8);
        for _ in 0..4 {
            assert!(round(&mut hystart, 60, 8).iter().all(|g| *g == Growth::Grow(250.0)));
        }
        assert_eq!(round(&mut hystart, 60, 1), [Growth::Exit]);
        assert_eq!(phase(&hystart), Phase::Done);
    }

    #[test]
    fn a_falling_rtt_resumes_slow_start() {
        let mut hystart = HystartPp::default();
        round(&mut hystart, 40, 8);
        round(&mut hystart, 60, 8);
        let growth = round(&mut hystart, 50, 8);
        assert_eq!(growth.last(), Some(&Growth::Grow(1_000.0)));
        assert_eq!(phase(&hystart), Phase::SlowStart);
    }

    #[test]
    fn it_acts_on_the_first_slow_start_alone() {
        let mut hystart = HystartPp::default();
        hystart.on_timeout(path(P));
        round(&mut hystart, 40, 8);
        assert_eq!(round(&mut hystart, 400, 20), [Growth::Grow(1_000.0); 20]);
    }
}
