//! What a slower path sends beside faster ones, and when it waits.

use super::*;

/// The slow path delivers after 50.5 ms; the fast one, when the next ACK has come, from 5.2 ms on.
#[test]
fn a_slower_path_sends_what_will_be_next_in_order() {
    assert_eq!(pick(&[full(fast()), slow()], &bulk()), ahead(1 + 453));
    let third = PathView { id: id(2), ..full(fast()) };
    assert_eq!(pick(&[full(fast()), slow(), third], &bulk()), ahead(2 * 454));
    // How fast a path in slow start will be is not known.
    let young = PathView { in_slow_start: true, ..full(fast()) };
    assert_eq!(pick(&[young, slow()], &bulk()), SLOW);
    // No other path delivers earlier: it sends the head.
    assert_eq!(pick(&[full(slow()), PathView { rate: 2e6, ..path(1, 100, 200) }], &bulk()), SLOW);
}

/// It carries a fiftieth of what the fast path carries.
#[test]
fn a_path_in_slow_start_that_carries_little_keeps_nobody_from_sending_ahead() {
    let young = |segments| full(PathView { in_slow_start: true, ..path(2, 20, segments) });
    let ahead = |segments| pick(&[full(fast()), slow(), young(segments)], &bulk());
    assert!(matches!(ahead(4), Pick::Ahead { skip, .. } if skip > 454 * MSS), "{:?}", ahead(4));
    assert_eq!(ahead(100), SLOW, "half of what the fast one carries");
}

/// The slow path delivers after 50.5 ms, by which time the fast one delivers 304 segments. Until
/// the slow path's segment is acknowledged the fast one has sent some 400 behind them if
/// acknowledgements take 20 ms, and 220 if they take 2 ms.
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

/// The near path sends 480 segments until an acknowledgement over itself is back, which is too many
/// for 90 % of 530, and 260 until one over the third path is back, which is too lossy to carry data
/// itself.
#[test]
fn acknowledgements_return_over_a_path_that_is_left_out() {
    let near = full(PathView { rate: 10e6, ..path(0, 48, 480) });
    let nearest = full(PathView { rate: 0.25e6, loss: 0.3, ..path(2, 4, 1) });
    let queue = queue(1_000_000, 530);
    assert!(is_wait(pick(&[near, slow()], &queue)));
    let told = pick(&[near, slow(), nearest], &queue);
    assert!(matches!(told, Pick::Ahead { path, .. } if path == id(1)), "{told:?}");
}

