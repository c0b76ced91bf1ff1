//! Scripted exchanges. Each script names the section of an RFC that demands what it shows. Beside
//! the golden trace stands an assertion of just that, so that a wrong trace is not taken over by
//! `UPDATE_GOLDEN=1 cargo test -p polypath-sim --test all tcp_scripts`.

mod script;
use crate::tcp_pipe::{CLIENT, Class, SERVER, World};
use polypath_sim::tcp::{LossReason, Report, State, TcpEvent, UndoReason};

/// Runs `<name>.script` and compares the trace with `golden/<name>.txt`.
fn run(name: &str) -> World {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/tcp_scripts");
    let text = std::fs::read_to_string(format!("{folder}/{name}.script")).unwrap();
    let world = script::run(&text);
    let golden = format!("{folder}/golden/{name}.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &world.trace).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(world.trace == expected, "{name}: the trace is now\n{}", world.trace);
    world
}

fn losses(world: &World) -> Vec<(f64, u64, LossReason)> {
    let lost = world.events_of(CLIENT, |e| matches!(e, TcpEvent::Lost { .. }));
    lost.into_iter()
        .map(|(at, event)| match event {
            TcpEvent::Lost { seq, reason, .. } => (at, seq, reason),
            other => unreachable!("{other:?}"),
        })
        .collect()
}

fn undone(world: &World) -> Vec<UndoReason> {
    let undone = world.events_of(CLIENT, |e| matches!(e, TcpEvent::Undone { .. }));
    undone
        .into_iter()
        .map(|(_, event)| match event {
            TcpEvent::Undone { reason, .. } => reason,
            other => unreachable!("{other:?}"),
        })
        .collect()
}

/// Times in ms at which a side sent an ACK alone.
fn acks(world: &World, side: usize) -> Vec<(f64, u64)> {
    let acks = world.sent.iter().filter(|s| s.side == side && Class::of(&s.segment) == Class::Ack);
    acks.map(|sent| (sent.at.as_millis_f64(), sent.segment.ack)).collect()
}

fn delivered(world: &World) -> u64 {
    world.ends[SERVER].endpoint().delivered()
}

fn stats(world: &World) -> polypath_sim::tcp::TcpStats {
    *world.ends[CLIENT].endpoint().stats()
}

#[test]
fn handshake_and_close() {
    let world = run("handshake_and_close");
    assert_eq!(world.states(), [State::TimeWait, State::Closed]);
    assert_eq!((delivered(&world), world.ends[CLIENT].endpoint().delivered()), (2_500, 700));
    // RFC 6298 section 5.7: the SYN again after 1 s, the SYN-ACK likewise.
    let syns = world.sent.iter().filter(|s| Class::of(&s.segment) == Class::Syn);
    let times: Vec<_> = syns.map(|s| (s.side, s.at.as_millis_f64())).collect();
    assert_eq!(times, [(CLIENT, 0.0), (CLIENT, 1_000.0), (SERVER, 1_050.0), (SERVER, 2_050.0)]);
}

#[test]
fn reset() {
    let mut world = run("reset");
    assert_eq!(world.states(), [State::Closed; 2]);
    let mut reports = Vec::new();
    while let Some(report) = world.ends[SERVER].poll_report() {
        reports.push(report);
    }
    assert_eq!(reports, [Report::Established, Report::Reset]);
}

#[test]
fn loss_of_one() {
    let world = run("loss_of_one");
    // RFC 8985 section 6.2: at the third SACK the reordering window is zero.
    assert_eq!(losses(&world), [(200.0, 3_001, LossReason::Time)]);
    assert_eq!(world.times_of(3_001), [100.0, 200.0]);
    // 13 segments were in flight; those that the two first SACKs let out do not count (RFC 3042).
    let left = world.events_of(CLIENT, |e| matches!(e, TcpEvent::RecoveryLeft { .. }));
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].0, left[0].1), (300.0, TcpEvent::RecoveryLeft { window: 6_500 }));
    assert_eq!((delivered(&world), stats(&world).timeouts), (20_000, 0));
}

#[test]
fn loss_of_two() {
    let world = run("loss_of_two");
    let lost: Vec<_> = losses(&world).iter().map(|loss| loss.1).collect();
    assert_eq!(lost, [3_001, 5_001]);
    assert_eq!((stats(&world).recoveries, stats(&world).retransmissions), (1, 2));
    assert_eq!(delivered(&world), 20_000);
}

#[test]
fn loss_of_the_first() {
    let world = run("loss_of_the_first");
    assert_eq!(losses(&world), [(200.0, 1, LossReason::Time)]);
    assert_eq!((delivered(&world), stats(&world).timeouts), (20_000, 0));
}

