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

/// EDPF that sends the head on slow paths, too.
fn in_order(window_share: f64) -> Edpf {
    Edpf::new(EdpfParameters { ahead: false, window_share, ..EdpfParameters::DEFAULT })
}

fn is_wait(pick: Pick) -> bool {
    matches!(pick, Pick::Wait(_))
}

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

/// The slow path delivers after 50.5 ms; the fast one, when the next ACK has come, from 5.2 ms on.
#[test]
fn a_slower_path_sends_what_will_be_next_in_order() {
    assert_eq!(pick(&[full(fast()), slow()], &bulk()), ahead(1 + 453));
    let third = PathView { id: id(2), ..full(fast()) };
    assert_eq!(pick(&[full(fast()), slow(), third], &bulk()), ahead(2 * 454));
    // How fast a path in slow start will be is not known.
    let young = PathView { in_slow_start: true, ..full(fast()) };
    assert_eq!(pick(&[young, slow()], &bulk()), SLOW);
    // Nobody overtakes it: it sends the head.
    assert_eq!(pick(&[full(slow()), PathView { rate: 2e6, ..path(1, 100, 200) }], &bulk()), SLOW);
}

/// It carries a fiftieth of what the fast one does.
#[test]
fn a_path_in_slow_start_that_carries_little_keeps_nobody_from_sending_ahead() {
    let young = |segments| full(PathView { in_slow_start: true, ..path(2, 20, segments) });
    let ahead = |segments| pick(&[full(fast()), slow(), young(segments)], &bulk());
    assert!(matches!(ahead(4), Pick::Ahead { skip, .. } if skip > 454 * MSS), "{:?}", ahead(4));
    assert_eq!(ahead(100), SLOW, "half of what the fast one carries");
}

/// The slow path delivers after 50.5 ms, before which the fast one delivers 304 segments. Until that is
/// acknowledged it has sent some 400 behind them if acknowledgements take 20 ms, and 220 if 2.
#[test]
fn acknowledgements_return_over_the_fastest_path_used_or_not() {
    let edpf = Edpf::default();
    let queue = queue(1_000_000, 1_000);
    let forecast = |view| edpf.forecast(view, &queue, Timestamp::ZERO).unwrap();
    let (far, near) = (slow(), full(PathView { rate: 10e6, ..path(0, 40, 400) }));
    let skip = |shortest| {
        let room = Room { window: 300e3, shortest };
        edpf.skip(&forecast(&far), &[forecast(&near)], &queue, room)
    };
    assert_eq!(skip(0.04), None);
    assert!(skip(0.004).is_some_and(|skip| skip > 300 * MSS));
}

/// The near path sends 480 segments until an acknowledgement over itself is back, too many for 83 % of 530;
/// 260 until one over the third path is, which repairs that it loses itself leave out.
#[test]
fn acknowledgements_return_over_a_path_that_is_left_out() {
    let near = full(PathView { rate: 10e6, ..path(0, 48, 480) });
    let nearest = full(PathView { rate: 0.25e6, loss: 0.3, ..path(2, 4, 1) });
    let queue = queue(1_000_000, 530);
    assert!(is_wait(pick(&[near, slow()], &queue)));
    let told = pick(&[near, slow(), nearest], &queue);
    assert!(matches!(told, Pick::Ahead { path, .. } if path == id(1)), "{told:?}");
}

/// In 50.5 ms the fast path sends 505 segments. If it loses five of them it needs 10 ms for repairs, in
/// which it would deliver 100, and 1.01 in the 0.101 ms that a segment's own loss costs; if it loses
/// one in two such spans, 50.5 and 0.1.
#[test]
fn a_slower_path_leaves_the_fast_one_time_for_repairs() {
    let lossy = |loss| [PathView { loss, ..full(fast()) }, slow()];
    assert_eq!(pick(&lossy(0.01), &bulk()), ahead(454 - 102));
    assert_eq!(pick(&lossy(0.001), &bulk()), ahead(454 - 51));
    // As long as it is ahead: no time is left to deliver anything but what is under way.
    let late = [PathView { loss: 0.01, ..full(path(0, 50, 500)) }, slow()];
    assert_eq!(pick(&late, &bulk()), ahead(1));
}

