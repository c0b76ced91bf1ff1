//! Flows of datagrams over a bond, as scenarios describe them: a sender that offers less than the
//! paths carry loses nothing, and waits for little.

use polypath_sim::run::{Keep, Observed, Plan, RunError, Spread};
use polypath_sim::scenario::Scenario;
use std::fmt::Write;
use std::path::Path;

/// What a path's packet has beside the payload of a datagram: IPv4, UDP, and the bond and its
/// carrier at most.
const HEADERS: u64 = 28 + 38 + 16;

/// A path: Mbit/s, and the delay of one way in ms.
#[derive(Clone, Copy, Debug)]
struct Link(f64, u64);

fn plan(text: &str) -> Result<Plan, RunError> {
    let scenario = Scenario::parse(text, Path::new("test.toml"), &mut |_| unreachable!())?;
    Plan::new(scenario)
}

fn paths(links: &[Link]) -> String {
    let mut text = String::new();
    for (number, Link(rate, delay)) in links.iter().enumerate() {
        let _ = writeln!(
            text,
            "[[path]]\nname = \"p{number}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\""
        );
    }
    text
}

/// What a flow that takes `share` of what the links carry has seen in 20 s, from a second after the
/// bond was opened on.
fn flow(links: &[Link], loss: f64, share: f64, packet: u64) -> Seen {
    let sum: f64 = links.iter().map(|link| link.0).sum();
    let rate = share * sum * packet as f64 / (packet + HEADERS) as f64;
    let text = format!(
        "duration = \"24 s\"\n{}[[flow]]\nkind = \"constant_rate\"\nrate = \"{rate} Mbit/s\"\n\
         packet = \"{packet} B\"\nstart = \"1 s\"\nstop = \"21 s\"\ndelivery = \"datagram\"\n",
        paths(links).replace("[[path]]", &format!("[[path]]\nloss = {loss}"))
    );
    let report = plan(&text).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap().report;
    let Observed::Messages { produced, delivered, reordered, delay_ms, .. } =
        report.connections[0].flows[0].observed
    else {
        panic!("{report:?}")
    };
    Seen { produced, lost: produced - delivered, reordered, delay: delay_ms.unwrap() }
}

#[derive(Debug)]
struct Seen {
    produced: u64,
    lost: u64,
    reordered: u64,
    delay: Spread,
}

/// Once the windows have grown nothing is lost or waits long: half of the datagrams take no longer
/// than the slowest link, which may be needed for the rate, and 5 ms, and 95 of 100 no more than
/// 30 ms beyond. In start-up, which takes six RTTs of 80 ms or less and so less than a fortieth of
/// the time, the links' queues overflow at most once, and the receiver does not know yet how long
/// order is worth waiting for: two in a thousand are lost, or come after a later one.
#[test]
fn a_flow_below_the_sum_of_the_rates_waits_for_little() {
    for links in [
        [Link(50.0, 10), Link(50.0, 10)],
        [Link(50.0, 10), Link(50.0, 20)],
        [Link(80.0, 5), Link(20.0, 30)],
        [Link(10.0, 40), Link(40.0, 15)],
    ] {
        for (share, packet) in [(0.5, 1_200), (0.8, 1_200), (0.8, 160)] {
            let seen = flow(&links, 0.0, share, packet);
            let slowest = links.iter().map(|link| link.1).max().unwrap() as f64;
            let what = format!("{links:?}, {share}: {seen:?}");
            assert!(seen.lost.max(seen.reordered) <= seen.produced / 500, "{what}");
            assert!(seen.delay.p50 <= slowest + 5.0, "{what}");
            assert!(seen.delay.p95 <= slowest + 30.0, "{what}");
        }
    }
}

/// What a link loses is missed at once by those behind it, not for as long as the paths may differ:
/// of 100 that come, 95 or more wait for nothing that is lost, although 50 are lost in a second.
/// Slow start, whose losses end it earlier, and the first second, in which a receiver waits for an
/// RTT, are as above.
#[test]
fn what_is_lost_keeps_nobody_waiting() {
    for links in [[Link(20.0, 35), Link(20.0, 35)], [Link(40.0, 10), Link(20.0, 30)]] {
        for packet in [160, 1_200] {
            let seen = flow(&links, 0.005, 0.6, packet);
            let slowest = links.iter().map(|link| link.1).max().unwrap() as f64;
            let what = format!("{links:?}: {seen:?}");
            assert!(seen.reordered <= seen.produced / 500, "{what}");
            assert!(seen.delay.p50 <= slowest + 5.0, "{what}");
            assert!(seen.delay.mean <= slowest + 5.0, "{what}");
        }
    }
}

