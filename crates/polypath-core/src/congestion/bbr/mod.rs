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

mod flow;
mod parameters;

use super::CongestionAvoidance;
use super::bbr_model::PerFlow;
use crate::registry::{Description, Kind, Values};
use flow::Flow;
pub use parameters::BbrParameters;

/// BBR version 1 for all subflows of a connection, each on its own.
#[derive(Clone, Copy, Debug)]
pub enum Bbr {}

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
    pub fn controller(parameters: BbrParameters, seed: u64) -> impl CongestionAvoidance {
        PerFlow::<Flow>::new(parameters, seed)
    }

    /// An instance for the registry.
    pub fn build(values: &Values, seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::controller(BbrParameters::of(values), seed))
    }
}
