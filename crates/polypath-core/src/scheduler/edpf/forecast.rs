//! When each path would deliver a segment.

use super::Edpf;
use crate::congestion::queued::is_queued;
use crate::scheduler::candidates::reopens;
use crate::scheduler::{PathView, QueueView};
use polypath_units::Timestamp;
use std::time::Duration;

/// The shortest RTT in calculations, in seconds: it keeps rates finite.
const MIN_RTT_SECS: f64 = 1e-6;

/// What a path would do with the segment; times in seconds from `now`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forecast<'a> {
    pub(super) now: Timestamp,
    pub(super) path: &'a PathView,
    pub(super) srtt: f64,
    /// At most `srtt`.
    pub(super) min_rtt: f64,
    pub(super) rate: f64,
    pub(super) start: f64,
    /// Predicted delivery if the segment is not lost.
    pub(super) arrival: f64,
    /// `arrival` with the expected repair of losses: the value by which paths are compared.
    pub(super) delivery: f64,
}

impl Edpf {
    /// Predicts for a path with an RTT that has room, or is sure to get it.
    pub(super) fn forecast<'a>(
        &self,
        path: &'a PathView,
        queue: &QueueView,
        now: Timestamp,
    ) -> Option<Forecast<'a>> {
        let segment = queue.segment;
        // The smoothed RTT of a path that carries nothing includes a queue that has drained by now:
        // a path that was avoided for its queue must be able to come back.
        let idle = (path.in_flight == 0).then_some(path.min_rtt).flatten();
        let smoothed = idle.unwrap_or(path.srtt?);
        let srtt = smoothed.as_secs_f64().max(MIN_RTT_SECS);
        if !path.available {
            reopens(path, now)?;
        }
        let rate = self.rate(path, srtt, self.may_be_faster(path, smoothed, queue, now));
        let transit = path.in_flight as f64 / rate;
        let min_rtt = path.min_rtt.map_or(srtt, |d| d.as_secs_f64().min(srtt));
        let half_min = min_rtt / 2.0;
        let start = start(path, segment, min_rtt, rate, now);
        let standing = (transit - start - min_rtt).max(0.0);
        let free_at = self.arrivals.last(path.id).map_or(0.0, |at| (at - now).as_secs_f64());
        let first_byte =
            (start + (srtt / 2.0).max(half_min + standing)).max(free_at.min(half_min + transit));
        let arrival = first_byte + segment as f64 / rate;
        let loss = path.loss.clamp(0.0, 0.99);
        let repair = self.parameters.loss_cost * srtt * loss / (1.0 - loss);
        let delivery =
            arrival + repair + self.parameters.variability_cost * self.variability.risk(path, now);
        Some(Forecast { now, path, srtt, min_rtt, rate, start, arrival, delivery })
    }

    /// Whether a path in slow start is taken to be as fast as its window: no queue stands there, or
    /// all of the transfer fits into the windows, so that it is over before a queue can show. A
    /// sender that offers less than the paths carry may keep a path in slow start for ever, and
    /// does not count.
    fn may_be_faster(
        &self,
        path: &PathView,
        smoothed: Duration,
        queue: &QueueView,
        now: Timestamp,
    ) -> bool {
        let is_brief = queue.unsent <= queue.send_window;
        path.in_slow_start
            && (is_brief || !is_queued(Some(smoothed), path.min_rtt))
            && !self.variability.is_application_limited(now)
    }

    /// `B_l` in bytes/s: the measured rate, which `cwnd / srtt` may raise a little, or replace; at
    /// least one segment in each round trip.
    fn rate(&self, path: &PathView, srtt: f64, may_be_faster: bool) -> f64 {
        let from_window = path.cwnd as f64 / srtt;
        let rate = if path.rate > 0.0 && !may_be_faster {
            let ceiling = path.rate * self.parameters.rate_headroom.max(1.0);
            from_window.clamp(path.rate, ceiling)
        } else {
            from_window
        };
        rate.max(path.mss.max(1) as f64 / srtt)
    }
}

/// Of the paths with room the one that delivers first.
pub(super) fn earliest<'a>(paths: &[Forecast<'a>]) -> Option<Forecast<'a>> {
    let open = paths.iter().filter(|f| f.path.available);
    open.min_by(|a, b| a.delivery.total_cmp(&b.delivery)).copied()
}

/// The shortest round trip in seconds.
pub(super) fn shortest(paths: &[Forecast]) -> f64 {
    paths.iter().map(|f| f.srtt).fold(f64::INFINITY, f64::min)
}

/// When pacing and the congestion window let a segment go, in seconds from now.
///
/// The window of a full pipe opens at the path's rate. The window of a pipe that was filled in a
/// burst opens only when the first ACK is back, at the latest `min_rtt - F / B` from now.
fn start(path: &PathView, segment: u64, min_rtt: f64, rate: f64, now: Timestamp) -> f64 {
    let paced = (path.paced_until - now).as_secs_f64();
    let missing = segment.saturating_sub(path.room());
    if path.available || missing == 0 {
        return paced;
    }
    let first_ack = (min_rtt - path.in_flight as f64 / rate).max(0.0);
    paced.max(first_ack + missing as f64 / rate)
}
