//! [`Switch`]: the flow table and the ports of one switch.
//!
//! Source: S4 sections 3.2 and 3.3. It does no I/O: a host shows it every packet that it forwards
//! (or the SYN, FIN and ACK packets, and the flow counters of its hardware), calls it when a timer
//! is due, gives its queues the rates of [`Switch::shares`], and carries messages.
//!
//! Assumptions: data without an entry (its SYN passed before the switch started, or the flow idled
//! for long) makes one; only packets with data keep a flow active, because otherwise every
//! connection would count once more by its acknowledgements; a full table forgets flows without
//! data first.

use super::flow::Flow;
use super::neighbour::{Message, Neighbours, Outgoing, turns};
use super::port::{Phase, Port};
use super::table::{FlowTable, Predictor};
use super::{Class, Code, Decision, FlowKey, Packet, PortId, Shares, SwitchId};
use super::{SwitchParameters, Verdict};
use polypath_units::{Bandwidth, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// A switch that tells senders their rate.
///
/// The order of calls is the order of events; time must not go back, and does no harm if it does.
/// Ports and flows that are not known are ignored: their packets pass unchanged.
#[derive(Clone, Debug)]
pub struct Switch {
    parameters: SwitchParameters,
    ports: BTreeMap<PortId, Port>,
    table: FlowTable,
    predictor: Predictor,
    neighbours: Neighbours,
}

impl Switch {
    /// A switch without ports.
    pub fn new(parameters: SwitchParameters) -> Self {
        Self {
            parameters,
            ports: BTreeMap::new(),
            table: FlowTable::new(parameters.flow_capacity),
            predictor: Predictor::new(parameters.prediction_gain, parameters.prediction_capacity),
            neighbours: Neighbours::default(),
        }
    }

    /// What was set.
    pub const fn parameters(&self) -> &SwitchParameters {
        &self.parameters
    }

    /// A port whose link has rate `capacity`, or a new rate of one that is known.
    pub fn set_port(&mut self, id: PortId, capacity: Bandwidth) {
        let parameters = &self.parameters;
        let port = self.ports.entry(id).or_insert_with(|| Port::new(capacity, parameters));
        port.set_capacity(capacity);
        self.rebound(id);
    }

    /// A switch that allocations may be told to, and that may tell its own.
    pub fn add_neighbour(&mut self, id: SwitchId) {
        self.neighbours.add(id);
    }

    /// A neighbour is gone, and what it announced.
    pub fn remove_neighbour(&mut self, id: SwitchId) {
        self.neighbours.remove(id);
    }

    /// A packet passes. A packet that a queue drops later counts as sent.
    pub fn on_packet(&mut self, now: Timestamp, packet: &Packet) -> Verdict {
        if packet.class == Class::Udp {
            return self.police(now, packet);
        }
        self.enter(now, packet);
        self.time_handshake(now, packet);
        let code = if packet.flags.ack { self.write(now, packet) } else { packet.code };
        let queue = self.queue(packet);
        self.close(packet);
        Verdict::Forward { queue, code }
    }

    fn police(&mut self, now: Timestamp, packet: &Packet) -> Verdict {
        let passes = self
            .ports
            .get_mut(&packet.port)
            .is_none_or(|port| port.polices(now, packet.bytes.into(), &self.parameters));
        match passes {
            true => Verdict::Forward { queue: Class::Udp, code: packet.code },
            false => Verdict::Drop,
        }
    }

    /// Data for which there was no room in the table has no allocation: its sender behaves as
    /// CUBIC.
    fn queue(&self, packet: &Packet) -> Class {
        let untold = packet.payload > 0 && self.table.get(&packet.flow).is_none();
        let class = if untold { Class::Cubic } else { packet.class };
        self.ports.get(&packet.port).map_or(packet.class, |port| port.shares.queue(class))
    }

    /// The direction in which the packet travels.
    fn enter(&mut self, now: Timestamp, packet: &Packet) {
        if !self.ports.contains_key(&packet.port) {
            return;
        }
        let counts = packet.flags.syn || packet.payload > 0;
        if counts && !self.is_active(packet) {
            self.begin(now, packet);
        }
        let Some(flow) = self.table.get_mut(&packet.flow) else { return };
        if flow.port == packet.port {
            flow.count(now, packet.bytes.into(), packet.payload > 0);
        }
    }

    fn is_active(&self, packet: &Packet) -> bool {
        self.table.get(&packet.flow).is_some_and(|flow| {
            flow.is_active() && flow.port == packet.port && flow.class == packet.class
        })
    }

    /// A flow appears, returns after it fell dormant, or moves to another port or class.
    fn begin(&mut self, now: Timestamp, packet: &Packet) {
        let moved = self
            .table
            .get(&packet.flow)
            .is_some_and(|flow| (flow.port, flow.class) != (packet.port, packet.class));
        if moved {
            self.forget(&packet.flow);
        }
        if self.table.get(&packet.flow).is_none() {
            let flow = Flow::new(packet.class, packet.port, packet.connection, now);
            if !self.table.insert(packet.flow, flow) {
                return;
            }
        }
        self.activate(now, &packet.flow);
    }

    fn activate(&mut self, now: Timestamp, key: &FlowKey) {
        let Some(flow) = self.table.get_mut(key) else { return };
        flow.activate(now);
        let (id, class, rtt) = (flow.port, flow.class, flow.rtt);
        let Some(port) = self.ports.get_mut(&id) else { return };
        let rtt = rtt.unwrap_or_else(|| self.parameters.unknown_rtt());
        port.on_arrival(now, Some(rtt), &self.parameters);
        if class != Class::Brf {
            return self.rebound(id);
        }
        let new = self
            .table
            .at(id)
            .filter(|(_, flow)| flow.class == Class::Brf && flow.is_active())
            .position(|(other, _)| other == key);
        let predicted = self.predictor.predict(key);
        if let Some(new) = new {
            let flows = self.table.at_mut(id).map(|(_, flow)| flow);
            port.admit(flows, new, predicted, &self.parameters);
        }
    }

    /// The RTT that a handshake shows holds for both directions.
    fn time_handshake(&mut self, now: Timestamp, packet: &Packet) {
        let reverse = packet.flow.reversed();
        if packet.flags.syn && packet.flags.ack {
            if let Some(flow) = self.table.get_mut(&reverse) {
                flow.on_syn_ack(now);
            }
            return;
        }
        let Some(flow) = self.table.get_mut(&packet.flow) else { return };
        if packet.flags.syn {
            return flow.on_syn(now);
        }
        // A packet that was sent before the answer arrived is no reply to it.
        if packet.flags.ack
            && let Some(rtt) = flow.on_reply(now)
            && let Some(flow) = self.table.get_mut(&reverse)
        {
            flow.rtt = Some(rtt);
        }
    }

    /// The flow that the packet acknowledges: the code that leaves.
    fn write(&mut self, now: Timestamp, packet: &Packet) -> Code {
        let key = packet.flow.reversed();
        let mut code = packet.code;
        if let Some(flow) = self.table.get_mut(&key).filter(|flow| flow.is_active()) {
            flow.acked_at = Some(now);
            flow.elsewhere.via = None;
            if flow.class == Class::Brf {
                let rtt = flow.rtt.unwrap_or_else(|| self.parameters.unknown_rtt());
                let turns = turns(rtt, &self.parameters);
                code = flow.writer.write(now, code, flow.allocated, turns);
            }
        }
        self.neighbours.write(now, key, code, &self.parameters)
    }

    /// Flows end by a RST, or when both directions have sent a FIN.
    fn close(&mut self, packet: &Packet) {
        let reverse = packet.flow.reversed();
        let mut gone = packet.flags.rst;
        if packet.flags.fin
            && let Some(flow) = self.table.get_mut(&packet.flow)
        {
            flow.finished = true;
            gone |= self.table.get(&reverse).is_some_and(|flow| flow.finished);
        }
        if gone {
            self.forget(&packet.flow);
            self.forget(&reverse);
        }
    }

    /// Removes a flow, remembers its rate, and keeps the others within what is theirs now.
    fn forget(&mut self, key: &FlowKey) {
        if let Some(flow) = self.table.remove(key) {
            self.note_departure(key, &flow);
            self.rebound(flow.port);
        }
    }

    fn note_departure(&mut self, key: &FlowKey, flow: &Flow) {
        if let Some(rate) = flow.mean_rate().filter(|_| flow.class == Class::Brf) {
            self.predictor.record(key, rate);
        }
        if flow.elsewhere.asked_at.is_some() {
            self.neighbours.broadcast(Message::Withdraw { flow: *key });
        }
    }

    fn rebound(&mut self, id: PortId) {
        if let Some(port) = self.ports.get_mut(&id) {
            port.rebound(self.table.at_mut(id).map(|(_, flow)| flow), &self.parameters);
        }
    }

    /// For hardware that forwards by itself: the bytes that its counter of a flow in the table
    /// shows. The counter may wrap or start anew. Not together with [`Switch::on_packet`] for the
    /// same data.
    pub fn on_flow_counter(&mut self, now: Timestamp, key: &FlowKey, total_bytes: u64) {
        let Some(flow) = self.table.get_mut(key) else { return };
        let bytes = flow.grown(total_bytes);
        if bytes == 0 {
            return;
        }
        if !flow.is_active() {
            self.activate(now, key);
        }
        if let Some(flow) = self.table.get_mut(key) {
            flow.count(now, bytes, true);
        }
    }

    /// What the controller says of a port.
    pub fn on_decision(&mut self, port: PortId, decision: Decision) {
        if let Some(port) = self.ports.get_mut(&port) {
            port.on_decision(decision);
        }
    }

    /// A message of a neighbour; of others it is ignored.
    pub fn on_message(&mut self, now: Timestamp, from: SwitchId, message: Message) {
        if !self.neighbours.knows(from) {
            return;
        }
        match message {
            Message::Announce { flow, rate, rtt } => {
                self.neighbours.on_announce(now, from, (flow, rate, rtt), &self.parameters);
            }
            Message::Withdraw { flow } => self.neighbours.on_withdraw(from, flow),
            Message::Seen { flow } => {
                if let Some(flow) = self.table.get_mut(&flow) {
                    flow.elsewhere.via = Some((from, now));
                }
            }
        }
    }

    /// The next message to send; `None` when all are sent. Ask after every other call.
    pub fn poll_message(&mut self) -> Option<Outgoing> {
        self.neighbours.poll()
    }

    /// When to call [`Switch::on_timer`]; `None` while there are no flows.
    pub fn next_timer(&self) -> Option<Timestamp> {
        self.ports.values().filter_map(|port| port.ends).min()
    }

    /// Time has passed: ends the periods that are over, and forgets flows that idled for long.
    pub fn on_timer(&mut self, now: Timestamp) {
        let due = |port: &Port| port.ends.is_some_and(|ends| ends <= now);
        let ports: Vec<_> =
            self.ports.iter().filter(|(_, port)| due(port)).map(|(&id, _)| id).collect();
        if ports.is_empty() {
            return;
        }
        for id in ports {
            self.end_period(now, id);
        }
        self.forget_idle(now);
    }

    fn end_period(&mut self, now: Timestamp, id: PortId) {
        let Some(port) = self.ports.get_mut(&id) else { return };
        let flows = self.table.at_mut(id).map(|(_, flow)| flow).collect();
        port.on_period(now, flows, &self.parameters);
        let period = port.ends.map_or(Duration::ZERO, |ends| ends - now);
        for (key, flow) in self.table.at_mut(id) {
            self.neighbours.tell_of((now, period), key, flow, &self.parameters);
        }
    }

    /// A flow that idled for so long is dormant: no allocation depends on it.
    fn forget_idle(&mut self, now: Timestamp) {
        let (timeout, full) = (self.parameters.idle_timeout(), self.table.is_full());
        let gone = self
            .table
            .take_if(|flow| !flow.is_active() && (full || now - flow.active_at > timeout));
        for (key, flow) in gone {
            self.note_departure(&key, &flow);
        }
    }

    /// The allocation of a flow; `None` if it has none.
    pub fn allocation(&self, flow: &FlowKey) -> Option<Bandwidth> {
        let flow = self.table.get(flow).filter(|flow| flow.is_active())?;
        (flow.class == Class::Brf).then(|| Bandwidth::from_bytes_per_sec(flow.allocated))
    }

    /// What a flow sent in the last period.
    pub fn measured(&self, flow: &FlowKey) -> Option<Bandwidth> {
        let flow = self.table.get(flow).filter(|flow| flow.is_active())?;
        Some(Bandwidth::from_bytes_per_sec(flow.measured))
    }

    /// The rates of a port's queues.
    pub fn shares(&self, port: PortId) -> Option<Shares> {
        self.ports.get(&port).map(|port| port.shares)
    }

    /// The state of a port's allocations.
    pub fn phase(&self, port: PortId) -> Option<Phase> {
        self.ports.get(&port).map(|port| port.phase)
    }

    /// How many flows the table holds.
    pub fn flows(&self) -> usize {
        self.table.len()
    }
}
