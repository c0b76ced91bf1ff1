//! TCP in steady state against what theory says it sends (docs/validation.md).
//!
//! Packets are lost on a link that never queues: RTT and loss are then what is configured, and
//! the congestion window alone limits. Rates are of packets sent, those lost included, as the
//! formulas count. Every packet is acknowledged (`b` = 1), which for growth by bytes makes no
//! difference but at the end of a flight.
//!
//! The figures are golden: after a change on purpose, `UPDATE_GOLDEN=1 cargo test -p polypath-sim
//! --test all experiments::theory` writes them anew.

use crate::common::{golden, parallel};
use core::num::NonZeroU64;
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::slow_start::SlowStartKind;
use polypath_link::{LinkConfig, Loss, QueueLimit, RunSeed};
use polypath_model::{Pftk, cubic_window, mathis, reno_window};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{TcpEnd, TcpSettings};
use polypath_sim::fabric::EndpointId;
use polypath_sim::tcp::{ReceiveBuffer, TcpConfig, TcpStats};
use polypath_sim::topology::{Topology, chain};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::fmt::Write;
use std::time::Duration;

/// Loss events before measuring: the start is forgotten.
const WARM_UP: u64 = 20;
/// The first timeout T0 is the RTT and Linux's least variance term, since the RTT does not vary.
const MIN_VARIANCE: f64 = 0.2;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Process {
    /// Each packet is lost with the probability, independently.
    Random,
    /// Each `1 / p`-th packet is lost.
    Periodic,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    name: &'static str,
    tcp: TcpConfig,
    congestion: CongestionKind,
    process: Process,
    p: f64,
    rtt: f64,
    /// Packets to measure.
    packets: f64,
}

/// What a cell gave.
#[derive(Clone, Copy, Debug)]
struct Steady {
    /// Packets sent in a second.
    rate: f64,
    /// The share of loss events that were timeouts.
    timeouts: f64,
}

impl Cell {
    /// Two links without queue: 1500 bytes take 0.12 us of an RTT of 20 ms or more.
    fn topology(&self) -> Topology {
        let delay = Duration::from_secs_f64(self.rtt / 2.0);
        let mut down = LinkConfig::new(Bandwidth::from_mbit_per_sec(100_000.0), delay);
        down.queue = QueueLimit::Packets(1_000_000).into();
        let periodic = || Some(Loss::Periodic { every: NonZeroU64::new((1.0 / self.p) as u64)? });
        let loss = match self.process {
            Process::Random => Loss::Bernoulli(self.p),
            Process::Periodic => periodic().expect("p is at most 1"),
        };
        Topology::from(&chain(1, &PathLinks { up: LinkConfig { loss, ..down.clone() }, down }))
    }

    fn start(&self, run: u64) -> (Simulator, EndpointId) {
        let topology = self.topology();
        let seed = RunSeed::new(1, run);
        let mut simulator = Simulator::new(&topology, seed).expect("the links are sound");
        let (client, server) = topology.pairs()[0];
        let route = topology.route(client, server).expect("the hosts are joined");
        let (avoidance, slow_start) = (self.congestion.into(), SlowStartKind::Standard.into());
        let congestion = CongestionConfig { avoidance, slow_start, ..CongestionConfig::default() };
        let receive_buffer = ReceiveBuffer::Fixed(1 << 30);
        let tcp = TcpConfig { ack_every: 1, receive_buffer, ..self.tcp };
        let settings = TcpSettings { tcp, congestion };
        let start = Timestamp::ZERO;
        let (from, to) = TcpEnd::connect(&mut simulator, &topology, &route, &settings, start);
        simulator.add_application(Box::new(Bulk::new(from, to, None, start)));
        (simulator, from)
    }

