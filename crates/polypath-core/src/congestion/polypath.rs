//! `polypath`: the controller that a bond has if nothing is said.
//!
//! Ours, on the model and the start-up of [`Bbr`]; what it has instead of BBR's gain cycle came out
//! of the comparison of all combinations (docs/compare.md). Bandwidth in bytes/s, windows in bytes:
//!
//! ```text
//! bw     = max of rate samples over 10 rounds; of the last two rounds once a queue has stood in one
//! rtprop = min RTT, measured anew every 10 s in half a BDP, and when a queue stands for 6 rounds
//! cwnd   -> ceil(1.1 * bw * rtprop) + extra acked + 3 quanta        pacing = 1.25 * bw
//! ```
//!
//! - Without cycle: a radio link whose rate rises is found by the tenth of a BDP that always waits
//!   there, a round later, instead of once in eight rounds; the window, not pacing, holds the flow.
//! - A queue that stood for a whole round (all its RTTs above 1.4 propagation times) says that the
//!   link was busy: what it delivered is its rate, even if the scheduler held data back. BBR keeps the
//!   maximum of ten rounds, which last seconds when the rate fell to a tenth.
//! - Measuring the propagation time costs half a BDP for one round instead of all but four segments
//!   for 200 ms.
//! - A queue that stands although the window followed it is not ours. Either the path has become
//!   longer, or others fill it: the propagation time is measured anew at once, and if it rose, the
//!   bandwidth is what it was before.
//!
//! Loss moves it as little as BBR: it ends start-up, and is followed by packet conservation. Each
//! subflow on its own, yet through one bottleneck with a loss-based TCP two subflows take about half:
//! they give way to the queue of the TCP, which BBR does not.

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
        /// Window after start-up in bandwidth-delay products: at least a tenth more a round can be
        /// found when the rate rises.
        pub cwnd_gain: f64 = 1.1, "cwnd_gain", "",
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
        pub probe_rtt_gain: f64 = 0.5, "probe_rtt_gain", "",
            "window of that measurement in bandwidth-delay products", 0.0 to 1.0;
        /// RTTs above this many propagation times show a queue.
        pub queue_rtts: f64 = 1.4, "queue_rtts", "",
            "RTT in propagation times above which a queue stands", 1.0 to 1e6;
        /// Rounds of a queue after which the propagation time is measured anew.
        pub patience_rounds: f64 = 6.0, "patience", "rounds",
            "rounds of a standing queue after which the propagation time is measured anew", 1.0 to 1e6;
    }
}

/// The default controller of a bond: [`Bbr`] without gain cycle.
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
        let PolypathParameters { pacing_gain, probe_rtt_gain, queue_rtts, patience_rounds, .. } =
            parameters;
        let bbr = BbrParameters {
            high_gain: parameters.high_gain,
            startup_cwnd_gain: parameters.startup_cwnd_gain,
            cwnd_gain: parameters.cwnd_gain,
            min_cwnd_segments: parameters.min_cwnd_segments,
            bandwidth_rounds: parameters.bandwidth_rounds,
            rtprop_secs: parameters.rtprop_secs,
            // Rounds are told by acknowledgements: one is enough.
            probe_rtt_ms: 0.0,
            ..BbrParameters::DEFAULT
        };
        Bbr::steady(bbr, Steady { pacing_gain, probe_rtt_gain, queue_rtts, patience_rounds })
    }

    /// An instance for the registry. Nothing in it is random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::controller(PolypathParameters::of(values)))
    }
}
