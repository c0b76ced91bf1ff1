//! iperf3 through forwarded ports, also while the faster of two emulated paths dies half-way.

use std::net::{TcpListener, UdpSocket};
use std::process::{Command, Output};
use std::time::Duration;

use super::emulated::Emulated;
use super::process::are_there;
use super::world::{Process, World, stderr, stdout};

/// How long a measurement runs; the fast path dies in the middle of it.
const SECONDS: u32 = 4;

/// Whether iperf3 is there; says that `test` is skipped if not.
fn is_there(test: &str) -> bool {
    are_there(test, &["iperf3"])
}

/// A port that was free a moment ago, for TCP and for UDP: iperf3 takes no port 0, and uses the
/// same number for both.
fn free_port() -> u16 {
    loop {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// An iperf3 server that serves once.
struct Server {
    process: Process,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let port = free_port();
        let mut server = Command::new("iperf3");
        server.args(["-s", "-1", "-i", "1", "--forceflush", "-p", &port.to_string()]);
        let process = Process::spawn(server);
        while !process.line().contains("listening on") {}
        Self { process, port }
    }

    /// Waits until the server has counted for so many seconds.
    fn wait_for_seconds(&self, seconds: u32) {
        (0..seconds).for_each(|_| while !self.process.line().contains(" sec ") {});
    }

    /// Waits until it has served its client, and asserts that it has seen no error either.
    fn finish(&self) {
        while !self.process.line().ends_with("receiver") {}
        assert!(self.process.wait().success());
    }

    /// The edge's flags that lead from `local` to the server, for both protocols.
    fn forwards(&self, local: u16) -> [String; 4] {
        let forward = |protocol| format!("{protocol}:127.0.0.1:{local}=127.0.0.1:{}", self.port);
        ["--forward".to_owned(), forward("tcp"), "--forward".to_owned(), forward("udp")]
    }
}

fn client(port: u16, args: &[&str]) -> Output {
    let port = port.to_string();
    let mut client = Command::new("iperf3");
    client.args(["-c", "127.0.0.1", "-J", "-p", &port]).args(args).output().unwrap()
}

/// What a client reports that has seen no error.
fn report(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}{}", stdout(output), stderr(output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.get("error").is_none(), "{report}");
    report
}

/// Bytes that the client sent and the server received.
fn bytes(report: &serde_json::Value) -> (u64, u64) {
    let bytes = |side: &str| report["end"][side]["bytes"].as_u64().unwrap();
    (bytes("sum_sent"), bytes("sum_received"))
}

#[test]
fn iperf3_runs_through_a_forwarded_port() {
    if !is_there("iperf3_runs_through_a_forwarded_port") {
        return;
    }
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&[]);
    let local = free_port();
    let edge = world.edge(&hub, &server.forwards(local).each_ref().map(String::as_str));
    assert_eq!(edge.forwarded(), format!("127.0.0.1:{local}"));
    report(&client(local, &["-n", "5M"]));
}

/// A measurement of [`SECONDS`] over emulated paths, of which the fast one dies half-way if
/// `killed`. Returns the report and what the paths had carried to the hub half-way.
fn measure(args: &[&str], killed: bool) -> (serde_json::Value, u64) {
    let (server, local) = (Server::start(), free_port());
    let emulated = Emulated::with(&server.forwards(local).each_ref().map(String::as_str));
    let seconds = SECONDS.to_string();
    std::thread::scope(|scope| {
        let client = scope.spawn(|| client(local, &[&["-t", &seconds], args].concat()));
        server.wait_for_seconds(SECONDS / 2);
        if killed {
            emulated.kill_the_fast_path();
        }
        let half_way = emulated.carried_to_hub();
        let report = report(&client.join().unwrap());
        server.finish();
        (report, half_way)
    })
}

/// Of what the paths had carried half-way, the server can have received no more than that: what it
/// received beyond came over the slow path alone.
#[test]
fn iperf3_outlives_the_fast_path() {
    if is_there("iperf3_outlives_the_fast_path") {
        let (report, half_way) = measure(&[], true);
        let (_, received) = bytes(&report);
        assert!(received > half_way, "{received} in all, {half_way} half-way: {report}");
    }
}

/// 4 Mbit/s in 500 datagrams a second: both paths have room for many times that, and each buffer
/// on the way (64 datagrams in a forward) holds more than a tenth of a second.
const DATAGRAMS: [&str; 5] = ["-u", "-b", "4M", "-l", "1000"];
const BYTES_PER_SECOND: f64 = 500_000.0;
/// The end of the measurement travels on a connection beside the datagrams and may overtake those
/// of the last moment: of as long as the paths' delays differ, 10 ms, and 40 ms for the processes.
const OVERTAKEN: Duration = Duration::from_millis(50);
/// Until a silent path is declared failed, all datagrams go on it, for they arrive on it first:
/// the RTO, which is at least 200 ms, and at this RTT of 10 ms no more, after the first one that
/// is lost. Twice that on a machine that is busy. Were the path not given up, all datagrams of the
/// second half, 2 s, would be lost.
const DETECTION: Duration = Duration::from_millis(400);

/// Asserts that what was lost was sent within `within`.
fn assert_lost_within(report: &serde_json::Value, within: Duration) {
    let (sent, received) = bytes(report);
    let least = f64::from(SECONDS) * BYTES_PER_SECOND * 0.95;
    assert!(sent as f64 >= least, "sent {sent}");
    let lost = (sent - received) as f64;
    let bound = within.as_secs_f64() * BYTES_PER_SECOND;
    assert!(lost <= bound, "lost {lost} of {sent} bytes, bound {bound}: {report}");
}

#[test]
fn iperf3_sends_datagrams_through_a_forwarded_port() {
    if is_there("iperf3_sends_datagrams_through_a_forwarded_port") {
        let (report, _) = measure(&DATAGRAMS, false);
        assert_lost_within(&report, OVERTAKEN);
    }
}

#[test]
fn iperf3_datagrams_outlive_the_fast_path() {
    if is_there("iperf3_datagrams_outlive_the_fast_path") {
        let (report, _) = measure(&DATAGRAMS, true);
        assert_lost_within(&report, DETECTION + OVERTAKEN);
    }
}
