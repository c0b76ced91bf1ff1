//! Scenarios for FPF: path 0 is the one in doubt, path 1 the stable one.

use super::*;
use crate::failure::fixtures::{CALM, RECEIVED, actions, at, health, id, idle, ms, report, tick};
use polypath_units::PathSet;

/// Suspicion 10 + 4 * 2 + 5 + 10 = 33 ms after the last sign of life; the stable path 30 ms away.
fn paths() -> [PathHealth; 2] {
    [health(0, 10, 2), idle(health(1, 30, 0))]
}

/// Both paths have joined at 0; path 0 sent at once, and its last ACK came at 100 ms.
fn silent_since_100() -> Fpf {
    let mut fpf = Fpf::default();
    fpf.on_add(id(0), at(0));
    fpf.on_add(id(1), at(0));
    fpf.on_sent(id(0), at(0));
    fpf.on_ack(id(0), at(100));
    fpf.on_sent(id(0), at(100));
    fpf
}

fn question(number: u16) -> Action {
    let query = Query { id: number, paths: PathSet::only(id(0)) };
    Action::Query { query, avoid: PathSet::only(id(0)) }
}

const FAILED: Action = Action::Failed(PathId::new(0).unwrap());

#[test]
fn t_fpf_1() {
    let (wifi, lte) = (id(0), id(1));
    let state = |max_end| ReceiveState { rcv_nxt: 1_000_000, max_end, window: 300_000, mss: 1_460 };
    let mut fpf = Fpf::default();
    fpf.on_data(wifi, false, at(0), &state(1_000_000));
    for segment in 1..205 {
        fpf.on_data(lte, true, at(segment), &state(1_000_000 + (segment + 1) * 1_411));
    }
    fpf.on_data(lte, true, at(205), &state(1_290_000));
    assert_eq!(actions(&mut fpf), [], "290000 < 298540");
    fpf.on_data(lte, true, at(206), &state(1_299_000));
    let [Action::Report(sent)] = &actions(&mut fpf)[..] else { panic!("one report") };
    assert_eq!((sent.query, sent.rcv_nxt, sent.max_end), (0, 1_000_000, 1_299_000));
    assert_eq!(sent.suspects, report(0, wifi, ms(206)).suspects);
    // The same again only after an interval.
    fpf.on_data(lte, true, at(305), &state(1_299_000));
    assert_eq!(actions(&mut fpf), []);
    fpf.on_data(lte, true, at(306), &state(1_299_000));
    assert_eq!(actions(&mut fpf).len(), 1);
}

#[test]
fn a_path_with_data_beyond_the_hole_or_heard_since_is_not_reported() {
    let stuck = ReceiveState { rcv_nxt: 0, max_end: 999_999, ..RECEIVED };
    let mut fpf = Fpf::default();
    fpf.on_add(id(0), at(0));
    fpf.on_data(id(0), true, at(1), &ReceiveState { max_end: 2_000, ..stuck });
    fpf.on_data(id(1), true, at(2), &stuck);
    assert_eq!(actions(&mut fpf), [], "it has data in the out-of-order set");
    // The first hole is filled: what path 0 brought is in order now, but the path was heard.
    fpf.on_arrival(id(0), at(3));
    fpf.on_data(id(1), true, at(4), &ReceiveState { rcv_nxt: 3_000, max_end: 1_002_500, ..stuck });
    assert_eq!(actions(&mut fpf), []);
}

#[test]
fn t_fpf_2() {
    let mut fpf = Fpf::new(FpfParameters { timer_margin: Duration::ZERO, ..Default::default() });
    let wifi = PathHealth {
        srtt: Some(Duration::from_micros(6_650)),
        max_ack_delay: Duration::ZERO,
        ..health(0, 0, 1)
    };
    let paths = [wifi, idle(health(1, 30, 0))];
    let state = SendState { window_exhausted: false, oldest: Some((id(0), at(99))) };
    fpf.on_add(id(0), at(0));
    fpf.on_add(id(1), at(0));
    fpf.on_sent(id(0), at(99));
    fpf.on_ack(id(0), at(100));
    // The receiver's own report comes before the ACK is overdue.
    fpf.on_report(&report(0, id(0), ms(20)), at(105), &paths, &state);
    assert_eq!(actions(&mut fpf), []);
    let earliest = at(100) + Duration::from_micros(10_650);
    assert_eq!(fpf.next_timer(&paths, &state), Some(earliest));
    assert_eq!(tick(&mut fpf, earliest - Duration::from_nanos(1), &paths, &state), []);
    assert_eq!(tick(&mut fpf, earliest, &paths, &state), [FAILED]);
}

