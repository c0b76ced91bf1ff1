//! Scenarios for EDPF, on views made by hand.

use super::*;
use crate::scheduler::fixtures::{
    MSS, bulk, full, id, loaded, ms, paced, path, queue, reinjection,
};

const FAST: Pick = Pick::Send(PathId::new(0).unwrap());
const SLOW: Pick = Pick::Send(PathId::new(1).unwrap());

fn pick(paths: &[PathView], queue: &QueueView) -> Pick {
    Edpf::default().pick(paths, queue, Timestamp::ZERO)
}

/// 10 ms and 10 MB/s (pipe: 100 segments) beside 100 ms and 2 MB/s (pipe: 200 segments).
fn fast() -> PathView {
    PathView { rate: 10e6, ..path(0, 10, 100) }
}

fn slow() -> PathView {
    PathView { rate: 2e6, ..path(1, 100, 200) }
}

/// The slow path sends what follows so many segments.
fn ahead(segments: u64) -> Pick {
    Pick::Ahead { path: id(1), skip: segments * MSS }
}

/// EDPF with `ahead` off: slow paths send the head, too.
fn in_order(window_share: f64) -> Edpf {
    Edpf::new(EdpfParameters { ahead: false, window_share, ..EdpfParameters::DEFAULT })
}

fn is_wait(pick: Pick) -> bool {
    matches!(pick, Pick::Wait(_))
}

mod admission;
mod arrivals;
mod patience;
mod placing;
mod variability;

#[test]
fn t_edpf_1() {
    let segment = |number, one_way_ms: u64, rate: f64| PathView {
        rate,
        mss: 1_500,
        cwnd: (rate * one_way_ms as f64 / 500.0) as u64 + 15_000,
        ..path(number, 2 * one_way_ms, 1)
    };
    let mut edpf = Edpf::new(EdpfParameters { rate_headroom: 1.0, ..EdpfParameters::DEFAULT });
    let mut views = [segment(1, 20, 1.25e6), segment(2, 5, 0.25e6)];
    let queue = QueueView { segment: 1_500, ..bulk() };
    let delivery = |edpf: &Edpf, view: &PathView| {
        let secs = edpf.forecast(view, &queue, Timestamp::ZERO).unwrap().delivery;
        (secs * 1e4).round() / 10.0
    };
    for (first, second, chosen) in [(21.2, 11.0, 2), (21.2, 17.0, 2), (21.2, 23.0, 1)] {
        assert_eq!(views.map(|view| delivery(&edpf, &view)), [first, second]);
        assert_eq!(edpf.pick(&views, &queue, Timestamp::ZERO), Pick::Send(id(chosen)));
        views[chosen as usize - 1].in_flight += 1_500;
    }
}

#[test]
fn a_queue_on_the_fast_path_makes_the_slow_one_faster() {
    // 1 MB in flight at 10 MB/s: 100 ms, less the 10 ms of the pipe, are queue; 95 ms against 50.
    let bloated = loaded(PathView { cwnd: 2_000 * MSS, rate: 10e6, ..path(0, 10, 1) }, 1_000);
    let mut edpf = Edpf::new(EdpfParameters { rate_headroom: 1.0, ..EdpfParameters::DEFAULT });
    assert_eq!(edpf.pick(&[bloated, slow()], &bulk(), Timestamp::ZERO), SLOW);
    assert_eq!(pick(&[fast(), slow()], &bulk()), FAST);
}

#[test]
fn bulk_data_uses_both_paths() {
    let paths = [full(fast()), slow()];
    assert_eq!(in_order(0.8).pick(&paths, &bulk(), Timestamp::ZERO), SLOW);
}

#[test]
fn a_reinjection_goes_where_it_arrives_first_whatever_the_window() {
    assert_eq!(pick(&[fast(), slow()], &reinjection(&[1])), FAST);
    assert_eq!(pick(&[fast(), slow()], &reinjection(&[0])), SLOW);
    // This holds however much waits behind it, and however small the window is.
    let many = QueueView { unsent: 600 * MSS, window: MSS, ..reinjection(&[]) };
    assert!(is_wait(pick(&[full(fast()), slow()], &many)));
    let late = paced(loaded(fast(), 50), Timestamp::from_millis(60));
    assert_eq!(pick(&[late, slow()], &many), SLOW);
}

