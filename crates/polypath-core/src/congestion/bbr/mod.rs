//! BBR version 1.
//!
//! Source: Cardwell et al., "BBR: Congestion-Based Congestion Control", CACM 60(2), 2017, and Linux
//! `net/ipv4/tcp_bbr.c`, whose steps and constants it follows. Bandwidth in bytes/s, windows in
//! bytes:
//!
//! ```text
//! bw     = max of rate samples over 10 rounds         rtprop = min RTT over 10 s
//! pacing = gain * bw * 0.99                           BDP = bw * rtprop
//! cwnd   -> ceil(gain * BDP) + extra acked + 3 quanta, even number of segments
//! Startup (2.887, 2) -> Drain (0.347, 2) -> ProbeBW ([1.25, 0.75, 1 x 6], 2) <-> ProbeRTT
//! ```
//!
//! Each subflow on its own: nothing is coupled. The subflow's ssthresh is infinite in start-up and
//! means nothing after it. Deviations from Linux (reasons and limits:
//! `docs/algorithms/congestion/bbr.md`):
//!
//! - start-up as in draft-ietf-ccwg-bbr ("Startup"): a window gain of 2 instead of 2.887, which
//!   overflows a queue of one BDP by 0.9 BDP in every round until it ends, and an end by loss
//!   (`startup_loss_share`), which counts only while the RTT shows a queue: random loss does not
//!   end start-up; [`BbrParameters::LINUX`] has neither;
//! - arithmetic in f64 instead of fixed point; segments instead of kernel packets;
//! - the first rate is 2.887 initial windows an RTT; before an RTT sample there is none (Linux
//!   takes 1 ms for the RTT, which is as good as none);
//! - the sampler for policed paths (`lt_bw`) is left out;
//! - recovery ends with a round without loss, as in Chromium: an episode of RFC 9002 section 7.3.2
//!   lasts one round, all of it packet conservation, and start-up would not grow under random loss.
//!   It also ends with the flight, as in Linux, so that the next transfer has the whole window;
//!   after a timeout the window is restored with the first round that ends;
//! - ECN marks are ignored, as Linux does not act on them either;
//! - ProbeRTT marks its samples application-limited through
//!   [`CongestionAvoidance::holds_back`](super::CongestionAvoidance::holds_back).

pub(super) mod aggregation;
pub(super) mod excess;
mod flow;
mod growth;
pub(super) mod model;
mod overflow;
pub(super) mod probe_rtt;
pub(super) mod steady;

use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows};
use crate::path_map::PathMap;
use crate::random::SplitMix64;
use crate::registry::{Description, Kind, Values, parameters};
use flow::{Flow, Mode};
use polypath_units::{Bandwidth, PathId};
use steady::Steady;

/// `2 / ln 2` as Linux rounds it.
const HIGH_GAIN: f64 = 2885.0 / 1000.0 + 1.0 / 256.0;

parameters! {
    /// The constants of BBR.
    ///
    /// Defaults: the values of Linux, with the start-up of draft-ietf-ccwg-bbr.
    pub struct BbrParameters {
        /// Pacing gain of start-up, 2/ln 2.
        pub high_gain: f64 = HIGH_GAIN, "high_gain", "",
            "pacing gain of start-up; drain uses its inverse", 1.0 to 100.0;
        /// Window gain of ProbeBW.
        pub cwnd_gain: f64 = 2.0, "cwnd_gain", "",
            "window of ProbeBW in bandwidth-delay products", 0.1 to 100.0;
        /// The smallest window, and that of ProbeRTT, in segments.
        pub min_cwnd_segments: f64 = 4.0, "min_cwnd", "segments",
            "smallest window, and that of ProbeRTT", 1.0 to 1e6;
        /// How much slower than the estimate to send, so that no queue builds up.
        pub pacing_margin: f64 = 0.01, "pacing_margin", "",
            "share by which pacing stays below the estimate", 0.0 to 0.99;
        /// Rounds over which the bandwidth is the maximum.
        pub bandwidth_rounds: f64 = 10.0, "bandwidth_rounds", "rounds",
            "window of the bandwidth maximum", 1.0 to 1e6;
        /// Seconds over which the propagation time is the minimum.
        pub rtprop_secs: f64 = 10.0, "rtprop_window", "s",
            "window of the RTT minimum", 0.001 to 1e9;
        /// Least length of ProbeRTT in ms.
        pub probe_rtt_ms: f64 = 200.0, "probe_rtt_duration", "ms",
            "least length of ProbeRTT";
        /// Growth of the bandwidth in a round that says that the pipe is not full.
        pub full_pipe_growth: f64 = 1.25, "full_pipe_growth", "",
            "growth of the bandwidth in a round that keeps start-up going";
        /// Rounds without such growth after which the pipe is full.
        pub full_pipe_rounds: f64 = 3.0, "full_pipe_rounds", "rounds",
            "rounds without that growth that end start-up";
        /// Window gain of start-up and drain (`BBRStartupCwndGain`).
        pub startup_cwnd_gain: f64 = 2.0, "startup_cwnd_gain", "",
            "window gain of start-up and drain (Linux: 2.889)", 0.1 to 100.0;
        /// Share of a round that may be lost before start-up ends (`BBRLossThresh`).
        pub startup_loss_share: f64 = 0.02, "startup_loss_share", "",
            "share of a round whose loss ends start-up; 1 = never (Linux)", 0.0 to 1.0;
        /// ACKs of the round that must have told of losses for that (`BBRStartupFullLossCnt`, which
        /// counts discontiguous ranges).
        pub startup_loss_events: f64 = 6.0, "startup_loss_events", "",
            "ACKs of the round that must have told of losses for that";
    }
}

