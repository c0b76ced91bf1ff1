//! The end that sends: what it has produced, what it knows of the paths, and which it takes.

use super::super::method::Method;
use super::super::path::Path;
use super::super::protection::Protection;
use super::super::traffic::Source;
use polypath_sim::fabric::RouteId;
use polypath_units::Timestamp;
use std::time::Duration;

/// A path as the world is told of it.
#[derive(Clone, Debug)]
pub(in super::super) struct Way {
    /// To the receiver.
    pub there: RouteId,
    /// Back.
    pub back: RouteId,
    /// What the sender knows of it.
    pub path: Path,
}

/// The end that sends.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) ways: Vec<Way>,
    pub(super) source: Source,
    pub(super) protection: Option<Protection>,
    /// When each datagram was produced, and its payload in bytes.
    pub(super) produced: Vec<(Timestamp, u32)>,
    /// Symbols of the open block or since the last repair symbol, for each path.
    pub(super) load: Vec<u32>,
    /// The path that the next datagram is dealt to.
    pub(super) turn: usize,
    /// Bytes on the wire of datagrams, copies and repair symbols.
    pub(super) bytes: u64,
    /// Those of the datagrams alone.
    pub(super) bytes_once: u64,
    /// How many packets of datagrams there were, and how many were declared lost.
    pub(super) datagrams_sent: u64,
    pub(super) datagrams_lost: u64,
}

impl Sender {
    /// All paths: first those that do not seem to be dead, of them first what would arrive first.
    pub(super) fn by_arrival(&self, bytes: u32, now: Timestamp) -> Vec<usize> {
        let mut paths: Vec<_> = (0..self.ways.len()).collect();
        paths.sort_by_key(|&path| {
            let path = &self.ways[path].path;
            (path.silent, path.arrival(now, bytes))
        });
        paths
    }

    /// The paths of a new datagram, and between how many datagrams are dealt.
    pub(super) fn paths_for(
        &mut self,
        method: Method,
        bytes: u32,
        deadline: Duration,
        now: Timestamp,
    ) -> (Vec<usize>, usize) {
        let paths = self.by_arrival(bytes, now);
        let chosen = match method {
            // The paths are in the order of their delays.
            Method::Alone => vec![0],
            Method::Copy { paths: count } => paths.into_iter().take(count).collect(),
            Method::Best | Method::Resend | Method::Block { .. } | Method::Window { .. } => {
                vec![paths[0]]
            }
            Method::Dealt { .. } => {
                let in_time = |&path: &usize| {
                    let path = &self.ways[path].path;
                    !path.silent && path.arrival(now, bytes) <= now + deadline
                };
                let mut usable: Vec<_> = paths.iter().copied().filter(in_time).collect();
                usable.sort_unstable();
                let count = usable.len();
                let Some(place) = self.turn.checked_rem(count) else { return (vec![paths[0]], 1) };
                self.turn += 1;
                return (vec![usable[place]], count);
            }
        };
        (chosen, 1)
    }

    /// Of the paths that would bring a repair symbol in time the one with the fewest symbols that
    /// it is to make up for; of several the one that would bring it first.
    pub(super) fn path_for_repair(&self, bytes: u32, deadline: Duration, now: Timestamp) -> usize {
        let paths = self.by_arrival(bytes, now);
        let least = |&index: &usize| {
            let path = &self.ways[index].path;
            (path.silent, path.arrival(now, bytes) > now + deadline, self.load[index])
        };
        paths.into_iter().min_by_key(least).unwrap_or(0)
    }

    pub(super) fn next_due(&self) -> Timestamp {
        let paths = self.ways.iter().map(|way| way.path.next_loss().min(way.path.next_probe()));
        let protection = self.protection.as_ref().map(Protection::next_due);
        paths.chain(protection).chain([self.source.next_due()]).min().unwrap_or(Timestamp::MAX)
    }
}