#[test]
fn loss_of_the_last() {
    let world = run("loss_of_the_last");
    // RFC 8985 section 7.2: one segment is in flight after the ACK of the others at 200 ms. 2 SRTT
    // and the delayed-ACK allowance would be 400 ms, but the RTO is 100 + 200 ms.
    assert_eq!(world.times_of(9_001), [100.0, 200.0 + 300.0]);
    assert_eq!((stats(&world).tail_loss_probes, stats(&world).timeouts), (1, 0));
    // Section 7.4: the ACK of later data without a DSACK tells that the probe repaired a loss. Two
    // segments were in flight, and two is the least window.
    let repaired = world.events_of(CLIENT, |e| matches!(e, TcpEvent::TailLossRepaired { .. }));
    assert_eq!(repaired, [(1_100.0, TcpEvent::TailLossRepaired { window: 2_000 })]);
    assert_eq!(delivered(&world), 12_000);
}

#[test]
fn loss_of_a_retransmission() {
    let world = run("loss_of_a_retransmission");
    // RFC 8985 section 6.2: what was sent after the retransmission is SACKed, so it is lost too;
    // no timeout.
    let of_third: Vec<_> = losses(&world).into_iter().filter(|loss| loss.1 == 2_001).collect();
    assert_eq!(of_third.len(), 2);
    assert_eq!((world.times_of(2_001).len(), stats(&world).timeouts), (3, 0));
    assert_eq!(delivered(&world), 30_000);
}

#[test]
fn reordering_below_the_window() {
    let world = run("reordering_below_the_window");
    // RFC 8985 section 6.2: two SACKs and a delay of less than a quarter of the RTT.
    assert_eq!((losses(&world), stats(&world).retransmissions), (vec![], 0));
    assert_eq!(delivered(&world), 10_000);
}

#[test]
fn reordering_above_the_window() {
    let world = run("reordering_above_the_window");
    // The segment is sent again in vain; the DSACK (RFC 3708) undoes the reduction.
    assert_eq!(world.times_of(2_001).len(), 2);
    assert_eq!(undone(&world), [UndoReason::Dsack]);
    assert_eq!(stats(&world).dsacks, 1);
    assert_eq!(delivered(&world), 30_000);
}

#[test]
fn reordering_undone_by_timestamps() {
    let world = run("reordering_undone_by_timestamps");
    // RFC 4015: the ACK that ends the hole echoes the original's timestamp.
    assert_eq!(undone(&world), [UndoReason::Timestamps]);
    assert_eq!(delivered(&world), 30_000);
}

#[test]
fn delayed_ack() {
    let world = run("delayed_ack");
    // RFC 9293 section 3.8.6.3: every second full segment; a single one after 40 ms; out of
    // order and hole-filling ones at once (RFC 5681 section 4.2).
    let expected = [(150.0, 2_001), (190.0, 3_001)];
    assert_eq!(acks(&world, SERVER)[..2], expected);
    assert_eq!(delivered(&world), 3_000 + 3_000);
    let late: Vec<_> = acks(&world, SERVER).into_iter().filter(|ack| ack.0 > 1_000.0).collect();
    assert_eq!(late, [(1_050.0, 3_001), (1_050.0, 3_001), (1_060.0, 6_001)]);
}

#[test]
fn zero_window() {
    let world = run("zero_window");
    // RFC 9293 section 3.8.6.1: probes after one RTO and then at doubling intervals. The RTO is
    // 100 ms and at least 200 ms of variation.
    let probes = world.events_of(CLIENT, |e| matches!(e, TcpEvent::WindowProbe));
    let times: Vec<_> = probes.iter().map(|probe| probe.0).collect();
    assert_eq!(times[1] - times[0], 600.0);
    assert_eq!(times[2] - times[1], 1_200.0);
    assert_eq!(delivered(&world), 20_000);
}

#[test]
fn timeout_back_off() {
    let world = run("timeout_back_off");
    // RFC 6298 section 5.5: 300 ms, doubled each time.
    let times = world.times_of(1);
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [300.0, 600.0, 1_200.0, 2_400.0]);
    assert_eq!(delivered(&world), 1_000);
}

#[test]
fn spurious_timeout_frto() {
    let world = run("spurious_timeout_frto");
    // RFC 5682 section 3.1: the second ACK is of data that was never sent again.
    assert_eq!((stats(&world).timeouts, undone(&world)), (1, vec![UndoReason::Frto]));
    assert_eq!(stats(&world).retransmissions, 1, "nothing but the first segment again");
    assert_eq!(delivered(&world), 30_000);
}

