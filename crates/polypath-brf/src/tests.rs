//! A switch in scenarios. The port has 100 Mbit/s: 11.51875 MB/s for TCP, after 5 % for UDP and at
//! a target of 97 %.

use super::testing::{ack, data, key, syn, syn_ack};
use super::*;
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

const CAPACITY: Bandwidth = Bandwidth::from_bits_per_sec(100_000_000);
const TCP: f64 = 0.97 * 0.95 * 12.5e6;
const OUT: PortId = PortId(0);

const fn ms(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn switch(parameters: SwitchParameters) -> Switch {
    let mut switch = Switch::new(parameters);
    switch.set_port(OUT, CAPACITY);
    switch
}

fn code(verdict: Verdict) -> Code {
    match verdict {
        Verdict::Forward { code, .. } => code,
        Verdict::Drop => panic!("dropped"),
    }
}

fn allocation(switch: &Switch, number: u16) -> f64 {
    switch.allocation(&key(number)).map_or(0.0, Bandwidth::bytes_per_sec)
}

#[track_caller]
fn close(got: f64, wanted: f64) {
    assert!((got - wanted).abs() <= 1e-6 * wanted, "{got} is not {wanted}");
}

/// Opens flow `number` at `at`: the round trip is 20 ms, of which the far side has 12.
fn open(switch: &mut Switch, number: u16, at: u64) -> Code {
    switch.on_packet(ms(at), &syn(number, Class::Brf));
    let first = code(switch.on_packet(ms(at + 12), &syn_ack(number)));
    let last = Packet { payload: 0, bytes: 52, ..data(number, Class::Brf) };
    switch.on_packet(ms(at + 20), &last);
    first
}

/// Lets time pass from `from` to `to`, with so many packets of each flow in each ms.
fn run(switch: &mut Switch, from: u64, to: u64, flows: &[(u16, u32)]) {
    for at in from..to {
        while switch.next_timer().is_some_and(|due| due <= ms(at)) {
            switch.on_timer(ms(at));
        }
        for &(number, packets) in flows {
            for _ in 0..packets {
                switch.on_packet(ms(at), &data(number, Class::Brf));
            }
        }
    }
}

#[test]
fn the_first_rate_travels_in_the_syn_ack() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    assert_eq!(open(&mut switch, 1, 0), Code::encode(TCP));
    assert_eq!(open(&mut switch, 2, 25), Code::encode(TCP / 2.0));
    close(allocation(&switch, 1) + allocation(&switch, 2), TCP);
}

#[test]
fn feedback_is_written_once_in_a_round_trip() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    let mut written = 0;
    for at in 20..420 {
        let told = code(switch.on_packet(ms(at), &ack(1, Code::UNASSIGNED)));
        written += u32::from(told != Code::UNASSIGNED);
    }
    // 400 ms of 20 ms each, and the first of them begins anew.
    assert!((20..=21).contains(&written), "{written}");
}

#[test]
fn what_a_receiver_forges_is_lowered_in_every_acknowledgement() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    for at in 20..60 {
        let told = code(switch.on_packet(ms(at), &ack(1, Code::new(65_529))));
        assert_eq!(told, Code::encode(TCP));
    }
    let low = Code::new(10_000);
    assert_eq!(code(switch.on_packet(ms(60), &ack(1, low))), low, "its own loss");
}

#[test]
fn unlimited_flows_share_and_a_limited_one_gets_little_more_than_it_sends() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    for number in 1..=3 {
        open(&mut switch, number, 0);
    }
    // 1.5 MB/s of 3.84 allotted; 6 and 6 of what is theirs.
    run(&mut switch, 20, 400, &[(1, 1), (2, 4), (3, 4)]);
    close(allocation(&switch, 1), 1.05 * 1.5e6);
    for number in [2, 3] {
        close(allocation(&switch, number), (TCP - 1.05 * 1.5e6) / 2.0);
    }
    assert_eq!(switch.phase(OUT), Some(Phase::Alloc));
}

