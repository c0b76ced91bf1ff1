//! Which connections of a network namespace use which congestion control.

use crate::coupling::{self, Entry, FlowState, States};
use crate::pins::{Pinned, Pins, PinsError};
use crate::sockets::{self, Ends, Subflow};
use crate::{CONGESTION, KernelCongestion};
use std::collections::BTreeMap;
use std::io;
use std::os::linux::fs::MetadataExt;

/// The congestion controls that are loaded, or that connections of this thread's network namespace
/// still use.
#[derive(Debug)]
pub struct Status {
    /// In the order of [`CONGESTION`].
    pub controls: Vec<Control>,
}

/// A congestion control and who uses it.
#[derive(Debug)]
pub struct Control {
    /// Which one.
    pub row: &'static KernelCongestion,
    /// How it is loaded; `None` if it is not, and connections keep it since it was.
    pub pinned: Option<Pinned>,
    /// Those of this network namespace. Which subflows are of one connection is known of those
    /// with a state, or with its token; the others are listed as one each.
    pub connections: Vec<Connection>,
    /// How many subflows and TCP connections of other network namespaces use it; `None` if that
    /// cannot be told, because another build of the program has loaded it.
    pub elsewhere: Option<usize>,
    /// How many connections it has state of, in all network namespaces, of at most 65,536; a
    /// subflow that is uncoupled counts as one. `None` as above.
    pub states: Option<usize>,
}

/// A connection of Multipath TCP, or of TCP.
#[derive(Debug, Default)]
pub struct Connection {
    /// Its token (RFC 8684, section 3.2), if its first subflow is there.
    pub token: Option<u32>,
    /// Whether it is one of Multipath TCP.
    pub is_multipath: bool,
    /// Its subflows, with what the congestion control keeps of each; `None` before the first
    /// acknowledgement, or when that cannot be read any more.
    pub subflows: Vec<(Subflow, Option<FlowState>)>,
    /// Under which key of the map each has its state.
    groups: Vec<Option<u64>>,
}

/// Why there is no status.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// What is pinned cannot be read.
    #[error(transparent)]
    Pins(#[from] PinsError),
    /// The kernel did not tell its sockets.
    #[error("the kernel did not tell its TCP sockets: {0}")]
    Sockets(io::Error),
}

/// What a map says of the sockets of one network namespace.
#[derive(Default)]
struct Known {
    entries: BTreeMap<Ends, Entry>,
    elsewhere: usize,
    states: usize,
}

impl Status {
    /// Asks the kernel. Needs root.
    ///
    /// # Errors
    /// When what is pinned cannot be read, or the kernel does not tell its sockets.
    pub fn read(pins: &Pins) -> Result<Self, StatusError> {
        let loaded = pins.connections()?;
        let mut sockets: BTreeMap<String, Vec<Subflow>> = BTreeMap::new();
        for subflow in sockets::all().map_err(StatusError::Sockets)? {
            sockets.entry(subflow.control.clone()).or_default().push(subflow);
        }
        let here = name_space().map_err(StatusError::Sockets)?;
        let mut controls = Vec::new();
        for row in CONGESTION {
            let subflows = sockets.remove(row.kernel_name).unwrap_or_default();
            let pinned = loaded.iter().find(|(pinned, _)| pinned.row.kind == row.kind);
            if pinned.is_none() && subflows.is_empty() {
                continue;
            }
            let known = match pinned {
                Some((pinned, map)) if pinned.settings.of_this_build => {
                    Some(Known::of(coupling::read_all(row, map)?, here))
                }
                _ => None,
            };
            let pinned = pinned.map(|(pinned, _)| *pinned);
            controls.push(Control::new(row, pinned, subflows, known));
        }
        Ok(Self { controls })
    }
}

impl Known {
    fn of(states: States, here: u32) -> Self {
        let mut known = Self { states: states.count, ..Self::default() };
        for entry in states.entries {
            match entry.name_space == here {
                true => _ = known.entries.insert(entry.ends, entry),
                false => known.elsewhere += 1,
            }
        }
        known
    }
}

impl Control {
    fn new(
        row: &'static KernelCongestion,
        pinned: Option<Pinned>,
        subflows: Vec<Subflow>,
        known: Option<Known>,
    ) -> Self {
        let elsewhere = known.as_ref().map(|known| known.elsewhere);
        let states = known.as_ref().map(|known| known.states);
        let entries = known.unwrap_or_default().entries;
        let mut connections: Vec<Connection> = Vec::new();
        // Where the connections are, by the kernel's address and by their token.
        let (mut by_address, mut by_token) = (BTreeMap::new(), BTreeMap::new());
        for subflow in subflows {
            let entry = entries.get(&subflow.ends).copied();
            let address = entry.map(|entry| entry.connection);
            let known = address.and_then(|address| by_address.get(&address));
            let known = known.or_else(|| by_token.get(&subflow.token?)).copied();
            let place = known.unwrap_or(connections.len());
            by_address.extend(address.map(|address| (address, place)));
            by_token.extend(subflow.token.map(|token| (token, place)));
            if place == connections.len() {
                connections.push(Connection::default());
            }
            connections[place].add(subflow, entry);
        }
        Self { row, pinned, connections, elsewhere, states }
    }
}

impl Connection {
    fn add(&mut self, subflow: Subflow, entry: Option<Entry>) {
        self.token = self.token.or(subflow.token);
        self.is_multipath |= subflow.is_multipath;
        self.subflows.push((subflow, entry.map(|entry| entry.state)));
        self.groups.push(entry.map(|entry| entry.group));
    }

    /// Whether it has several subflows that see each other.
    pub fn is_coupled(&self) -> bool {
        let same = |pair: &[Option<u64>]| pair[0].is_some() && pair[0] == pair[1];
        self.groups.len() > 1 && self.groups.windows(2).all(same)
    }
}

/// The inode number of this thread's network namespace.
fn name_space() -> io::Result<u32> {
    let inode = std::fs::metadata("/proc/thread-self/ns/net")?.st_ino();
    // The kernel has it as 32 bits.
    Ok(inode as u32)
}
