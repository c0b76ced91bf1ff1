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

/// Path 0 fails.
const fn failed(cause: FailureCause) -> Action {
    Action::Failed(PathId::new(0).unwrap(), cause)
}

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
    fpf.on_report(&report(0, id(0), ms(20)), at(105), &paths);
    assert_eq!(tick(&mut fpf, at(105), &paths, &state), []);
    let earliest = at(100) + Duration::from_micros(10_650);
    assert_eq!(fpf.next_timer(&paths, &state), Some(earliest));
    assert_eq!(tick(&mut fpf, earliest - Duration::from_nanos(1), &paths, &state), []);
    assert_eq!(tick(&mut fpf, earliest, &paths, &state), [failed(FailureCause::Reported)]);
}

#[test]
fn a_silent_path_is_asked_about_and_fails_on_the_answer() {
    let mut fpf = silent_since_100();
    assert_eq!(fpf.next_timer(&paths(), &CALM), Some(at(133)));
    assert_eq!(tick(&mut fpf, at(132), &paths(), &CALM), []);
    assert_eq!(tick(&mut fpf, at(133), &paths(), &CALM), [question(1)]);
    // Asked at 133, answered at 148: the path has been silent for 53 ms there.
    fpf.on_report(&report(1, id(0), ms(53)), at(163), &paths());
    assert_eq!(tick(&mut fpf, at(163), &paths(), &CALM), [failed(FailureCause::Reported)]);
}

/// The report was read before the ACK that had come with it over the path itself.
#[test]
fn nothing_is_decided_before_all_that_has_arrived_was_told() {
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(133), &paths(), &CALM);
    [133, 163].into_iter().for_each(|millis| fpf.on_arrival(id(1), at(millis)));
    fpf.on_report(&report(1, id(0), ms(53)), at(163), &paths());
    assert_eq!(actions(&mut fpf), []);
    assert!(fpf.next_timer(&paths(), &CALM) <= Some(at(163)), "due at once");
    fpf.on_ack(id(0), at(163));
    assert_eq!(tick(&mut fpf, at(163), &paths(), &CALM), []);
}

#[test]
fn a_path_that_delivers_is_cleared_and_asked_about_again() {
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(133), &paths(), &CALM);
    fpf.on_report(&report(1, id(0), ms(1)), at(163), &paths());
    assert_eq!(tick(&mut fpf, at(163), &paths(), &CALM), []);
    assert_eq!(fpf.next_timer(&paths(), &CALM), Some(at(163 + 33)));
    assert_eq!(tick(&mut fpf, at(196), &paths(), &CALM), [question(2)]);
}

/// Lets all timers fire until none is left or one of the paths fails.
fn until_failure(fpf: &mut Fpf, paths: &[PathHealth]) -> Vec<(Timestamp, Action)> {
    let mut seen = Vec::new();
    while let Some(next) = fpf.next_timer(paths, &CALM)
        && !seen.iter().any(|(_, action)| matches!(action, Action::Failed(..)))
    {
        let actions = tick(fpf, next, paths, &CALM);
        seen.extend(actions.into_iter().map(|action| (next, action)));
    }
    seen
}

/// An answer over path 1 takes 30 + 5 + 10 ms at most. Meanwhile the peer sends other things over
/// it: it may be busy with them. After one RTO the path is probed.
#[test]
fn a_question_is_repeated_until_it_is_answered() {
    let mut fpf = silent_since_100();
    let mut numbers = 1..;
    for millis in (133..5_300).step_by(45) {
        [millis - 20, millis].into_iter().for_each(|millis| fpf.on_arrival(id(1), at(millis)));
        let asked = question(numbers.next().unwrap());
        assert!(tick(&mut fpf, at(millis), &paths(), &CALM).contains(&asked), "{millis}");
        assert_ne!(fpf.next_timer(&paths(), &CALM), None);
    }
    let mut answered = fpf.clone();
    assert_eq!(tick(&mut fpf, at(5_299), &paths(), &CALM), []);
    assert_eq!(tick(&mut fpf, at(5_300), &paths(), &CALM), [failed(FailureCause::TimedOut)]);
    answered.on_report(&report(numbers.start - 1, id(0), ms(5_180)), at(5_290), &paths());
    let told = tick(&mut answered, at(5_290), &paths(), &CALM);
    assert_eq!(told, [failed(FailureCause::Reported)]);
}

/// The peer may stand still: all of its paths have five seconds more.
#[test]
fn a_path_fails_five_seconds_later_if_nothing_is_heard_at_all() {
    for both in [[health(0, 10, 2), idle(health(1, 30, 0))], [health(0, 10, 2), health(1, 10, 2)]] {
        let mut fpf = silent_since_100();
        fpf.on_ack(id(1), at(100));
        let seen = until_failure(&mut fpf, &both);
        let others = seen.iter().filter(|(_, action)| !matches!(action, Action::Query { .. }));
        let mut others = others.filter(|(_, action)| action != &Action::Probe(id(1)));
        assert_eq!(others.next(), Some(&(at(300), Action::Probe(id(0)))));
        assert_eq!(others.next(), Some(&(at(5_300), failed(FailureCause::PeerSilent))));
    }
    let mut fpf = silent_since_100();
    let expected = [(at(300), Action::Probe(id(0))), (at(5_300), failed(FailureCause::PeerSilent))];
    assert_eq!(until_failure(&mut fpf, &paths()[..1]), expected);
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
        fpf.on_report(&report(1, id(0), ms(53)), at(163), &paths());
        fpf
    };
    let told = tick(&mut answered(&[133, 163]), at(163), &paths(), &CALM);
    assert_eq!(told, [failed(FailureCause::Reported)]);
    let mut fpf = answered(&[163]);
    assert_eq!(tick(&mut fpf, at(163), &paths(), &CALM), []);
    assert_eq!(fpf.next_timer(&paths(), &CALM), Some(at(196)));
    let mut acked = fpf.clone();
    acked.on_ack(id(0), at(195));
    assert_eq!(tick(&mut acked, at(196), &paths(), &CALM), []);
    assert_eq!(tick(&mut fpf, at(196), &paths(), &CALM), [failed(FailureCause::Reported)]);
}