#[test]
fn classes_share_by_their_flows_and_an_empty_one_takes_nothing() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    assert_eq!(switch.shares(OUT).unwrap().cubic, 0.0);
    let acknowledgement = Packet { payload: 0, ..data(9, Class::Cubic) };
    let verdict = switch.on_packet(ms(1), &acknowledgement);
    assert!(matches!(verdict, Verdict::Forward { queue: Class::Brf, .. }));
    for number in [2, 3] {
        switch.on_packet(ms(21), &data(number, Class::Cubic));
    }
    let shares = switch.shares(OUT).unwrap();
    close(shares.brf, TCP / 3.0);
    close(shares.cubic, TCP * 2.0 / 3.0);
    close(allocation(&switch, 1), TCP / 3.0);
    assert!(switch.allocation(&key(2)).is_none());
}

#[test]
fn the_udp_class_is_policed_at_its_share() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    let packet = data(1, Class::Udp);
    let passed = (0..10_000)
        .filter(|i| switch.on_packet(Timestamp::from_micros(100 * i), &packet) != Verdict::Drop)
        .count();
    // 5 % of 12.5 MB/s in a second are 416.7 packets; bursts of 10 ms add 4.2.
    assert!((416..=421).contains(&passed), "{passed}");
    assert_eq!(switch.flows(), 0);
}

#[test]
fn a_silent_flow_gives_its_share_back_and_is_forgotten_after_a_minute() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    open(&mut switch, 2, 0);
    run(&mut switch, 20, 1_200, &[(1, 4)]);
    assert_eq!((allocation(&switch, 2), switch.flows()), (0.0, 2));
    run(&mut switch, 1_200, 1_400, &[(1, 8)]);
    close(allocation(&switch, 1), TCP);
    run(&mut switch, 1_400, 61_300, &[(1, 1)]);
    assert_eq!(switch.flows(), 1);
    run(&mut switch, 61_300, 123_000, &[]);
    assert_eq!((switch.flows(), switch.next_timer()), (0, None));
}

#[test]
fn a_flow_that_returns_is_new_again_without_a_syn() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    run(&mut switch, 20, 2_000, &[]);
    assert_eq!(allocation(&switch, 1), 0.0);
    switch.on_packet(ms(2_000), &data(1, Class::Brf));
    close(allocation(&switch, 1), TCP);
}

#[test]
fn a_full_table_leaves_flows_to_cubic_until_others_fall_silent() {
    let mut switch = switch(SwitchParameters { flow_capacity: 2, ..SwitchParameters::DEFAULT });
    for number in 1..=3 {
        open(&mut switch, number, 0);
    }
    assert_eq!((switch.flows(), allocation(&switch, 3)), (2, 0.0));
    let told = code(switch.on_packet(ms(30), &ack(3, Code::new(5_003))));
    assert_eq!(told, Code::new(5_003), "nothing to say");
    // The BRF queue takes it, as CUBIC has no share here.
    let verdict = switch.on_packet(ms(30), &data(3, Class::Brf));
    assert!(matches!(verdict, Verdict::Forward { queue: Class::Brf, .. }));
    switch.on_packet(ms(1_300), &data(1, Class::Brf));
    run(&mut switch, 1_301, 1_700, &[(1, 1)]);
    switch.on_packet(ms(1_700), &data(3, Class::Brf));
    assert!(allocation(&switch, 3) > 0.0);
}

#[test]
fn flows_end_by_a_reset_or_by_two_fins() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    switch.set_port(PortId(1), CAPACITY);
    open(&mut switch, 1, 0);
    assert_eq!(switch.flows(), 2, "both directions");
    let fin = |packet: Packet| Packet { flags: TcpFlags { fin: true, ..packet.flags }, ..packet };
    switch.on_packet(ms(30), &fin(data(1, Class::Brf)));
    assert_eq!(switch.flows(), 2);
    switch.on_packet(ms(31), &fin(ack(1, Code::UNASSIGNED)));
    assert_eq!(switch.flows(), 0);
    open(&mut switch, 2, 40);
    let rst = TcpFlags { rst: true, ..TcpFlags::default() };
    switch.on_packet(ms(61), &Packet { flags: rst, ..ack(2, Code::UNASSIGNED) });
    assert_eq!(switch.flows(), 0);
}

