//! `polypath`: the controller that a bond has if nothing is said.
//!
//! Ours. Model and start-up are those of [BBR](super::bbr_model); what comes after start-up came
//! out of the comparison of all combinations (docs/compare.md). Bandwidth in bytes/s, windows in
//! bytes:
//!
//! ```text
//! bw     = max of rate samples over 10 rounds; of the last two rounds once a queue stood in one
//! usual  = rtprop, and by how much packets are usually later than the first of a round trip
//! rtprop = min RTT, measured anew every 10 s in 3/4 of a BDP, and after 6 rounds with a queue that
//!          is not ours, or 20 with one of which a tenth of the RTT is not
//! cwnd   -> ceil(1.0 * bw * usual) + room * (extra acked + 3 quanta)        pacing = 1.25 * bw
//! both with a gain of 2 after two rounds in which bw rose by a tenth without a queue, while it
//! rises
//! ```
//!
//! - **No cycle of gains** (`flow/window.rs`). A radio link whose rate rises is found by the few
//!   milliseconds of data that always wait there (three quanta, and what aggregation of ACKs
//!   explains): one round later, not once in eight. The window holds the flow, and pacing only
//!   spreads it.
//! - **Growth** (`growth.rs`). Where the rate has become many times what it was, as after a
//!   blockage, steps of a few milliseconds take long. Growth in two rounds in a row brings the
//!   gains of a start-up, until a round brings none.
//! - **A queue that stands** (`standing_queue.rs`). If all RTTs of a round were above two
//!   propagation times, the link was busy: what it delivered is its rate, even if the scheduler
//!   held data back. BBR keeps the maximum of ten rounds, which last seconds when the rate has
//!   fallen to a tenth.
//! - **A queue that overflows** (`overflow.rs`). Where more than a twentieth is lost while there is
//!   a queue, the link's queue does not hold what the window has above a BDP: 0.7 of it is left,
//!   and comes back in rounds without such losses.
//! - **Jitter** (`usual_rtt.rs`). Where packets usually take longer than the propagation time,
//!   though no queue stands, the window is that of the usual time, or it would be used up before
//!   the link has been busy for a round trip. A queue that stands is one above the usual time, and
//!   start-up, whose window would else not double, has a gain of 2.885 there.
//! - **The propagation time** (`flow/measuring.rs`) is measured with a quarter of a BDP less for
//!   one round, where BBR leaves four segments for 200 ms.
//! - **A queue of others** (`foreign_queue.rs`). A queue that stands although the window followed
//!   it is not ours. Either the path has become longer, or others fill it: the propagation time is
//!   measured anew at once, and if it rose, the bandwidth is what it was before (`path.rs`). A path
//!   that became a little longer shows after more rounds.
//!
//! Other loss moves it as little as BBR: it is followed by packet conservation, but in start-up
//! only where there is a queue, and then it ends start-up. Each subflow is on its own. Yet two
//! subflows take only about half of a bottleneck that they share with a loss-based TCP, because
//! they give way to its queue, which BBR does not.

mod flow;
mod foreign_queue;
mod growth;
mod overflow;
mod parameters;
mod path;
mod standing_queue;
#[cfg(test)]
mod tests;
mod usual_rtt;

use super::CongestionAvoidance;
use super::bbr_model::PerFlow;
use crate::registry::{Description, Kind, Values};
use flow::Flow;
pub use parameters::PolypathParameters;

/// The default controller of a bond, for all its subflows, each on its own.
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

    /// What may be in flight while the propagation time is measured, in bandwidth-delay products.
    pub const PROBE_RTT_GAIN: f64 = flow::PROBE_RTT_GAIN;

    /// The controller with other constants.
    pub fn controller(parameters: PolypathParameters) -> impl CongestionAvoidance {
        // Nothing in it is random.
        PerFlow::<Flow>::new(parameters, 0)
    }

    /// An instance for the registry.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::controller(PolypathParameters::of(values)))
    }
}
