//! An edge that does its worst: names whose lookup is never answered, streams, associations and
//! files for which there is no room, more than it may have of each, and again what is refused. It
//! is a process of its own that steps back from the processor, so that it takes of the hub and not
//! of the machine.

use std::io::{Cursor, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use polypath_bond::BondConfig;
use polypath_bond::identity::{JoinString, PublicKey, SecretKey};
use polypath_net::edge::{Edge, EdgeConfig, EdgeOpener, EdgePaths, Local, WantedPath};
use polypath_net::proxy::{DatagramFlow, FlowOptions, Opener};
use polypath_net::tunnel::{FileName, FileOffer, Host, Target, send_file};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval};

use crate::process::Process;

/// Tells the process that it is this edge, and what it is to do.
const ORDER: &str = "POLYPATH_TEST_WORST_EDGE";
/// What it says when it has joined, and when it has asked for everything once.
const JOINED: &str = "the worst edge has joined";
const ASKED: &str = "the worst edge has asked for all";
/// Requests in a second.
const PER_SECOND: u32 = 1_000;
/// It ends by itself after so many.
const MOST: u64 = 200_000;
/// What it may have in the inbox; it has it.
pub(super) const QUOTA: u64 = 20_000_000;

fn key() -> SecretKey {
    SecretKey::from_seed([9; 32])
}

pub(super) fn public_key() -> PublicKey {
    key().public()
}

/// How many it has, or waits for, at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requests {
    pub(super) lookups: u32,
    pub(super) streams: u32,
    pub(super) associations: u32,
    pub(super) files: u32,
}

/// The process, as the test sees it.
pub(super) struct Worst(Process);

impl Worst {
    /// An edge that has joined and begins to ask. Its streams and datagrams go to `target`.
    pub(super) fn start(join: &str, target: SocketAddr, requests: Requests) -> Self {
        let Requests { lookups, streams, associations, files } = requests;
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(std::env::current_exe().unwrap());
        command.args(["--exact", "neighbours::worst::the_worst_edge", "--nocapture"]);
        let order = format!("{join} {target} {lookups} {streams} {associations} {files}");
        command.env(ORDER, order).stdin(Stdio::piped());
        let worst = Self(Process::spawn(command));
        worst.wait_for(JOINED);
        worst
    }

    pub(super) fn has_asked_for_all(&self) {
        self.wait_for(ASKED);
    }

    fn wait_for(&self, what: &str) {
        while !self.0.line().contains(what) {}
    }

    /// Lets it close its bond, which it does when its input ends. Returns what it has counted.
    pub(super) fn stop(self) -> String {
        assert!(self.0.wait().success());
        loop {
            let line = self.0.line();
            if line.contains("asked") && line.contains("granted") {
                return line;
            }
        }
    }
}

/// The process itself, when it is asked to be it.
#[test]
fn the_worst_edge() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(do_its_worst(&Order::parse(&order)));
}

#[derive(Clone, Debug)]
struct Order {
    join: JoinString,
    target: Target,
    requests: Requests,
}

