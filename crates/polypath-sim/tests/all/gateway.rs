//! What goes through a bond as through a gateway: by which rule, how, and what comes of it.

use crate::random_scripts::Dice;
use polypath_bond::BondConfig;
use polypath_sim::endpoint::LightBond;
use polypath_sim::fabric::EndpointId;
use polypath_sim::run::{
    ConnectionReport, Keep, LinkReport, Observed, Plan, RuleCounts, Run, RunReport,
};
use polypath_sim::scenario::Scenario;
use std::fmt::Write;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Two paths without loss.
const CLEAN: &str = r#"
    duration = "6 s"
    [[path]]
    name = "wifi"
    rate = "40 Mbit/s"
    delay = "10 ms"
    [[path]]
    name = "lte"
    rate = "40 Mbit/s"
    delay = "25 ms"
"#;

/// A run of a scenario whose policy, called `policy.toml`, has these rules.
fn run(scenario: &str, policy: &str, seed: u64) -> RunReport {
    let plan = Plan::new(read(scenario, policy).unwrap()).unwrap();
    plan.run(seed, Keep::default(), &mut |_| {}).unwrap().report
}

fn read(scenario: &str, policy: &str) -> Result<Scenario, String> {
    let open = &mut |file: &Path| match file.ends_with("policy.toml") {
        true => Ok(policy.as_bytes().to_vec()),
        false => Err(io::ErrorKind::NotFound.into()),
    };
    Scenario::parse(scenario, Path::new("s.toml"), open).map_err(|error| error.to_string())
}

fn rule(name: &str, lines: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\n{lines}\n")
}

fn bond(carrier: &str) -> String {
    format!(
        "[[connection]]\nname = \"bond\"\ntransport = \"bond\"\ncarrier = \"{carrier}\"\n\
         policy = \"policy.toml\"\n"
    )
}

/// A connection through the bond, and its flow.
fn through(name: &str, transport: &str, traffic: &str, flow: &str) -> String {
    format!(
        "[[connection]]\nname = \"{name}\"\nthrough = \"bond\"\ntransport = \"{transport}\"\n\
         traffic = \"{traffic}\"\n[[flow]]\nconnection = \"{name}\"\nstart = \"1500 ms\"\n{flow}\n"
    )
}

fn steady(rate: &str, packet: u32, direction: &str) -> String {
    format!(
        "kind = \"constant_rate\"\nrate = \"{rate}\"\npacket = \"{packet} B\"\n\
         direction = \"{direction}\"\nstop = \"5 s\"\n"
    )
}

fn connection<'a>(report: &'a RunReport, name: &str) -> &'a ConnectionReport {
    report.connections.iter().find(|connection| connection.name == name).unwrap()
}

/// Produced, delivered, and delivered after a later one.
fn messages(connection: &ConnectionReport) -> [u64; 3] {
    let Observed::Messages { produced, delivered, reordered, .. } = connection.flows[0].observed
    else {
        panic!("{connection:?}")
    };
    [produced, delivered, reordered]
}

fn counts(report: &RunReport, rule: Option<&str>) -> RuleCounts {
    let rules = &connection(report, "bond").rules;
    rules.iter().find(|of| of.name.as_deref() == rule).unwrap().counts
}

#[test]
fn each_conversation_comes_under_the_first_rule_that_matches_it() {
    let policy = [
        rule("voice", "dscp = \"ef\"\nprotocol = \"udp\"\nmode = \"redundant\""),
        rule("no mail", "port = 25\nprotocol = [\"tcp\", \"udp\"]\nmode = \"drop\""),
        rule("esp", "protocol = \"esp\"\nmode = \"active_standby\"\npaths = [\"lte\"]"),
    ];
    let mut scenario = CLEAN.to_owned() + &bond("light");
    scenario +=
        &through("call", "udp", "udp 192.0.2.1:5000 dscp ef", &steady("80 kbit/s", 200, "up"));
    scenario += &through("mail", "udp", "udp 192.0.2.1:25", &steady("8 kbit/s", 100, "up"));
    scenario += &through("vpn", "udp", "esp 192.0.2.2", &steady("800 kbit/s", 1_000, "up"));
    scenario += &through("web", "tcp", "tcp 192.0.2.3:443", "kind = \"bulk\"\nbytes = \"2 MB\"");
    scenario += &through("smtp", "tcp", "tcp 192.0.2.3:25", "kind = \"bulk\"\nbytes = \"2 MB\"");
    let report = run(&scenario, &policy.concat(), 1);
    // 3.5 s of 50 packets with a header of 28 bytes, of 10, and of 100.
    let expected = [
        (Some("voice"), [1, 175, 0, 175 * 228, 0, 0]),
        (Some("no mail"), [0, 0, 0, 0, 0, 35 + 1]),
        (Some("esp"), [1, 350, 0, 350 * 1_028, 0, 0]),
        (None, [1, 0, 0, 2_000_000, 0, 0]),
    ];
    for (rule, expected) in expected {
        let c = counts(&report, rule);
        let counted = [
            c.conversations,
            c.datagrams_sent,
            c.datagrams_received,
            c.bytes_sent,
            c.bytes_received,
            c.dropped,
        ];
        assert_eq!(counted, expected, "{rule:?}");
    }
    assert_eq!(messages(connection(&report, "call")), [175, 175, 0]);
    assert_eq!(messages(connection(&report, "mail")), [35, 0, 0]);
    assert_eq!(connection(&report, "web").delivered_bytes, 2_000_000);
    assert_eq!(connection(&report, "smtp").delivered_bytes, 0);
}

