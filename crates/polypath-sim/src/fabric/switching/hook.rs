//! Where switches meet the packets, links and clock of the fabric.

use super::channel::Order;
use super::look::describe;
use super::port::number;
use super::{RoutingFeedback, SwitchError, Switching, address};
use crate::fabric::store::Look;
use crate::fabric::{END, Fabric, RouteId, Ticket};
use crate::topology::{LinkId, NodeId, Topology};
use polypath_brf::{PortAddress, PortCounters, PortId, Switch, SwitchId, TcpFlags, Verdict};
use polypath_units::Timestamp;

impl Fabric {
    /// Makes nodes switches. They are a source of the agenda, which is to be looked at with
    /// [`Fabric::run_switching`].
    pub(crate) fn add_switches(
        &mut self,
        feedback: &RoutingFeedback,
        topology: &Topology,
    ) -> Result<(), SwitchError> {
        if self.switching.is_some() {
            return Err(SwitchError::Again);
        }
        let source = self.add_source();
        let switching = Switching::new(feedback, topology, source)?;
        self.wake(source, switching.next_due());
        let hosts = switching.hosts.len();
        self.switching = Some(Box::new(switching));
        (0..hosts).for_each(|host| self.settle(host, None));
        Ok(())
    }

    /// The switch at a node, to look at; `None` if the node is none.
    pub fn switch(&self, node: NodeId) -> Option<&Switch> {
        self.switching.as_ref()?.host(SwitchId(node.0)).map(|host| &host.switch)
    }

    /// A packet is to enter a link: shows it to the switch there, which may write into it, and
    /// gives it the class that it has on this link. `None` if the switch has dropped it.
    pub(in crate::fabric) fn pass_switch(
        &mut self,
        link: LinkId,
        bytes: u32,
        ticket: Ticket,
    ) -> Option<Ticket> {
        let (Some(switching), Some(look)) = (&mut self.switching, self.packets.look(ticket)) else {
            return Some(ticket);
        };
        let (_, _, Some(index)) = switching.links[link.index()] else {
            return Some(ticket.with_class(self.class_of(look.route)));
        };
        let ends = ends_of(&self.hops, look.route, switching);
        let packet = describe(&look, ticket.flow(), bytes, link, ends);
        let verdict = switching.hosts[index].switch.on_packet(self.now, &packet);
        // Data makes a flow of this port appear; flags may end others.
        let TcpFlags { syn, fin, rst, .. } = packet.flags;
        self.settle(index, Some(link).filter(|_| !(syn || fin || rst)));
        self.execute(verdict, &look, link, bytes, ticket)
    }

    fn execute(
        &mut self,
        verdict: Verdict,
        look: &Look,
        link: LinkId,
        bytes: u32,
        ticket: Ticket,
    ) -> Option<Ticket> {
        match verdict {
            Verdict::Forward { queue, code } => {
                let carried = look.header.as_ref().and_then(|header| header.feedback.code());
                if carried.is_some_and(|carried| carried != code) {
                    self.packets.write_feedback(ticket, code);
                }
                Some(ticket.with_class(number(queue)))
            }
            Verdict::Drop => {
                self.alter_link(link, |link, now| link.refuse(now, bytes, ticket));
                None
            }
        }
    }

    /// Does what a switch wants done after it was called: carries its messages, gives the queues of
    /// its ports their rates (of `only` this one, if that is all that can have changed), and notes
    /// when it wants to be called.
    fn settle(&mut self, index: usize, only: Option<LinkId>) {
        let Some(mut switching) = self.switching.take() else { return };
        switching.post(index, self.now);
        let host = &mut switching.hosts[index];
        let ports =
            host.ports.iter_mut().filter(|(link, _)| only.is_none_or(|only| only == **link));
        for (&link, port) in ports {
            let shares = host.switch.shares(PortId(link.0)).unwrap_or_default();
            let Some(queue) = port.queue_for(shares) else { continue };
            self.alter_link(link, |link, now| {
                let mut config = link.config().clone();
                config.queue = queue;
                let changed = link.set_config(now, config);
                changed
                    .expect("a link with another queue of rates above zero is as good as before");
            });
        }
        self.agenda.wake(switching.source, switching.next_due());
        self.switching = Some(switching);
    }

