//! What edges have moved, over all their bonds and paths.

use core::time::Duration;
use std::collections::BTreeMap;

use polypath_bond::identity::PublicKey;
use polypath_bond::{BondCounters, BondKey, BondStatus, PathCounters, PathState, PathStatus};
use polypath_units::PathId;

/// The name under which paths are counted for whose names there is no room.
const OTHER: &str = "other";

/// All that was counted since the start. Its size is bounded by the edges that may join.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    peers: BTreeMap<PublicKey, Peer>,
    /// What the counters of the bonds that live said last.
    seen: BTreeMap<BondKey, Seen>,
}

/// The counters of a bond as they were read last.
#[derive(Clone, Debug, Default)]
struct Seen {
    bond: BondCounters,
    paths: BTreeMap<PathId, (String, PathCounters)>,
}

/// The other end of bonds: at a hub an edge, at an edge the hub.
#[derive(Clone, Debug, Default)]
pub(super) struct Peer {
    /// Bonds that it has now.
    pub(super) bonds: u64,
    /// Bytes that wait to be sent, on all its bonds, and so on below.
    pub(super) unsent: u64,
    /// Bytes sent and not acknowledged.
    pub(super) unacknowledged: u64,
    /// Bytes received and not read.
    pub(super) unread: u64,
    /// What all its bonds have counted, those that have ended too.
    pub(super) counters: BondCounters,
    paths: BTreeMap<String, Path>,
}

/// The paths of an edge that have the same name: one after the other, or of several bonds.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    /// What they have counted.
    pub(super) counters: PathCounters,
    /// How the path of the newest bond is now.
    pub(super) now: Option<PathNow>,
}

/// A path that there is now.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathNow {
    /// Whether it works.
    pub(super) up: bool,
    /// Whether it is used only when no other path works.
    pub(super) backup: bool,
    /// Smoothed round-trip time.
    pub(super) rtt: Option<Duration>,
    /// Smallest round-trip time.
    pub(super) min_rtt: Option<Duration>,
    /// Share of packets lost recently.
    pub(super) loss: f64,
    /// Bytes per second, over all bonds, as the two below.
    pub(super) delivery_rate: f64,
    /// Bytes.
    pub(super) congestion_window: u64,
    /// Bytes.
    pub(super) in_flight: u64,
}

impl Ledger {
    /// Adds what has come since the last time, of all bonds that there are, in their order.
    pub(super) fn read(
        &mut self,
        bonds: impl IntoIterator<Item = (BondKey, PublicKey, BondStatus)>,
    ) {
        self.peers.values_mut().for_each(Peer::forget_state);
        let mut before = std::mem::take(&mut self.seen);
        for (bond, peer, status) in bonds {
            let seen = before.remove(&bond).unwrap_or_default();
            let seen = self.peers.entry(peer).or_default().read(status, &seen);
            self.seen.insert(bond, seen);
        }
    }

    /// The other ends of all bonds that there are or were.
    pub(super) fn peers(&self) -> impl Iterator<Item = (PublicKey, &Peer)> {
        self.peers.iter().map(|(key, peer)| (*key, peer))
    }
}

impl Peer {
    /// Paths by name.
    pub(super) fn paths(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.paths.iter().map(|(name, path)| (name.as_str(), path))
    }

    fn forget_state(&mut self) {
        (self.bonds, self.unsent, self.unacknowledged, self.unread) = (0, 0, 0, 0);
        self.paths.values_mut().for_each(|path| path.now = None);
    }

    fn read(&mut self, status: BondStatus, seen: &Seen) -> Seen {
        self.bonds += 1;
        self.unsent += status.unsent;
        self.unacknowledged += status.unacked;
        self.unread += status.buffered;
        add_bond(&mut self.counters, &seen.bond, &status.counters);
        let mut paths = BTreeMap::new();
        for path in status.paths {
            // One that took its number, or another connection of it, counts from zero.
            let same = |(name, before): &&(String, PathCounters)| {
                *name == path.name && !is_below(&path.counters, before)
            };
            let before = seen.paths.get(&path.id).filter(same);
            let before = before.map(|(_, counters)| *counters).unwrap_or_default();
            let counters = risen(&before, path.counters);
            self.path(&path.name).read(&path, &before, &counters);
            paths.insert(path.id, (path.name, counters));
        }
        Seen { bond: status.counters, paths }
    }