    fn measure(&self, run: u64) -> Steady {
        let (mut simulator, sender) = self.start(run);
        let step = Duration::from_secs_f64(20.0 * self.rtt);
        let mut run_while = |more: &dyn Fn(&TcpStats) -> bool| {
            while more(&stats(&simulator, sender)) {
                simulator.run_until(simulator.now() + step);
            }
            (simulator.now(), stats(&simulator, sender))
        };
        let (began, before) = run_while(&|now| events(now) < WARM_UP);
        let enough = before.segments_sent + self.packets as u64;
        let (ended, after) = run_while(&|now| now.segments_sent < enough);
        let sent = (after.segments_sent - before.segments_sent) as f64;
        Steady {
            rate: sent / (ended - began).as_secs_f64(),
            timeouts: (after.timeouts - before.timeouts) as f64
                / (events(&after) - events(&before)) as f64,
        }
    }
}

fn stats(simulator: &Simulator, sender: EndpointId) -> TcpStats {
    let end: &TcpEnd = simulator.endpoint(sender).expect("a TCP");
    *end.tcp().endpoint().stats()
}

fn events(stats: &TcpStats) -> u64 {
    stats.recoveries + stats.timeouts
}

/// Each cell that is wanted, with what it gave. Its run has the number of its place among all
/// cells.
fn measure(cells: Vec<Cell>, wanted: Wanted) -> Vec<(Cell, Steady)> {
    let numbered = (0..).zip(cells).filter(|(_, cell)| wanted(cell.rtt, cell.p));
    let numbered: Vec<_> = numbered.collect();
    parallel(&numbered, |(run, cell)| (*cell, cell.measure(*run)))
}

/// Which cells to measure, by their RTT in seconds and their loss.
type Wanted = fn(f64, f64) -> bool;

/// The cells of a table: of each of these TCPs, RTTs and probabilities.
fn cells(rows: &[(Cell, Process)], rtts: &[f64], ps: &[f64]) -> Vec<Cell> {
    let of = |&(cell, process): &(Cell, Process)| {
        let at = move |rtt| {
            // Of 400 independent loss events the mean cycle is known to 5 %, and the rate, which
            // goes with its root, to 2.5 %; 1,600 where they are cheap: 1.3 %.
            let packets = match process {
                Process::Random => move |p: f64| (400.0 / p).max(80_000.0),
                Process::Periodic => move |p: f64| 40.0 / p,
            };
            ps.iter().map(move |&p| Cell { p, rtt, process, packets: packets(p), ..cell })
        };
        rtts.iter().flat_map(move |&rtt| at(rtt))
    };
    rows.iter().flat_map(of).collect()
}

const fn tcp(name: &'static str, tcp: TcpConfig, congestion: CongestionKind) -> Cell {
    let process = Process::Random;
    Cell { name, tcp, congestion, process, p: 0.0, rtt: 0.0, packets: 0.0 }
}

fn within(tolerance: f64, ratio: f64) -> bool {
    (ratio - 1.0).abs() <= tolerance
}

/// NewReno without and with SACK against Mathis and PFTK. Both formulas are given the probability
/// that a packet is lost whose predecessor was not: PFTK's definition of p (section II), for
/// independent losses that of each packet.
fn reno(wanted: Wanted, table: &mut String, wrong: &mut Vec<String>) {
    let reno = CongestionKind::Reno;
    // The formulas know of no acknowledgements that are held back.
    let sack = TcpConfig { compressed_sacks: 0, ..TcpConfig::LINUX };
    let kinds = [tcp("newreno", TcpConfig::NEW_RENO, reno), tcp("sack", sack, reno)];
    let processes = [Process::Random, Process::Periodic];
    let rows = processes.map(|process| kinds.map(|kind| (kind, process))).concat();
    let rtts = [0.02, 0.1, 0.2, 0.4];
    let cells = cells(&rows, &rtts, &[0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02]);
    let measured = measure(cells, wanted);
    let (random, periodic) = measured.split_at(measured.len() / 2);
    writeln!(
        table,
        "Reno: packets/s, and their ratio to theory\n\
         tcp       RTT ms       p       rate  Mathis  periodic   PFTK  timeouts  PFTK with these"
    )
    .expect("a string");
    for (random, periodic) in random.iter().zip(periodic) {
        let (Cell { name, p, rtt, .. }, steady) = *random;
        let model = pftk(p, rtt);
        let [own, mathis] = [periodic, random].map(|(cell, steady)| steady.rate / of_mathis(cell));
        let pftk = steady.rate / model.rate().expect("within its range");
        let with = model.rate_with_timeouts(steady.timeouts).expect("within its range");
        let with = steady.rate / with;
        writeln!(
            table,
            "{name:8} {:7.0} {p:8} {:10.1} {mathis:7.3} {own:9.3} {pftk:6.3} {:8.1}% {with:16.3}",
            1e3 * rtt,
            steady.rate,
            100.0 * steady.timeouts
        )
        .expect("a string");
        // At 20 ms a timeout costs 11 RTTs, and PFTK expects more of them than happen.
        let holds = within(0.1, mathis) && within(0.1, with) && (rtt < 0.1 || within(0.1, pftk));
        if !holds {
            wrong.push(format!("{name}, p {p}, RTT {rtt}: {mathis:.3}, {pftk:.3}, {with:.3}"));
        }
    }
}