/// The full path delivers its next segment after 5.2 ms, the slow one after 50.5: 453 segments more
/// by then.
#[test]
fn more_reinjections_than_faster_paths_deliver_in_time_use_slower_ones_too() {
    let paths = [full(fast()), slow()];
    let lost = |segments| QueueView { to_reinject: segments * MSS, ..reinjection(&[]) };
    assert!(is_wait(pick(&paths, &lost(454))));
    assert_eq!(pick(&paths, &lost(455)), SLOW);
}

#[test]
fn expected_repair_makes_a_lossy_path_slower() {
    // 10 ms RTT with one loss in two costs one RTT more: 15 ms, against 11 ms.
    let lossy = PathView { loss: 0.5, ..fast() };
    let clean = PathView { rate: 10e6, ..path(1, 22, 220) };
    assert_eq!(pick(&[fast(), clean], &bulk()), FAST);
    assert_eq!(pick(&[lossy, clean], &bulk()), SLOW);
}

#[test]
fn a_path_without_an_rtt_is_used_when_it_alone_has_room() {
    let unknown = PathView { srtt: None, ..path(0, 1, 10) };
    assert_eq!(pick(&[unknown, slow()], &bulk()), SLOW);
    assert_eq!(pick(&[unknown, full(slow())], &queue(1, 10)), FAST);
}

#[test]
fn a_wrong_rate_does_not_accumulate_in_the_delivery_clock() {
    let mut edpf = Edpf::default();
    // Measured at a thousandth of what it is: each segment is predicted to take 100 ms.
    let view = PathView { rate: 10e3, mss: 1, ..path(0, 10, 1) };
    let view = PathView { cwnd: 100 * MSS, available: true, ..view };
    for _ in 0..100 {
        assert_eq!(edpf.pick(&[view], &bulk(), Timestamp::ZERO), FAST);
    }
    let idle = edpf.forecast(&view, &bulk(), Timestamp::ZERO).unwrap();
    assert!(idle.delivery < 0.105, "nothing is in flight, yet {idle:?}");
}

/// A path of 80 ms has 75 of 100 segments under way, a queue of 24 ms, and has shown half of the
/// rate to which it is growing, 0.96 MB/s. At that rate they take 78 ms and the next one arrives
/// after 53 ms; at 1.25 times what was shown they take 120 ms and it arrives after 82 ms. A path of
/// 120 ms delivers it after 61 ms.
#[test]
fn in_a_brief_transfer_a_path_in_slow_start_is_as_fast_as_its_window() {
    let young = PathView { rate: 0.5e6, in_slow_start: true, ..path(1, 80, 100) };
    let young = loaded(PathView { srtt: Some(ms(104)), ..young }, 75);
    let views = [PathView { rate: 1e6, ..path(0, 120, 100) }, young];
    let (brief, long) = (queue(900, 1_000), queue(1_001, 1_000));
    assert_eq!((pick(&views, &brief), pick(&views, &long)), (SLOW, FAST));
    let grown = PathView { in_slow_start: false, ..young };
    assert_eq!(pick(&[views[0], grown], &brief), FAST);
}

/// The same with a queue of 20 ms, a quarter of the RTT, which bursts alone may leave.
#[test]
fn without_a_queue_a_path_in_slow_start_is_as_fast_as_its_window() {
    let young = PathView { rate: 0.5e6, in_slow_start: true, ..path(1, 80, 100) };
    let young = |srtt| loaded(PathView { srtt: Some(ms(srtt)), ..young }, 75);
    let other = PathView { rate: 1e6, ..path(0, 120, 100) };
    let picked = |view| pick(&[other, view], &queue(1_001, 1_000));
    assert_eq!([young(100), young(101)].map(picked), [SLOW, FAST]);
    assert_eq!(picked(PathView { in_slow_start: false, ..young(100) }), FAST);
}

/// A sender for whose data there was room for a second may keep a path in slow start for ever: the
/// path counts as being as fast as it has shown.
#[test]
fn while_the_application_limits_a_path_in_slow_start_is_as_fast_as_it_has_shown() {
    let young = PathView { rate: 0.625e6, in_slow_start: true, ..path(1, 80, 100) };
    let young = loaded(young, 75);
    let mut edpf = Edpf::default();
    let brief = queue(1, 1_000);
    let mut at = |millis| {
        let now = Timestamp::from_millis(millis);
        edpf.variability.observe(&[young], &brief, now);
        edpf.forecast(&young, &brief, now).unwrap().delivery
    };
    let (first, later) = (at(0), at(1_000));
    assert!((first - 0.0408).abs() < 1e-6, "{first}");
    // (96 - 80) ms of queue, half of 80 ms, a segment at 0.78125 MB/s.
    assert!((later - 0.057_28).abs() < 1e-6, "{later}");
}