/// The mode of a rule does what the mode of a flow does: as many datagrams come, in the same order,
/// over the same links. The gateway opens its flows at another time and has packets of its own: of
/// 875 datagrams 5 % may go another way.
#[test]
fn a_rule_steers_as_the_mode_of_a_flow_does() {
    for (mode, of_rule) in [
        ("aggregate", "aggregate"),
        ("redundant", "redundant"),
        ("best", "active_standby"),
        ("smallest_delay", "smallest_delay"),
        ("load_balancing", "load_balancing"),
    ] {
        for direction in ["up", "down"] {
            let policy = rule("all", &format!("protocol = \"udp\"\nmode = \"{of_rule}\""));
            let inner = through("udp", "udp", "udp", &steady("2 Mbit/s", 1_000, direction));
            let ruled = run(&(CLEAN.to_owned() + &bond("light") + &inner), &policy, 1);
            let own = format!(
                "[[connection]]\nname = \"bond\"\ntransport = \"bond\"\ncarrier = \"light\"\n\
                 [[flow]]\nconnection = \"bond\"\ndelivery = \"datagram\"\nmode = \"{mode}\"\n\
                 start = \"1500 ms\"\n{}",
                // 28 bytes of headers are in the datagrams of the gateway.
                steady("2.056 Mbit/s", 1_028, direction)
            );
            let own = run(&(CLEAN.to_owned() + &own), "", 1);
            let what = format!("{mode} {direction}");
            // A flow over UDP ends at its stop, and the run with it: what is on its way for 25 ms
            // then, 7 of 250 a second, does not come.
            let [produced, delivered, reordered] = messages(connection(&ruled, "udp"));
            assert_eq!((produced, reordered), (875, 0), "{what}");
            assert!((868..=875).contains(&delivered), "{what}: {delivered}");
            assert_eq!(messages(connection(&own, "bond")), [875, 875, 0], "{what}");
            if mode == "load_balancing" {
                // By the rates that paths were seen to have, to which all packets add.
                continue;
            }
            // Acknowledgements go the other way.
            let of_data = |queue: &&LinkReport| queue.direction == direction;
            let queues = [&ruled, &own].map(|report| report.queues.iter().filter(of_data));
            let [ruled, own] = queues;
            for (ruled, own) in ruled.zip(own) {
                let apart = ruled.delivered_packets.abs_diff(own.delivered_packets);
                assert!(apart <= 44, "{what}: {ruled:?} {own:?}");
            }
        }
    }
}

/// Packets of 4 ms distance take paths of 10 and 25 ms in turn: each on the slower one is overtaken
/// by the next one, and by none if order is waited for. The hub obeys, too. There are 875 packets,
/// 438 on the slower path at most, and those of the first 25 ms and the last, 7 each, may be with
/// others or still on their way.
#[test]
fn packets_of_a_rule_without_order_come_as_they_arrive() {
    for direction in ["up", "down"] {
        for (in_order, reordered) in [(true, 0..=0), (false, 438 - 14..=438)] {
            let lines = format!("protocol = \"udp\"\nmode = \"aggregate\"\nin_order = {in_order}");
            let inner = through("udp", "udp", "udp", &steady("2 Mbit/s", 1_000, direction));
            let bond = bond("light") + "scheduler = \"round_robin\"\n";
            let report = run(&(CLEAN.to_owned() + &bond + &inner), &rule("all", &lines), 1);
            let [produced, _, late] = messages(connection(&report, "udp"));
            let what = format!("{direction}, in order: {in_order}");
            assert_eq!(produced, 875, "{what}");
            assert!(reordered.contains(&late), "{what}: {late}");
        }
    }
}

