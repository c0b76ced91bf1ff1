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
//! says nothing after it. Deviations from Linux:
//!
//! - start-up as in draft-ietf-ccwg-bbr ("Startup"): a window gain of 2 instead of 2.887, which
//!   overflows a queue of one BDP by 0.9 BDP in every round until it ends, and an end by loss
//!   (`startup_loss_share`), which counts only while the RTT shows a queue: random loss does not
//!   end start-up; [`BbrParameters::LINUX`] has neither;
//! - arithmetic in f64 instead of fixed point; segments instead of kernel packets;
//! - the first rate is 2.887 initial windows an RTT; before an RTT sample there is none (Linux takes
//!   1 ms for the RTT, which is as good as none);
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
pub(super) mod model;
pub(super) mod probe_rtt;

use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows};
use crate::path_map::PathMap;
use crate::random::SplitMix64;
use crate::registry::{Description, Kind, Parameter};
use flow::{Flow, Mode};
use polypath_units::{Bandwidth, PathId};

/// The constants of BBR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrParameters {
    /// Pacing gain of start-up, 2/ln 2.
    pub high_gain: f64,
    /// Window gain of ProbeBW.
    pub cwnd_gain: f64,
    /// The smallest window, and that of ProbeRTT, in segments.
    pub min_cwnd_segments: f64,
    /// How much slower than the estimate to send, so that no queue builds up.
    pub pacing_margin: f64,
    /// Rounds over which the bandwidth is the maximum.
    pub bandwidth_rounds: f64,
    /// Seconds over which the propagation time is the minimum.
    pub rtprop_secs: f64,
    /// Least length of ProbeRTT in ms.
    pub probe_rtt_ms: f64,
    /// Growth of the bandwidth in a round that says that the pipe is not full.
    pub full_pipe_growth: f64,
    /// Rounds without such growth after which the pipe is full.
    pub full_pipe_rounds: f64,
    /// Window gain of start-up and drain (`BBRStartupCwndGain`).
    pub startup_cwnd_gain: f64,
    /// Share of a round that may be lost before start-up ends (`BBRLossThresh`).
    pub startup_loss_share: f64,
    /// ACKs of the round that must have told of losses for that (`BBRStartupFullLossCnt`, which
    /// counts discontiguous ranges).
    pub startup_loss_events: f64,
}

impl BbrParameters {
    /// The values of Linux, with the start-up of draft-ietf-ccwg-bbr.
    pub const DEFAULT: Self =
        Self { startup_cwnd_gain: 2.0, startup_loss_share: 0.02, ..Self::LINUX };

    /// The values of Linux.
    pub const LINUX: Self = Self {
        high_gain: 2885.0 / 1000.0 + 1.0 / 256.0,
        cwnd_gain: 2.0,
        min_cwnd_segments: 4.0,
        pacing_margin: 0.01,
        bandwidth_rounds: 10.0,
        rtprop_secs: 10.0,
        probe_rtt_ms: 200.0,
        full_pipe_growth: 1.25,
        full_pipe_rounds: 3.0,
        startup_cwnd_gain: 2885.0 / 1000.0 + 1.0 / 256.0,
        startup_loss_share: 1.0,
        startup_loss_events: 6.0,
    };
}

impl Default for BbrParameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// BBR version 1 for all subflows of a connection, each on its own.
#[derive(Clone, Debug)]
pub struct Bbr {
    parameters: BbrParameters,
    random: SplitMix64,
    flows: PathMap<Box<Flow>>,
}

const DEFAULTS: BbrParameters = BbrParameters::DEFAULT;

impl Bbr {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "bbr",
        purpose: "follows measured bandwidth and RTT instead of loss (version 1)",
        source: "Cardwell et al., CACM 60(2), 2017; Linux tcp_bbr.c; start-up of draft-ietf-ccwg-bbr",
        parameters: &[
            Parameter {
                name: "high_gain",
                default: DEFAULTS.high_gain,
                unit: "",
                purpose: "pacing gain of start-up; drain uses its inverse",
            },
            Parameter {
                name: "cwnd_gain",
                default: DEFAULTS.cwnd_gain,
                unit: "",
                purpose: "window of ProbeBW in bandwidth-delay products",
            },
            Parameter {
                name: "min_cwnd",
                default: DEFAULTS.min_cwnd_segments,
                unit: "segments",
                purpose: "smallest window, and that of ProbeRTT",
            },
            Parameter {
                name: "pacing_margin",
                default: DEFAULTS.pacing_margin,
                unit: "",
                purpose: "share by which pacing stays below the estimate",
            },
            Parameter {
                name: "bandwidth_rounds",
                default: DEFAULTS.bandwidth_rounds,
                unit: "rounds",
                purpose: "window of the bandwidth maximum",
            },
            Parameter {
                name: "rtprop_window",
                default: DEFAULTS.rtprop_secs,
                unit: "s",
                purpose: "window of the RTT minimum",
            },
            Parameter {
                name: "probe_rtt_duration",
                default: DEFAULTS.probe_rtt_ms,
                unit: "ms",
                purpose: "least length of ProbeRTT",
            },
            Parameter {
                name: "full_pipe_growth",
                default: DEFAULTS.full_pipe_growth,
                unit: "",
                purpose: "growth of the bandwidth in a round that keeps start-up going",
            },
            Parameter {
                name: "full_pipe_rounds",
                default: DEFAULTS.full_pipe_rounds,
                unit: "rounds",
                purpose: "rounds without that growth that end start-up",
            },
            Parameter {
                name: "startup_cwnd_gain",
                default: DEFAULTS.startup_cwnd_gain,
                unit: "",
                purpose: "window gain of start-up and drain (Linux: 2.889)",
            },
            Parameter {
                name: "startup_loss_share",
                default: DEFAULTS.startup_loss_share,
                unit: "",
                purpose: "share of a round whose loss ends start-up; 1 = never (Linux)",
            },
            Parameter {
                name: "startup_loss_events",
                default: DEFAULTS.startup_loss_events,
                unit: "",
                purpose: "ACKs of the round that must have told of losses for that",
            },
        ],
    };

    /// BBR with other constants. `seed` decides in which phase each cycle starts.
    pub fn new(parameters: BbrParameters, seed: u64) -> Self {
        Self { parameters, random: SplitMix64::new(seed), flows: PathMap::default() }
    }

    /// An instance for the registry.
    pub fn build(seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(BbrParameters::DEFAULT, seed))
    }

    /// The subflow and its state, made at its first event.
    fn parts<'a>(
        &'a mut self,
        id: PathId,
        subflows: &'a mut Subflows,
    ) -> Option<(&'a mut Flow, &'a mut Subflow)> {
        let parameters = &self.parameters;
        let flow = self.flows.get_or_insert_with(id, || Box::new(Flow::new(parameters)));
        Some((flow, subflows.get_mut(id)?))
    }
}

impl CongestionAvoidance for Bbr {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let Some(state) = subflows.get_mut(subflow) else { return };
        let Self { parameters, random, flows } = self;
        flows
            .get_or_insert_with(subflow, || Box::new(Flow::new(parameters)))
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