    /// The edge chooses the names, and may choose new ones for ever.
    fn path(&mut self, name: &str) -> &mut Path {
        let is_full = self.paths.len() >= PathId::COUNT && !self.paths.contains_key(name);
        self.paths.entry(if is_full { OTHER } else { name }.to_owned()).or_default()
    }
}

impl Path {
    fn read(&mut self, path: &PathStatus, before: &PathCounters, counters: &PathCounters) {
        add_path(&mut self.counters, before, counters);
        let older = self.now;
        let amount = |of: fn(&PathNow) -> u64| older.as_ref().map_or(0, of);
        self.now = Some(PathNow {
            up: path.state == PathState::Active,
            backup: path.backup,
            rtt: path.srtt,
            min_rtt: path.min_rtt,
            loss: path.loss,
            delivery_rate: path.delivery_rate + older.map_or(0.0, |older| older.delivery_rate),
            congestion_window: path.cwnd + amount(|older| older.congestion_window),
            in_flight: path.in_flight + amount(|older| older.in_flight),
        });
    }
}

/// Whether counters are lower than they were.
const fn is_below(now: &PathCounters, before: &PathCounters) -> bool {
    now.packets_sent < before.packets_sent || now.bytes_received < before.bytes_received
}

/// Counters that do not fall: a packet that comes after it was declared lost is not lost any more,
/// and the next ones that are lost are not counted instead.
fn risen(before: &PathCounters, now: PathCounters) -> PathCounters {
    PathCounters { packets_lost: now.packets_lost.max(before.packets_lost), ..now }
}

fn add_path(sum: &mut PathCounters, before: &PathCounters, now: &PathCounters) {
    sum.packets_sent += now.packets_sent - before.packets_sent;
    sum.bytes_sent += now.bytes_sent - before.bytes_sent;
    sum.packets_lost += now.packets_lost - before.packets_lost;
    sum.bytes_received += now.bytes_received - before.bytes_received;
    sum.bytes_new += now.bytes_new - before.bytes_new;
    sum.bytes_reinjected += now.bytes_reinjected - before.bytes_reinjected;
    sum.failures += now.failures - before.failures;
}

