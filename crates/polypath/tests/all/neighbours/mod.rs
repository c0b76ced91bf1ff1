//! Two edges on one hub, one of which does its worst: what is left for the other.
//!
//! The links of the other edge, 16 Mbit/s in both paths together, are far slower than what the
//! processor can do, so that they and the hub are measured.

mod worst;

use std::fs;
use std::net::UdpSocket;

use polypath_emulator::relay::Relay;
use worst::{QUOTA, Requests, Worst, public_key};

use super::emulated::{Path, paths_through, relay_to};
use super::http::{Server, content};
use super::name_server;
use super::stalled_clients::silent_target;
use super::strangers::address_of;
use super::world::{Node, World, curl, stderr, stdout};

const PATHS: [Path; 2] = [Path::new(8.0, 5), Path::new(8.0, 15)];
/// Connections that are opened in a row.
const OPENED: usize = 20;
/// How much longer one may take beside the other edge.
const OPENS_WITHIN: f64 = 0.5;

/// A hub, an edge that behaves well, and what both edges want to reach.
struct Street {
    world: World,
    server: Server,
    hub: Node,
    edge: Node,
    relay: Relay,
    /// Bytes of a download.
    size: usize,
    _name_server: UdpSocket,
}

/// How long the edge that behaves well waits for the same things, in seconds and in order.
struct Times {
    downloads: Vec<f64>,
    connections: Vec<f64>,
}

impl Street {
    /// A hub that knows no name server but one that never answers, unless that cannot be had here.
    fn new(test: &str, name_server: &str, limits: &[&str], size: usize) -> Option<Self> {
        let _name_server = name_server::silent_server(test, name_server)?;
        let world = World::new();
        let allowed = fs::read_to_string(world.path("allow")).unwrap();
        world.file("allow", format!("{allowed}\n{}\n", public_key()).as_bytes());
        let (inbox, quota) = (world.path("inbox"), format!("{QUOTA} B"));
        let settings = name_server::settings(&world, name_server);
        let more = ["--inbox", &inbox, "--inbox-quota", &quota, "--target", "*.test:*"];
        let more = [&more[..], limits].concat();
        let hub = world.hub_run_by(&name_server::runner(&settings), "127.0.0.1:0", &more);
        let relay = relay_to(address_of(hub.join_string()), PATHS);
        let [a, b] = paths_through(&relay, ["a", "b"]);
        let edge = world.edge_over(&hub, &[&a, &b], &["--socks", "127.0.0.1:0"]);
        Some(Self { world, server: Server::start(), hub, edge, relay, size, _name_server })
    }

    /// Downloads one after the other, then opens connections to a name that is looked up.
    fn times(&self, downloads: usize) -> Times {
        let port = self.server.address().port();
        let download = format!("http://127.0.0.1:{port}/{}", self.size);
        let downloads = (0..downloads).map(|_| self.time(&download, "time_total")).collect();
        let tiny = format!("http://localhost:{port}/1");
        let connections = (0..OPENED).map(|_| self.time(&tiny, "time_starttransfer")).collect();
        Times { downloads: sorted(downloads), connections: sorted(connections) }
    }

    fn time(&self, url: &str, what: &str) -> f64 {
        let (socks, what) = (self.edge.address_of("socks5"), format!("%{{{what}}}"));
        let got = curl(&[
            &["--fail", "--socks5-hostname", &socks, "-o", "/dev/null"],
            &["-w", &what, url],
        ]);
        assert!(got.status.success(), "{}", stderr(&got));
        stdout(&got).parse().unwrap()
    }

    /// The inbox is full for the worst edge alone.
    fn send_a_file(&self) {
        let file = self.world.file("report.bin", &content(self.size));
        let [a, b] = paths_through(&self.relay, ["a", "b"]);
        let known = ["--key", self.world.edge_key(), "--join", self.hub.join_string()];
        let sent = [&["send", &file][..], &known, &["--path", &a, "--path", &b]].concat();
        let sent = self.world.run(&sent);
        assert!(sent.status.success(), "{}", stderr(&sent));
        assert!(fs::read(self.world.path("inbox/report.bin")).unwrap() == content(self.size));
    }
}

fn sorted(mut seconds: Vec<f64>) -> Vec<f64> {
    seconds.sort_by(f64::total_cmp);
    seconds
}

fn median(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

impl Times {
    #[expect(clippy::print_stdout, reason = "it is for who ran the test")]
    fn print(&self, when: &str, size: usize) {
        let mbit_s = |seconds: f64| size as f64 * 8e-6 / seconds;
        let rates: Vec<_> = self.downloads.iter().map(|&s| format!("{:.1}", mbit_s(s))).collect();
        let connections: Vec<_> =
            self.connections.iter().map(|s| format!("{:.0}", s * 1_000.0)).collect();
        println!("{when}: Mbit/s {}; ms to open {}", rates.join(" "), connections.join(" "));
    }
}

/// The other edge's throughput beside the worst one is at least `least` of that alone, and its
/// connections open almost as soon. Alone it is measured before and after, and the lower one of
/// these counts: the machine has others to serve, too.
fn beside_the_worst(street: &Street, requests: Requests, downloads: usize, least: f64) {
    let times = |when: &str| {
        let times = street.times(downloads);
        times.print(when, street.size);
        times
    };
    let before = times("alone before");
    let target = silent_target().parse().unwrap();
    let worst = Worst::start(street.hub.join_string(), target, requests);
    let meanwhile = times("while it asks");
    worst.has_asked_for_all();
    let beside = times("when it has asked for all");
    street.send_a_file();
    tell(&worst.stop());
    let after = times("alone after");
    let alone = median(&before.downloads).max(median(&after.downloads));
    let opens = median(&before.connections).max(median(&after.connections));
    for times in [meanwhile, beside] {
        let share = alone / median(&times.downloads);
        assert!(share >= least, "{share:.2} of the throughput alone");
        let opened = median(&times.connections);
        assert!(opened <= opens + OPENS_WITHIN, "opened in {opened:.3} s, alone in {opens:.3} s");
    }
}

#[expect(clippy::print_stdout, reason = "it is for who ran the test")]
fn tell(text: &str) {
    println!("{text}");
}

/// A hub with little room. That a download takes no more than twice as long leaves room for what
/// else the machine does; without shares a connection would wait for the name server, which is
/// silent.
#[test]
fn an_edge_that_does_its_worst_leaves_the_other_its_share() {
    let test = "an_edge_that_does_its_worst_leaves_the_other_its_share";
    let limits = ["--max-connections", "128", "--max-associations", "64"];
    let Some(street) = Street::new(test, name_server::ADDRESSES[1], &limits, 500_000) else {
        return;
    };
    let requests = Requests { lookups: 1_200, streams: 400, associations: 200, files: 20 };
    beside_the_worst(&street, requests, 5, 0.5);
}

mod experiments {
    use super::*;

    /// The hub has the limits that it has by default.
    #[test]
    fn ten_thousand_streams_leave_four_fifths() {
        let _alone = crate::alone::alone();
        let test = "ten_thousand_streams_leave_four_fifths";
        let Some(street) = Street::new(test, name_server::ADDRESSES[2], &[], 2_000_000) else {
            return;
        };
        let requests =
            Requests { lookups: 3_000, streams: 10_000, associations: 5_000, files: 200 };
        beside_the_worst(&street, requests, 7, 0.8);
    }
}