/// In the 45 ms by which it is ahead the fast path delivers 454 segments.
#[test]
fn the_tail_is_not_stranded_on_the_slow_path() {
    for unsent in [1, 20, 400] {
        assert!(is_wait(pick(&[full(fast()), slow()], &queue(unsent, 1_000_000))), "{unsent}");
    }
    assert_eq!(pick(&[full(fast()), slow()], &queue(455, 1_000_000)), ahead(454));
}

/// A segment of the slow path is in the window for 50 ms and the way back over the fast one, 5 ms: in
/// that time the fast path alone sends 550.
#[test]
fn a_slower_path_sends_ahead_if_the_window_has_room_for_it() {
    let paths = [full(fast()), slow()];
    assert!(is_wait(pick(&paths, &queue(1_000_000, 549))));
    assert_eq!(pick(&paths, &queue(1_000_000, 551)), ahead(454));
    // Only what the window admits now: a hole behind which the fast path sends 554 - 299.
    let near = QueueView { send_window: 300 * MSS, ..queue(1_000_000, 551) };
    assert_eq!(pick(&paths, &near), ahead(299));
    let nearer = QueueView { send_window: 80 * MSS, ..near };
    assert!(is_wait(pick(&paths, &nearer)), "475 behind, of 83 % of 551");
}

/// With 399 segments on it the slow path delivers after 150 ms. The fast one sends 1549 until that is
/// acknowledged, 999 of which are before the segment: 550 and 400 are more than 80 % of 1000.
#[test]
fn what_the_slower_path_carries_counts_as_behind() {
    let wide = PathView { cwnd: 1_000 * MSS, ..slow() };
    let mut edpf = Edpf::new(EdpfParameters { rate_headroom: 1.0, ..EdpfParameters::DEFAULT });
    let paths = [full(fast()), loaded(wide, 399)];
    assert!(is_wait(edpf.pick(&paths, &queue(1_000_000, 1_000), Timestamp::ZERO)));
    let wider = EdpfParameters { rate_headroom: 1.0, window_share: 1.0, ..EdpfParameters::DEFAULT };
    let pick = Edpf::new(wider).pick(&paths, &queue(1_000_000, 1_000), Timestamp::ZERO);
    assert_eq!(pick, ahead(999));
}

/// A fast path of a tenth of the rate: the far path, which carries most of what the window admits, may
/// fill it as it does alone. 800 of 1000 segments are no reason to stop; where it carries less than the
/// fast one, they are.
#[test]
fn the_path_that_carries_most_may_fill_the_window() {
    let wide = PathView { cwnd: 1_000 * MSS, ..slow() };
    let (minor, major) = (PathView { rate: fast().rate / 20.0, ..full(fast()) }, full(fast()));
    let picked = |fast| pick(&[fast, loaded(wide, 850)], &queue(1_000_000, 1_000));
    assert!(!is_wait(picked(minor)));
    assert!(is_wait(picked(major)));
}

/// Until the ACK over the slow path, 100 ms, the fast one sends 1000 segments.
#[test]
fn a_small_window_is_kept_for_the_fast_path() {
    let pick = |window| {
        let paths = [full(fast()), slow()];
        in_order(0.8).pick(&paths, &queue(1_000_000, window), Timestamp::ZERO)
    };
    assert!(is_wait(pick(1_000)));
    assert_eq!(pick(2_000), SLOW);
    // What the slow path already holds back counts too: 1000 + 199 + 1 over 80 % of 1400.
    let pick =
        |slow| in_order(0.8).pick(&[full(fast()), slow], &queue(1_000_000, 1_400), Timestamp::ZERO);
    assert_eq!(pick(slow()), SLOW);
    assert!(is_wait(pick(loaded(slow(), 199))));
}