/// In 50.5 ms the fast path sends 505 segments. If it loses five of them it needs 10 ms for
/// repairs, in which it would deliver 100, and 1.01 in the 0.101 ms that a segment's own loss
/// costs; if it loses one in two such spans, 50.5 and 0.1.
#[test]
fn a_slower_path_leaves_the_fast_one_time_for_repairs() {
    let lossy = |loss| [PathView { loss, ..full(fast()) }, slow()];
    assert_eq!(pick(&lossy(0.01), &bulk()), ahead(454 - 102));
    assert_eq!(pick(&lossy(0.001), &bulk()), ahead(454 - 51));
    // As long as its lead: no time is left to deliver anything but what is under way.
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

/// A segment of the slow path is in the window for 50 ms and for the way back over the fast one, 5
/// ms: in that time the fast path alone sends 550 segments.
#[test]
fn a_slower_path_sends_ahead_if_the_window_has_room_for_it() {
    let paths = [full(fast()), slow()];
    assert!(is_wait(pick(&paths, &queue(1_000_000, 549))));
    assert_eq!(pick(&paths, &queue(1_000_000, 551)), ahead(454));
    // Only what the window admits now: a hole behind which the fast path sends 554 - 309.
    let near = QueueView { send_window: 310 * MSS, ..queue(1_000_000, 551) };
    assert_eq!(pick(&paths, &near), ahead(309));
}

/// The slow path, which was just given this many segments.
fn given(edpf: &mut Edpf, view: PathView, segments: u64) -> PathView {
    for n in 0..segments {
        let sent = edpf.pick(&[loaded(view, n)], &bulk(), Timestamp::ZERO);
        assert_eq!(sent, SLOW);
    }
    loaded(view, segments)
}

/// With 199 segments on it the slow path delivers after 150 ms. Until that is acknowledged the fast
/// one sends 1549 segments, 999 of which lie before the slow path's: 550 and 200 are more than 74 %
/// of 1000.
#[test]
fn what_the_slower_path_carries_counts_as_behind() {
    let wide = PathView { cwnd: 1_000 * MSS, ..slow() };
    let exact = EdpfParameters { rate_headroom: 1.0, ..EdpfParameters::DEFAULT };
    let picked = |window_share| {
        let mut edpf = Edpf::new(EdpfParameters { window_share, ..exact });
        let paths = [full(fast()), given(&mut edpf, wide, 199)];
        edpf.pick(&paths, &queue(1_000_000, 1_000), Timestamp::ZERO)
    };
    assert!(is_wait(picked(0.74)));
    assert_eq!(picked(0.76), ahead(999));
}

/// The slow path was given 199 segments, which arrive after 50.5 to 149.5 ms; acknowledgements take
/// 5 ms more. After 100 ms the next segment would arrive 50.5 ms later, and until that is
/// acknowledged the fast path sends 554 - 300 segments behind it. 109 segments cannot be
/// acknowledged yet: with them and the next one it is less than 70 % of 551, with all 199 it would
/// be more. After 60 ms 189 could not be acknowledged yet, were not all but two known to have
/// arrived.
#[test]
fn what_has_arrived_on_the_slower_path_counts_no_more() {
    let exact = EdpfParameters { rate_headroom: 1.0, ..EdpfParameters::DEFAULT };
    let picked = |millis, in_flight| {
        let mut edpf = Edpf::new(EdpfParameters { window_share: 0.7, ..exact });
        let wide = given(&mut edpf, PathView { cwnd: 1_000 * MSS, ..slow() }, 199);
        let paths = [full(fast()), loaded(wide, in_flight)];
        let near = QueueView { send_window: 301 * MSS, ..queue(1_000_000, 551) };
        edpf.pick(&paths, &near, Timestamp::from_millis(millis))
    };
    assert_eq!(picked(100, 199), ahead(300));
    assert_eq!(picked(60, 2), ahead(300));
}

/// The lead is 454 segments. A path that loses several in each window does not keep the window open
/// by waiting.
#[test]
fn a_slower_path_waits_for_the_room_to_send_ahead_unless_it_loses_anyway() {
    let sends = |room: u64, loss| {
        let near = QueueView { send_window: (room + 1) * MSS, ..queue(1_000_000, 1_000) };
        !is_wait(pick(&[full(fast()), PathView { loss, ..slow() }], &near))
    };
    assert_eq!([283, 284].map(|room| sends(room, 0.0)), [false, true]);
    assert_eq!([0.0, 0.001, 0.0011].map(|loss| sends(200, loss)), [false, false, true]);
}

/// A fast path of a tenth of the rate: the far path, which carries most of what the window admits,
/// may fill it as it does alone. 800 of 1000 segments are no reason to stop, unless it carries less
/// than the fast one.
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
    // The head needs no room ahead.
    let near = QueueView { send_window: 100 * MSS, ..queue(1_000_000, 2_000) };
    let paths = [full(fast()), slow()];
    assert_eq!(in_order(0.8).pick(&paths, &near, Timestamp::ZERO), SLOW);
    // What the slow path already holds back counts too: 1000 + 199 + 1 over 80 % of 1400.
    let pick = |held| {
        let mut edpf = in_order(0.8);
        let paths = [full(fast()), given(&mut edpf, slow(), held)];
        edpf.pick(&paths, &queue(1_000_000, 1_400), Timestamp::ZERO)
    };
    assert_eq!(pick(0), SLOW);
    assert!(is_wait(pick(199)));
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
