//! Events and subflows for the unit tests of the controllers.

use super::{Ack, Loss, RateSample, Subflow, Subflows};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

pub(crate) fn path(number: u8) -> PathId {
    PathId::new(number).expect("a test names valid paths")
}

/// Subflows 0, 1, ... in congestion avoidance, each with a window in bytes and an RTT in ms.
pub(crate) fn subflows(mss: u64, flows: &[(f64, u64)]) -> Subflows {
    let mut all = Subflows::default();
    for (number, &(cwnd, rtt)) in (0..).zip(flows) {
        let mut subflow = Subflow::new(path(number), mss);
        subflow.cwnd = cwnd;
        subflow.ssthresh = 1.0;
        subflow.srtt = Some(Duration::from_millis(rtt));
        subflow.min_rtt = subflow.srtt;
        all.insert(subflow);
    }
    all
}

/// A window-limited ACK of `acked_bytes` at time zero.
pub(crate) fn ack(acked_bytes: u64, mss: u64) -> Ack {
    Ack {
        now: Timestamp::ZERO,
        acked_bytes,
        rtt: None,
        flight_time: None,
        rate: None,
        delivered: acked_bytes,
        prior_delivered: 0,
        cwnd_limited: true,
        round_start: false,
        ecn_ce_bytes: 0,
        lost_bytes: 0,
        prior_in_flight: acked_bytes,
        bytes_in_flight: 0,
        mss,
    }
}

/// A loss of one segment with `bytes_in_flight` at time zero.
pub(crate) fn loss(bytes_in_flight: u64, mss: u64) -> Loss {
    Loss { now: Timestamp::ZERO, lost_bytes: mss, bytes_in_flight, ecn: false, mss }
}

/// A rate sample of `bytes_per_sec`, not application-limited.
pub(crate) fn rate(bytes_per_sec: f64) -> RateSample {
    RateSample {
        delivered: bytes_per_sec as u64,
        interval: Duration::from_secs(1),
        bytes_per_sec,
        app_limited: false,
        lost: 0,
        tx_in_flight: 0,
    }
}