#[test]
fn the_window_rule_can_be_switched_off() {
    let paths = [full(fast()), slow()];
    let pick = in_order(0.0).pick(&paths, &queue(1_000_000, 1_000), Timestamp::ZERO);
    assert_eq!(pick, SLOW);
    let off = EdpfParameters { window_share: 0.0, ..EdpfParameters::DEFAULT };
    let pick = Edpf::new(off).pick(&paths, &queue(1_000_000, 100), Timestamp::ZERO);
    assert_eq!(pick, ahead(99));
}

#[test]
fn a_paced_fast_path_is_waited_for_until_pacing_lets_it_go() {
    let until = Timestamp::from_millis(3);
    let committed = paced(loaded(fast(), 50), until);
    assert_eq!(pick(&[committed, slow()], &queue(10, 1_000_000)), Pick::Wait(until));
    // So long that the slow path, 50 ms away, delivers first.
    let late = paced(loaded(fast(), 50), Timestamp::from_millis(60));
    assert_eq!(pick(&[late, slow()], &queue(10, 1_000_000)), SLOW);
    // With room and no segment committed it simply takes the next one.
    let open = PathView { available: true, ..committed };
    assert_eq!(pick(&[open, slow()], &queue(10, 1_000_000)), FAST);
}

/// The slow path would have delivered after 50.5 ms (and 5 % for losses there are none).
#[test]
fn patience_with_a_path_that_does_not_open_ends() {
    let mut edpf = Edpf::default();
    let paths = [full(fast()), slow()];
    let Pick::Wait(until) = edpf.pick(&paths, &queue(1, 1_000), Timestamp::ZERO) else {
        panic!("the tail waits")
    };
    let delivery = ms(50) + Duration::from_micros(500);
    assert!(until - Timestamp::ZERO <= delivery && until - Timestamp::ZERO > ms(50), "{until}");
    let later = Timestamp::from_millis(30);
    assert_eq!(edpf.pick(&paths, &queue(1, 1_000), later), Pick::Wait(until), "the same end");
    assert_eq!(edpf.pick(&paths, &queue(1, 1_000), until), SLOW);
}

#[test]
fn a_reinjection_goes_where_it_arrives_first_whatever_the_window() {
    assert_eq!(pick(&[fast(), slow()], &reinjection(&[1])), FAST);
    assert_eq!(pick(&[fast(), slow()], &reinjection(&[0])), SLOW);
    // However much waits behind it, and however small the window.
    let many = QueueView { unsent: 600 * MSS, window: MSS, ..reinjection(&[]) };
    assert!(is_wait(pick(&[full(fast()), slow()], &many)));
    let late = paced(loaded(fast(), 50), Timestamp::from_millis(60));
    assert_eq!(pick(&[late, slow()], &many), SLOW);
}

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

/// A segment that the second path loses takes its place for 40 ms. 1100 segments pass in 55 ms; 375, of
/// which half are on the second path, in 19 to 20, twice as long with a loss: 9.4 MB/s, less than the
/// first carries alone.
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

/// 200 segments through 10 MB/s are 20 ms: with a loss in each window the first path carries
/// 200 segments in 40 ms, and the second, 25 ms long, would make that 47.5. By the 30 ms that a burst
/// has left on the first it would be 57.5 against 50.
#[test]
fn the_queue_of_a_burst_does_not_make_a_path_worse_than_it_is() {
    let lossy = |number, ms| PathView { rate: 10e6, loss: 0.01, ..path(number, ms, 400) };
    let burst = PathView { srtt: Some(ms(30)), ..loaded(lossy(0, 20), 150) };
    assert_eq!(pick(&[burst, lossy(1, 25)], &queue(1_000_000, 200)), FAST);
}

/// 750 segments pass in 37 ms. Of the 15 that the second path has of them one is lost in three or four
/// windows, and then takes its place for 60 ms: on average less than a window lasts, but each time the
/// first path, which brings fifty times as much, stops. 1500 segments pass in 74 ms.
#[test]
fn a_small_path_is_left_out_if_each_of_its_losses_stops_a_large_one() {
    let paths = [full(path(0, 30, 600)), PathView { loss: 0.02, ..path(1, 30, 12) }];
    assert!(is_wait(pick(&paths, &queue(1_000_000, 750))));
    assert!(!is_wait(pick(&paths, &queue(1_000_000, 1_500))));
}

