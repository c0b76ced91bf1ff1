//! Switches that tell senders their rate ("brf"): who gets what, over one switch and over two.

use crate::switched::{
    LOSSY, Net, PARALLEL, PAYLOAD, SHARE, assert_about, at, link, narrow, plan, settings, west_of,
};
use polypath_brf::{Phase, PortId};
use polypath_core::congestion::CongestionKind;
use polypath_sim::endpoint::{UdpArrivals, UdpSource, UdpTraffic};
use polypath_sim::run::Keep;
use polypath_sim::topology::{dumbbell, parking_lot};
use polypath_units::{Bandwidth, Timestamp};

#[test]
fn senders_behind_one_switch_get_equal_shares_of_what_it_gives_away() {
    for senders in [1, 2, 5, 10] {
        let graph = dumbbell(senders, &link(1_000.0, 1.0), &link(1_000.0, 1.0), &link(100.0, 10.0));
        let mut net = Net::new(&graph, &["west"]);
        (0..senders as usize).for_each(|pair| net.bulk(pair, CongestionKind::Brf, 0, None));
        for rate in net.rates(2_000, 7_000) {
            assert_about(rate, 100.0 * SHARE / f64::from(senders));
        }
    }
}

/// The first link of the parking lot is narrower than the second: the long flow and one of the
/// first link share that, the flow of the second link gets what the long one leaves there.
#[test]
fn over_two_switches_the_smallest_allocation_counts() {
    let mut graph = parking_lot(2, &link(1_000.0, 1.0), &link(100.0, 5.0));
    narrow(&mut graph, "bottleneck1", 40.0);
    let mut net = Net::new(&graph, &["r0", "r1"]);
    (0..3).for_each(|pair| net.bulk(pair, CongestionKind::Brf, 0, None));
    let rates = net.rates(3_000, 8_000);
    let half = 40.0 * SHARE / 2.0;
    assert_about(rates[0], half);
    assert_about(rates[1], half);
    // Limited elsewhere, the long flow is given 1.05 times what it sends.
    assert_about(rates[2], 100.0 * SHARE - 1.05 * half);
}

/// The same two links the other way round: the second switch lowers what the first one finds.
#[test]
fn the_narrower_switch_counts_wherever_it_stands() {
    let mut graph = parking_lot(2, &link(1_000.0, 1.0), &link(100.0, 5.0));
    narrow(&mut graph, "bottleneck2", 40.0);
    let mut net = Net::new(&graph, &["r0", "r1"]);
    (0..3).for_each(|pair| net.bulk(pair, CongestionKind::Brf, 0, None));
    let rates = net.rates(3_000, 8_000);
    let half = 40.0 * SHARE / 2.0;
    assert_about(rates[0], half);
    assert_about(rates[1], 100.0 * SHARE - 1.05 * half);
    assert_about(rates[2], half);
}

/// Four flows until two of them have sent what they had, which takes them 4.3 s at a quarter each.
/// Their servers do not close, so that they are dormant 1 s later: from 6 s on, 28 periods after
/// that, the others have a half each.
#[test]
fn what_a_flow_leaves_is_given_to_those_that_stay() {
    let mut net = west_of(4);
    let bytes = Some((4.3 * 25.0 * SHARE * PAYLOAD / 8.0 * 1e6) as u64);
    (0..4).for_each(|pair| {
        let bytes = bytes.filter(|_| pair >= 2);
        net.bulk(pair, CongestionKind::Brf, 0, bytes);
    });
    for rate in net.rates(1_000, 4_000) {
        assert_about(rate, 100.0 * SHARE / 4.0);
    }
    let rates = net.rates(6_000, 9_000);
    assert_about(rates[0], 100.0 * SHARE / 2.0);
    assert_about(rates[1], 100.0 * SHARE / 2.0);
    assert_eq!(rates[2..], [0.0; 2], "they had no more");
}