const fn add_bond(sum: &mut BondCounters, before: &BondCounters, now: &BondCounters) {
    sum.bytes_read += now.bytes_read - before.bytes_read;
    sum.bytes_delivered += now.bytes_delivered - before.bytes_delivered;
    sum.bytes_reinjected += now.bytes_reinjected - before.bytes_reinjected;
    sum.bytes_duplicate += now.bytes_duplicate - before.bytes_duplicate;
    sum.fragments_refused += now.fragments_refused - before.fragments_refused;
    sum.streams_unread += now.streams_unread - before.streams_unread;
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::identity::SecretKey;

    fn key(seed: u8) -> PublicKey {
        SecretKey::from_seed([seed; 32]).public()
    }

    fn path(number: u8, name: &str, sent: u64) -> PathStatus {
        PathStatus {
            id: PathId::new(number).unwrap(),
            name: name.to_owned(),
            state: PathState::Active,
            backup: false,
            srtt: Some(Duration::from_millis(sent)),
            min_rtt: None,
            cwnd: 1_000,
            in_flight: 100,
            delivery_rate: 0.5,
            loss: 0.0,
            counters: PathCounters { packets_sent: sent, ..PathCounters::default() },
        }
    }

    fn lost(lost: u64) -> PathStatus {
        let counters = PathCounters { packets_lost: lost, ..PathCounters::default() };
        PathStatus { counters, ..path(0, "a", 0) }
    }

    fn bond(number: u64, read: u64, paths: Vec<PathStatus>) -> (BondKey, PublicKey, BondStatus) {
        let counters = BondCounters { bytes_read: read, ..BondCounters::default() };
        let status = BondStatus { paths, counters, unsent: 7, unacked: 0, buffered: 0, gaps: 0 };
        (BondKey(number), key(1), status)
    }

    fn peer(ledger: &Ledger) -> &Peer {
        ledger.peers().next().unwrap().1
    }

    fn sent(ledger: &Ledger) -> Vec<(&str, u64)> {
        let paths = peer(ledger).paths();
        paths.map(|(name, path)| (name, path.counters.packets_sent)).collect()
    }

    #[test]
    fn counters_go_on_when_bonds_end_and_paths_begin_anew() {
        let mut ledger = Ledger::default();
        ledger.read([bond(1, 10, vec![path(0, "a", 100), path(1, "b", 5)])]);
        ledger.read([bond(1, 30, vec![path(0, "a", 150), path(1, "b", 5)])]);
        assert_eq!(sent(&ledger), [("a", 150), ("b", 5)]);
        // The path has another connection, and its number goes to another path.
        ledger.read([bond(1, 30, vec![path(0, "a", 20), path(1, "c", 6)])]);
        assert_eq!(sent(&ledger), [("a", 170), ("b", 5), ("c", 6)]);
        // The bond ends, and after a while another one begins.
        ledger.read([]);
        assert_eq!((peer(&ledger).bonds, peer(&ledger).unsent), (0, 0));
        ledger.read([bond(2, 4, vec![path(0, "a", 1)])]);
        assert_eq!(sent(&ledger), [("a", 171), ("b", 5), ("c", 6)]);
        assert_eq!(peer(&ledger).counters.bytes_read, 34);
    }

    #[test]
    fn of_several_bonds_amounts_are_added_and_the_newest_tells_the_state() {
        let mut ledger = Ledger::default();
        ledger.read([bond(1, 1, vec![path(0, "a", 10)]), bond(2, 2, vec![path(5, "a", 20)])]);
        let (peer, path) = (peer(&ledger), peer(&ledger).paths().next().unwrap().1);
        assert_eq!((peer.bonds, peer.unsent, peer.counters.bytes_read), (2, 14, 3));
        let now = path.now.unwrap();
        assert_eq!((path.counters.packets_sent, now.rtt), (30, Some(Duration::from_millis(20))));
        assert_eq!((now.congestion_window, now.in_flight), (2_000, 200));
        assert!((now.delivery_rate - 1.0).abs() < f64::EPSILON);
    }

    /// A path that was lost is not there, and its name is remembered.
    #[test]
    fn a_path_that_has_ended_is_down() {
        let mut ledger = Ledger::default();
        ledger.read([bond(1, 1, vec![path(0, "a", 10), path(1, "b", 10)])]);
        ledger.read([bond(1, 1, vec![path(1, "b", 10)])]);
        let there: Vec<_> = peer(&ledger).paths().map(|(_, path)| path.now.is_some()).collect();
        assert_eq!(there, [false, true]);
    }

    #[test]
    fn losses_that_were_none_do_not_make_the_counter_fall() {
        let mut ledger = Ledger::default();
        for (now, counted) in [(4, 4), (1, 4), (3, 4), (6, 6)] {
            ledger.read([bond(1, 0, vec![lost(now)])]);
            let path = peer(&ledger).paths().next().unwrap().1;
            assert_eq!(path.counters.packets_lost, counted);
        }
    }

    #[test]
    fn an_edge_that_invents_names_has_no_more_than_paths() {
        let mut ledger = Ledger::default();
        for number in 0..1_000 {
            ledger.read([bond(1, 0, vec![path(0, &format!("p{number}"), 1)])]);
        }
        let paths = sent(&ledger);
        assert_eq!(paths.len(), PathId::COUNT + 1);
        assert_eq!(paths[0], (OTHER, 1_000 - PathId::COUNT as u64));
    }
}