#[test]
fn a_departure_leaves_the_others_within_the_smaller_share() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    for number in [1, 2] {
        open(&mut switch, number, 0);
        switch.on_packet(ms(20), &data(10 + number, Class::Cubic));
    }
    run(&mut switch, 21, 600, &[(1, 6), (2, 1)]);
    for number in [11, 12] {
        switch.on_packet(ms(600), &data(number, Class::Cubic));
    }
    let rst = TcpFlags { rst: true, ..TcpFlags::default() };
    switch.on_packet(ms(601), &Packet { flags: rst, ..data(2, Class::Brf) });
    close(switch.shares(OUT).unwrap().brf, TCP / 3.0);
    assert!(allocation(&switch, 1) <= TCP / 3.0 + 1.0, "shown to a whole bit/s");
}

#[test]
fn a_service_is_given_what_its_flows_used_to_take() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    run(&mut switch, 20, 1_020, &[(1, 1)]);
    let rst = TcpFlags { rst: true, ..TcpFlags::default() };
    switch.on_packet(ms(1_020), &Packet { flags: rst, ..data(1, Class::Brf) });
    let first = open(&mut switch, 2, 1_030).bytes_per_sec().unwrap();
    assert!((1.4e6..=1.5e6).contains(&first), "{first}");
}

#[test]
fn reduction_follows_each_reading_once_and_ends_after_four_periods() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    run(&mut switch, 20, 500, &[(1, 8)]);
    close(allocation(&switch, 1), TCP);
    let decision = Decision { congestion: Some(Cause::Queueing), queued_packets: 50 };
    switch.on_decision(OUT, decision);
    let mut seen = Vec::new();
    for _ in 0..6 {
        let due = switch.next_timer().unwrap();
        for _ in 0..107 {
            switch.on_packet(due, &data(1, Class::Brf));
        }
        switch.on_timer(due);
        seen.push((switch.phase(OUT).unwrap(), allocation(&switch, 1)));
    }
    let reduce = Phase::Reduce(Cause::Queueing);
    let phases = [reduce, reduce, reduce, reduce, Phase::Alloc, Phase::Alloc];
    assert_eq!(seen.iter().map(|&(phase, _)| phase).collect::<Vec<_>>(), phases);
    // (17): 75,000 bytes in 20 ms are 3.75 MB/s.
    for (_, allocated) in &seen[..4] {
        close(*allocated, TCP - 3.75e6);
    }
    close(seen[4].1, TCP);
}

#[test]
fn a_burst_scales_to_what_is_measured_and_calm_ends_it() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    // 13.5 MB/s where 11.5 are allotted.
    run(&mut switch, 20, 500, &[(1, 9)]);
    switch.on_decision(OUT, Decision { congestion: Some(Cause::Burst), queued_packets: 0 });
    run(&mut switch, 500, 520, &[(1, 9)]);
    assert_eq!(switch.phase(OUT), Some(Phase::Reduce(Cause::Burst)));
    close(allocation(&switch, 1), TCP * 0.95 * TCP / 13.5e6);
    switch.on_decision(OUT, Decision { congestion: None, queued_packets: 0 });
    run(&mut switch, 520, 541, &[(1, 9)]);
    assert_eq!(switch.phase(OUT), Some(Phase::Alloc));
    close(allocation(&switch, 1), TCP);
}

#[test]
fn subflows_of_a_connection_can_share_one_weight() {
    let parameters = SwitchParameters { per_connection: true, ..SwitchParameters::DEFAULT };
    let mut switch = switch(parameters);
    for (number, connection) in [(1, Some(7)), (2, Some(7)), (3, None)] {
        switch.on_packet(ms(0), &Packet { connection, ..syn(number, Class::Brf) });
    }
    run(&mut switch, 1, 500, &[(1, 6), (2, 6), (3, 6)]);
    for (number, share) in [(1, 0.25), (2, 0.25), (3, 0.5)] {
        close(allocation(&switch, number), share * TCP);
    }
}

#[test]
fn counters_of_hardware_stand_for_packets_and_may_wrap() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    open(&mut switch, 2, 0);
    let mut total = u64::from(u32::MAX) - 300_000;
    for at in 20..500 {
        run(&mut switch, at, at + 1, &[(2, 8)]);
        total += 1_500;
        switch.on_flow_counter(ms(at), &key(1), total % u64::from(u32::MAX));
    }
    assert!((allocation(&switch, 1) - 1.05 * 1.5e6).abs() < 0.1 * 1.5e6);
    switch.on_flow_counter(ms(500), &key(77), 1);
}

