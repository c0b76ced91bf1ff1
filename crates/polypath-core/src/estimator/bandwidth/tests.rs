//! What the tests of the estimators share, and all of them on the same traces.

use super::*;

pub(super) const fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// An ACK at `millis` of `acked_bytes`, with an RTT sample in ms.
pub(super) fn record(millis: u64, acked_bytes: u64, rtt: Option<u64>) -> AckRecord {
    AckRecord { at: at(millis), acked_bytes, rtt: rtt.map(Duration::from_millis) }
}

/// The estimate after each of the ACKs (ms, bytes), all of which have an RTT of 60 ms.
pub(super) fn after(
    estimator: &mut dyn BandwidthEstimator,
    acks: &[(u64, u64)],
) -> Vec<Option<f64>> {
    let trace: Vec<_> = acks.iter().map(|&(at, bytes)| record(at, bytes, Some(60))).collect();
    estimates(estimator, trace).map(|(_, estimate)| estimate).collect()
}

fn all() -> [(&'static str, Box<dyn BandwidthEstimator>); 6] {
    let westwood = |filter| Box::new(WestwoodEstimator::new(filter));
    [
        ("fixed pole", westwood(BandwidthFilter::WESTWOOD)),
        ("Tustin", westwood(BandwidthFilter::TUSTIN)),
        ("Tustin of ns-3", westwood(BandwidthFilter::TUSTIN_NS3)),
        ("per round", Box::new(WestwoodEstimator::per_round(BandwidthFilter::WESTWOOD))),
        ("Westwood+", Box::new(WestwoodPlusEstimator::new(WestwoodPlusFilter::DEFAULT))),
        ("adaptive", Box::new(AdaptiveEstimator::default())),
    ]
}

/// 1 MB/s for 10 s: an ACK of 2 kB every 2 ms.
fn steady() -> Vec<AckRecord> {
    (0..5_000).map(|n| record(2 * n, 2_000, Some(40))).collect()
}

/// The same packets, but each second ACK comes 0.1 ms after the one before it.
fn compressed() -> Vec<AckRecord> {
    let mut trace = steady();
    for pair in trace.chunks_mut(2) {
        pair[1].at = pair[0].at + Duration::from_micros(100);
    }
    trace
}

fn last(estimator: &mut dyn BandwidthEstimator, trace: Vec<AckRecord>) -> f64 {
    estimates(estimator, trace).last().and_then(|(_, value)| value).unwrap()
}

/// After 10 s the start weighs e^-20 in the slowest filter, whose time constant is 0.5 s.
#[test]
fn each_finds_a_steady_rate() {
    for (name, mut estimator) in all() {
        let value = last(&mut *estimator, steady());
        assert!((value - 1e6).abs() < 1.0, "{name}: {value}");
        assert!(estimator.start_share() < 0.02, "{name}");
    }
}

/// Half of the samples are 2 kB in 0.1 ms, 20 MB/s, the others 2 kB in 3.9 ms, 0.5 MB/s. A fixed
/// pole takes their mean of 10 MB/s (after a short one 0.1 more of the difference), and so does
/// Tustin's filter, which puts the mean of two samples into the longer interval, too. Samples over
/// round trips are at most one ACK of the shortest interval (40 ms, 20 ACKs) off.
#[test]
fn compressed_acks_deceive_samples_of_single_acks() {
    for (name, mut estimator) in all() {
        let value = last(&mut *estimator, compressed());
        if ["per round", "Westwood+", "adaptive"].contains(&name) {
            assert!((value - 1e6).abs() <= 0.05 * 1e6, "{name}: {value}");
        } else {
            assert!((9e6..12e6).contains(&value), "{name}: {value}");
        }
    }
}

/// The same rate, but the ACKs of 40 ms come at one instant, one for each packet.
fn bursts() -> Vec<AckRecord> {
    let mut trace = steady();
    for (n, burst) in (0..).zip(trace.chunks_mut(20)) {
        burst.iter_mut().for_each(|ack| ack.at = at(40 * n));
    }
    trace
}

#[test]
fn samples_over_round_trips_count_all_acks_of_an_instant() {
    for (name, mut estimator) in all() {
        if ["per round", "Westwood+", "adaptive"].contains(&name) {
            let value = last(&mut *estimator, bursts());
            assert!((value - 1e6).abs() <= 0.02 * 1e6, "{name}: {value}");
        }
    }
}

/// Of the first instant it is not known over what time its bytes came, however many ACKs it has.
#[test]
fn the_acks_of_the_first_instant_do_not_count() {
    let trace = [(0, 50_000), (0, 50_000), (100, 20_000)];
    for (name, mut estimator) in all() {
        if ["Westwood+", "adaptive"].contains(&name) {
            assert_eq!(after(&mut *estimator, &trace)[2], Some(200_000.0), "{name}");
        }
    }
}

#[test]
fn no_trace_makes_an_estimate_that_is_no_number() {
    let times = [0, 0, 1, 2, 1, u64::MAX, 3, u64::MAX].map(Timestamp::from_nanos);
    for (name, mut estimator) in all() {
        for acked_bytes in [0, u64::MAX, 1] {
            let trace = times.map(|at| AckRecord { at, acked_bytes, rtt: Some(Duration::ZERO) });
            for (_, value) in estimates(&mut *estimator, trace) {
                assert!(value.is_none_or(|v| v.is_finite() && v >= 0.0), "{name}: {value:?}");
            }
            assert!((0.0..=1.0).contains(&estimator.start_share()), "{name}");
        }
    }
}
