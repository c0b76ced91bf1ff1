//! What can be set of `polypath`. The constants of each rule stand with the rule.

use crate::congestion::bbr_model::MIN_CWND_SEGMENTS;
use crate::registry::parameters;

parameters! {
    /// What can be set of `polypath`.
    pub struct PolypathParameters {
        /// Window after start-up in bandwidth-delay products. Below 1 the bandwidth that is
        /// measured falls with the window where an RTT is so long that three quanta do not make up
        /// for it.
        pub cwnd_gain: f64 = 1.0, "cwnd_gain", "",
            "window after start-up in bandwidth-delay products", 0.1 to 100.0;
        /// Pacing gain after start-up.
        pub pacing_gain: f64 = 1.25, "pacing_gain", "", "pacing gain after start-up", 0.1 to 100.0;
        /// The smallest window in segments.
        pub min_cwnd_segments: f64 = MIN_CWND_SEGMENTS, "min_cwnd", "segments", "smallest window",
            1.0 to 1e6;
        /// Rounds over which the bandwidth is the maximum.
        pub bandwidth_rounds: f64 = 10.0, "bandwidth_rounds", "rounds",
            "window of the bandwidth maximum while no queue stands", 1.0 to 1e6;
        /// Seconds after which the propagation time is measured anew.
        pub rtprop_secs: f64 = 10.0, "rtprop_window", "s",
            "age at which the propagation time is measured anew", 0.001 to 1e9;
        /// Share of losses with a queue above which the window has more room than the queue.
        pub overflow_loss: f64 = 0.05, "overflow_loss", "",
            "share of losses with a queue above which the room above a BDP is cut; 1 = never",
            0.0 to 1.0;
    }
}

impl PolypathParameters {
    /// The smallest window in bytes.
    pub(super) fn min_cwnd(&self, mss: u64) -> f64 {
        self.min_cwnd_segments * mss as f64
    }
}
