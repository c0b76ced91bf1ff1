//! The constants of BBR.

use crate::congestion::bbr_model::{
    HIGH_GAIN, LossLimits, MIN_CWND_SEGMENTS, STARTUP_CWND_GAIN, full_pipe, pacing,
};
use crate::registry::parameters;

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
        pub min_cwnd_segments: f64 = MIN_CWND_SEGMENTS, "min_cwnd", "segments",
            "smallest window, and that of ProbeRTT", 1.0 to 1e6;
        /// How much slower than the estimate to send, so that no queue builds up.
        pub pacing_margin: f64 = pacing::MARGIN, "pacing_margin", "",
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
        pub full_pipe_growth: f64 = full_pipe::GROWTH, "full_pipe_growth", "",
            "growth of the bandwidth in a round that keeps start-up going";
        /// Rounds without such growth after which the pipe is full.
        pub full_pipe_rounds: f64 = full_pipe::ROUNDS, "full_pipe_rounds", "rounds",
            "rounds without that growth that end start-up";
        /// Window gain of start-up and drain (`BBRStartupCwndGain`).
        pub startup_cwnd_gain: f64 = STARTUP_CWND_GAIN, "startup_cwnd_gain", "",
            "window gain of start-up and drain (Linux: 2.889)", 0.1 to 100.0;
        /// Share of a round that may be lost before start-up ends (`BBRLossThresh`).
        pub startup_loss_share: f64 = LossLimits::DRAFT.share, "startup_loss_share", "",
            "share of a round whose loss ends start-up; 1 = never (Linux)", 0.0 to 1.0;
        /// ACKs of the round that must have told of losses for that (`BBRStartupFullLossCnt`, which
        /// counts discontiguous ranges).
        pub startup_loss_events: f64 = LossLimits::DRAFT.events, "startup_loss_events", "",
            "ACKs of the round that must have told of losses for that";
    }
}

impl BbrParameters {
    /// The values of Linux.
    pub const LINUX: Self =
        Self { startup_cwnd_gain: HIGH_GAIN, startup_loss_share: 1.0, ..Self::DEFAULT };

    /// The smallest window in bytes.
    pub(super) fn min_cwnd(&self, mss: u64) -> f64 {
        self.min_cwnd_segments * mss as f64
    }
}
