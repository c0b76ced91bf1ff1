//! A hub with a small disk and an edge of two paths, whose processes are killed, whose paths fall
//! silent and whose disk is full, as it is asked for.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use polypath_emulator::relay::Relay;

use super::log::Log;
use crate::disk::Disk;
use crate::emulated::{Path, paths_through, relay_to};
use crate::http::Server;
use crate::strangers::address_of;
use crate::world::{Node, World, curl};

/// The lower one of hub and edge counts.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// For each bond at the hub.
pub(super) const MAX_MEMORY: u64 = 16_000_000;
/// Of the edge.
pub(super) const RECEIVE_BUFFER: u64 = 4_000_000;
/// Holds the largest file, what is unfinished of others, and a few thousand names.
const DISK_MEGABYTES: u32 = 32;
/// So slow that the links and not the processor are the limit.
const PATHS: [Path; 2] = [Path::new(20.0, 5), Path::new(20.0, 15)];
/// A restarted hub, or paths that work again, are found within seconds.
const COMES_BACK: Duration = Duration::from_secs(60);

pub(super) struct Stage<'a> {
    world: &'a World,
    pub(super) disk: Disk,
    pub(super) server: Server,
    relay: Relay,
    /// An address that nobody else uses, so that ports of it are free whenever a process is killed.
    host: String,
    pub(super) hub: Node,
    pub(super) edge: Node,
    pub(super) hub_log: Log,
    pub(super) edge_log: Log,
}

impl<'a> Stage<'a> {
    /// Unless there can be no such disk here.
    pub(super) fn new(test: &str, world: &'a World) -> Option<Self> {
        static STAGES: AtomicU32 = AtomicU32::new(0);
        let disk = Disk::new(test, world, DISK_MEGABYTES)?;
        let [.., high, low] = std::process::id().to_be_bytes();
        let host = format!("127.{}.{high}.{low}", 88 + STAGES.fetch_add(1, Relaxed));
        let hub = start_hub(world, &disk, &host);
        let relay = relay_to(address_of(hub.join_string()), PATHS);
        let edge = start_edge(world, &hub, &relay, &host);
        let (server, hub_log, edge_log) = (Server::start(), Log::default(), Log::default());
        Some(Self { world, disk, server, relay, host, hub, edge, hub_log, edge_log })
    }

    pub(super) fn socks(&self) -> String {
        format!("{}:1080", self.host)
    }

    pub(super) fn http(&self) -> String {
        format!("{}:8080", self.host)
    }

    pub(super) fn hub_address(&self) -> SocketAddr {
        address_of(self.hub.join_string())
    }

    /// How a sender reaches the hub.
    pub(super) fn bond_of_sender(&self) -> Vec<String> {
        let [a, b] = paths_through(&self.relay, ["a", "b"]);
        let join = self.hub.join_string();
        let known = ["--key", self.world.edge_key(), "--join", join, "--path", &a, "--path", &b];
        known.map(str::to_owned).to_vec()
    }

    /// Kills the hub, and starts it again at the same address.
    pub(super) fn kill_hub(&mut self) {
        self.hub.signal("KILL");
        self.hub.wait();
        self.hub_log.add(&self.hub.log());
        self.hub = start_hub(self.world, &self.disk, &self.host);
    }

    /// Kills the edge, and starts it again with the same proxies.
    pub(super) fn kill_edge(&mut self) {
        self.edge.signal("KILL");
        self.edge.wait();
        self.edge_log.add(&self.edge.log());
        self.edge = start_edge(self.world, &self.hub, &self.relay, &self.host);
    }

    /// Both directions of a path lose all, or nothing.
    pub(super) fn set_down(&self, path: usize, down: bool) {
        self.relay.set_down(path, down);
    }

    /// Waits until clients get through again. Returns how long that took.
    #[expect(clippy::disallowed_methods, reason = "what is reported is how long it takes")]
    pub(super) fn comes_back(&self) -> Duration {
        let start = Instant::now();
        let (socks, url) = (self.socks(), self.server.url("1000"));
        let ask = ["--fail", "--max-time", "5", "--socks5-hostname", &socks, &url];
        while !curl(&[&ask]).status.success() {
            assert!(start.elapsed() < COMES_BACK, "{}{}", self.hub.log(), self.edge.log());
            park_timeout(Duration::from_millis(100));
        }
        start.elapsed()
    }

    /// Packets that the relay had no place for.
    pub(super) fn refused_by_relay(&self) -> u64 {
        [0, 1].into_iter().map(|path| self.relay.counters(path).refused).sum()
    }

    /// Both end as they should; what they have logged is added.
    pub(super) fn stop(&mut self) {
        assert!(self.edge.stop().success(), "{}", self.edge.log());
        assert!(self.hub.stop().success(), "{}", self.hub.log());
        self.hub_log.add(&self.hub.log());
        self.edge_log.add(&self.edge.log());
    }
}

fn start_hub(world: &World, disk: &Disk, host: &str) -> Node {
    let (inbox, memory) = (disk.path("inbox"), format!("{MAX_MEMORY} B"));
    let idle = IDLE_TIMEOUT.as_secs().to_string();
    let inbox = ["--log", "json", "--inbox", &inbox];
    let limits = ["--max-memory", &memory, "--idle-timeout", &idle];
    world.hub_run_by(&disk.runner(), &format!("{host}:4433"), &[inbox, limits].concat())
}

fn start_edge(world: &World, hub: &Node, relay: &Relay, host: &str) -> Node {
    let (socks, http) = (format!("{host}:1080"), format!("{host}:8080"));
    let buffer = format!("{RECEIVE_BUFFER} B");
    let [a, b] = paths_through(relay, ["a", "b"]);
    let surfaces = ["--socks", &socks, "--http", &http];
    let settings = ["--receive-buffer", &buffer, "--log", "json"];
    world.edge_over(hub, &[&a, &b], &[surfaces, settings].concat())
}