impl Order {
    fn parse(text: &str) -> Self {
        let words: Vec<_> = text.split(' ').collect();
        let [join, target, numbers @ ..] = words.as_slice() else { panic!("{text}") };
        let numbers: Vec<u32> = numbers.iter().map(|number| number.parse().unwrap()).collect();
        let [lookups, streams, associations, files] = numbers[..] else { panic!("{text}") };
        let requests = Requests { lookups, streams, associations, files };
        Self { join: join.parse().unwrap(), target: target.parse().unwrap(), requests }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
enum What {
    Lookup,
    Stream,
    Association,
    File,
}

/// Those of one kind: its places, and how often it was asked and granted.
struct Kind {
    what: What,
    number: u32,
    free: Arc<Semaphore>,
    asked: AtomicU32,
    granted: AtomicU32,
}

impl Kind {
    fn new(what: What, number: u32) -> Arc<Self> {
        let (free, counter) = (Arc::new(Semaphore::new(number as usize)), AtomicU32::default);
        Arc::new(Self { what, number, free, asked: counter(), granted: counter() })
    }
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
async fn do_its_worst(order: &Order) {
    let edge = Edge::start(config(&order.join)).await.unwrap();
    edge.joined().await.unwrap();
    fill_inbox(&edge.opener()).await;
    println!("{JOINED}");
    let Requests { lookups, streams, associations, files } = order.requests;
    let kinds = [
        Kind::new(What::Lookup, lookups),
        Kind::new(What::Stream, streams),
        Kind::new(What::Association, associations),
        Kind::new(What::File, files),
    ];
    let mut end = spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let mut ticks = interval(Duration::from_secs(1) / PER_SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut asking = JoinSet::new();
    let total = kinds.iter().map(|kind| u64::from(kind.number)).sum();
    for number in 0..MOST {
        if number == total {
            println!("{ASKED}");
        }
        tokio::select! {
            _ = &mut end => break,
            _ = ticks.tick() => {}
        }
        let kind = Arc::clone(kind_of(number, total, &kinds));
        asking.spawn(ask(edge.opener(), kind, number, order.target.clone()));
    }
    if !end.is_finished() {
        let _ = end.await;
    }
    drop(asking);
    edge.close().await;
    let counted = kinds.map(|kind| {
        let (asked, granted) = (kind.asked.load(Relaxed), kind.granted.load(Relaxed));
        format!("{:?}: {asked} asked, {granted} granted", kind.what)
    });
    println!("{}", counted.join("; "));
}

fn config(join: &JoinString) -> EdgeConfig {
    let path = |name: &str| WantedPath {
        name: name.to_owned(),
        local: Local::Address(Ipv4Addr::LOCALHOST.into()),
        remote: None,
        backup: false,
    };
    EdgeConfig {
        identity: key(),
        hub: join.hub(),
        hub_addresses: join.addresses().to_vec(),
        bond: BondConfig::default(),
        paths: EdgePaths::Listed(vec![path("a"), path("b")]),
    }
}

async fn fill_inbox(opener: &EdgeOpener) {
    let name = FileName::new("full.bin").unwrap();
    let mut stream = opener.offer_file(FileOffer { name, size: QUOTA }).await.unwrap();
    let mut content = Cursor::new(vec![7; QUOTA as usize]);
    send_file(&mut stream, &mut content, QUOTA).await.unwrap();
}

/// Of `total` requests in a row each kind has its number, and they are mixed: the factor is a prime
/// larger than any total here, so that the products take every remainder.
fn kind_of(number: u64, total: u64, kinds: &[Arc<Kind>; 4]) -> &Arc<Kind> {
    const PRIME: u64 = 1_000_003;
    let mut place = number * PRIME % total;
    for kind in kinds {
        match place.checked_sub(kind.number.into()) {
            Some(rest) => place = rest,
            None => return kind,
        }
    }
    unreachable!("{place} is below the sum of the numbers")
}

/// Asks once, if there is a place for another one, and keeps what it gets for ever.
async fn ask(opener: EdgeOpener, kind: Arc<Kind>, number: u64, target: Target) {
    let Ok(_place) = Arc::clone(&kind.free).try_acquire_owned() else { return };
    kind.asked.fetch_add(1, Relaxed);
    match kind.what {
        What::Lookup => {
            let host = Host::parse(&format!("name{number}.test")).unwrap();
            let _ = opener.connect(Target { host, port: 80 }).await;
        }
        What::Stream => {
            if let Ok(stream) = opener.connect(target).await {
                keep(&kind, stream).await;
            }
        }
        What::Association => {
            if let Ok(flow) = opener.associate(FlowOptions::default()).await {
                let _ = flow.send(&target, b"datagram").await;
                keep(&kind, flow).await;
            }
        }
        What::File => {
            let name = FileName::new(&format!("{number}.bin")).unwrap();
            if let Ok(stream) = opener.offer_file(FileOffer { name, size: QUOTA }).await {
                keep(&kind, stream).await;
            }
        }
    }
}

async fn keep<T>(kind: &Kind, _what: T) {
    kind.granted.fetch_add(1, Relaxed);
    std::future::pending::<()>().await;
}