#[test]
fn a_silent_path_is_asked_about_and_fails_on_the_answer() {
    let mut fpf = silent_since_100();
    assert_eq!(fpf.next_timer(&paths(), &CALM), Some(at(133)));
    assert_eq!(tick(&mut fpf, at(132), &paths(), &CALM), []);
    assert_eq!(tick(&mut fpf, at(133), &paths(), &CALM), [question(1)]);
    // Asked at 133, answered at 148: the path has been silent for 53 ms there.
    fpf.on_report(&report(1, id(0), ms(53)), at(163), &paths(), &CALM);
    assert_eq!(actions(&mut fpf), [FAILED]);
}

#[test]
fn a_path_that_delivers_is_cleared_and_asked_about_again() {
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(133), &paths(), &CALM);
    fpf.on_report(&report(1, id(0), ms(1)), at(163), &paths(), &CALM);
    assert_eq!(actions(&mut fpf), []);
    assert_eq!(fpf.next_timer(&paths(), &CALM), Some(at(163 + 33)));
    assert_eq!(tick(&mut fpf, at(196), &paths(), &CALM), [question(2)]);
}

/// Lets all timers fire until none is left or one of the paths fails.
fn until_failure(fpf: &mut Fpf, paths: &[PathHealth]) -> Vec<(Timestamp, Action)> {
    let mut seen = Vec::new();
    while let Some(next) = fpf.next_timer(paths, &CALM)
        && !seen.iter().any(|(_, action)| matches!(action, Action::Failed(_)))
    {
        let actions = tick(fpf, next, paths, &CALM);
        seen.extend(actions.into_iter().map(|action| (next, action)));
    }
    seen
}

/// An answer over path 1 takes 30 + 5 + 10 ms at most. After one RTO the path is probed.
#[test]
fn an_unanswered_question_is_repeated_and_the_rto_decides_where_another_path_is_heard() {
    let mut fpf = silent_since_100();
    assert_eq!(tick(&mut fpf, at(133), &paths(), &CALM), [question(1)]);
    // What comes at 171 has come after 165, and left the peer 30 ms earlier at most: after 133.
    fpf.on_arrival(id(1), at(165));
    fpf.on_arrival(id(1), at(171));
    let expected =
        [(at(178), question(2)), (at(223), question(3)), (at(268), question(4)), (at(300), FAILED)];
    assert_eq!(until_failure(&mut fpf, &paths()), expected);
}

/// The peer may stand still: all of its paths have a second more.
#[test]
fn a_path_fails_a_second_later_if_nothing_is_heard_at_all() {
    for both in [[health(0, 10, 2), idle(health(1, 30, 0))], [health(0, 10, 2), health(1, 10, 2)]] {
        let mut fpf = silent_since_100();
        fpf.on_ack(id(1), at(100));
        let seen = until_failure(&mut fpf, &both);
        let others = seen.iter().filter(|(_, action)| !matches!(action, Action::Query { .. }));
        let mut others = others.filter(|(_, action)| action != &Action::Probe(id(1)));
        assert_eq!(others.next(), Some(&(at(300), Action::Probe(id(0)))));
        assert_eq!(others.next(), Some(&(at(1_300), FAILED)));
    }
    let mut fpf = silent_since_100();
    let expected = [(at(300), Action::Probe(id(0))), (at(1_300), FAILED)];
    assert_eq!(until_failure(&mut fpf, &paths()[..1]), expected);
}

