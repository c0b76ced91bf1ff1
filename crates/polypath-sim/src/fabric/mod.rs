//! The network at work: packets on links, from endpoint to endpoint.

mod observer;
mod packet;
mod store;

pub use observer::Observer;
pub use packet::{Body, Ecn, EndpointId, Packet, RouteId, Ticket};

use crate::engine::{Agenda, SourceId};
use crate::topology::{LinkId, Route, Topology};
use core::any::Any;
use polypath_link::{ConfigError, Link, RunSeed};
use polypath_units::Timestamp;
use store::Store;

/// The end of a route in the list of hops.
const END: u32 = u32::MAX;

/// Links in operation, the packets on them, and the agenda of everything that happens.
///
/// The sources of its [`Agenda`] are the links, by number, then the endpoints, then whatever the
/// owner adds. Link `n` takes stream `n` of the seed.
#[derive(Debug)]
pub struct Fabric {
    now: Timestamp,
    agenda: Agenda,
    links: Vec<Link<Ticket>>,
    packets: Store,
    /// All routes, one after the other, each closed by [`END`].
    hops: Vec<u32>,
    observers: Vec<Box<dyn Observer>>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Something on a link: [`Fabric::poll_link`].
    Link(LinkId),
    /// A source that is no link.
    Source(SourceId),
}

impl Fabric {
    /// The links of a topology, empty.
    ///
    /// # Errors
    /// When a link's settings cannot be used.
    pub fn new(topology: &Topology, seed: RunSeed) -> Result<Self, ConfigError> {
        let link = |(n, edge): (u64, &crate::topology::Edge)| {
            let mut link = Link::new(edge.config.clone(), seed.stream(n))?;
            link.keep_dropped();
            Ok(link)
        };
        let links = (0..).zip(topology.edges()).map(link).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            now: Timestamp::ZERO,
            agenda: Agenda::new(links.len()),
            links,
            packets: Store::default(),
            hops: Vec::new(),
            observers: Vec::new(),
        })
    }

    /// Notes a route for packets to follow.
    pub fn add_route(&mut self, route: &Route) -> RouteId {
        let id = RouteId(self.hops.len() as u32);
        self.hops.extend(route.0.iter().map(|link| link.0));
        self.hops.push(END);
        id
    }

    /// Adds something that is not a link to the agenda.
    pub fn add_source(&mut self) -> SourceId {
        self.agenda.add()
    }

    /// Adds somebody who sees all packets from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observers.push(observer);
    }

    /// Takes the first observer of type `O` away; `None` if there is none.
    pub fn take_observer<O: Observer>(&mut self) -> Option<O> {
        let is_one = |observer: &Box<dyn Observer>| (observer.as_ref() as &dyn Any).is::<O>();
        let at = self.observers.iter().position(is_one)?;
        let observer: Box<dyn Any> = self.observers.remove(at);
        observer.downcast().ok().map(|observer| *observer)
    }

    /// Which of the sources behind the links it is, from 0.
    pub(crate) fn index_of(&self, source: SourceId) -> usize {
        source.0 as usize - self.links.len()
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Looks at `source` not later than `at`.
    pub fn wake(&mut self, source: SourceId, at: Timestamp) {
        self.agenda.wake(source, at.max(self.now));
    }

    /// Sends a packet on its route, now. It may be dropped at the first link.
    pub fn send(&mut self, packet: Packet) {
        let hop = packet.route.0;
        let (bytes, flow, class, ecn) = (packet.bytes, packet.flow, packet.class, packet.ecn);
        for observer in &mut self.observers {
            observer.on_sent(self.now, &packet);
        }
        let handle = self.packets.put(packet, hop, self.now);
        self.forward(hop, bytes, Ticket { handle, flow, class, ecn });
    }

    /// Moves the clock to what is due next, not later than `limit`; [`Fabric::done`] must follow.
    /// With nothing due the clock moves to `limit`.
    pub fn next(&mut self, limit: Timestamp) -> Option<Due> {
        let Some((at, source)) = self.agenda.begin(limit) else {
            self.now = self.now.max(limit);
            return None;
        };
        self.now = at;
        let is_link = (source.0 as usize) < self.links.len();
        Some(if is_link { Due::Link(LinkId(source.0)) } else { Due::Source(source) })
    }

    /// What was due has been looked at. A source that is no link wants to be looked at again at
    /// `next`.
    pub fn done(&mut self, due: Due, next: Timestamp) {
        let next = match due {
            Due::Link(link) => self.next_event(link),
            Due::Source(_) => next.max(self.now),
        };
        self.agenda.end(next);
    }

    /// Takes the next packet that a link delivers to its endpoint now; forwards those that have
    /// further to go. Call until `None`.
    pub fn poll_link(&mut self, link: LinkId) -> Option<Packet> {
        loop {
            let Some(ticket) = self.links[link.index()].poll(self.now) else {
                self.bury(link);
                return None;
            };
            let hop = self.packets.advance(ticket.handle);
            if self.hops[hop as usize] == END {
                return self.leave(ticket);
            }
            self.forward(hop, self.packets.bytes(ticket.handle), ticket);
        }
    }

    /// A link, to look at.
    pub fn link(&self, link: LinkId) -> &Link<Ticket> {
        &self.links[link.index()]
    }

    /// Changes a link.
    pub fn change_link<R>(
        &mut self,
        link: LinkId,
        change: impl FnOnce(&mut Link<Ticket>, Timestamp) -> R,
    ) -> R {
        let result = change(&mut self.links[link.index()], self.now);
        self.bury(link);
        self.agenda.wake(SourceId(link.0), self.next_event(link));
        result
    }

    /// How many packets are on the links.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Gives a packet to the link of a hop.
    fn forward(&mut self, hop: u32, bytes: u32, ticket: Ticket) {
        let id = LinkId(self.hops[hop as usize]);
        let link = &mut self.links[id.index()];
        link.send(self.now, bytes, ticket);
        let next = link.next_event().unwrap_or(Timestamp::MAX);
        self.agenda.wake(SourceId(id.0), next);
        self.bury(id);
    }

    fn next_event(&self, link: LinkId) -> Timestamp {
        self.links[link.index()].next_event().unwrap_or(Timestamp::MAX)
    }

    /// Forgets the packets that a link has dropped.
    fn bury(&mut self, link: LinkId) {
        while let Some((ticket, why)) = self.links[link.index()].take_dropped() {
            let Some(packet) = self.packets.take(ticket) else { continue };
            for observer in &mut self.observers {
                observer.on_dropped(self.now, &packet, link, why);
            }
        }
    }

    /// A packet has come to the end of its route.
    fn leave(&mut self, ticket: Ticket) -> Option<Packet> {
        let sent_at = self.packets.sent_at(ticket.handle);
        let packet = self.packets.take(ticket)?;
        for observer in &mut self.observers {
            observer.on_delivered(self.now, &packet, sent_at);
        }
        Some(packet)
    }
}