#[test]
fn spurious_timeout_eifel() {
    let world = run("spurious_timeout_eifel");
    assert_eq!((stats(&world).timeouts, undone(&world)), (1, vec![UndoReason::Timestamps]));
    assert_eq!(delivered(&world), 30_000);
}

#[test]
fn ecn() {
    let world = run("ecn");
    // RFC 3168 section 6.1: ECE until CWR; one reduction for all marks of a round trip, and
    // nothing is sent again.
    assert_eq!((stats(&world).ecn_reductions, stats(&world).retransmissions), (1, 0));
    let cwr = world.sent.iter().filter(|s| {
        s.side == CLIENT
            && s.segment.flags.contains(polypath_sim::tcp::Flags::CWR)
            && Class::of(&s.segment) == Class::Data
    });
    assert_eq!(cwr.count(), 1);
    assert_eq!(delivered(&world), 40_000);
}

#[test]
fn duplicate() {
    let world = run("duplicate");
    // RFC 2883 section 4.1: reported in the next ACK, once.
    let dsacks = world.sent.iter().filter(|s| s.segment.sack.has_dsack());
    assert_eq!(dsacks.map(|s| s.at.as_millis_f64()).collect::<Vec<_>>(), [155.0]);
    assert_eq!((stats(&world).retransmissions, stats(&world).dsacks), (0, 1));
    assert_eq!(delivered(&world), 5_000);
}

#[test]
fn limited_transmit() {
    let world = run("limited_transmit");
    // RFC 3042: each of the first two duplicate ACKs lets one new segment leave.
    assert_eq!((world.times_of(10_001), world.times_of(11_001)), (vec![200.0], vec![200.0]));
    let entered = world.events_of(CLIENT, |e| matches!(e, TcpEvent::RecoveryEntered { .. }));
    assert_eq!(entered[0].0, 200.0);
    assert_eq!(delivered(&world), 12_000);
}

#[test]
fn idle_restart() {
    let world = run("idle_restart");
    // RFC 5681 section 4.1: after an RTO of silence no more than the initial window leaves.
    let late = world.sent.iter().filter(|s| s.side == CLIENT && s.at.as_millis_f64() == 5_000.0);
    assert_eq!(late.filter(|s| s.segment.len > 0).count(), 10);
    assert_eq!(delivered(&world), 90_000);
}

#[test]
fn new_reno_partial_ack() {
    let world = run("new_reno_partial_ack");
    // RFC 6582 section 3.2: one segment for each partial ACK, a round trip apart.
    let expected = [
        (200.0, 1, LossReason::DuplicateAcks),
        (300.0, 3_001, LossReason::PartialAck),
        (400.0, 5_001, LossReason::PartialAck),
    ];
    assert_eq!(losses(&world), expected);
    assert_eq!((stats(&world).recoveries, stats(&world).timeouts), (1, 0));
    // RFC 5681 section 3.2: half of 10 segments; the two of limited transmit do not count. At the
    // end 17001 to 20001 is in flight; that and one more segment are the window (RFC 6582).
    let windows = world.events_of(CLIENT, |e| {
        matches!(e, TcpEvent::RecoveryEntered { .. } | TcpEvent::RecoveryLeft { .. })
    });
    let [(_, TcpEvent::RecoveryEntered { target, .. }), (_, TcpEvent::RecoveryLeft { window })] =
        windows[..]
    else {
        panic!("{windows:?}")
    };
    assert_eq!((target, window), (5_000, 4_000));
    assert_eq!(delivered(&world), 20_000);
}

#[test]
fn rfc6675() {
    let world = run("rfc6675");
    // RFC 6675 section 4, IsLost: three segments above are SACKed.
    let expected =
        [(200.0, 3_001, LossReason::SackedAbove), (200.0, 5_001, LossReason::SackedAbove)];
    assert_eq!(losses(&world), expected);
    assert_eq!(delivered(&world), 20_000);
}

#[test]
fn loss_of_a_retransmission_rfc6675() {
    let world = run("loss_of_a_retransmission_rfc6675");
    // RFC 6298 section 5.3: only an ACK of new data restarts the timer, so it expires an RTO (100
    // ms of RTT and 200 ms) after the retransmission although new data is SACKed all the time.
    assert_eq!(world.times_of(3_001), [100.0, 200.0, 500.0]);
    assert_eq!((stats(&world).timeouts, delivered(&world)), (1, 200_000));
}

#[test]
fn given_up() {
    let mut world = run("given_up");
    assert_eq!(world.states()[CLIENT], State::Closed);
    assert_eq!(stats(&world).timeouts, 4, "three are allowed");
    let mut last = None;
    while let Some(report) = world.ends[CLIENT].poll_report() {
        last = Some(report);
    }
    assert_eq!(last, Some(Report::GaveUp));
}

