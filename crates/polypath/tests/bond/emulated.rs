//! A hub and an edge with two emulated paths between them, the faster of which can die.

use std::time::Duration;

use polypath_bond::identity::{HubAddress, JoinString};
use polypath_link::LinkConfig;
use polypath_net::relay::{Relay, RelayPath};
use polypath_units::Bandwidth;

use super::world::{Node, World};

/// The fast path's index; it carries 200 Mbit/s and the other 100 Mbit/s.
const FAST: usize = 0;

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
        let world = World::new();
        let hub = world.hub(&[]);
        let relay = relay_to(&hub);
        let addresses = relay.addresses();
        let path = |name: &str, index: usize| format!("{name}=127.0.0.1,{}", addresses[index]);
        let (fast, slow) = (path("fast", FAST), path("slow", 1));
        let edge = world.edge_over(&hub, &[&fast, &slow], surfaces);
        Self { world, edge, relay, _hub: hub }
    }

    /// The fast path dies without a word.
    pub(crate) fn kill_the_fast_path(&self) {
        self.relay.set_down(FAST, true);
    }

    /// Bytes, headers included, that have come out of both links to the hub.
    pub(crate) fn carried_to_hub(&self) -> u64 {
        (0..2).map(|path| self.relay.counters(path).up.delivered.bytes).sum()
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
