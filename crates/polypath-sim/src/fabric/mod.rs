//! The network at work: packets on links, from endpoint to endpoint.

mod light;
mod observer;
mod observers;
mod packet;
mod passage;
mod quic;
mod store;
mod switching;

pub use light::LightPacket;
pub(crate) use light::{LightAck, LightKind};
pub use observer::Observer;
pub use packet::{Body, Ecn, EndpointId, Packet, RouteId, Ticket};
pub(crate) use passage::Handed;
pub(crate) use quic::QuicKind;
pub use quic::QuicPacket;
pub use switching::{RoutingFeedback, SwitchError};

use crate::engine::{Agenda, SourceId};
use crate::topology::{LinkId, Route, Topology};
use observers::Observers;
use passage::Passage;
use polypath_link::{ConfigError, Link, RunSeed};
use polypath_units::Timestamp;
use store::Store;
use switching::Switching;

/// The end of a route in the list of hops.
const END: u32 = u32::MAX;
/// In place of a link: the gateway at the endpoint whose number is added. There are no so many
/// links.
const GATEWAY: u32 = 1 << 31;

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
    /// All routes, one after the other, each with its class of service before its links and closed
    /// by [`END`].
    hops: Vec<u32>,
    /// The class of routes that are added.
    class: u8,
    observers: Observers,
    passage: Passage,
    /// Switches that tell senders their rate, where there are any.
    switching: Option<Box<Switching>>,
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
            class: 0,
            observers: Observers::default(),
            passage: Passage::default(),
            switching: None,
        })
    }

    /// Notes a route for packets to follow.
    pub fn add_route(&mut self, route: &Route) -> RouteId {
        self.hops.push(self.class.into());
        let id = RouteId(self.hops.len() as u32);
        self.hops.extend(route.0.iter().map(|link| link.0));
        self.hops.push(END);
        id
    }

    /// Notes a way through the gateway at an end of a bond, to endpoints behind its other end.
    /// Observers do not see what goes there: they see the packets of the bond.
    pub(crate) fn add_gateway_route(&mut self, gateway: EndpointId) -> RouteId {
        self.hops.push(self.class.into());
        let id = RouteId(self.hops.len() as u32);
        self.hops.extend([GATEWAY | gateway.0, END]);
        id
    }

    /// What has been handed to a gateway or by one, the oldest first.
    pub(crate) fn take_handed(&mut self) -> Option<Handed> {
        self.passage.take()
    }

    /// Keeps a packet that a bond is to carry; the bond is given its number.
    pub(crate) fn carry(&mut self, packet: Packet) -> u64 {
        self.passage.carry(packet)
    }

    /// The packet that has come through a bond; `None` if it has before.
    pub(crate) fn arrive(&mut self, number: u64) -> Option<Packet> {
        self.passage.arrive(number)
    }

    /// How many packets have come through a bond a second time, which a bond must prevent.
    pub fn repeated(&self) -> u64 {
        self.passage.strays()
    }

    /// How many packets bonds carry, those included that they have lost.
    pub fn carried(&self) -> usize {
        self.passage.len()
    }

    /// Hands a packet that has come through a bond to its endpoint.
    pub(crate) fn hand_out(&mut self, packet: Packet) {
        self.passage.hand(Handed::Out(packet));
    }

    /// Routes that are added from now on are of this class of service, for queues that have
    /// classes; before, they are of class 0.
    pub(crate) fn set_class(&mut self, class: u8) {
        self.class = class;
    }

    /// Adds something that is not a link to the agenda.
    pub(crate) fn add_source(&mut self) -> SourceId {
        self.agenda.add()
    }

    /// Adds somebody who sees all packets that are sent from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observers.add(observer);
    }

    /// Takes the first observer of type `O` away; `None` if there is none.
    pub fn take_observer<O: Observer>(&mut self) -> Option<O> {
        self.observers.take()
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
        let first = self.hops[hop as usize];
        if first & GATEWAY != 0 && first != END {
            let gateway = EndpointId(first & !GATEWAY);
            return self.passage.hand(Handed::In(gateway, packet));
        }
        let (bytes, flow, ecn) = (packet.bytes, packet.flow, packet.ecn);
        // A class is a byte.
        let class = self.hops[hop as usize - 1] as u8;
        self.observers.sending(self.now, &packet);
        let handle = self.packets.put(packet);
        let ticket = Ticket::new(handle, hop, (flow, class, ecn));
        self.observers.sent(self.now, ticket);
        self.forward(bytes, ticket);
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
            let Some((bytes, ticket)) = self.links[link.index()].poll_sized(self.now) else {
                self.take_dropped(link);
                return None;
            };
            let ticket = ticket.at_next_hop();
            if self.hops[ticket.hop() as usize] == END {
                return self.leave(ticket, bytes);
            }
            self.forward(bytes, ticket);
        }
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.links.len()
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
        let result = self.alter_link(link, change);
        self.follow_change(link);
        result
    }

    /// The same, which the link's switch knows of.
    fn alter_link<R>(
        &mut self,
        link: LinkId,
        change: impl FnOnce(&mut Link<Ticket>, Timestamp) -> R,
    ) -> R {
        let result = change(&mut self.links[link.index()], self.now);
        self.take_dropped(link);
        self.agenda.wake(SourceId(link.0), self.next_event(link));
        result
    }

    /// How many packets are on the links.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Gives a packet to the link of its hop.
    fn forward(&mut self, bytes: u32, ticket: Ticket) {
        let id = LinkId(self.hops[ticket.hop() as usize]);
        let ticket = match self.switching {
            None => ticket,
            Some(_) => match self.pass_switch(id, bytes, ticket) {
                Some(ticket) => ticket,
                None => return,
            },
        };
        let link = &mut self.links[id.index()];
        link.send(self.now, bytes, ticket);
        let next = link.next_event().unwrap_or(Timestamp::MAX);
        self.agenda.wake(SourceId(id.0), next);
        self.take_dropped(id);
    }

    fn next_event(&self, link: LinkId) -> Timestamp {
        self.links[link.index()].next_event().unwrap_or(Timestamp::MAX)
    }

    /// Takes the packets that a link has dropped out of the store, and shows them to the observers.
    fn take_dropped(&mut self, link: LinkId) {
        while let Some((ticket, why)) = self.links[link.index()].take_dropped() {
            if let Some(packet) = self.packets.take_dropped(ticket) {
                self.observers.dropped(self.now, &packet, link, why);
            }
        }
    }

    /// A packet has come to the end of its route.
    fn leave(&mut self, ticket: Ticket, bytes: u32) -> Option<Packet> {
        let packet = self.packets.take(ticket, bytes)?;
        self.observers.delivered(self.now, ticket, &packet);
        Some(packet)
    }
}