/// The path of a bond sends before the answer to its first datagram has come. Periods are as long
/// as the round trip.
#[test]
fn what_acknowledges_nothing_does_not_end_the_timing_of_a_handshake() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    switch.on_packet(ms(0), &syn(1, Class::Brf));
    switch.on_packet(ms(12), &syn_ack(1));
    let early = Packet { flags: TcpFlags::default(), ..data(1, Class::Brf) };
    switch.on_packet(ms(13), &early);
    switch.on_packet(ms(20), &data(1, Class::Brf));
    run(&mut switch, 21, 300, &[(1, 8)]);
    let due = switch.next_timer().unwrap();
    switch.on_timer(due);
    assert_eq!(switch.next_timer(), Some(due + Duration::from_millis(20)));
}

#[test]
fn packets_of_unknown_ports_pass_unchanged() {
    let mut switch = Switch::new(SwitchParameters::DEFAULT);
    for class in [Class::Udp, Class::Cubic, Class::Brf] {
        let packet = Packet { code: Code::new(12_005), ..data(1, class) };
        let wanted = Verdict::Forward { queue: class, code: Code::new(12_005) };
        assert_eq!(switch.on_packet(ms(0), &packet), wanted);
    }
    assert_eq!((switch.flows(), switch.next_timer()), (0, None));
}

#[test]
fn a_new_capacity_holds_at_once() {
    let mut switch = switch(SwitchParameters::DEFAULT);
    open(&mut switch, 1, 0);
    switch.set_port(OUT, Bandwidth::from_mbit_per_sec(10.0));
    close(allocation(&switch, 1), TCP / 10.0);
}

/// Data passes switch 1, acknowledgements pass switch 2.
#[test]
fn acknowledgements_that_return_another_way_are_written_by_the_neighbour() {
    let (mut one, mut two) =
        (switch(SwitchParameters::DEFAULT), Switch::new(SwitchParameters::DEFAULT));
    one.add_neighbour(SwitchId(2));
    one.add_neighbour(SwitchId(3));
    two.add_neighbour(SwitchId(1));
    one.on_packet(ms(0), &syn(1, Class::Brf));
    let mut told = Vec::new();
    let mut sent = [0, 0];
    for at in 1..1_500 {
        run(&mut one, at, at + 1, &[(1, 8)]);
        told.push(code(two.on_packet(ms(at), &ack(1, Code::UNASSIGNED))));
        while let Some(Outgoing { to, message }) = one.poll_message() {
            sent[usize::from(to == SwitchId(3))] += 1;
            if to == SwitchId(2) {
                two.on_message(ms(at), SwitchId(1), message);
            }
        }
        while let Some(Outgoing { to, message }) = two.poll_message() {
            assert_eq!((to, message), (SwitchId(1), Message::Seen { flow: key(1) }));
            one.on_message(ms(at), SwitchId(2), message);
        }
    }
    let first = told.iter().position(|&code| code != Code::UNASSIGNED).unwrap();
    // T_ack is three RTTs of 100 ms (unknown); it passes in a period of 100 ms.
    assert!((300..=401).contains(&first), "{first} ms");
    assert_eq!(told[first], Code::encode(TCP));
    assert_eq!(sent[1], 1, "one broadcast, then only to the neighbour on the way");
    assert!(sent[0] > 5, "every period");
}

#[test]
fn announcements_expire_are_withdrawn_and_come_from_neighbours_only() {
    let mut switch = Switch::new(SwitchParameters::DEFAULT);
    let rtt = Duration::from_millis(20);
    let announce = Message::Announce { flow: key(1), rate: Code::new(12_005), rtt };
    let mut passes = |at, message: Option<(u32, Message)>| {
        if let Some((from, message)) = message {
            switch.on_message(ms(at), SwitchId(from), message);
        }
        switch.add_neighbour(SwitchId(1));
        code(switch.on_packet(ms(at), &ack(1, Code::UNASSIGNED))).get()
    };
    assert_eq!(passes(0, Some((1, announce))), 0, "not a neighbour yet");
    assert_eq!(passes(10, Some((1, announce))), 12_005);
    assert_eq!(passes(4_010, None), 12_005);
    assert_eq!(passes(4_100, None), 0, "not repeated");
    assert_eq!(passes(4_200, Some((1, announce))), 12_005);
    assert_eq!(passes(4_300, Some((1, Message::Withdraw { flow: key(1) }))), 0);
}