#[test]
fn pacing() {
    let world = run("pacing");
    // The RTT is 100 ms. The first burst of two leaves at the first ACK, at a window of 11: it
    // takes 2 / (2 * 11 / 100 ms) = 9.09 ms, of which half a burst is made up for. The next bursts
    // leave at a window of 20: 5 ms each.
    let expected = [200.0, 200.0, 204.545, 204.545, 209.545, 209.545];
    for (n, expected) in (10..).zip(expected) {
        let sent = world.times_of(n * 1_000 + 1)[0];
        assert!((sent - expected).abs() < 0.001, "segment {n}: {sent}");
    }
    assert_eq!(delivered(&world), 40_000);
}

#[test]
fn gro() {
    let world = run("gro");
    // Ten segments arrive at 150 ms and are handed on 100 us later, as one.
    assert_eq!(acks(&world, SERVER)[0], (150.1, 10_001));
    assert_eq!(delivered(&world), 20_000);
}

#[test]
fn bbr() {
    let world = run("bbr");
    assert_eq!((losses(&world).len(), stats(&world).retransmissions), (1, 1));
    // Segments of the third flight leave at distinct times.
    let mut times: Vec<_> = (30..50).flat_map(|n| world.times_of(n * 1_000 + 1)).collect();
    times.dedup();
    assert!(times.len() > 5, "{times:?}");
    assert_eq!(delivered(&world), 60_000);
}

#[test]
fn loss_of_a_fin() {
    let world = run("loss_of_a_fin");
    assert_eq!((world.times_of(2_001).len(), stats(&world).timeouts), (2, 0));
    assert_eq!(world.states(), [State::Closed; 2]);
    assert_eq!(delivered(&world), 3_000);
}

#[test]
fn loss_after_ecn() {
    let world = run("loss_after_ecn");
    assert_eq!((stats(&world).ecn_reductions, stats(&world).recoveries), (1, 1));
    let target = |event: &TcpEvent| match *event {
        TcpEvent::EcnReduction { target, .. } | TcpEvent::RecoveryEntered { target, .. } => target,
        _ => 0,
    };
    let reductions = world.events_of(CLIENT, |e| {
        matches!(e, TcpEvent::EcnReduction { .. } | TcpEvent::RecoveryEntered { .. })
    });
    let targets: Vec<_> = reductions.iter().map(|(_, event)| target(event)).collect();
    assert_eq!(targets.len(), 2);
    assert_eq!(targets[0], targets[1], "one reduction for both");
    assert_eq!(delivered(&world), 40_000);
}

#[test]
fn lost_ack_of_a_flight() {
    let world = run("lost_ack_of_a_flight");
    assert_eq!((stats(&world).segments_sent, stats(&world).retransmissions), (10, 0));
    assert_eq!(delivered(&world), 10_000);
}

#[test]
fn nagle() {
    let world = run("nagle");
    let sizes = world.sent.iter().filter(|s| s.side == CLIENT && s.segment.len > 0);
    let sizes: Vec<_> = sizes.map(|s| (s.at.as_millis_f64(), s.segment.len)).collect();
    // What is written while a small segment is in flight leaves together when that is
    // acknowledged; a full one does not wait, and the last does not either.
    let expected = [(100.0, 100), (200.0, 500), (1_000.0, 1_000), (1_000.0, 100), (2_000.0, 300)];
    assert_eq!(sizes, expected);
}

#[test]
fn long_recovery() {
    let world = run("long_recovery");
    assert_eq!((world.times_of(7_001).len(), stats(&world).recoveries), (3, 1));
    let episode = world.events_of(CLIENT, |e| {
        matches!(e, TcpEvent::RecoveryEntered { .. } | TcpEvent::RecoveryLeft { .. })
    });
    let windows = episode.iter().map(|(at, event)| match *event {
        TcpEvent::RecoveryEntered { target, .. } => (*at, target),
        TcpEvent::RecoveryLeft { window } => (*at, window),
        _ => unreachable!("{event:?}"),
    });
    let windows: Vec<_> = windows.collect();
    assert_eq!((windows[0].0, windows[1].0), (200.0, 500.0));
    assert_eq!(windows[0].1, windows[1].1, "no growth within the episode");
    assert_eq!((delivered(&world), stats(&world).timeouts), (40_000, 0));
}

#[test]
fn loss_in_recovery() {
    let world = run("loss_in_recovery");
    let entered = world.events_of(CLIENT, |e| matches!(e, TcpEvent::RecoveryEntered { .. }));
    let entered: Vec<_> = entered.iter().map(|event| event.0).collect();
    assert_eq!(entered, [200.0, 400.0]);
    assert_eq!((delivered(&world), stats(&world).timeouts), (40_000, 0));
}