#[test]
fn tcp_and_quic_pass_in_packets_both_ways_on_either_carrier() {
    for carrier in ["light", "quic"] {
        let bond = bond(carrier) + "tcp = \"tunnel\"\n";
        for direction in ["up", "down"] {
            for (transport, traffic) in [("tcp", "tcp 192.0.2.1:80"), ("quic", "udp 192.0.2.1:443")]
            {
                let flow =
                    format!("kind = \"bulk\"\nbytes = \"4 MB\"\ndirection = \"{direction}\"");
                let inner = through("inner", transport, traffic, &flow);
                let report = run(&(CLEAN.to_owned() + &bond + &inner), "", 1);
                let inner = connection(&report, "inner");
                let what = format!("{transport} {direction} on {carrier}: {inner:?}");
                assert_eq!(inner.delivered_bytes, 4_000_000, "{what}");
                assert!(inner.flows[0].finished_s.is_some(), "{what}");
                // It has both paths: one alone carries 4 MB in 0.8 s without start-up.
                assert!(counts(&report, None).datagrams_sent > 100, "{what}");
            }
        }
    }
}

/// A split connection is a stream of the bond: as fast, but for the 8 bytes of its head.
#[test]
fn a_split_connection_is_a_stream_of_the_bond() {
    let bulk = "kind = \"bulk\"\nbytes = \"8 MB\"\ndirection = \"down\"\n";
    for carrier in ["light", "quic"] {
        let split = through("web", "tcp", "tcp 192.0.2.1:80", bulk);
        let split = run(&(CLEAN.to_owned() + &bond(carrier) + &split), "", 1);
        let own = format!("[[flow]]\nconnection = \"bond\"\nstart = \"1500 ms\"\n{bulk}");
        let bond = bond(carrier).replace("policy = \"policy.toml\"\n", "");
        let own = run(&(CLEAN.to_owned() + &bond + &own), "", 1);
        let finished = [(split, "web"), (own, "bond")]
            .map(|(report, name)| connection(&report, name).flows[0].finished_s.unwrap());
        assert!((finished[0] - finished[1]).abs() < 0.005, "{carrier}: {finished:?}");
    }
}

/// Several of them share the bond; an endless one is stopped.
#[test]
fn split_connections_end_where_they_are_stopped() {
    let mut scenario = CLEAN.to_owned() + &bond("light");
    for (name, direction) in [("one", "up"), ("two", "up"), ("three", "down")] {
        let bulk = format!("kind = \"bulk\"\ndirection = \"{direction}\"\nstop = \"4 s\"");
        scenario += &through(name, "tcp", "tcp 192.0.2.1:80", &bulk);
    }
    let report = run(&scenario, "", 1);
    for name in ["one", "two", "three"] {
        let connection = connection(&report, name);
        let finished = connection.flows[0].finished_s.unwrap();
        // What the windows held when it was stopped comes within a second.
        assert!((4.0..5.0).contains(&finished), "{name}: {finished}");
        assert!(connection.delivered_bytes > 2_000_000, "{name}: {}", connection.delivered_bytes);
    }
    let c = counts(&report, None);
    let [one, two, three] = ["one", "two", "three"].map(|n| connection(&report, n).delivered_bytes);
    assert_eq!((c.conversations, c.bytes_received), (3, three));
    // What was written and then taken back has been counted.
    assert!(c.bytes_sent >= one + two, "{c:?}");
}

