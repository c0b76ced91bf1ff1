//! Everything that hubs and edges suffer at once, in a random order, while people who do nothing
//! wrong send files, download and upload: none of their transfers is lost, memory stays flat, and
//! the log can be read.
//!
//! A transfer may fail because of what broke it, such as a process that was killed, and is repeated
//! until it arrives whole. One that fails without such a cause is lost.
//!
//! `POLYPATH_ABUSE_SECONDS` says for how long the experiment runs, `POLYPATH_ABUSE_SEED` in which
//! order things happen, and `POLYPATH_ABUSE_REPORT` names a file for the report.

mod dice;
mod disturbances;
mod log;
mod memory;
mod report;
mod rounds;
mod stage;
mod transfers;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{panicking, park_timeout, scope};
use std::time::Duration;

use dice::Dice;
use disturbances::{Disturbances, History};
use log::Log;
use memory::Samples;
use report::Report;
use rounds::{Abuse, Rounds};
use stage::Stage;
use transfers::{Kind, Sender, Traffic};

use crate::world::World;

/// Rest between two rounds, at most.
const REST: Duration = Duration::from_secs(2);

/// What came of it.
struct Outcome {
    report: Report,
    history: History,
    hub: Side,
    edge: Side,
    /// What the hub keeps of files because they are not whole.
    unfinished: Vec<PathBuf>,
    /// Packets that the relay had no place for: what is lost for that is its fault.
    refused_by_relay: u64,
}

/// What is known of the processes that were the hub, or the edge.
struct Side {
    log: Log,
    /// In RAM before anything happened.
    idle: u64,
    memory: Samples,
}

/// Says stop when the rounds are over, or have panicked: else the transfers would go on.
struct StopAtEnd<'a>(&'a Traffic<'a>);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Relaxed);
        if panicking() {
            self.0.given_up.store(true, Relaxed);
        }
    }
}

/// Plays the cycles that `next` gives, with transfers beside them. `None` where that cannot be
/// done.
fn play(
    test: &str,
    seed: u64,
    most_bytes: u64,
    mut next: impl FnMut(&mut Dice) -> Option<Vec<Abuse>>,
) -> Option<Outcome> {
    let (world, disturbances, report) = (World::new(), Disturbances::default(), Report::new());
    let stage = Stage::new(test, &world)?;
    let idle = [stage.hub.resident(), stage.edge.resident()];
    let traffic = Traffic {
        bond: stage.bond_of_sender(),
        inbox: stage.disk.seen("inbox"),
        server: stage.server.url(""),
        socks: stage.socks(),
        http: stage.http(),
        world: &world,
        disturbances: &disturbances,
        report: &report,
        sender: Sender::default(),
        stop: AtomicBool::new(false),
        given_up: AtomicBool::new(false),
        most_bytes,
    };
    let mut memory = [Samples::default(), Samples::default()];
    let mut rounds = Rounds::new(stage, &disturbances, Dice::new(seed));
    scope(|scope| {
        let _stop = StopAtEnd(&traffic);
        traffic.start(scope, seed);
        while let Some(cycle) = next(&mut rounds.dice) {
            memory.iter_mut().for_each(Samples::begin_cycle);
            for abuse in cycle {
                play_one(abuse, &mut rounds, &mut memory, &traffic);
            }
        }
        // What has not arrived yet does so in peace.
        rounds.end_all();
    });
    let mut stage = rounds.stage;
    let (unfinished, refused_by_relay) = (unfinished(&traffic.inbox), stage.refused_by_relay());
    stage.stop();
    let [idle_hub, idle_edge] = idle;
    let [hub, edge] = memory;
    let hub = Side { log: stage.hub_log, idle: idle_hub, memory: hub };
    let edge = Side { log: stage.edge_log, idle: idle_edge, memory: edge };
    [("hub", &hub), ("edge", &edge)].into_iter().for_each(|(name, side)| side.tell(name, &report));
    let history = disturbances.history();
    Some(Outcome { report, history, hub, edge, unfinished, refused_by_relay })
}

/// A round: something is done, and then the memory is looked at.
fn play_one(
    abuse: Abuse,
    rounds: &mut Rounds<'_>,
    memory: &mut [Samples; 2],
    traffic: &Traffic<'_>,
) {
    let what = rounds.play(abuse, &traffic.sender);
    park_timeout(rounds.dice.up_to(REST));
    let now = [&rounds.stage.hub, &rounds.stage.edge].map(|node| node.resident());
    memory.iter_mut().zip(now).for_each(|(samples, bytes)| samples.add(bytes));
    let [hub, edge] = now.map(|bytes| bytes / 1_000_000);
    let arrived: u64 = traffic.report.contents().arrived.values().sum();
    let line = format!("{abuse:?} {what}: hub {hub} MB, edge {edge} MB, {arrived} arrived");
    traffic.report.line(&line);
}

fn unfinished(inbox: &str) -> Vec<PathBuf> {
    let edges = fs::read_dir(format!("{inbox}/.polypath")).unwrap();
    let files = edges.filter_map(|edge| fs::read_dir(edge.unwrap().path()).ok()).flatten();
    let files = files.map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "part")).collect()
}

impl Side {
    fn tell(&self, name: &str, report: &Report) {
        let most = self.log.most_in_a_minute();
        let shown = self.memory.shown();
        let idle = self.idle / 1_000_000;
        report.line(&format!("{name}: {idle} MB at first; the most of each cycle: {shown}"));
        report.line(&format!("{name}: {} lines, at most {most} a minute", self.log.lines()));
        for (number, kind) in self.log.kinds() {
            report.line(&format!("{name}: {number} {kind}"));
        }
        for line in self.log.unexpected() {
            report.line(&format!("{name}: unexpected: {line}"));
        }
    }
}