/// The clean path may send 5 MB/s and twice that before long, which is what 300 segments in its 30 ms
/// are. The lossy path carries 7.5, alone or with others: it must not keep the clean one from growing.
#[test]
fn a_path_in_slow_start_is_reckoned_with_what_it_is_about_to_carry() {
    let lossy = PathView { rate: 10e6, loss: 0.01, ..path(0, 20, 400) };
    let young = PathView { in_slow_start: true, ..path(1, 30, 150) };
    assert_eq!(pick(&[lossy, young], &queue(1_000_000, 300)), SLOW);
    let grown = PathView { in_slow_start: false, ..young };
    assert_eq!(pick(&[lossy, grown], &queue(1_000_000, 300)), FAST);
}

/// It has shown 2 MB/s and may send 10, 20 before long: beside the lossy path, whose losses stop the
/// 375 segments for 40 ms, that is more alone. Were 2.5 MB/s all it can do, they would be less.
#[test]
fn a_path_in_slow_start_is_reckoned_with_its_window() {
    let young = PathView { rate: 2e6, in_slow_start: true, ..path(0, 20, 200) };
    let lossy = PathView { loss: 0.01, ..path(1, 20, 200) };
    let queue = queue(1_000_000, 375);
    assert!(is_wait(pick(&[full(young), lossy], &queue)));
    let grown = PathView { in_slow_start: false, ..young };
    assert_eq!(pick(&[full(grown), lossy], &queue), SLOW);
}

/// The lossy path, whose congestion window is more than the receive window, passes 300 kB in 38 ms. The
/// other one would in 30, if it turned out to be as fast; with an RTT of 60 ms in 40.
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

/// The lossy path passes 1 MB in 100 ms. What the other one is known to carry adds little, and repairs that
/// are lost would stop the window for 1.8 ms more: 9.9 MB/s. If it carried what the window lets it in its
/// 90 ms, it would be 11, and it cannot show that unless it is used.
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

#[test]
fn expected_repair_makes_a_lossy_path_slower() {
    // 10 ms RTT with one loss in two costs one RTT more: 15 ms, against 11 ms.
    let lossy = PathView { loss: 0.5, ..fast() };
    let clean = PathView { rate: 10e6, ..path(1, 22, 220) };
    assert_eq!(pick(&[fast(), clean], &bulk()), FAST);
    assert_eq!(pick(&[lossy, clean], &bulk()), SLOW);
}

/// A call of a segment each 10 ms, for so many seconds up to `until`, over these paths.
fn call(edpf: &mut Edpf, paths: &[PathView], secs: std::ops::Range<u64>) -> Pick {
    let times = (secs.start * 100..=secs.end * 100).map(|n| Timestamp::from_millis(10 * n));
    times.map(|now| edpf.pick(paths, &queue(1, 1_000_000), now)).last().unwrap()
}

/// The fast path had a queue of 120 ms. With half of its window in use that may cost 60 ms; it is 45 ms
/// ahead of the other. With a fifth of it in use, 24 ms.
#[test]
fn a_call_is_shared_out_over_paths_that_have_had_queues() {
    let mut edpf = Edpf::default();
    let half_full = loaded(fast(), 50);
    let queued = PathView { srtt: Some(ms(130)), ..half_full };
    assert_eq!(call(&mut edpf, &[half_full, slow()], 0..2), FAST, "nothing has happened");
    call(&mut edpf, &[queued, slow()], 2..3);
    assert_eq!(call(&mut edpf, &[half_full, slow()], 3..4), SLOW);
    assert_eq!(call(&mut edpf, &[loaded(fast(), 20), slow()], 4..5), FAST);
    assert_eq!(call(&mut edpf, &[half_full, slow()], 5..12), SLOW);
    assert_eq!(call(&mut edpf, &[half_full, slow()], 12..14), FAST, "forgotten after 10 s");
}

