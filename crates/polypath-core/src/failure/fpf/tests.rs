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

#[test]
fn an_unanswered_question_is_repeated_and_the_rto_decides_in_the_end() {
    let mut fpf = silent_since_100();
    let mut seen = Vec::new();
    while let Some(next) = fpf.next_timer(&paths(), &CALM) {
        let actions = tick(&mut fpf, next, &paths(), &CALM);
        seen.extend(actions.into_iter().map(|action| (next, action)));
    }
    // An answer over path 1 takes 30 + 5 + 10 ms at most.
    let expected = [
        (at(133), question(1)),
        (at(178), question(2)),
        (at(223), question(3)),
        (at(268), question(4)),
        (at(300), FAILED),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn the_only_path_fails_by_the_rto_rule() {
    let mut fpf = silent_since_100();
    let only = &paths()[..1];
    assert_eq!(fpf.next_timer(only, &CALM), Some(at(300)));
    assert_eq!(tick(&mut fpf, at(299), only, &CALM), []);
    assert_eq!(tick(&mut fpf, at(300), only, &CALM), [FAILED]);
}

#[test]
fn with_every_path_suspected_nothing_is_sent() {
    let mut fpf = silent_since_100();
    let both = [health(0, 10, 2), health(1, 10, 2)];
    fpf.on_ack(id(1), at(100));
    assert_eq!(fpf.next_timer(&both, &CALM), Some(at(300)));
    assert_eq!(tick(&mut fpf, at(299), &both, &CALM), []);
    assert_eq!(tick(&mut fpf, at(300), &both, &CALM), [FAILED, Action::Failed(id(1))]);
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