/// S4 hopes for one or two round trips: the first rate is in the SYN-ACK, and a period ends at the
/// longest RTT, 24 ms here. 20 of them are far below what it takes to probe.
#[test]
fn a_newcomer_has_its_share_at_once() {
    let mut net = west_of(2);
    net.bulk(0, CongestionKind::Brf, 0, None);
    net.bulk(1, CongestionKind::Brf, 2_000, None);
    for rate in net.rates(2_500, 3_000) {
        assert_about(rate, 50.0 * SHARE);
    }
}

/// (8): as many flows, as large a share. CUBIC fills its queue, of a rate of its own.
#[test]
fn brf_and_cubic_share_by_their_numbers_of_flows() {
    let mut net = west_of(4);
    (0..3).for_each(|pair| net.bulk(pair, CongestionKind::Brf, 0, None));
    net.bulk(3, CongestionKind::Cubic, 0, None);
    let rates = net.rates(5_000, 15_000);
    for &rate in &rates[..3] {
        assert_about(rate, 100.0 * SHARE / 4.0);
    }
    // Its segments have 4 bytes of payload more; it loses some, and what it repeats counts not.
    assert!((0.9..=1.01).contains(&(rates[3] / (100.0 * SHARE / 4.0))), "{rates:?}");
}

#[test]
fn queues_stay_empty() {
    let mut net = west_of(5);
    (0..5).for_each(|pair| net.bulk(pair, CongestionKind::Brf, 0, None));
    net.assert_queues_stay_empty();
}

/// Where no sender asks for feedback and no node is a switch, not a byte is another one.
#[test]
fn segments_of_others_are_as_they_were() {
    let run = |kind| {
        let access = link(1_000.0, 1.0);
        let mut net = Net::new(&dumbbell(1, &access, &access, &link(100.0, 10.0)), &[]);
        net.bulk(0, kind, 0, Some(1_000_000));
        net.simulator.run_until(at(5_000));
        let counters = net.simulator.fabric().link(net.topology.link("bottleneck").unwrap());
        let entered = counters.counters().entered;
        entered.bytes - 1_000_000 - 52 * entered.packets
    };
    // A SYN has 8 bytes of options more than other segments: MSS and window scale; with SACK
    // permitted in the padding of timestamps.
    assert_eq!(run(CongestionKind::Cubic), 8);
}

/// Each subflow is a flow of its own: the one of the wide path shares that with TCP, the other one
/// has the narrow path alone. 24 bytes more of each segment are for the data sequence signal.
#[test]
fn subflows_of_a_scenario_obey_their_switches() {
    let outcome = plan(PARALLEL).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap();
    let goodput: Vec<_> = outcome.report.connections.iter().map(|c| c.goodput_mbit_s).collect();
    assert_about(goodput[0] * 1_500.0 / 1_420.0, (30.0 + 20.0) * SHARE);
    assert_about(goodput[1] / PAYLOAD, 30.0 * SHARE);
}

