//! The state of connections in the programs' maps.

mod layout;

use crate::load::CONNECTIONS;
use crate::pins::PinsError;
use crate::sockets::Ends;
use crate::{KernelCongestion, LoadError};
use layout::{FLOWS, Layout, bytes};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// `AF_INET`.
const INET: u16 = 2;
/// Fraction bits of a window (`PP_FRACTION_BITS`).
const FRACTION_BITS: i32 = 22;
/// Before the first loss (`PP_INFINITE`).
const INFINITE: u64 = u64::MAX;

/// What a congestion control keeps of a subflow: what its own decisions, and those about the
/// subflows that are coupled with it, are made by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowState {
    /// The window, in bytes, with the fraction that the kernel's window is without.
    pub window: f64,
    /// The slow start threshold, in bytes; `None` before the first loss.
    pub threshold: Option<f64>,
    /// The smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Bytes in flight at the last acknowledgement.
    pub in_flight: u64,
    /// Whether an episode of losses is under way.
    pub in_recovery: bool,
    /// Whether data may be sent on it. The kernel calls the opposite stale.
    pub usable: bool,
}

/// An entry of a map: whose it is, and what it says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The inode number of the network namespace.
    pub(crate) name_space: u32,
    pub(crate) ends: Ends,
    /// The same for all subflows of a connection, coupled or not.
    pub(crate) connection: u64,
    /// The same for those that see each other.
    pub(crate) group: u64,
    pub(crate) state: FlowState,
}

/// What is in a map.
#[derive(Debug, Default)]
pub(crate) struct States {
    /// How many connections, coupled subflows being one, of at most 65,536.
    pub(crate) count: usize,
    /// Their subflows, at most 8 of each.
    pub(crate) entries: Vec<Entry>,
}

/// All of a map.
pub(crate) fn read_all(row: &KernelCongestion, map: &MapHandle) -> Result<States, PinsError> {
    let unknown = || LoadError::Map { name: row.kernel_name, map: CONNECTIONS };
    let layout = Layout::of(row).ok_or_else(unknown)?;
    let mut all = States::default();
    for (group, state) in states(row, map)? {
        if state.len() < layout.size {
            return Err(unknown().into());
        }
        let owned = (0..FLOWS).filter(|&entry| layout.is_owned(&state, entry));
        all.entries.extend(owned.map(|entry| read(&layout, group, &state, entry)));
        all.count += 1;
    }
    Ok(all)
}

/// How many subflows have entries in a map, whichever build has made it: owners stand first.
pub(crate) fn count(row: &KernelCongestion, map: &MapHandle) -> Result<usize, PinsError> {
    let owners = |(_, state): (u64, Vec<u8>)| {
        let words = state.chunks_exact(8).take(FLOWS);
        words.filter(|owner| owner.iter().any(|byte| *byte != 0)).count()
    };
    Ok(states(row, map)?.into_iter().map(owners).sum())
}

/// Keys and values, all in one call: one key after the other would begin anew wherever the last one
/// has ended meanwhile.
fn states(row: &KernelCongestion, map: &MapHandle) -> Result<Vec<(u64, Vec<u8>)>, PinsError> {
    let all = map.lookup_batch(map.max_entries(), MapFlags::ANY, MapFlags::ANY);
    let all = all.map_err(|error| PinsError::map(row, CONNECTIONS, &error))?;
    Ok(all.map(|(key, value)| (u64::from_ne_bytes(bytes(&key, 0)), value)).collect())
}

fn read(layout: &Layout, group: u64, state: &[u8], entry: usize) -> Entry {
    let ends = layout.ends(state, entry);
    let at = &layout.end;
    let is_v4 = u16::from_ne_bytes(bytes(ends, at.family)) == INET;
    let address = |offset| match is_v4 {
        true => IpAddr::from(Ipv4Addr::from(bytes(ends, offset))),
        false => IpAddr::from(Ipv6Addr::from(bytes(ends, offset))),
    };
    let port = |offset| u16::from_ne_bytes(bytes(ends, offset));
    Entry {
        name_space: u32::from_ne_bytes(bytes(ends, at.name_space)),
        ends: Ends {
            local: SocketAddr::new(address(at.local), port(at.local_port)),
            remote: SocketAddr::new(address(at.remote), port(at.remote_port)),
            interface: u32::from_ne_bytes(bytes(ends, at.interface)),
        },
        connection: u64::from_ne_bytes(bytes(ends, at.multipath)),
        group,
        state: flow(layout, layout.flow(state, entry)),
    }
}

fn flow(layout: &Layout, flow: &[u8]) -> FlowState {
    let at = &layout.flow;
    let word = |offset| u64::from_ne_bytes(bytes(flow, offset));
    let in_bytes = |fixed: u64| fixed as f64 / 2_f64.powi(FRACTION_BITS);
    let threshold = word(at.threshold);
    FlowState {
        window: in_bytes(word(at.window)),
        threshold: (threshold != INFINITE).then(|| in_bytes(threshold)),
        srtt: Duration::from_nanos(word(at.srtt_ns)),
        in_flight: word(at.in_flight),
        in_recovery: flow[at.in_recovery] != 0,
        usable: flow[at.usable] != 0,
    }
}
