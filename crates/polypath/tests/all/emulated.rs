//! A hub and an edge with two emulated paths between them, the faster of which can die.

use std::time::Duration;

use polypath_bond::identity::{HubAddress, JoinString};
use polypath_emulator::relay::{Relay, RelayPath};
use polypath_link::LinkConfig;
use polypath_units::Bandwidth;

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
        let relay = relay_to(&hub);
        let addresses = relay.addresses();
        let path = |name: &str, index: usize| format!("{name}=127.0.0.1,{}", addresses[index]);
        let (fast, slow) = (path("fast", FAST) + fast_option, path("slow", SLOW));
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

fn relay_to(hub: &Node) -> Relay {
    let join: JoinString = hub.join_string().parse().unwrap();
    let HubAddress::Socket(address) = join.addresses()[0] else { panic!("an address") };
    let paths = vec![path("fast", link(200.0, 5)), path("slow", link(100.0, 15))];
    Relay::start(paths, address, 1).unwrap()
}

fn path(name: &str, link: LinkConfig) -> RelayPath {
    let listen = "127.0.0.1:0".parse().unwrap();
    RelayPath { name: name.to_owned(), link_up: link.clone(), link_down: link, listen }
}

fn link(mbit_s: f64, delay_ms: u64) -> LinkConfig {
    LinkConfig::new(Bandwidth::from_mbit_per_sec(mbit_s), Duration::from_millis(delay_ms))
}