impl BbrParameters {
    /// The values of Linux.
    pub const LINUX: Self =
        Self { startup_cwnd_gain: HIGH_GAIN, startup_loss_share: 1.0, ..Self::DEFAULT };
}

/// BBR version 1 for all subflows of a connection, each on its own.
#[derive(Clone, Debug)]
pub struct Bbr {
    parameters: BbrParameters,
    /// What descendants have instead of the gain cycle.
    steady: Option<Steady>,
    random: SplitMix64,
    flows: PathMap<Box<Flow>>,
}

impl Bbr {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "bbr",
        purpose: "follows measured bandwidth and RTT instead of loss (version 1)",
        source: "Cardwell et al., CACM 60(2), 2017; Linux tcp_bbr.c; start-up of draft-ietf-ccwg-bbr",
        parameters: BbrParameters::PARAMETERS,
    };

    /// BBR with other constants. `seed` decides in which phase each cycle starts.
    pub fn new(parameters: BbrParameters, seed: u64) -> Self {
        let random = SplitMix64::new(seed);
        Self { parameters, steady: None, random, flows: PathMap::default() }
    }

    /// The same without gain cycle.
    pub(super) fn steady(parameters: BbrParameters, steady: Steady) -> Self {
        Self { steady: Some(steady), ..Self::new(parameters, 0) }
    }

    /// An instance for the registry.
    pub fn build(values: &Values, seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(BbrParameters::of(values), seed))
    }

    /// The subflow and its state, made at its first event.
    fn parts<'a>(
        &'a mut self,
        id: PathId,
        subflows: &'a mut Subflows,
    ) -> Option<(&'a mut Flow, &'a mut Subflow)> {
        let Self { parameters, steady, flows, .. } = self;
        let flow = flows.get_or_insert_with(id, || Box::new(Flow::new(parameters, *steady)));
        Some((flow, subflows.get_mut(id)?))
    }
}

impl CongestionAvoidance for Bbr {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let Some(state) = subflows.get_mut(subflow) else { return };
        let Self { parameters, steady, random, flows } = self;
        flows
            .get_or_insert_with(subflow, || Box::new(Flow::new(parameters, *steady)))
            .on_ack(ack, state, parameters, random);
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if loss.ecn {
            return;
        }
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_loss(state);
        }
    }

    fn on_timeout(&mut self, subflow: PathId, _loss: &Loss, subflows: &mut Subflows) {
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_timeout(state);
        }
    }

    fn on_idle_restart(&mut self, subflow: PathId, subflows: &mut Subflows) {
        let parameters = self.parameters;
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_idle_restart(state, &parameters);
        }
    }

    fn on_spurious_loss(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_spurious_loss(state);
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.flows.remove(subflow);
    }

    fn bandwidth_estimate(&self, subflow: PathId) -> Option<f64> {
        self.flows.get(subflow).map(|flow| flow.bandwidth()).filter(|rate| *rate > 0.0)
    }

    fn pacing_rate(&self, subflow: PathId) -> Option<Bandwidth> {
        self.flows.get(subflow)?.pacing.map(Bandwidth::from_bytes_per_sec)
    }

    fn owns_start_up(&self) -> bool {
        true
    }

    fn holds_back(&self, subflow: PathId) -> bool {
        self.flows.get(subflow).is_some_and(|flow| matches!(flow.mode, Mode::ProbeRtt(_)))
    }

    fn min_window_segments(&self) -> f64 {
        // Packet conservation may go down to a segment; growth restores four.
        1.0
    }
}
