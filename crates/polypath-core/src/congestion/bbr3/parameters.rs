//! The constants of BBR version 3.

use crate::registry::Parameter;

/// The constants of draft-ietf-ccwg-bbr-06, section 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bbr3Parameters {
    /// Pacing gain of start-up, 4 ln 2 (`StartupPacingGain`).
    pub startup_pacing_gain: f64,
    /// Pacing gain of Drain.
    pub drain_pacing_gain: f64,
    /// Pacing gain of ProbeBW_DOWN.
    pub down_pacing_gain: f64,
    /// Pacing gain of ProbeBW_UP.
    pub up_pacing_gain: f64,
    /// Window gain of all states but ProbeBW_UP and ProbeRTT (`DefaultCwndGain`).
    pub cwnd_gain: f64,
    /// Window gain of ProbeBW_UP.
    pub up_cwnd_gain: f64,
    /// Window gain of ProbeRTT (`ProbeRTTCwndGain`).
    pub probe_rtt_cwnd_gain: f64,
    /// Share of a flight whose loss says that it was too large (`LossThresh`).
    pub loss_threshold: f64,
    /// What remains of a bound after loss, at least (`Beta`).
    pub beta: f64,
    /// Share of the long-term bound that is left to others while cruising (`Headroom`).
    pub headroom: f64,
    /// The smallest window, in segments (`MinPipeCwnd`).
    pub min_cwnd_segments: f64,
    /// How much slower than the estimate to send (`PacingMarginPercent`).
    pub pacing_margin: f64,
    /// Seconds over which the propagation time is the minimum (`MinRTTFilterLen`).
    pub min_rtt_secs: f64,
    /// Seconds without a lower RTT after which ProbeRTT begins (`ProbeRTTInterval`).
    pub probe_rtt_interval_secs: f64,
    /// Least length of ProbeRTT in ms (`ProbeRTTDuration`).
    pub probe_rtt_ms: f64,
    /// Rounds over which the aggregation of ACKs is the maximum (`ExtraAckedFilterLen`).
    pub extra_acked_rounds: f64,
    /// Growth of the bandwidth in a round that says that the pipe is not full.
    pub full_pipe_growth: f64,
    /// Rounds without such growth after which it is.
    pub full_pipe_rounds: f64,
    /// ACKs of a round of start-up that must have told of losses for these to end it
    /// (`StartupFullLossCnt`, which counts discontiguous ranges).
    pub startup_loss_events: f64,
    /// Least seconds between probes for bandwidth; up to one more is drawn.
    pub probe_wait_secs: f64,
    /// Most rounds between probes for bandwidth.
    pub probe_wait_rounds: f64,
}

impl Bbr3Parameters {
    /// The values of the draft.
    pub const DEFAULT: Self = Self {
        startup_pacing_gain: 4.0 * core::f64::consts::LN_2,
        drain_pacing_gain: 0.5,
        down_pacing_gain: 0.9,
        up_pacing_gain: 1.25,
        cwnd_gain: 2.0,
        up_cwnd_gain: 2.25,
        probe_rtt_cwnd_gain: 0.5,
        loss_threshold: 0.02,
        beta: 0.7,
        headroom: 0.15,
        min_cwnd_segments: 4.0,
        pacing_margin: 0.01,
        min_rtt_secs: 10.0,
        probe_rtt_interval_secs: 5.0,
        probe_rtt_ms: 200.0,
        extra_acked_rounds: 10.0,
        full_pipe_growth: 1.25,
        full_pipe_rounds: 3.0,
        startup_loss_events: 6.0,
        probe_wait_secs: 2.0,
        probe_wait_rounds: 63.0,
    };

    /// The smallest window in bytes.
    pub(super) fn min_cwnd(&self, mss: u64) -> f64 {
        self.min_cwnd_segments * mss as f64
    }
}

impl Default for Bbr3Parameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

const fn row(
    name: &'static str,
    default: f64,
    unit: &'static str,
    purpose: &'static str,
) -> Parameter {
    Parameter { name, default, unit, purpose }
}

const D: Bbr3Parameters = Bbr3Parameters::DEFAULT;

/// What the registry tells of them.
pub(super) const ROWS: &[Parameter] = &[
    row("startup_pacing_gain", D.startup_pacing_gain, "", "pacing gain of start-up"),
    row("drain_pacing_gain", D.drain_pacing_gain, "", "pacing gain of Drain"),
    row("down_pacing_gain", D.down_pacing_gain, "", "pacing gain of ProbeBW_DOWN"),
    row("up_pacing_gain", D.up_pacing_gain, "", "pacing gain of ProbeBW_UP"),
    row("cwnd_gain", D.cwnd_gain, "", "window in bandwidth-delay products"),
    row("up_cwnd_gain", D.up_cwnd_gain, "", "the same in ProbeBW_UP"),
    row("probe_rtt_cwnd_gain", D.probe_rtt_cwnd_gain, "", "the same in ProbeRTT"),
    row("loss_threshold", D.loss_threshold, "", "share of a flight whose loss is too much"),
    row("beta", D.beta, "", "what remains of a bound after loss, at least"),
    row("headroom", D.headroom, "", "share of the long-term bound left to others"),
    row("min_cwnd", D.min_cwnd_segments, "segments", "smallest window"),
    row("pacing_margin", D.pacing_margin, "", "share by which pacing stays below the estimate"),
    row("min_rtt_window", D.min_rtt_secs, "s", "window of the RTT minimum"),
    row("probe_rtt_interval", D.probe_rtt_interval_secs, "s", "least time between ProbeRTTs"),
    row("probe_rtt_duration", D.probe_rtt_ms, "ms", "least length of ProbeRTT"),
    row("extra_acked_rounds", D.extra_acked_rounds, "rounds", "window of ACK aggregation"),
    row("full_pipe_growth", D.full_pipe_growth, "", "growth in a round that is no plateau"),
    row("full_pipe_rounds", D.full_pipe_rounds, "rounds", "rounds of a plateau of bandwidth"),
    row("startup_loss_events", D.startup_loss_events, "", "ACKs with loss that end start-up"),
    row("probe_wait", D.probe_wait_secs, "s", "least time between probes; up to 1 s more"),
    row("probe_wait_rounds", D.probe_wait_rounds, "rounds", "most rounds between probes"),
];
