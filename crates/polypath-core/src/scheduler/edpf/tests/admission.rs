//! Which paths are used.

use super::*;

/// 20 ms and 10 MB/s, with a queue of 100 segments.
fn queued() -> PathView {
    loaded(PathView { rate: 10e6, ..path(0, 20, 400) }, 300)
}

#[test]
fn a_clean_path_as_fast_as_the_other_is_used_whatever_the_window() {
    for window in [100, 1_000] {
        assert_eq!(pick(&[queued(), path(1, 20, 200)], &queue(1_000_000, window)), SLOW);
    }
}

/// A segment that the second path loses occupies its place for 40 ms. A window of 1100 segments
/// passes in 55 ms. One of 375, half of which are on the second path, passes in 19 to 20 ms, and in
/// twice that with a loss: 9.4 MB/s, less than the first path carries alone.
#[test]
fn a_lossy_path_is_left_out_where_the_window_does_not_hold_its_repairs() {
    let lossy = PathView { loss: 0.01, ..path(1, 20, 200) };
    assert_eq!(pick(&[queued(), lossy], &queue(1_000_000, 1_100)), SLOW);
    assert_eq!(pick(&[queued(), lossy], &queue(1_000_000, 375)), FAST);
    // It stays out while the other is full, until the segment would have arrived.
    let busy = [full(queued()), lossy];
    assert!(is_wait(pick(&busy, &queue(1_000_000, 375))));
    assert_eq!(pick(&busy, &QueueView { window: 375 * MSS, ..reinjection(&[0]) }), SLOW);
}

/// 200 segments at 10 MB/s take 20 ms. With a loss in each window the first path carries 200
/// segments in 40 ms, and with the second one, of 25 ms, it would be 47.5 ms. With the 30 ms that a
/// burst has left on the first path it would be 57.5 against 50 ms.
#[test]
fn the_queue_of_a_burst_does_not_make_a_path_worse_than_it_is() {
    let lossy = |number, ms| PathView { rate: 10e6, loss: 0.01, ..path(number, ms, 400) };
    let burst = PathView { srtt: Some(ms(30)), ..loaded(lossy(0, 20), 150) };
    assert_eq!(pick(&[burst, lossy(1, 25)], &queue(1_000_000, 200)), FAST);
}

/// 750 segments pass in 37 ms. The second path has 15 of them and loses one in three or four
/// windows, which then occupies its place for 60 ms: on average less than a window lasts, but each
/// time the first path, which brings fifty times as much, stops. 1500 segments pass in 74 ms.
#[test]
fn a_small_path_is_left_out_if_each_of_its_losses_stops_a_large_one() {
    let paths = [full(path(0, 30, 600)), PathView { loss: 0.02, ..path(1, 30, 12) }];
    assert!(is_wait(pick(&paths, &queue(1_000_000, 750))));
    assert!(!is_wait(pick(&paths, &queue(1_000_000, 1_500))));
}

/// The clean path may send 5 MB/s and twice that before long, which is what 300 segments in its 30
/// ms are. The lossy path carries 7.5, alone or with others: it must not keep the clean one from
/// growing.
#[test]
fn a_path_in_slow_start_is_reckoned_with_what_it_is_about_to_carry() {
    let lossy = PathView { rate: 10e6, loss: 0.01, ..path(0, 20, 400) };
    let young = PathView { in_slow_start: true, ..path(1, 30, 150) };
    assert_eq!(pick(&[lossy, young], &queue(1_000_000, 300)), SLOW);
    let grown = PathView { in_slow_start: false, ..young };
    assert_eq!(pick(&[lossy, grown], &queue(1_000_000, 300)), FAST);
}

/// The clean path has shown 2 MB/s, may send 10, and soon 20. The losses of the other path stop the
/// 375 segments for 40 ms, so that the clean one alone carries more. If 2.5 MB/s were all it can
/// do, it would carry less.
#[test]
fn a_path_in_slow_start_is_reckoned_with_its_window() {
    let young = PathView { rate: 2e6, in_slow_start: true, ..path(0, 20, 200) };
    let lossy = PathView { loss: 0.01, ..path(1, 20, 200) };
    let queue = queue(1_000_000, 375);
    assert!(is_wait(pick(&[full(young), lossy], &queue)));
    let grown = PathView { in_slow_start: false, ..young };
    assert_eq!(pick(&[full(grown), lossy], &queue), SLOW);
}

/// The lossy path, whose congestion window exceeds the receive window, passes 300 kB in 38 ms. The
/// other one would take 30 ms if it turned out to be as fast, and 40 ms with an RTT of 60 ms.
#[test]
fn a_path_in_slow_start_that_may_carry_more_goes_first() {
    let lossy = PathView { rate: 20e6, loss: 0.01, ..path(0, 20, 400) };
    let young = |ms| PathView { rate: 0.5e6, in_slow_start: true, ..path(1, ms, 10) };
    let queue = queue(1_000_000, 300);
    assert_eq!(pick(&[lossy, young(30)], &queue), SLOW);
    assert_eq!(pick(&[lossy, full(young(30))], &queue), FAST);
    assert_eq!(pick(&[lossy, young(60)], &queue), FAST);
    let grown = PathView { in_slow_start: false, ..young(30) };
    assert_eq!(pick(&[lossy, grown], &queue), FAST);
}

/// The lossy path passes 1 MB in 100 ms. What the other one is known to carry adds little, and
/// repairs that are lost would stop the window for 1.8 ms more: 9.9 MB/s. If it carried what the
/// window admits in its 90 ms, the rate would be 11 MB/s, and it cannot show that unless it is
/// used.
#[test]
fn a_path_in_slow_start_is_used_that_may_bring_more_than_it_costs() {
    let lossy = full(PathView { rate: 10e6, loss: 0.01, ..path(0, 20, 200) });
    let young = |ms| PathView { rate: 62.5e3, in_slow_start: true, ..path(1, ms, 10) };
    let queue = queue(1_000_000, 1_000);
    let Pick::Ahead { path, .. } = pick(&[lossy, young(160)], &queue) else { panic!("it waits") };
    assert_eq!(Pick::Send(path), SLOW);
    assert!(is_wait(pick(&[lossy, young(300)], &queue)), "160 ms for a window are too many");
    let grown = PathView { in_slow_start: false, ..young(160) };
    assert!(is_wait(pick(&[lossy, grown], &queue)));
}