#[test]
fn queues_of_bulk_data_are_not_remembered_and_cost_it_nothing() {
    let mut edpf = Edpf::default();
    let half_full = loaded(fast(), 50);
    let queued = PathView { srtt: Some(ms(130)), ..half_full };
    for millis in 0..3_000 {
        edpf.pick(&[queued, slow()], &bulk(), Timestamp::from_millis(millis));
    }
    assert_eq!(call(&mut edpf, &[half_full, slow()], 3..6), FAST);
    call(&mut edpf, &[queued, slow()], 6..7);
    assert_eq!(call(&mut edpf, &[half_full, slow()], 7..8), SLOW);
    let now = Timestamp::from_millis(8_001);
    assert_eq!(edpf.pick(&[half_full, slow()], &bulk(), now), FAST);
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

/// 75 of 100 segments of a path of 80 ms are under way, and it has shown half of the rate that it is
/// growing to, 1.25 MB/s. By that rate they stand in no queue and the next is there after 41 ms; by what
/// was shown, times 1.25, they take 96 ms and it is there after 57. A path of 100 ms has it there
/// after 51.
#[test]
fn in_a_brief_transfer_a_path_in_slow_start_is_as_fast_as_its_window() {
    let young = PathView { rate: 0.625e6, in_slow_start: true, ..path(1, 80, 100) };
    let views = [PathView { rate: 1e6, ..path(0, 100, 100) }, loaded(young, 75)];
    let (brief, long) = (queue(900, 1_000), queue(1_001, 1_000));
    assert_eq!((pick(&views, &brief), pick(&views, &long)), (SLOW, FAST));
    let grown = PathView { in_slow_start: false, ..views[1] };
    assert_eq!(pick(&[views[0], grown], &brief), FAST);
}

/// Who has found room for all for a second may keep a path in slow start for ever: it is as fast as it has
/// shown.
#[test]
fn at_leisure_a_path_in_slow_start_is_as_fast_as_it_has_shown() {
    let young = PathView { rate: 0.625e6, in_slow_start: true, ..path(1, 80, 100) };
    let young = loaded(young, 75);
    let mut edpf = Edpf::default();
    let brief = queue(1, 1_000);
    let mut at = |millis| {
        let now = Timestamp::from_millis(millis);
        edpf.unrest.observe(&[young], &brief, now);
        edpf.forecast(&young, &brief, now).unwrap().delivery
    };
    let (first, later) = (at(0), at(1_000));
    assert!((first - 0.0408).abs() < 1e-6, "{first}");
    // (96 - 80) ms of queue, half of 80 ms, a segment at 0.78125 MB/s.
    assert!((later - 0.057_28).abs() < 1e-6, "{later}");
}

/// Patience with what is sent again is its own: new data that is sent meanwhile does not renew it.
#[test]
fn what_is_sent_again_loses_patience_while_new_data_is_sent() {
    let mut edpf = Edpf::default();
    let views = [full(fast()), slow()];
    let mut again = |millis| {
        let now = Timestamp::from_millis(millis);
        let pick = edpf.pick(&views, &reinjection(&[]), now);
        assert!(!is_wait(edpf.pick(&[fast()], &bulk(), now)));
        pick
    };
    assert!(is_wait(again(0)) && is_wait(again(30)));
    assert_eq!(again(60), SLOW);
}

/// It begins anew with the next that is lost, if the one before was not sent after all: new data was asked
/// for without it.
#[test]
fn patience_with_what_is_lost_is_not_that_with_what_was() {
    let mut edpf = Edpf::default();
    let views = [full(fast()), slow()];
    let at = Timestamp::from_millis;
    assert!(is_wait(edpf.pick(&views, &reinjection(&[]), at(0))));
    assert!(!is_wait(edpf.pick(&[fast()], &bulk(), at(10))));
    assert!(is_wait(edpf.pick(&views, &reinjection(&[]), at(60))));
}