#[test]
fn what_cannot_be_a_switch_is_refused_with_its_reason() {
    let queue = PARALLEL.replace(
        "delay = \"10 ms\"",
        "delay = \"10 ms\"\nqueue = { kind = \"token_bucket\", rate = \"1 Mbit/s\", burst = \"9 kB\" }",
    );
    let none = PARALLEL.replace(", brf = {}", "");
    let share = PARALLEL.replacen("brf = {}", "brf = { udp_share = 2 }", 1);
    for (text, problem) in [
        (queue, "switch \"wide\": the queue of its link \"out1\" has classes or a shaper"),
        (none, "no [[node]] has `brf`"),
        (share, "a probability from 0 to 1"),
    ] {
        let error = plan(&text).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}

/// 20 Mbit/s of datagrams at a port of 100 Mbit/s: 5 % of it pass, and a burst of 10 ms at the
/// start, which is 1 % of a second; the rest is dropped before it takes anything from TCP.
#[test]
fn udp_has_its_share_and_no_more() {
    let mut net = west_of(2);
    net.bulk(0, CongestionKind::Brf, 0, None);
    let (from, to) = net.topology.pairs()[1];
    let route = net.topology.route(from, to).unwrap();
    let traffic = UdpTraffic {
        rate: Bandwidth::from_mbit_per_sec(20.0),
        payload: 1_000,
        headers: 0,
        arrivals: UdpArrivals::Constant,
        start: Timestamp::ZERO,
        stop: Timestamp::MAX,
    };
    let (_, sink) = UdpSource::connect(&mut net.simulator, &net.topology, &route, traffic, 1);
    assert_about(net.rates(2_000, 4_000)[0], 100.0 * SHARE);
    let passed = net.simulator.report(sink).segments_delivered as f64;
    let share = passed * 1_000.0 * 8.0 / 4.0 / 5e6;
    assert!((0.99..1.01).contains(&share), "{share}");
}

/// Where nobody tells a rate for a second, the sender of BRF is CUBIC, which keeps a link with a
/// queue of its own BDP and more busy. The 4 bytes of the option stay in its segments.
#[test]
fn without_switches_senders_behave_as_cubic() {
    let access = link(1_000.0, 1.0);
    let mut net = Net::new(&dumbbell(1, &access, &access, &link(20.0, 10.0)), &[]);
    net.bulk(0, CongestionKind::Brf, 0, None);
    assert_about(net.rates(5_000, 25_000)[0], 20.0);
}

/// A sender that has the option and grows its window all the same fills the queue of BRF. The
/// controller reads that and the switch reduces all allocations; where it has stopped, and its flow
/// is dormant, the other has the port.
#[test]
fn the_controller_finds_what_a_disobedient_sender_does() {
    let mut net = west_of(2);
    net.bulk(0, CongestionKind::Brf, 0, None);
    let mut disobedient = settings(CongestionKind::Cubic);
    disobedient.tcp.feedback = true;
    let bytes = Some(60_000_000);
    net.bulk_with(1, &disobedient, at(0), bytes);
    let port = PortId(net.bottleneck().0);
    let mut reduced = 0;
    for tenth in 10..40 {
        net.simulator.run_until(at(100 * tenth));
        reduced += u32::from(matches!(net.west().phase(port), Some(Phase::Reduce(_))));
    }
    assert!(reduced > 0, "the controller never told of it");
    let end = net.ends[1].1;
    let mut second = 4;
    while net.simulator.report(end).delivered < 60_000_000 && second < 30 {
        second += 1;
        net.simulator.run_until(at(1_000 * second));
    }
    let rates = net.rates(1_000 * (second + 3), 1_000 * (second + 6));
    assert_about(rates[0], 100.0 * SHARE);
}

/// S4: what is lost is sent again, the rate stays. One packet in ten is lost behind the switch, and
/// all the time what is lost is being sent again.
#[test]
fn random_loss_does_not_lower_the_rate() {
    let outcome = plan(LOSSY).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap();
    let report = outcome.report;
    let port = report.queues.iter().find(|l| l.link == "out" && l.direction == "up").unwrap();
    assert_about(port.mbit_s / 0.9, 50.0 * SHARE);
    assert!(report.connections[0].paths[0].lost > 1_000, "{:?}", report.connections[0]);
}

/// The switch shares out what there is from then on.
#[test]
fn a_scripted_change_of_rate_reaches_the_senders() {
    let mut net = west_of(2);
    (0..2).for_each(|pair| net.bulk(pair, CongestionKind::Brf, 0, None));
    assert_about(net.rates(1_000, 2_000)[0], 50.0 * SHARE);
    let (bottleneck, rate) = (net.bottleneck(), Bandwidth::from_mbit_per_sec(40.0));
    net.simulator
        .fabric_mut()
        .change_link(bottleneck, |link, now| link.set_rate(now, rate))
        .unwrap();
    for rate in net.rates(4_000, 6_000) {
        assert_about(rate, 20.0 * SHARE);
    }
}
