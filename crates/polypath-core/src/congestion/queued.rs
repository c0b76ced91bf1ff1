//! Whether an RTT shows a queue.

use std::time::Duration;

/// An RTT above this many times the path's least shows a queue.
const QUEUED: f64 = 1.25;

/// Whether this RTT shows a queue; false while it or the path's least is unknown.
pub(crate) fn is_queued(rtt: Option<Duration>, least: Option<Duration>) -> bool {
    let rtts = rtt.zip(least);
    rtts.is_some_and(|(rtt, least)| rtt.as_secs_f64() > QUEUED * least.as_secs_f64())
}