/// The peer goes on after half a second: what it sends over path 1 comes 20 ms earlier than what it
/// sends over path 0 may, 33 ms after it left. The path fails only if that does not come.
#[test]
fn what_a_peer_sends_when_it_goes_on_has_the_time_to_come() {
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(133), &paths(), &CALM);
    tick(&mut fpf, at(590), &paths(), &CALM);
    fpf.on_arrival(id(1), at(600));
    assert_eq!(tick(&mut fpf, at(632), &paths(), &CALM), []);
    let mut answered = fpf.clone();
    assert_eq!(tick(&mut fpf, at(633), &paths(), &CALM), [FAILED]);
    answered.on_ack(id(0), at(633));
    assert_eq!(tick(&mut answered, at(633), &paths(), &CALM), []);
}

/// This host stood still itself: what came over path 1 may have waited for half a second, in which
/// the peer may have begun to stand still, too.
#[test]
fn what_may_have_waited_here_is_no_witness() {
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(133), &paths(), &CALM);
    fpf.on_arrival(id(1), at(600));
    let failed = tick(&mut fpf, at(640), &paths(), &CALM).contains(&FAILED);
    assert!(!failed);
    fpf.on_arrival(id(1), at(641));
    let failed = tick(&mut fpf, at(674), &paths(), &CALM).contains(&FAILED);
    assert!(failed, "what came a moment after 640 did not wait");
}

#[test]
fn with_every_path_suspected_nothing_is_asked() {
    let mut fpf = silent_since_100();
    let both = [health(0, 10, 2), health(1, 10, 2)];
    fpf.on_ack(id(1), at(100));
    let seen = until_failure(&mut fpf, &both);
    assert!(!seen.iter().any(|(_, action)| matches!(action, Action::Query { .. })), "{seen:?}");
}

/// Nothing came over path 1 for longer than path 0 may be silent: the peer may have stood still,
/// and the ACK may have left it with the answer. Where something came all the time, the answer
/// decides.
#[test]
fn after_an_absence_of_the_peer_an_ack_has_the_time_to_come() {
    let answered = |heard: &[u64]| {
        let mut fpf = silent_since_100();
        tick(&mut fpf, at(133), &paths(), &CALM);
        heard.iter().for_each(|&millis| fpf.on_arrival(id(1), at(millis)));
        fpf.on_report(&report(1, id(0), ms(53)), at(163), &paths(), &CALM);
        fpf
    };
    assert_eq!(actions(&mut answered(&[133, 163])), [FAILED]);
    let mut fpf = answered(&[163]);
    assert_eq!(actions(&mut fpf), []);
    assert_eq!(fpf.next_timer(&paths(), &CALM), Some(at(196)));
    let mut acked = fpf.clone();
    acked.on_ack(id(0), at(195));
    assert_eq!(tick(&mut acked, at(196), &paths(), &CALM), []);
    assert_eq!(tick(&mut fpf, at(196), &paths(), &CALM), [FAILED]);
}

/// A report that was made unasked and waited here for 32 ms, on a host that stood still, may have
/// been made before what was sent at 100 ms had come: 30 / 2 ms before 123. And it says nothing
/// where what arrived last may be what was sent last.
#[test]
fn a_report_that_was_made_unasked_convicts_if_it_is_new_and_something_is_missing() {
    for (last_sent, before, failed) in [(118, 154, true), (118, 123, false), (100, 154, false)] {
        let mut fpf = silent_since_100();
        fpf.on_sent(id(0), at(last_sent));
        tick(&mut fpf, at(100), &paths(), &CALM);
        [123, before, 155].into_iter().for_each(|millis| fpf.on_arrival(id(1), at(millis)));
        fpf.on_report(&report(0, id(0), ms(50)), at(155), &paths(), &CALM);
        let fails = actions(&mut fpf).contains(&FAILED);
        assert_eq!(fails, failed, "{last_sent} {before}");
    }
}