/// A report that was made unasked and waited here for 32 ms, on a host that stood still, may have
/// been made before what was sent at 100 ms had come: 30 / 2 ms before 123. And it says nothing
/// where what arrived last may be what was sent last.
#[test]
fn a_report_that_was_made_unasked_convicts_if_it_is_new_and_something_is_missing() {
    for (last_sent, before, guilty) in [(118, 154, true), (118, 123, false), (100, 154, false)] {
        let mut fpf = silent_since_100();
        fpf.on_sent(id(0), at(last_sent));
        tick(&mut fpf, at(100), &paths(), &CALM);
        [123, before, 155].into_iter().for_each(|millis| fpf.on_arrival(id(1), at(millis)));
        fpf.on_report(&report(0, id(0), ms(50)), at(155), &paths());
        let fails =
            tick(&mut fpf, at(155), &paths(), &CALM).contains(&failed(FailureCause::Reported));
        assert_eq!(fails, guilty, "{last_sent} {before}");
    }
}

/// This host stood still from before 5,300 ms, when the path would have failed, to 5,400.
#[test]
fn who_stood_still_waits_for_what_comes_now() {
    let mut fpf = silent_since_100();
    let only = &paths()[..1];
    tick(&mut fpf, at(300), only, &CALM);
    assert_eq!(tick(&mut fpf, at(5_400), only, &CALM), []);
    assert_eq!(fpf.next_timer(only, &CALM), Some(at(5_433)));
    assert_eq!(tick(&mut fpf, at(5_433), only, &CALM), [failed(FailureCause::PeerSilent)]);
}

#[test]
fn an_exhausted_window_is_suspicion_before_the_acks_are_overdue() {
    let stuck = SendState { window_exhausted: true, oldest: Some((id(0), at(95))) };
    let mut fpf = silent_since_100();
    assert_eq!(fpf.next_timer(&paths(), &stuck), Some(at(115)));
    assert_eq!(tick(&mut fpf, at(115), &paths(), &stuck), [question(1)]);
    // Confirmed by 145, 45 ms after the last ACK: fails at once. An earlier answer would have to
    // wait for 133 ms.
    fpf.on_report(&report(1, id(0), ms(35)), at(145), &paths());
    assert_eq!(tick(&mut fpf, at(145), &paths(), &stuck), [failed(FailureCause::Reported)]);
}

#[test]
fn confirmed_silence_waits_until_the_acks_are_overdue() {
    let near = [health(0, 10, 2), idle(health(1, 2, 0))];
    let stuck = SendState { window_exhausted: true, oldest: Some((id(0), at(95))) };
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(115), &near, &stuck);
    fpf.on_report(&report(1, id(0), ms(20)), at(117), &near);
    assert_eq!(tick(&mut fpf, at(117), &near, &stuck), []);
    assert_eq!(fpf.next_timer(&near, &stuck), Some(at(133)));
    assert_eq!(tick(&mut fpf, at(133), &near, &stuck), [failed(FailureCause::Reported)]);
}

#[test]
fn an_ack_wipes_the_evidence() {
    let near = [health(0, 10, 2), idle(health(1, 2, 0))];
    let stuck = SendState { window_exhausted: true, oldest: Some((id(0), at(95))) };
    let mut fpf = silent_since_100();
    tick(&mut fpf, at(115), &near, &stuck);
    fpf.on_report(&report(1, id(0), ms(20)), at(117), &near);
    fpf.on_ack(id(0), at(120));
    assert_eq!(tick(&mut fpf, at(133), &near, &CALM), []);
    assert_eq!(fpf.next_timer(&near, &CALM), Some(at(153)));
}

#[test]
fn reports_on_an_idle_path_prove_nothing() {
    let mut fpf = silent_since_100();
    let idle = [idle(health(0, 10, 2)), idle(health(1, 30, 0))];
    fpf.on_report(&report(0, id(0), ms(5_000)), at(6_000), &idle);
    fpf.on_idle(id(0));
    fpf.on_sent(id(0), at(6_000));
    assert_eq!(tick(&mut fpf, at(6_032), &paths(), &CALM), []);
    assert_eq!(tick(&mut fpf, at(6_033), &paths(), &CALM), [question(1)]);
}

#[test]
fn a_failed_path_recovers_by_a_full_size_probe_only() {
    let mut fpf = silent_since_100();
    fpf.on_down(id(0), at(110));
    fpf.on_ack(id(0), at(111));
    assert_eq!(actions(&mut fpf), [failed(FailureCause::Down)]);
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
