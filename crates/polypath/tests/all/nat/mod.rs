//! A bond beside what plain TCP connections carry together over the same links: the real programs
//! on the kernel's own path, with NATs and token buckets.

mod network;
mod processors;
mod tcp;

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use network::{HUB, LINKS_MBIT_S, Network, address};
use processors::Processors;

use super::alone::alone;
use super::hog::Hog;
use super::http::content;
use super::world::{Node, World, stderr};

/// Six seconds for a bond.
const BYTES: usize = 60_000_000;
/// Tests of the same program run beside, and others use the machine, more and less from one moment
/// to the next. A bond that cannot carry as much fails each time.
const RUNS: u32 = 3;

/// Of each frame of 1514 bytes TCP carries 1448: 14 are of Ethernet, 20 of IP, 20 of TCP and 12 of
/// time stamps.
const TCP_SHARE: f64 = 1448.0 / 1514.0;
/// What may be missing of that: at the end of the measurement a repeated segment may be awaited,
/// for as long as the queue is, 50 ms of 3 s.
const TCP_MISSING: f64 = 0.02;

/// Of each frame of 1494 bytes, with datagrams of 1452, a bond carries at least 1406: 42 are of
/// Ethernet, IP and UDP, up to 30 of QUIC and up to 16 of a STREAM frame. That is 0.984 of what TCP
/// carries. 3.4 % are left, 0.2 s: for the start of the program, which reads the file for its
/// digest, for joining, slow start, what is repeated, and the answer that all has arrived, behind a
/// queue of 50 ms.
const ALONE: f64 = 0.95;
/// A thread that becomes ready beside others that take all they can get waits for a time slice, a
/// few milliseconds. The queues of 50 ms outlast that, so that the links stay busy; a tenth is left
/// for starts that take longer and for windows that follow late.
const BESIDE_A_HOG: f64 = 0.85;
/// Alone, a bond of 80 Mbit/s leaves the processors idle for 0.85 of the time. Where less than half
/// of it is left, other programs take it, whether this test started them or not.
const IDLE_WHEN_ALONE: f64 = 0.5;

/// Edge and hub of a bond over the links of a network.
struct Bond {
    hub: Node,
    world: World,
    file: String,
    network: Network,
}

/// Payload in Mbit/s, and what tells more.
struct Run {
    tcp: f64,
    bond: f64,
    /// The share of the time in which the processors had nothing to do.
    idle: f64,
    notes: String,
}

impl Bond {
    fn new(test: &str) -> Option<Self> {
        let network = Network::new(test)?;
        let world = World::new();
        let (inbox, listen) = (world.path("inbox"), format!("{HUB}:4433"));
        let hub = world.hub_run_by(&network.hub.runner(), &listen, &["--inbox", &inbox]);
        let file = world.file("sent.bin", &content(BYTES));
        Some(Self { hub, world, file, network })
    }

    fn run(&self, number: u32) -> Run {
        let tcp = tcp::mbit_s(&self.network);
        let processors = Processors::now();
        let (bond, report) = self.send(&format!("{number}.bin"));
        let idle = processors.idle_since();
        let notes = format!("{}; sent {}", self.network.overruns(), report["paths"]);
        Run { tcp, bond, idle, notes }
    }

    /// Sends the file, to be stored under this name. The rate is that from the start of the program
    /// to its end.
    #[expect(clippy::disallowed_methods, reason = "what is measured is how long a transfer takes")]
    fn send(&self, name: &str) -> (f64, serde_json::Value) {
        let [nsenter, edge] = self.network.edge.runner();
        // Against hanging only.
        let runner = ["timeout", "60", nsenter, edge];
        let paths = [0, 1, 2].map(|link| format!("link{link}={}", address(link)));
        let paths = paths.each_ref().map(String::as_str);
        let args = [&self.file, "--name", name, "--json"];
        let start = Instant::now();
        let sent = self.world.send_run_by(&runner, &self.hub, &paths, &args);
        let seconds = start.elapsed().as_secs_f64();
        assert!(sent.status.success(), "{}", stderr(&sent));
        (BYTES as f64 * 8e-6 / seconds, serde_json::from_slice(&sent.stdout).unwrap())
    }

    /// Asserts that the bond carries what it has to of what TCP does.
    fn assert_carries(&self) {
        let mut told = String::new();
        for number in 0..RUNS {
            let run = self.run(number);
            told = format!("{told}{}\n", run.told());
            if run.share() >= run.least() && !run.is_spoilt() {
                return tell(&told);
            }
        }
        panic!("too little of what TCP carries:\n{told}");
    }
}

impl Run {
    fn share(&self) -> f64 {
        self.bond / self.tcp
    }

    fn least(&self) -> f64 {
        if self.idle < IDLE_WHEN_ALONE { BESIDE_A_HOG } else { ALONE }
    }

    /// Whether not even TCP got what the links have.
    fn is_spoilt(&self) -> bool {
        self.tcp < Self::most_of_tcp() * (1.0 - TCP_MISSING)
    }

    fn most_of_tcp() -> f64 {
        LINKS_MBIT_S.iter().sum::<f64>() * TCP_SHARE
    }

    fn told(&self) -> String {
        let Self { tcp, bond, idle, notes } = self;
        let (share, least, most) = (self.share(), self.least(), Self::most_of_tcp());
        let spoilt = if self.is_spoilt() { "; spoilt by what else the machine does" } else { "" };
        format!(
            "bond {bond:.1} Mbit/s, TCP {tcp:.1} of the {most:.1} that token buckets leave it\
             {spoilt}: {share:.3}, at least {least} with processors idle for {idle:.3}; {notes}"
        )
    }
}

#[expect(clippy::print_stdout, reason = "it is for who ran the test")]
fn tell(text: &str) {
    println!("{text}");
}

#[test]
fn a_bond_carries_what_tcp_connections_carry_over_its_links() {
    let _alone = alone();
    let test = "a_bond_carries_what_tcp_connections_carry_over_its_links";
    let Some(bond) = Bond::new(test) else { return };
    bond.assert_carries();
}

#[test]
fn beside_a_load_that_takes_all_processors_it_carries_most_of_that() {
    let _alone = alone();
    let test = "beside_a_load_that_takes_all_processors_it_carries_most_of_that";
    let Some(bond) = Bond::new(test) else { return };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _hog = Hog::start(scope, &stop);
        bond.assert_carries();
    });
}
