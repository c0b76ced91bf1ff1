//! Scripted exchanges of Multipath TCP. Each script names the section of an RFC that demands what
//! it shows. Beside the golden trace stands an assertion of just that, so that a wrong trace is not
//! taken over by `UPDATE_GOLDEN=1 cargo test -p polypath-sim --test all mptcp_scripts`; what the
//! RFC demands of every exchange is in the ledger.

mod ledger;
mod script;
mod world;

use crate::tcp_pipe::{CLIENT, SERVER};
use polypath_sim::mptcp::PathEvent;
use polypath_sim::tcp::{Flags, MptcpOption};
use world::{Sent, World};

/// Runs `<name>.script` and compares the trace with `golden/<name>.txt`.
fn run(name: &str) -> World {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/mptcp_scripts");
    let text = std::fs::read_to_string(format!("{folder}/{name}.script")).unwrap();
    let world = script::run(&text);
    let golden = format!("{folder}/golden/{name}.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &world.trace).unwrap();
    }
    world.ledger.assert_complete(world.ends.each_ref().map(|end| end.delivered()), &world.trace);
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(world.trace == expected, "{name}: the trace is now\n{}", world.trace);
    world
}

/// Whether it begins a subflow, or answers such a segment.
fn is_syn(sent: &Sent) -> bool {
    sent.segment.flags.contains(Flags::SYN)
}

fn is_fin(sent: &Sent) -> bool {
    sent.segment.flags.contains(Flags::FIN)
}

/// When and where a side sent the DATA_FIN.
fn data_fins(world: &World, side: usize) -> Vec<(f64, usize)> {
    world.sent_by(side, Sent::is_data_fin)
}

fn data_acks(world: &World, side: usize, path: usize) -> Vec<u64> {
    let acks = world.sent.iter().filter(|sent| sent.side == side && sent.path == path);
    acks.filter_map(Sent::data_ack).collect()
}

/// How many segments of data a side sent on a path.
fn segments(world: &World, side: usize, path: usize) -> usize {
    world.data_of(side).iter().filter(|sent| sent.1 == path).count()
}

fn reinjected(world: &World) -> [u64; 2] {
    world.ends.each_ref().map(|end| end.reinjected_bytes())
}

fn failed(world: &World, side: usize) -> Vec<(f64, usize)> {
    world.events_of(side, |event| matches!(event, PathEvent::Failed))
}

fn finished(world: &World) -> [bool; 2] {
    world.ends.each_ref().map(|end| end.peer_finished())
}

#[test]
fn handshake() {
    let world = run("handshake");
    let options: Vec<_> = world.sent.iter().map(|sent| sent.segment.mptcp).collect();
    let capable = |option: &Option<_>| matches!(option, Some(MptcpOption::MpCapable { .. }));
    assert!(options[..2].iter().all(capable) && !options[2..].iter().any(capable));
    let data: Vec<_> = world.data_of(CLIENT).iter().map(|sent| (sent.2, sent.3)).collect();
    assert_eq!(data, [(1, 1_000), (1_001, 1_000), (2_001, 1_000), (3_001, 500)]);
    assert_eq!(data_acks(&world, SERVER, 0), [1_001, 2_001, 3_001, 3_501]);
}

#[test]
fn lost_mp_capable() {
    let world = run("lost_mp_capable");
    // The client repeats after 1 s, the server 1 s after its first answer.
    assert_eq!(world.sent_by(CLIENT, is_syn), [(0.0, 0), (1_000.0, 0)]);
    assert_eq!(world.sent_by(SERVER, is_syn), [(1_050.0, 0), (2_050.0, 0)]);
}

#[test]
fn join() {
    let world = run("join");
    // The first subflow is established after a round trip of 40 ms, the second after 60 ms more.
    assert_eq!(world.sent_by(CLIENT, is_syn), [(0.0, 0), (40.0, 1)]);
    let second = world.data_of(CLIENT).into_iter().find(|sent| sent.1 == 1);
    // The initial window of the first takes ten segments; what was written before is 2000 bytes.
    assert_eq!(second, Some((200.0, 1, 12_001, 1_000)));
    assert_eq!((segments(&world, CLIENT, 0), segments(&world, CLIENT, 1)), (12, 10));
}