/// This host stood still from before 1,300 ms, when the path would have failed, to 1,400.
#[test]
fn who_stood_still_waits_for_what_comes_now() {
    let mut fpf = silent_since_100();
    let only = &paths()[..1];
    tick(&mut fpf, at(300), only, &CALM);
    assert_eq!(tick(&mut fpf, at(1_400), only, &CALM), []);
    assert_eq!(fpf.next_timer(only, &CALM), Some(at(1_433)));
    assert_eq!(tick(&mut fpf, at(1_433), only, &CALM), [FAILED]);
}

#[test]
fn an_exhausted_window_is_suspicion_before_the_acks_are_overdue() {
    let stuck = SendState { window_exhausted: true, oldest: Some((id(0), at(95))) };
    let mut fpf = silent_since_100();
    assert_eq!(fpf.next_timer(&paths(), &stuck), Some(at(115)));
    assert_eq!(tick(&mut fpf, at(115), &paths(), &stuck), [question(1)]);
    // Confirmed by 145, 45 ms after the last ACK: fails at once. An earlier answer would have to
    // wait for 133 ms.
    fpf.on_report(&report(1, id(0), ms(35)), at(145), &paths(), &stuck);
    assert_eq!(actions(&mut fpf), [FAILED]);
}

#[test]
fn confirmed_silence_waits_until_the_acks_are_overdue() {
    let near = [health(0, 10, 2), idle(health(1, 2, 0))];
    let stuck = SendState { window_exhausted: true, oldest: Some((id(0), at(95))) };
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(115), &near, &stuck);
    fpf.on_report(&report(1, id(0), ms(20)), at(117), &near, &stuck);
    assert_eq!(actions(&mut fpf), []);
    assert_eq!(fpf.next_timer(&near, &stuck), Some(at(133)));
    assert_eq!(tick(&mut fpf, at(133), &near, &stuck), [FAILED]);
}

#[test]
fn an_ack_wipes_the_evidence() {
    let near = [health(0, 10, 2), idle(health(1, 2, 0))];
    let stuck = SendState { window_exhausted: true, oldest: Some((id(0), at(95))) };
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(115), &near, &stuck);
    fpf.on_report(&report(1, id(0), ms(20)), at(117), &near, &stuck);
    fpf.on_ack(id(0), at(120));
    assert_eq!(tick(&mut fpf, at(133), &near, &CALM), []);
    assert_eq!(fpf.next_timer(&near, &CALM), Some(at(153)));
}

#[test]
fn reports_on_an_idle_path_prove_nothing() {
    let mut fpf = silent_since_100();
    let idle = [idle(health(0, 10, 2)), idle(health(1, 30, 0))];
    fpf.on_report(&report(0, id(0), ms(5_000)), at(6_000), &idle, &CALM);
    fpf.on_sent(id(0), at(6_000));
    assert_eq!(tick(&mut fpf, at(6_032), &paths(), &CALM), []);
    assert_eq!(tick(&mut fpf, at(6_033), &paths(), &CALM), [question(1)]);
}

#[test]
fn a_failed_path_recovers_by_a_full_size_probe_only() {
    let mut fpf = silent_since_100();
    fpf.on_down(id(0), at(110));
    fpf.on_ack(id(0), at(111));
    assert_eq!(actions(&mut fpf), [FAILED]);
    fpf.on_probe_acked(id(0), at(160));
    assert_eq!(actions(&mut fpf), [Action::Recovered(id(0))]);
    assert_eq!(fpf.next_timer(&paths(), &CALM), Some(at(193)), "watched anew");
}

#[test]
fn a_query_is_always_answered() {
    let mut fpf = Fpf::default();
    fpf.on_arrival(id(0), at(100));
    let paths = PathSet::only(id(0)).with(id(5));
    fpf.on_query(Query { id: 7, paths }, at(130), &RECEIVED);
    let [Action::Report(sent)] = &actions(&mut fpf)[..] else { panic!("one answer") };
    let silences: Vec<_> = sent.suspects.iter().map(|s| s.silent_for).collect();
    assert_eq!((sent.query, silences), (7, vec![ms(30), ms(65_535)]));
}
