//! A hub and an edge with two emulated paths between them, the faster of which can die.

use std::net::SocketAddr;
use std::time::Duration;

use polypath_emulator::relay::{Relay, RelayPath};
use polypath_link::LinkConfig;
use polypath_units::Bandwidth;

use super::strangers::address_of;
use super::world::{Node, World};

/// The paths' indices; the fast one carries 200 Mbit/s, the slow one 100 Mbit/s.
const FAST: usize = 0;
const SLOW: usize = 1;

/// The nodes and the links between them, which are those of `polypath emulate`.
pub(crate) struct Emulated {
    pub(crate) world: World,
    pub(crate) edge: Node,
    relay: Relay,
    _hub: Node,
}

impl Emulated {
    /// An edge with these surfaces, both of whose paths lead through the relay.
    pub(crate) fn with(surfaces: &[&str]) -> Self {
        Self::start("", surfaces)
    }

    /// The same, with the fast path as the slow one's backup.
    pub(crate) fn with_backup(surfaces: &[&str]) -> Self {
        Self::start(",backup", surfaces)
    }

    fn start(fast_option: &str, surfaces: &[&str]) -> Self {
        let world = World::new();
        let hub = world.hub(&[]);
        let hub_address = address_of(hub.join_string());
        let relay = relay_to(hub_address, [Path::new(200.0, 5), Path::new(100.0, 15)]);
        let [fast, slow] = paths_through(&relay, ["fast", "slow"]);
        let fast = fast + fast_option;
        let edge = world.edge_over(&hub, &[&fast, &slow], surfaces);
        Self { world, edge, relay, _hub: hub }
    }

    /// The fast path dies without a word.
    pub(crate) fn kill_the_fast_path(&self) {
        self.relay.set_down(FAST, true);
    }

    /// The slow path dies without a word.
    pub(crate) fn kill_the_slow_path(&self) {
        self.relay.set_down(SLOW, true);
    }

    /// Bytes, headers included, that have come out of both links to the hub.
    pub(crate) fn carried_to_hub(&self) -> u64 {
        [FAST, SLOW].into_iter().map(|path| self.relay.counters(path).up.delivered.bytes).sum()
    }
}

/// A path to be emulated: its rate and its delay, in either direction.
#[derive(Clone, Copy)]
pub(crate) struct Path {
    mbit_s: f64,
    delay: Duration,
}

impl Path {
    pub(crate) const fn new(mbit_s: f64, delay_ms: u64) -> Self {
        Self { mbit_s, delay: Duration::from_millis(delay_ms) }
    }

    fn relayed(self, index: usize) -> RelayPath {
        let link = LinkConfig::new(Bandwidth::from_mbit_per_sec(self.mbit_s), self.delay);
        let listen = "127.0.0.1:0".parse().unwrap();
        RelayPath { name: index.to_string(), link_up: link.clone(), link_down: link, listen }
    }
}

/// Two emulated paths to the hub at this address.
pub(crate) fn relay_to(hub: SocketAddr, [first, second]: [Path; 2]) -> Relay {
    Relay::start(vec![first.relayed(0), second.relayed(1)], hub, 1).unwrap()
}

/// What `--path` says of the paths of a relay.
pub(crate) fn paths_through(relay: &Relay, [first, second]: [&str; 2]) -> [String; 2] {
    let path = |name, index: usize| format!("{name}=127.0.0.1,{}", relay.addresses()[index]);
    [path(first, 0), path(second, 1)]
}
