//! Views for tests.

use super::{PathView, QueueView};
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

pub(super) const MSS: u64 = 1_000;

pub(super) fn id(number: u8) -> PathId {
    PathId::new(number).unwrap()
}

pub(super) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// An idle path with a window of `segments` and no measured rate: `cwnd / srtt` is its rate.
pub(super) fn path(number: u8, rtt_ms: u64, segments: u64) -> PathView {
    PathView {
        id: id(number),
        srtt: Some(ms(rtt_ms)),
        rtt_var: Duration::ZERO,
        min_rtt: Some(ms(rtt_ms)),
        cwnd: segments * MSS,
        in_flight: 0,
        mss: MSS,
        rate: 0.0,
        in_slow_start: false,
        ssthresh: f64::INFINITY,
        available: segments > 0,
        paced_until: Timestamp::ZERO,
        failed: false,
        backup: false,
        weight: 0.0,
        loss: 0.0,
    }
}

/// The path with this many segments in flight.
pub(super) fn loaded(mut path: PathView, segments: u64) -> PathView {
    path.in_flight = segments * MSS;
    path.available = path.room() >= MSS;
    path
}

/// The path with its window full.
pub(super) fn full(path: PathView) -> PathView {
    loaded(path, path.cwnd / MSS)
}

/// The path with room, but with a committed segment that pacing holds.
pub(super) fn paced(mut path: PathView, until: Timestamp) -> PathView {
    path.available = false;
    path.paced_until = until;
    path
}

/// One segment out of `unsent`, with a window of this many segments, all of it free.
pub(super) fn queue(unsent: u64, window: u64) -> QueueView {
    QueueView {
        segment: MSS,
        unsent: unsent * MSS,
        send_window: window * MSS,
        window: window * MSS,
        outstanding: 0,
        sent_on: PathSet::EMPTY,
        reinjection: false,
        to_reinject: 0,
        blocked_since_last: false,
    }
}

/// Bulk data and a window that never blocks.
pub(super) fn bulk() -> QueueView {
    queue(1_000_000, 1_000_000)
}

/// A reinjection of a segment that these paths carry.
pub(super) fn reinjection(sent_on: &[u8]) -> QueueView {
    let sent_on = sent_on.iter().map(|&n| id(n)).collect();
    QueueView { sent_on, reinjection: true, to_reinject: MSS, ..queue(1, 1_000_000) }
}