#[test]
fn what_makes_no_gateway_is_refused_with_what_is_allowed() {
    let udp = |lines: &str| {
        let flow = "[[flow]]\nconnection = \"in\"\nkind = \"constant_rate\"\nrate = \"1 Mbit/s\"\n";
        let inner = format!("[[connection]]\nname = \"in\"\n{lines}\n{flow}");
        let text = CLEAN.to_owned() + &bond("light") + &inner;
        let scenario =
            read(&text, &rule("a", "protocol = \"udp\"\nmode = \"redundant\"\npaths = [\"5g\"]"));
        scenario.map_or_else(
            |error| error,
            |scenario| {
                Plan::new(scenario).err().map_or_else(String::new, |error| error.to_string())
            },
        )
    };
    for (lines, expected) in [
        (
            "through = \"bond\"\ntransport = \"udp\"",
            "the rule \"a\" of its policy names the path \"5g\"; its paths are wifi, lte",
        ),
        (
            "through = \"none\"\ntransport = \"udp\"",
            "there is no connection before this one \"none\"; there are bond",
        ),
        (
            "through = \"bond\"\ntransport = \"mptcp\"",
            "a connection by \"mptcp\" goes through no bond; allowed are \"tcp\", \"quic\"",
        ),
        ("through = \"bond\"\ntransport = \"udp\"\npaths = [\"lte\"]", "is that of the bond"),
        (
            "through = \"bond\"\ntransport = \"udp\"\ntraffic = \"tcp 192.0.2.1:80\"",
            "is tcp, and the connection by \"udp\"",
        ),
        (
            "through = \"bond\"\ntransport = \"udp\"\ntraffic = \"udp size 5\"",
            "says a size, which the packets",
        ),
        ("through = \"bond\"\ntransport = \"udp\"\ntraffic = \"udp x:y:z\"", "is no traffic"),
        ("transport = \"udp\"\ntraffic = \"udp\"", "is of a connection that goes `through` a bond"),
    ] {
        let error = udp(lines);
        assert!(error.contains(expected), "{lines}: {error}");
    }
    let error = read(&(CLEAN.to_owned() + &bond("light")), "[[rule]]\nname = 1\n").unwrap_err();
    assert!(error.contains("policy.toml:2: name: "), "{error}");
    let missing = (CLEAN.to_owned() + &bond("light")).replace("policy.toml", "none.toml");
    let error = read(&missing, "").unwrap_err();
    assert!(error.contains("policy: none.toml cannot be read"), "{error}");
    let unordered = rule("a", "protocol = \"tcp\"\nmode = \"aggregate\"\nin_order = false");
    let split = CLEAN.to_owned() + &bond("light");
    let error = read(&split, &unordered).unwrap_err();
    assert!(error.contains("policy: has the rule \"a\" with `in_order = false`"), "{error}");
    read(&(split + "tcp = \"tunnel\"\n"), &unordered).unwrap();
}

const MODES: [&str; 7] = [
    "aggregate",
    "redundant",
    "active_standby",
    "smallest_delay",
    "priority_based",
    "load_balancing",
    "drop",
];

/// A path on which nothing is lost that its queue has room for.
fn random_path(dice: &mut Dice, path: u64) -> String {
    let (rate, delay) = (dice.scale(0.5, 60.0), dice.scale(1.0, 120.0));
    let (jitter, reorder) = (dice.scale(0.1, 20.0), dice.one_in(3));
    format!(
        "[[path]]\nname = \"p{path}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n\
         jitter = \"{jitter} ms\"\nreorder = {reorder}\nqueue = \"200 kB\"\n"
    )
}

/// A random network and what befalls it.
fn random_network(dice: &mut Dice, paths: u64) -> String {
    let mut text = "duration = \"6 s\"\n".to_owned();
    for path in 0..paths {
        text += &random_path(dice, path);
        let _ = writeln!(text, "loss = {}", dice.unit().powi(3) * 0.1);
        if dice.one_in(2) {
            let (at, back) = (dice.scale(0.5, 3.0), dice.scale(0.1, 2.0));
            let _ = write!(
                text,
                "[[event]]\nat = \"{at} s\"\nlink = \"p{path}\"\ndown = true\n\
                 [[event]]\nat = \"{} s\"\nlink = \"p{path}\"\ndown = false\n",
                at + back
            );
        }
    }
    text
}

/// A rule for the port with the number of its conversation, in a random mode.
fn random_rule(dice: &mut Dice, port: u64, paths: u64) -> String {
    let mode = MODES[dice.below(7) as usize];
    let named = mode != "drop" && (mode == "priority_based" || dice.one_in(3));
    let names: Vec<_> = (0..paths).rev().map(|path| format!("\"p{path}\"")).collect();
    let paths = if named { format!("paths = [{}]\n", names.join(", ")) } else { String::new() };
    rule(
        &format!("{port}"),
        &format!("protocol = \"udp\"\nport = {port}\nmode = \"{mode}\"\n{paths}"),
    )
}

/// Conversations of all kinds at once, each by a rule of its own or by none.
fn random_conversation(dice: &mut Dice, port: u64) -> String {
    let direction = if dice.one_in(2) { "up" } else { "down" };
    let (kind, traffic) = match dice.below(4) {
        0 => ("tcp", format!("tcp 192.0.2.1:{port}")),
        1 => ("quic", format!("udp 192.0.2.1:{port}")),
        _ => ("udp", format!("udp 192.0.2.1:{port}")),
    };
    let flow = match kind {
        "udp" => {
            let (rate, packet) = (dice.scale(20.0, 8_000.0), 8 + dice.below(1_800) as u32);
            steady(&format!("{rate} kbit/s"), packet, direction)
        }
        _ => format!("kind = \"bulk\"\ndirection = \"{direction}\"\nstop = \"5 s\""),
    };
    through(&format!("c{port}"), kind, &traffic, &flow)
}

