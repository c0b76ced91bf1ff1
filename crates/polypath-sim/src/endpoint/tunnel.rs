//! A tunnel that deals the packets of one connection over several routes.
//!
//! The striping tunnel of S1: each packet is encapsulated in UDP and sent on the next route by
//! round robin, or by any registered scheduler. The far end may put packets back in order, for a
//! bounded time. The tunnel knows of its routes what is configured, not what happens on them.

use crate::IP_UDP_HEADER;
use crate::fabric::RouteId;
use crate::tcp::Segment;
use polypath_core::scheduler::{PathView, Pick, QueueView, Scheduler};
use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Headers, and the packet's number.
const OVERHEAD: u32 = IP_UDP_HEADER + 4;
/// What a route has room for, and what is taken to wait.
const UNLIMITED: u64 = 1 << 40;

/// A route of a tunnel, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TunnelRoute {
    /// The way.
    pub route: RouteId,
    /// Its round-trip time without queues.
    pub rtt: Duration,
    /// Its rate in bytes/s.
    pub rate: f64,
}

/// One end of a tunnel.
#[derive(Debug)]
pub struct Tunnel {
    routes: Vec<RouteId>,
    views: Vec<PathView>,
    scheduler: Box<dyn Scheduler>,
    sent: u64,
    /// How long a packet waits for earlier ones; zero: not at all.
    resequencing: Duration,
    /// The number of the packet to hand on next.
    expected: u64,
    /// Packets that wait for earlier ones.
    waiting: BTreeMap<u64, (Segment, bool)>,
    /// When which packet waits no longer; ascending, for all wait equally long. Packets that have
    /// been handed on since are still among them.
    deadlines: VecDeque<(Timestamp, u64)>,
    ready: VecDeque<(Segment, bool)>,
}

impl Tunnel {
    /// An end with these routes to the other.
    pub fn new(
        routes: &[TunnelRoute],
        scheduler: Box<dyn Scheduler>,
        resequencing: Duration,
    ) -> Self {
        let view = |(number, route): (u8, &TunnelRoute)| {
            Some(PathView {
                id: PathId::new(number)?,
                srtt: Some(route.rtt),
                rtt_var: Duration::ZERO,
                min_rtt: Some(route.rtt),
                cwnd: UNLIMITED,
                in_flight: 0,
                mss: 1_500,
                rate: route.rate,
                in_slow_start: false,
                ssthresh: f64::INFINITY,
                available: true,
                paced_until: Timestamp::ZERO,
                failed: false,
                backup: false,
                weight: route.rate,
                loss: 0.0,
            })
        };
        Self {
            routes: routes.iter().map(|route| route.route).collect(),
            views: (0..).zip(routes).filter_map(view).collect(),
            scheduler,
            sent: 0,
            resequencing,
            expected: 0,
            waiting: BTreeMap::new(),
            deadlines: VecDeque::new(),
            ready: VecDeque::new(),
        }
    }

    /// Where a packet of `bytes` goes: for each copy the path and its route, its size and its
    /// number.
    pub(super) fn send(
        &mut self,
        bytes: u32,
        now: Timestamp,
    ) -> Vec<((PathId, RouteId), u32, u64)> {
        let queue = QueueView::of_datagrams(bytes.into(), UNLIMITED);
        let chosen = match self.scheduler.pick(&self.views, &queue, now) {
            Pick::Send(path) | Pick::Ahead { path, .. } => PathSet::only(path),
            Pick::Duplicate(paths) => paths,
            // A tunnel has no queue of its own: what a scheduler would hold back or send
            // ahead of other packets goes at once.
            Pick::Wait(_) => PathSet::only(PathId::default()),
        };
        let number = self.sent;
        self.sent += 1;
        let route = |path: PathId| Some((path, *self.routes.get(path.index())?));
        let routes = chosen.iter().filter_map(route);
        routes.map(|route| (route, bytes + OVERHEAD, number)).collect()
    }

    /// A packet came out.
    pub(super) fn receive(&mut self, number: u64, segment: Segment, ce: bool, now: Timestamp) {
        if self.resequencing.is_zero() {
            self.ready.push_back((segment, ce));
        } else if number >= self.expected && !self.waiting.contains_key(&number) {
            self.waiting.insert(number, (segment, ce));
            self.deadlines.push_back((now + self.resequencing, number));
        }
    }

    /// The next packet that need not wait any longer.
    pub(super) fn poll(&mut self, now: Timestamp) -> Option<(Segment, bool)> {
        if let Some(ready) = self.ready.pop_front() {
            return Some(ready);
        }
        let (&number, &packet) = self.waiting.first_key_value()?;
        // Once some packet has waited long enough, all before it go first.
        if number > self.expected && self.next_due() > now {
            return None;
        }
        self.waiting.pop_first();
        self.expected = number + 1;
        while self.deadlines.front().is_some_and(|&(_, waits)| waits < self.expected) {
            self.deadlines.pop_front();
        }
        Some(packet)
    }

    /// When [`Tunnel::poll`] gives out the next packet if nothing comes.
    pub(super) fn next_due(&self) -> Timestamp {
        self.deadlines.front().map_or(Timestamp::MAX, |&(at, _)| at)
    }
}