    /// Somebody else than its switch has changed a link.
    pub(in crate::fabric) fn follow_change(&mut self, link: LinkId) {
        let Some(switching) = &mut self.switching else { return };
        let Some(index) = switching.links[link.index()].2 else { return };
        let host = &mut switching.hosts[index];
        let Some(port) = host.ports.get_mut(&link) else { return };
        if port.follow(self.links[link.index()].config()) {
            host.switch.set_port(PortId(link.0), port.capacity());
            switching.controller.add_port(address(host.id, link), port.capacity());
        }
        self.settle(index, Some(link));
    }

    /// The time of switches or of their controller has come, or something told has arrived. Returns
    /// when to look again.
    pub(crate) fn run_switching(&mut self) -> Timestamp {
        let now = self.now;
        let Some(switching) = &mut self.switching else { return Timestamp::MAX };
        for port in switching.controller.on_timer(now) {
            switching.channel.send(now, Order::Read(port));
        }
        while let Some(order) = self.receive() {
            self.obey(order);
        }
        let hosts = self.switching.as_ref().map_or(0, |switching| switching.hosts.len());
        for index in 0..hosts {
            if let Some(switching) = &mut self.switching {
                switching.hosts[index].switch.on_timer(now);
            }
            self.settle(index, None);
        }
        self.switching.as_ref().map_or(Timestamp::MAX, |switching| switching.next_due())
    }

    fn receive(&mut self) -> Option<Order> {
        let now = self.now;
        self.switching.as_mut()?.channel.receive(now)
    }

    /// Something told has arrived at the controller or at a switch.
    fn obey(&mut self, order: Order) {
        let now = self.now;
        let counters = if let Order::Read(port) = order { self.read(port) } else { None };
        let Some(switching) = &mut self.switching else { return };
        match order {
            Order::Read(port) => {
                if let Some(counters) = counters {
                    switching.channel.send(now, Order::Counters(port, counters));
                }
            }
            Order::Counters(port, counters) => {
                if let Ok(decision) = switching.controller.on_counters(port, &counters) {
                    switching.channel.send(now, Order::Decide(port, decision));
                }
            }
            Order::Decide(port, decision) => {
                if let Some(host) = switching.host_mut(port.switch) {
                    host.switch.on_decision(port.port, decision);
                }
            }
            Order::Tell { from, to, message } => {
                if let Some(host) = switching.host_mut(to) {
                    host.switch.on_message(now, from, message);
                }
            }
        }
    }

    /// The counters of a port as they are now.
    fn read(&mut self, address: PortAddress) -> Option<PortCounters> {
        let switching = self.switching.take()?;
        let id = LinkId(address.port.0);
        let port = switching.host(address.switch).and_then(|host| host.ports.get(&id));
        let counters = port.map(|port| {
            self.alter_link(id, |link, now| {
                link.advance(now);
                port.counters(link, now)
            })
        });
        self.switching = Some(switching);
        counters
    }

    /// The class of service of a route.
    fn class_of(&self, route: RouteId) -> u8 {
        // A class is a byte.
        self.hops[route.0 as usize - 1] as u8
    }
}

/// The nodes at which a route begins and ends.
fn ends_of(hops: &[u32], route: RouteId, switching: &Switching) -> (NodeId, NodeId) {
    let first = route.0 as usize;
    let mut last = first;
    while hops[last + 1] != END {
        last += 1;
    }
    let link = |at: usize| switching.links[hops[at] as usize];
    (link(first).0, link(last).1)
}