/// Plays random networks with conversations of all kinds by random policies.
///
/// # Panics
/// When something comes twice, or more than was sent, or memory is not bounded.
pub(crate) fn play_random(seeds: Range<u64>) {
    let seeds: Vec<_> = seeds.collect();
    crate::common::parallel(&seeds, |&seed| play(seed));
}

fn play(seed: u64) {
    let dice = &mut Dice::new(seed);
    let (paths, conversations) = (1 + dice.below(3), 2 + dice.below(7));
    let mut scenario = random_network(dice, paths);
    let tcp = ["split", "tunnel"][dice.below(2) as usize];
    scenario += &format!("{}tcp = \"{tcp}\"\n", bond("light"));
    let mut policy = String::new();
    for port in 1..=conversations {
        // A policy has up to seven ways of steering.
        if port < 7 && !dice.one_in(4) {
            policy += &random_rule(dice, port, paths);
        }
        scenario += &random_conversation(dice, port);
    }
    let plan = Plan::new(read(&scenario, &policy).unwrap()).unwrap();
    let mut run = Run::new(&plan, seed, Keep::default()).unwrap();
    while run.advance().unwrap() {
        // What waits for missing data, and what waits for readers: two buffers.
        let most = 3 * BondConfig::default().receive_buffer;
        for end in [0, 1] {
            let bond: &LightBond = run.simulator().endpoint(EndpointId(end)).unwrap();
            let held = bond.status().buffered;
            assert!(held <= most, "seed {seed}: {held} held");
        }
    }
    let fabric = run.simulator().fabric();
    assert_eq!(fabric.repeated(), 0, "seed {seed}: came twice");
    let report = run.report();
    for connection in &report.connections[1..] {
        for flow in &connection.flows {
            if let Observed::Messages { produced, delivered, missing, .. } = flow.observed {
                assert!(delivered + missing <= produced, "seed {seed}: {connection:?}");
            }
        }
    }
}

#[test]
fn whatever_goes_through_comes_once() {
    play_random(0..30);
}

/// A random network of which each path keeps its order and loses nothing, with conversations in the
/// modes that put in order.
///
/// A datagram is late by what the delays of the paths differ, and by the packets that are before
/// it: 5 kB of four conversations, 4 ms at 10 Mbit/s. The RTT of the slower path, two times its
/// delay, is longer where both delays together are more than that, as they are from 5 ms on.
///
/// # Panics
/// When a datagram comes after a later one of its conversation, or not at all.
fn play_ordered(seed: u64) {
    let dice = &mut Dice::new(seed);
    let (paths, conversations) = (2 + dice.below(2), 1 + dice.below(4));
    let mut scenario = "duration = \"6 s\"\n".to_owned();
    for path in 0..paths {
        let (rate, delay) = (dice.scale(10.0, 60.0), dice.scale(5.0, 110.0));
        let _ = write!(
            scenario,
            "[[path]]\nname = \"p{path}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n"
        );
    }
    scenario += &bond("light");
    let mut policy = String::new();
    for port in 1..=conversations {
        let mode = ["aggregate", "load_balancing"][dice.below(2) as usize];
        policy += &rule(
            &format!("{port}"),
            &format!("protocol = \"udp\"\nport = {port}\nmode = \"{mode}\""),
        );
        let direction = ["up", "down"][dice.below(2) as usize];
        let (rate, packet) = (dice.scale(20.0, 200.0), 8 + dice.below(1_000) as u32);
        let flow = steady(&format!("{rate} kbit/s"), packet, direction);
        let traffic = format!("udp 192.0.2.1:{port}");
        scenario += &through(&format!("c{port}"), "udp", &traffic, &flow);
    }
    let report = run(&scenario, &policy, seed);
    for connection in &report.connections[1..] {
        let Observed::Messages { produced, delivered, reordered, missing, .. } =
            connection.flows[0].observed
        else {
            panic!("{connection:?}")
        };
        assert_eq!((reordered, missing), (0, 0), "seed {seed}: {}", connection.name);
        // The run ends when the last one is sent: others are under way.
        assert!(2 * delivered > produced, "seed {seed}: {delivered} of {produced}");
    }
}

#[test]
fn what_paths_keep_in_order_comes_in_order() {
    let seeds: Vec<_> = (0..1_000).collect();
    crate::common::parallel(&seeds, |&seed| play_ordered(seed));
}
