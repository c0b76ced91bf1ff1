//! The kernel's TCP and Multipath TCP get what the links have.

use std::path::Path;
use std::process::Command;

use polypath_emulator::validate::with_kernel;
use polypath_model::metrics::quantile;
use polypath_sim::run::Plan;
use polypath_sim::scenario::Scenario;
use serde_json::Value;

use super::lab::{Lab, TWO_LINKS, alone};
use crate::process::{Process, stderr, stdout};

/// The share of a link's rate that TCP must get, measured where its payload arrives, in the median
/// of ten seconds from two after the start on: a machine that stands still for a moment spoils one
/// or two of them, with less or, afterwards, with more than the link has.
///
/// Of each packet of 1500 bytes TCP carries 1448 over IPv4 (20 of IP, 20 of TCP, 12 of time stamps)
/// and 1428 over IPv6: 0.965 and 0.952. The longer link holds 50 Mbit/s x 80 ms = 333 packets, to
/// which a window of 10 grows in five or six rounds of 80 ms: slow start is over in half a second,
/// and what the queue dropped at its end is repeated in one more round. From then on CUBIC keeps
/// the link busy: of a window of 2 BDP (link and queue) a loss leaves 0.7, 1.4 BDP. 2 % are left
/// for the edges of the measurement.
const SHARE: f64 = 0.93;

#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn iperf3_is_there(test: &str) -> bool {
    let is_there = Command::new("iperf3").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: {test}: iperf3 is not installed");
    }
    is_there
}

/// The median rate of a connection over the link of the client's address, in Mbit/s.
fn tcp(lab: &Lab, port: &str, client: &str, server: &str) -> f64 {
    let serve = ["iperf3", "-s", "-1", "--forceflush", "-f", "k", "-p", port, "-B", server];
    let listening = Process::spawn(lab.inside("server", &serve));
    while !listening.line().contains("listening on") {}
    // Reads of 8 kB: a second of the slower link has 760 of them.
    let send = ["iperf3", "-J", "-C", "cubic", "-O", "2", "-t", "10", "-l", "8K", "-p", port];
    let mut send = lab.inside("client", &send);
    let output = send.args(["--get-server-output", "-B", client, "-c", server]).output().unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["end"]["sender_tcp_congestion"], "cubic", "{report}");
    median(report["server_output_text"].as_str().expect("the server tells what it received"))
}

/// Of the seconds of a report like `[  5]   0.00-1.00   sec  11.5 MBytes  96411 Kbits/sec`, in
/// Mbit/s.
fn median(report: &str) -> f64 {
    let counts = |line: &&str| !line.contains("omitted") && !line.contains("receiver");
    let rate = |line: &str| {
        let (line, _) = line.split_once(" Kbits/sec")?;
        line.split_whitespace().last()?.parse::<f64>().ok()
    };
    let mut rates: Vec<f64> = report.lines().filter(counts).filter_map(rate).collect();
    assert!(rates.len() >= 10, "{report}");
    quantile(&mut rates, 0.5).expect("ten rates") * 1e-3
}

/// Both links at once, from the address of each to the server's first address.
fn assert_full_links(test: &str, clients: [&str; 2], server: &str) {
    if !iperf3_is_there(test) {
        return;
    }
    let Some(lab) = Lab::new(test, TWO_LINKS) else { return };
    let _alone = alone();
    let emulator = lab.running(&[]);
    let [fast, slow] = clients;
    let rates = std::thread::scope(|scope| {
        let fast = scope.spawn(|| tcp(&lab, "5201", fast, server));
        [tcp(&lab, "5202", slow, server), fast.join().unwrap()]
    });
    let end = emulator.stop();
    let log = std::fs::read_to_string(lab.path("log")).unwrap();
    for (rate, link) in rates.into_iter().zip([50.0, 100.0]) {
        let share = rate / link;
        assert!((SHARE..0.97).contains(&share), "{rate} of {link} Mbit/s; the emulator:\n{log}");
    }
    assert_eq!(end.code(), Some(0));
}

#[test]
fn tcp_over_ipv4_fills_each_link() {
    let clients = ["10.0.1.1", "10.0.2.1"];
    assert_full_links("tcp_over_ipv4_fills_each_link", clients, "10.0.1.2");
}

#[test]
fn tcp_over_ipv6_fills_each_link() {
    let clients = ["fd70:6f6c:7970:1::1", "fd70:6f6c:7970:2::1"];
    assert_full_links("tcp_over_ipv6_fills_each_link", clients, "fd70:6f6c:7970:1::2");
}

/// Of a packet Multipath TCP carries at least 1420 bytes: its data sequence mapping and
/// acknowledgement take at most 28 more of options (RFC 8684 section 3.3), which leaves 0.947 of
/// the links. 5 % of the sum are left for what arrives on one link while the receive buffer waits
/// for the other, and for repetitions; were the slow link unused, a third would be missing.
#[test]
fn multipath_tcp_fills_both_links() {
    let Some(lab) = Lab::new("multipath_tcp_fills_both_links", TWO_LINKS) else { return };
    let _alone = alone();
    let transfer = r#"
duration = "6 s"
warm_up = "2 s"
[connection]
transport = "mptcp"
congestion = "cubic"
[[flow]]
kind = "bulk"
"#;
    let (head, tail) = transfer.split_at(transfer.find("[connection]").unwrap());
    let text = [head, TWO_LINKS, tail].concat();
    let scenario = Scenario::load_with(Path::new(&lab.file("mptcp.toml", &text)), &[]).unwrap();
    let plan = Plan::new(scenario).unwrap();
    let (measured, _) = with_kernel(&plan, &lab.prefix.parse().unwrap(), 1).unwrap();
    let share = measured.goodput_mbit_s / 150.0;
    assert!((0.9..0.97).contains(&share), "{} Mbit/s", measured.goodput_mbit_s);
}
