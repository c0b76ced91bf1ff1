//! The constants of BBR version 3.

use crate::congestion::bbr_model::{LossLimits, MIN_CWND_SEGMENTS, full_pipe, pacing};
use crate::registry::parameters;

parameters! {
    /// The constants of draft-ietf-ccwg-bbr-06, section 2.
    ///
    /// Defaults: the values of the draft.
    pub struct Bbr3Parameters {
        /// Pacing gain of start-up, 4 ln 2 (`StartupPacingGain`).
        pub startup_pacing_gain: f64 = 4.0 * core::f64::consts::LN_2, "startup_pacing_gain", "",
            "pacing gain of start-up", 1.0 to 100.0;
        /// Pacing gain of Drain.
        pub drain_pacing_gain: f64 = 0.5, "drain_pacing_gain", "",
            "pacing gain of Drain", 0.01 to 1.0;
        /// Pacing gain of ProbeBW_DOWN.
        pub down_pacing_gain: f64 = 0.9, "down_pacing_gain", "",
            "pacing gain of ProbeBW_DOWN", 0.01 to 1.0;
        /// Pacing gain of ProbeBW_UP.
        pub up_pacing_gain: f64 = 1.25, "up_pacing_gain", "",
            "pacing gain of ProbeBW_UP", 1.0 to 100.0;
        /// Window gain of all states but ProbeBW_UP and ProbeRTT (`DefaultCwndGain`).
        pub cwnd_gain: f64 = 2.0, "cwnd_gain", "",
            "window in bandwidth-delay products", 0.1 to 100.0;
        /// Window gain of ProbeBW_UP.
        pub up_cwnd_gain: f64 = 2.25, "up_cwnd_gain", "",
            "the same in ProbeBW_UP", 0.1 to 100.0;
        /// Window gain of ProbeRTT (`ProbeRTTCwndGain`).
        pub probe_rtt_cwnd_gain: f64 = 0.5, "probe_rtt_cwnd_gain", "",
            "the same in ProbeRTT", 0.0 to 100.0;
        /// Share of a flight whose loss says that it was too large (`LossThresh`).
        pub loss_threshold: f64 = 0.02, "loss_threshold", "",
            "share of a flight whose loss is too much", 0.0 to 1.0;
        /// What remains of a bound after loss, at least (`Beta`).
        pub beta: f64 = 0.7, "beta", "",
            "what remains of a bound after loss, at least", 0.0 to 1.0;
        /// Share of the long-term bound that is left to others while cruising (`Headroom`).
        pub headroom: f64 = 0.15, "headroom", "",
            "share of the long-term bound left to others", 0.0 to 1.0;
        /// The smallest window, in segments (`MinPipeCwnd`).
        pub min_cwnd_segments: f64 = MIN_CWND_SEGMENTS, "min_cwnd", "segments",
            "smallest window", 1.0 to 1e6;
        /// How much slower than the estimate to send (`PacingMarginPercent`).
        pub pacing_margin: f64 = pacing::MARGIN, "pacing_margin", "",
            "share by which pacing stays below the estimate", 0.0 to 0.99;
        /// Seconds over which the propagation time is the minimum (`MinRTTFilterLen`).
        pub min_rtt_secs: f64 = 10.0, "min_rtt_window", "s",
            "window of the RTT minimum", 0.001 to 1e9;
        /// Seconds without a lower RTT after which ProbeRTT begins (`ProbeRTTInterval`).
        pub probe_rtt_interval_secs: f64 = 5.0, "probe_rtt_interval", "s",
            "least time between ProbeRTTs";
        /// Least length of ProbeRTT in ms (`ProbeRTTDuration`).
        pub probe_rtt_ms: f64 = 200.0, "probe_rtt_duration", "ms",
            "least length of ProbeRTT";
        /// Rounds over which the aggregation of ACKs is the maximum (`ExtraAckedFilterLen`).
        pub extra_acked_rounds: f64 = 10.0, "extra_acked_rounds", "rounds",
            "window of ACK aggregation", 1.0 to 1e6;
        /// Growth of the bandwidth in a round that says that the pipe is not full.
        pub full_pipe_growth: f64 = full_pipe::GROWTH, "full_pipe_growth", "",
            "growth in a round that is no plateau";
        /// Rounds without such growth after which it is.
        pub full_pipe_rounds: f64 = full_pipe::ROUNDS, "full_pipe_rounds", "rounds",
            "rounds of a plateau of bandwidth";
        /// ACKs of a round of start-up that must have told of losses for these to end it
        /// (`StartupFullLossCnt`, which counts discontiguous ranges).
        pub startup_loss_events: f64 = LossLimits::DRAFT.events, "startup_loss_events", "",
            "ACKs with loss that end start-up";
        /// Least seconds between probes for bandwidth; up to one more is drawn.
        pub probe_wait_secs: f64 = 2.0, "probe_wait", "s",
            "least time between probes; up to 1 s more";
        /// Most rounds between probes for bandwidth.
        pub probe_wait_rounds: f64 = 63.0, "probe_wait_rounds", "rounds",
            "most rounds between probes";
    }
}

impl Bbr3Parameters {
    /// The smallest window in bytes.
    pub(super) fn min_cwnd(&self, mss: u64) -> f64 {
        self.min_cwnd_segments * mss as f64
    }
}