impl Outcome {
    /// Nothing was lost, all kinds of transfers have arrived, and the logs have nothing that should
    /// not be there.
    fn assert_well(&self) {
        assert_eq!(self.refused_by_relay, 0);
        let contents = self.report.contents();
        assert_eq!(contents.lost, Vec::<String>::new());
        assert_eq!(self.unfinished, Vec::<PathBuf>::new());
        let kinds = [Kind::Send, Kind::SocksDownload, Kind::HttpDownload];
        assert!(kinds.iter().all(|kind| contents.arrived.contains_key(kind)));
        for side in [&self.hub, &self.edge] {
            assert_eq!(side.log.unexpected(), Vec::<String>::new());
        }
    }
}

#[test]
fn a_mix_of_abuse_loses_no_transfer() {
    let mut cycles = vec![vec![
        Abuse::StalledDownloads,
        Abuse::StrangersOfManyAddresses,
        Abuse::FullDisk,
        Abuse::FlapOnePath,
        Abuse::KillHub,
        Abuse::KillEdge,
    ]];
    let test = "a_mix_of_abuse_loses_no_transfer";
    if let Some(outcome) = play(test, 1, 1_000_000, |_| cycles.pop()) {
        outcome.assert_well();
    }
}

mod experiments {
    use std::str::FromStr;
    use std::time::Instant;

    use super::disturbances::Disturbance::{DiskFull, EdgeKilled, HubKilled, Outage, SenderKilled};
    use super::stage::{MAX_MEMORY, RECEIVE_BUFFER};
    use super::*;

    const SECONDS: u64 = 180;
    /// One that does not count, and one for each third, however long they take.
    const LEAST_CYCLES: u32 = 4;
    const MOST_BYTES: u64 = 3_000_000;
    const MARGIN: u64 = 16_000_000;
    /// 1,024 half-open connections of 63 kB.
    const STRANGERS_MEMORY: u64 = 65_000_000;
    /// The edge's bond and the one before it, the sender's and the one before it: those of who was
    /// killed last until the idle time-out.
    const BONDS: u64 = 4;
    /// What an edge may hold to be sent, and a quarter of that which streams may queue beyond
    /// their windows.
    const SEND_BUFFER: u64 = (16 << 20) / 4 * 5;
    /// A cycle takes more than 20 s, and a minute can have parts of four.
    const CYCLES_A_MINUTE: u64 = 4;
    /// Two rounds of a cycle have two flaps, each of which makes two paths fail and recover.
    const LINES_OF_FLAPS: u64 = 2 * 2 * (2 * 2);
    /// Of strangers the hub has a line a second, and of files ten a minute. Of a bond it has six
    /// (opened, two joined, two lost, ended), and a sender rests for 2 s before it opens another
    /// one; the paths of two bonds flap. A start has four.
    const LINES_OF_HUB: u64 = 60 + 10 + 30 * 6 + CYCLES_A_MINUTE * (2 * LINES_OF_FLAPS + 2 * 6 + 4);
    /// A bond that broke and the new one have ten lines: two paths that fail, are refused or lost,
    /// and join, and that it broke. A start has five.
    const LINES_OF_EDGE: u64 = CYCLES_A_MINUTE * (LINES_OF_FLAPS + 2 * 10 + 5);

    fn from_env<T: FromStr>(name: &str, otherwise: T) -> T {
        let given = std::env::var(name).ok();
        given.map_or(otherwise, |given| given.parse().ok().expect(name))
    }

    /// In the first half of the time hub and edge are killed in each cycle; in the second they
    /// live, so that what grows slowly has the time to.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "it shall go on for so long")]
    fn mixed_abuse() {
        let _alone = crate::alone::alone();
        let time = Duration::from_secs(from_env("POLYPATH_ABUSE_SECONDS", SECONDS));
        let (start, seed) = (Instant::now(), from_env("POLYPATH_ABUSE_SEED", 1));
        let mut cycles = 0;
        let next = |dice: &mut Dice| {
            let elapsed = start.elapsed();
            let mut cycle = Abuse::ALL.to_vec();
            if elapsed > time / 2 {
                cycle.retain(|abuse| !matches!(abuse, Abuse::KillHub | Abuse::KillEdge));
            }
            dice.shuffle(&mut cycle);
            cycles += 1;
            (elapsed < time || cycles <= LEAST_CYCLES).then_some(cycle)
        };
        let test = "mixed_abuse";
        let Some(outcome) = play(test, seed, MOST_BYTES, next) else { return };
        outcome.assert_well();
        for what in [HubKilled, EdgeKilled, SenderKilled, DiskFull, Outage] {
            assert!(outcome.history.count(what) > 0, "{what:?}");
        }
        let Outcome { hub, edge, report: _report, .. } = outcome;
        let most_of_hub = hub.idle + BONDS * MAX_MEMORY + STRANGERS_MEMORY + MARGIN;
        let most_of_edge = edge.idle + 3 * RECEIVE_BUFFER + SEND_BUFFER + MARGIN;
        for (side, most, lines) in
            [(hub, most_of_hub, LINES_OF_HUB), (edge, most_of_edge, LINES_OF_EDGE)]
        {
            assert!(side.memory.most() <= most, "{} of {most}", side.memory.most());
            let thirds = side.memory.thirds().expect("there are enough cycles");
            assert!(thirds.are_flat(), "{thirds:?}");
            let most = side.log.most_in_a_minute();
            assert!(most <= lines, "{most} lines in a minute, of {lines} at most");
        }
    }
}