#[test]
fn lost_join() {
    let world = run("lost_join");
    assert_eq!(world.sent_by(CLIENT, is_syn), [(0.0, 0), (40.0, 1), (1_040.0, 1)]);
    let early = world.data_of(CLIENT).into_iter().filter(|sent| sent.0 < 1_500.0);
    assert!(early.clone().count() == 5 && early.into_iter().all(|sent| sent.1 == 0));
    assert_eq!(segments(&world, CLIENT, 1), 10);
}

#[test]
fn lost_join_answers() {
    let world = run("lost_join_answers");
    // RFC 6298 section 5.7. The client's SYN is answered again when it comes again.
    assert_eq!(world.sent_by(CLIENT, is_syn), [(0.0, 0), (40.0, 1), (1_040.0, 1)]);
    assert!(world.sent.iter().filter(|sent| sent.path == 1 && sent.lost).count() == 2);
    assert_eq!(segments(&world, CLIENT, 1), 10);
}

#[test]
fn third_subflow() {
    let world = run("third_subflow");
    assert_eq!([0, 1, 2].map(|path| segments(&world, CLIENT, path)), [4, 0, 4]);
    assert_eq!(world.sent_by(CLIENT, is_syn), [(0.0, 0), (40.0, 1), (40.0, 2), (1_040.0, 1)]);
}

#[test]
fn split() {
    let world = run("split");
    let paths: Vec<_> = world.data_of(CLIENT).iter().map(|sent| sent.1).collect();
    assert_eq!(paths, [0, 1, 0, 1, 0, 1, 0, 1]);
    // After the handshake's: the fast path's wait for those of the slow one.
    assert_eq!(data_acks(&world, SERVER, 0), [1_001; 4]);
    assert_eq!(data_acks(&world, SERVER, 1), [3_001, 5_001, 7_001, 8_001]);
    assert_eq!(reinjected(&world), [0, 0]);
}

#[test]
fn both_ways() {
    let world = run("both_ways");
    assert_eq!([0, 1].map(|path| segments(&world, CLIENT, path)), [4, 4]);
    assert_eq!([0, 1].map(|path| segments(&world, SERVER, path)), [3, 3]);
    assert_eq!((reinjected(&world), finished(&world)), ([0, 0], [true; 2]));
}

#[test]
fn server_data() {
    let world = run("server_data");
    assert_eq!((segments(&world, SERVER, 0), segments(&world, SERVER, 1)), (10, 10));
    assert_eq!((world.data_of(CLIENT), finished(&world)), (vec![], [true; 2]));
}

#[test]
fn subflow_loss() {
    let world = run("subflow_loss");
    // Found by SACK a round trip later, repaired on the subflow that lost it.
    assert_eq!(world.times_of(CLIENT, 4_001), [(500.0, 0), (540.0, 0)]);
    assert_eq!(reinjected(&world), [0, 0]);
    // Everything else waited for it.
    assert_eq!(
        data_acks(&world, SERVER, 0).into_iter().rev().take(2).collect::<Vec<_>>(),
        [16_001, 4_001]
    );
}

#[test]
fn lost_data_ack() {
    let world = run("lost_data_ack");
    assert_eq!(segments(&world, CLIENT, 0), 4, "nothing is sent again");
    assert_eq!(world.sent.iter().filter(|sent| sent.lost).count(), 2);
}

#[test]
fn duplicate() {
    let world = run("duplicate");
    assert_eq!((segments(&world, CLIENT, 0), segments(&world, CLIENT, 1)), (3, 3));
}

#[test]
fn redundant() {
    let world = run("redundant");
    assert_eq!((segments(&world, CLIENT, 0), segments(&world, CLIENT, 1)), (5, 4));
    // The copy of what is lost makes up for it 20 ms before its repair.
    assert_eq!(world.times_of(CLIENT, 1_001), [(500.0, 0), (500.0, 1), (550.0, 0)]);
    assert_eq!(data_acks(&world, SERVER, 1), [1_001, 2_001, 3_001, 4_001]);
}