/// A copy goes over each path that works and has room. With 5 % of the packets lost on each, a
/// datagram is lost once in 400. At most one in twenty goes over one path alone, which takes
/// another once in 400: of 4,000 at most 20 and five standard deviations, and more than none. With
/// one copy of each it would be 200.
#[test]
fn a_redundant_flow_takes_every_path() {
    let links = [Link(20.0, 10), Link(20.0, 10)];
    let lossy = paths(&links).replace("[[path]]", "[[path]]\nloss = 0.05");
    let text = format!(
        "duration = \"14 s\"\n{lossy}[[flow]]\nkind = \"constant_rate\"\nrate = \"3.84 Mbit/s\"\n\
         stop = \"10 s\"\ndelivery = \"datagram\"\nmode = \"redundant\"\n"
    );
    let report = plan(&text).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap().report;
    let Observed::Messages { produced, delivered, missing, .. } =
        report.connections[0].flows[0].observed
    else {
        panic!("{report:?}")
    };
    assert_eq!((produced, missing), (4_000, produced - delivered));
    assert!((1..=42).contains(&missing), "{missing}: sqrt(20) is 4.5");
}

/// Beside a bulk stream of the same direction, which takes what the flow leaves; and a flow back.
#[test]
fn a_flow_goes_beside_a_stream_of_its_direction() {
    let flow = |direction| {
        format!(
            "[[flow]]\nkind = \"constant_rate\"\nrate = \"10 Mbit/s\"\ndirection = \"{direction}\"\n\
             start = \"1 s\"\nstop = \"5 s\"\ndelivery = \"datagram\"\n"
        )
    };
    let text = format!(
        "duration = \"8 s\"\n{}[[flow]]\nkind = \"bulk\"\nstop = \"5 s\"\n{}{}",
        paths(&[Link(50.0, 10), Link(50.0, 10)]),
        flow("up"),
        flow("down")
    );
    let report = plan(&text).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap().report;
    let connection = &report.connections[0];
    for flow in &connection.flows[1..] {
        let Observed::Messages { produced, delivered, missing, reordered, .. } = flow.observed
        else {
            panic!("{flow:?}")
        };
        assert_eq!((delivered, missing), (produced, 0), "{flow:?}");
        // Those of start-up.
        assert!(reordered < produced / 20, "{flow:?}");
    }
    assert!(connection.up_mbit_s > 60.0 && connection.down_mbit_s > 5.0, "{connection:?}");
}

#[test]
fn what_cannot_be_sent_as_datagrams_is_refused() {
    let error = |connection: &str, flow: &str| {
        let path = paths(&[Link(10.0, 10)]);
        let text = format!("{path}[connection]\n{connection}\n[[flow]]\n{flow}");
        plan(&text).unwrap_err().to_string()
    };
    let constant = "kind = \"constant_rate\"\nrate = \"1 Mbit/s\"\ndelivery = \"datagram\"\n";
    let bond = "transport = \"bond\"";
    for (connection, flow, expected) in [
        (
            "transport = \"tcp\"",
            constant.to_owned(),
            "flow: `delivery = \"datagram\"` is for a connection by \"bond\"; this one is by \
             \"tcp\"",
        ),
        (
            bond,
            "kind = \"bulk\"\ndelivery = \"datagram\"".to_owned(),
            "flow: \"bulk\" has no rate of its own, which a flow of datagrams needs; allowed are \
             \"constant_rate\", and \"on_off\" with a `rate`",
        ),
        (
            bond,
            format!("{constant}packet = \"7 B\""),
            "flow: a `packet` has its number in it: at least 8 B with `delivery = \"datagram\"`",
        ),
        (
            bond,
            "kind = \"bulk\"\nmode = \"best\"".to_owned(),
            "mode: is for flows with `delivery = \"datagram\"`",
        ),
        (
            bond,
            format!("{constant}mode = \"both\""),
            "mode: \"both\" is not allowed; allowed are \"aggregate\", \"redundant\", \"best\", \
             \"smallest_delay\", \"load_balancing\"",
        ),
    ] {
        let text = error(connection, &flow);
        assert!(text.ends_with(expected), "{text}");
    }
}