fn of_mathis(cell: &Cell) -> f64 {
    mathis(cell.p, Duration::from_secs_f64(cell.rtt), 1.0).expect("within its range")
}

fn pftk(loss: f64, rtt: f64) -> Pftk {
    Pftk {
        loss,
        rtt: Duration::from_secs_f64(rtt),
        packets_per_ack: 1.0,
        first_timeout: Duration::from_secs_f64(rtt + MIN_VARIANCE),
        window_limit: f64::INFINITY,
    }
}

/// CUBIC against the response function, which is derived for one loss in each `1 / p` packets
/// (RFC 9438 section 5.1). It knows no round of recovery: with `p` = 0.01 a cycle has 8 rounds, and
/// one more is an eighth.
fn cubic(wanted: Wanted, table: &mut String, wrong: &mut Vec<String>) {
    let kind = tcp("cubic", TcpConfig::LINUX, CongestionKind::Cubic);
    let rows = [(kind, Process::Periodic), (kind, Process::Random)];
    let cells = cells(&rows, &[0.02, 0.1, 0.2], &[0.000_1, 0.000_5, 0.001, 0.002, 0.005, 0.01]);
    let measured = measure(cells, wanted);
    let (periodic, random) = measured.split_at(measured.len() / 2);
    writeln!(
        table,
        "\nCUBIC: mean window in packets, and its ratio to the response function\n\
         RTT ms       p   region   window  periodic  random"
    )
    .expect("a string");
    for ((cell, own), (_, random)) in periodic.iter().zip(random) {
        let Cell { p, rtt, .. } = *cell;
        let reno = reno_window(p).expect("within its range");
        let theory = cubic_window(p, Duration::from_secs_f64(rtt)).expect("within its range");
        let region = if theory > reno { "cubic" } else { "reno" };
        let (ratio, random) = (own.rate * rtt / theory, random.rate * rtt / theory);
        let window = own.rate * rtt;
        writeln!(
            table,
            "{:6.0} {p:7} {region:>8} {window:8.1} {ratio:9.3} {random:7.3}",
            1e3 * rtt
        )
        .expect("a string");
        if p <= 0.002 && !within(0.12, ratio) {
            wrong.push(format!("cubic, p {p}, RTT {rtt}: {ratio:.3}"));
        }
    }
}

/// The table of the cells that are wanted, if they are as theory says.
pub(crate) fn table(wanted: Wanted) -> String {
    let (mut table, mut wrong) = (String::new(), Vec::new());
    reno(wanted, &mut table, &mut wrong);
    cubic(wanted, &mut table, &mut wrong);
    assert!(wrong.is_empty(), "{}\n{table}", wrong.join("\n"));
    table
}

#[test]
fn tcp_in_steady_state_is_as_theory_says() {
    golden("theory.txt", &table(|_, _| true));
}