#[test]
fn reinjection() {
    let world = run("reinjection");
    // The round trip is 40 ms and the RTO 200 ms more.
    assert_eq!(failed(&world, CLIENT), [(740.0, 0)]);
    assert_eq!(reinjected(&world), [2_000, 0]);
    for dsn in [1, 2_001] {
        let sent = world.times_of(CLIENT, dsn);
        assert!(sent.contains(&(500.0, 0)) && sent.contains(&(740.0, 1)), "{dsn}: {sent:?}");
    }
    // Section 3.3.6: what was sent on another subflow is still sent on its own.
    assert!(world.times_of(CLIENT, 2_001).contains(&(780.0, 0)));
}

#[test]
fn path_down_and_up() {
    let world = run("path_down_and_up");
    assert_eq!((failed(&world, CLIENT), reinjected(&world)), (vec![(740.0, 0)], [10_000, 0]));
    let recovered = world.events_of(CLIENT, |event| matches!(event, PathEvent::Recovered));
    // RFC 6298 section 5.5: 240 ms, doubled: 1302 + 960 ms is the first after the return.
    assert_eq!(recovered, [(2_302.0, 0)]);
    let late = world.data_of(CLIENT).into_iter().filter(|sent| sent.0 == 6_000.0);
    let late: Vec<_> = late.map(|sent| sent.1).collect();
    assert!(late.contains(&0) && late.contains(&1), "{late:?}");
}

#[test]
fn path_dies() {
    let world = run("path_dies");
    assert_eq!((reinjected(&world), finished(&world)), ([10_000, 0], [true; 2]));
    // All is acknowledged 60 ms after the failure was found, and FINs follow on both subflows.
    assert_eq!(world.sent_by(CLIENT, is_fin)[..2], [(800.0, 0), (800.0, 1)]);
    let fins = world.sent_by(SERVER, is_fin);
    assert!(fins[0].0 - 800.0 < 0.001 && (fins[0].1, fins[1].1) == (0, 1), "{fins:?}");
    // The dead one is given up.
    assert!(world.sent.last().unwrap().at.as_millis_f64() < 10_000.0);
}

#[test]
fn backup() {
    let world = run("backup");
    assert_eq!(failed(&world, CLIENT), [(1_240.0, 0)]);
    let backup = world.data_of(CLIENT).into_iter().filter(|sent| sent.1 == 1);
    let backup: Vec<_> = backup.map(|sent| (sent.0, sent.2)).collect();
    assert_eq!(backup, [6_001, 7_001, 8_001, 9_001, 10_001, 11_001].map(|dsn| (1_240.0, dsn)));
    let flagged =
        |sent: &Sent| matches!(sent.segment.mptcp, Some(MptcpOption::MpJoin { backup: true, .. }));
    assert_eq!(
        (world.sent_by(CLIENT, flagged).len(), world.sent_by(SERVER, flagged).len()),
        (1, 1)
    );
}

#[test]
fn window() {
    let world = run("window");
    // 8000 bytes from the data ACK; that is at 1001 until the slow path's first segment has come
    // after 100 ms and its ACK after 100 ms more.
    let sent: Vec<_> = world.data_of(CLIENT).iter().map(|sent| sent.0).collect();
    assert_eq!(sent[..9], [500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 520.0]);
    assert_eq!((sent[9..].iter().all(|&at| at == 700.0), sent.len()), (true, 16));
    assert_eq!(reinjected(&world), [0, 0]);
}

#[test]
fn opportunistic() {
    let world = run("opportunistic");
    // What blocks goes over the fast path a round trip of 20 ms later, and the slow one is slowed.
    assert_eq!(world.times_of(CLIENT, 1_001), [(500.0, 1), (520.0, 0)]);
    let penalised = world.events_of(CLIENT, |event| matches!(event, PathEvent::Penalised));
    assert_eq!(penalised[0], (520.0, 1));
    // All new data is out before the slow path's ACKs are back at 700 ms.
    assert!(world.data_of(CLIENT).iter().all(|sent| sent.0 < 700.0));
    assert_eq!(reinjected(&world), [4_000, 0]);
}

#[test]
fn nothing() {
    let world = run("nothing");
    assert_eq!((data_acks(&world, SERVER, 0)[0], finished(&world)), (2, [true; 2]));
    assert_eq!(
        (data_fins(&world, CLIENT), data_fins(&world, SERVER)),
        (vec![(40.0, 0)], vec![(60.0, 0)])
    );
}

