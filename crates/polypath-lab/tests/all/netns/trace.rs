//! A link that follows a trace delivers what the trace has.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

use polypath_emulator::live::{Network, NetworkOptions};
use polypath_emulator::realtime::{Clock, rest};
use polypath_sim::scenario::Scenario;
use polypath_sim::topology::Topology;
use polypath_units::{Timestamp, millis};

use super::lab::{Lab, alone, polypath};
use crate::process::stderr;

/// A queue that holds packets for more than 100 ms of the highest rate: it is never empty, even if
/// the sender is late.
const RADIO: &str = r#"
[[path]]
name = "radio"
delay = "20 ms"
[path.up]
trace = "walk.mahimahi"
queue = "2000 packets"
[path.down]
rate = "10 Mbit/s"
"#;
const DELAY: Duration = Duration::from_millis(20);
/// The trace is longer.
const SECONDS: u64 = 7;
/// With the headers of UDP and IPv4 as large as an opportunity of the trace.
const PAYLOAD: usize = 1500 - 28;
/// Above the highest rate of the trace: 160 Mbit/s.
const PACKETS_PER_MS: f64 = 160e6 / 8.0 / 1500.0 / 1000.0;

/// The times of a Mahimahi trace: a line in milliseconds for each packet of 1500 bytes.
struct Opportunities(Vec<u64>);

impl Opportunities {
    fn read(path: &str) -> Self {
        let text = fs::read_to_string(path).unwrap();
        Self(text.lines().map(|line| line.parse().unwrap()).collect())
    }

    /// How many there are in this time; what they deliver has a delay to go.
    fn until(&self, at: Timestamp) -> u64 {
        let nanos = at.since(Timestamp::ZERO + DELAY).as_nanos();
        self.0.partition_point(|&ms| u128::from(ms) * 1_000_000 <= nanos) as u64
    }

    /// The most in a second.
    fn highest(&self) -> usize {
        let second = |from: &u64| self.0.partition_point(|ms| *ms < from + 1000);
        (0..self.0.len()).map(|at| second(&self.0[at]) - at).max().unwrap()
    }
}

fn send(clock: Clock) {
    let socket = UdpSocket::bind("10.0.1.1:0").unwrap();
    let (start, end) = (clock.now(), Timestamp::from_millis(SECONDS * 1000));
    let mut sent = 0.0;
    while clock.now() < end {
        while sent < millis(clock.now().since(start)) * PACKETS_PER_MS {
            socket.send_to(&[0; PAYLOAD], "10.0.1.2:9").unwrap();
            sent += 1.0;
        }
        rest(Duration::from_millis(1));
    }
}

/// The packets that the server's interface has received, with a time that is exact to 1 ms.
fn received(clock: Clock) -> (Timestamp, u64) {
    loop {
        let before = clock.now();
        let devices = fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        let after = clock.now();
        if after.since(before) <= Duration::from_millis(1) {
            let line = devices.lines().find(|line| line.trim().starts_with("radio:")).unwrap();
            return (after, line.split_whitespace().nth(2).unwrap().parse().unwrap());
        }
    }
}

/// At the end of each second from the first on.
fn sample(clock: Clock) -> Vec<(Timestamp, u64)> {
    let samples = (1..=SECONDS).map(|second| {
        rest(Timestamp::from_millis(second * 1000).since(clock.now()));
        received(clock)
    });
    samples.collect()
}

/// In each second but the first, in which the queue fills, as many packets as the trace has, within
/// 2 %. Seconds are those between the samples, whose times are known to 1 ms, so that it does not
/// matter when the one who samples was awake. The trace has 400 packets in each of them or more:
/// the packet at either end is at most 0.5 %, and a millisecond 0.1 % of the mean rate.
#[test]
fn a_trace_is_delivered_second_by_second() {
    let test = "a_trace_is_delivered_second_by_second";
    let Some(lab) = Lab::new(test, RADIO) else { return };
    let _alone = alone();
    let file = lab.path("walk.mahimahi");
    let generate = ["trace", "generate", "walk", "--mean", "40 Mbit/s", "--duration", "10 s"];
    let generated = polypath(&generate).args(["--seed", "1", "--out", &file]).output().unwrap();
    assert!(generated.status.success(), "{}", stderr(&generated));
    let trace = Opportunities::read(&file);
    assert!((trace.highest() as f64) < 1000.0 * PACKETS_PER_MS, "{}", trace.highest());

    let scenario = Scenario::load_with(Path::new(&lab.scenario), &[]).unwrap();
    let topology = Topology::from(&scenario.network.graph());
    let (prefix, host_sysctls) = (lab.prefix.parse().unwrap(), Vec::new());
    let options = NetworkOptions { prefix, seed: 1, host_sysctls };
    let network = Network::start(&topology, &scenario.events, &options).unwrap();
    let clock = network.clock();
    let samples = std::thread::scope(|scope| {
        // It takes the packets and reads none: the interface counts.
        let _sink = lab.within("server", || UdpSocket::bind("10.0.1.2:9").unwrap());
        let sending = scope.spawn(|| lab.within("client", || send(clock)));
        let samples = lab.within("server", || sample(clock));
        sending.join().unwrap();
        samples
    });
    let report = network.stop().unwrap();
    let mut rates = Vec::new();
    for pair in samples.windows(2) {
        let [(from, before), (to, after)] = [pair[0], pair[1]];
        let (got, due) = (after - before, trace.until(to) - trace.until(from));
        assert!(due >= 400, "{due}");
        let bound = 0.02 * due as f64;
        assert!(got.abs_diff(due) as f64 <= bound, "{got} of {due}, {from:?}: {report:?}");
        rates.push(due);
    }
    // The rate is not the same in all seconds, or the trace would not matter.
    let (lowest, highest) = (rates.iter().min().unwrap(), rates.iter().max().unwrap());
    assert!(*highest as f64 > 1.2 * *lowest as f64, "{rates:?}");
}