#[test]
fn data_fin() {
    let world = run("data_fin");
    assert_eq!(
        (data_fins(&world, CLIENT), data_fins(&world, SERVER)),
        (vec![(300.0, 0)], vec![(600.0, 0)])
    );
    // A FIN on each subflow when the data ACK of the DATA_FIN is there, no earlier.
    assert_eq!(world.sent_by(CLIENT, is_fin), [(340.0, 0), (340.0, 1)]);
    assert_eq!(world.sent_by(SERVER, is_fin), [(640.0, 0), (640.0, 1)]);
    assert_eq!(finished(&world), [true; 2]);
}

#[test]
fn data_fin_one_way() {
    let world = run("data_fin_one_way");
    assert_eq!(data_fins(&world, CLIENT), [(300.0, 0)]);
    assert_eq!(data_acks(&world, SERVER, 0), [1_001, 2_001, 2_002, 2_002]);
    assert_eq!((finished(&world), world.sent_by(SERVER, is_fin)), ([false, true], vec![]));
}

#[test]
fn data_fin_with_data() {
    let world = run("data_fin_with_data");
    assert_eq!(data_fins(&world, CLIENT), [(500.0, 0)]);
    // It comes after 20 ms and the last data after 60 ms; only then is it acknowledged.
    let acked = world.sent_by(SERVER, |sent| sent.data_ack() == Some(6_002));
    assert_eq!(acked.first(), Some(&(560.0, 1)));
    assert_eq!(world.sent_by(CLIENT, is_fin)[0], (620.0, 0));
}

#[test]
fn lost_data_fin() {
    let world = run("lost_data_fin");
    // An RTO of 240 ms later.
    assert_eq!(data_fins(&world, CLIENT), [(300.0, 0), (540.0, 0)]);
    assert_eq!((data_fins(&world, SERVER), finished(&world)), (vec![(2_000.0, 0)], [true; 2]));
}

#[test]
fn lost_data_fin_on_a_dead_path() {
    let world = run("lost_data_fin_on_a_dead_path");
    assert_eq!(data_fins(&world, CLIENT), [(500.0, 0), (740.0, 0), (740.0, 1)]);
    assert_eq!(data_fins(&world, SERVER), [(1_000.0, 0), (1_240.0, 0), (1_240.0, 1)]);
    assert_eq!(finished(&world), [true; 2]);
}

#[test]
fn all_paths_down_at_the_end() {
    let world = run("all_paths_down_at_the_end");
    assert_eq!(failed(&world, CLIENT).iter().map(|at| at.1).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(finished(&world), [true; 2]);
    // Nothing can tell the end while both have failed, and it is told when the data has left again.
    let silent =
        data_fins(&world, CLIENT).into_iter().filter(|fin| (760.0..3_000.0).contains(&fin.0));
    assert_eq!(silent.count(), 0);
}

#[test]
fn join_before_close() {
    let world = run("join_before_close");
    assert_eq!((finished(&world), segments(&world, CLIENT, 1)), ([true; 2], 0));
    // The join of 40 ms is answered at 540 ms.
    assert_eq!(world.sent_by(CLIENT, is_fin), [(80.0, 0), (1_040.0, 1)]);
    assert_eq!(world.sent_by(SERVER, is_fin), [(100.0, 0), (1_540.0, 1)]);
}

#[test]
fn lost_ack_of_data_fin() {
    let world = run("lost_ack_of_data_fin");
    assert_eq!(data_fins(&world, CLIENT), [(300.0, 0), (540.0, 0), (540.0, 1)]);
    let acked = world.sent_by(SERVER, |sent| sent.data_ack() == Some(2_002));
    assert_eq!(acked[..3], [(320.0, 0), (560.0, 0), (570.0, 1)]);
    assert_eq!(finished(&world), [true; 2]);
}

#[test]
fn first_subflow_dies() {
    let world = run("first_subflow_dies");
    for side in [CLIENT, SERVER] {
        let data = world.data_of(side).into_iter().filter(|sent| sent.0 >= 6_000.0);
        let data: Vec<_> = data.map(|sent| sent.1).collect();
        assert!(data.contains(&1) && (side == SERVER || !data.contains(&0)), "{side}: {data:?}");
    }
    assert_eq!(reinjected(&world), [4_000, 4_000]);
    // Once: being given up later is no news.
    assert_eq!(failed(&world, CLIENT), [(740.0, 0)]);
}
