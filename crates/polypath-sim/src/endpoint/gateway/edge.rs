//! The conversations of an edge: by which rule and in which flow each is carried.

use super::GatewayRules;
use crate::IP_UDP_HEADER;
use crate::fabric::Packet;
use polypath_bond::{Bond, FlowConfig, FlowId, FlowMode, OpenError};
use polypath_policy::{Names, Protocol, Traffic};
use polypath_steering::{Decision, RuleCounters, Verdict, Way};
use polypath_units::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What is known of a conversation before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerTraffic {
    known: Traffic<'static>,
    names: Vec<Arc<str>>,
}

impl InnerTraffic {
    /// What `traffic` says; its size is that of the packets.
    pub fn new(traffic: &Traffic<'_>) -> Self {
        let names = traffic.domain.iter().map(Arc::from).collect();
        // All but the names, which are kept beside it.
        let &Traffic { protocol, source, source_port, destination, port, dscp, .. } = traffic;
        let known =
            Traffic { source, source_port, destination, port, dscp, ..Traffic::of(protocol) };
        Self { known, names }
    }

    /// Traffic of which nothing is known but its protocol.
    pub const fn of(protocol: Protocol) -> Self {
        Self { known: Traffic::of(protocol), names: Vec::new() }
    }

    /// What rules look at.
    pub fn traffic(&self) -> Traffic<'_> {
        Traffic { domain: Names::Told(&self.names), ..self.known }
    }

    /// The size of a packet as rules count it: of UDP its payload.
    fn size(&self, packet: &Packet) -> u32 {
        let headers = if self.known.protocol == Protocol::UDP { IP_UDP_HEADER } else { 0 };
        packet.bytes.saturating_sub(headers)
    }
}

/// The conversations that go through an edge.
#[derive(Debug)]
pub(super) struct EdgeConversations {
    rules: GatewayRules,
    conversations: BTreeMap<u32, Known>,
    /// All flows, in the order in which they were opened.
    flows: Vec<Pooled>,
}

#[derive(Clone, Copy, Debug)]
struct Pooled {
    config: FlowConfig,
    flow: FlowId,
    /// When a packet was last sent in it.
    used: Timestamp,
}

/// A flow in which nothing was sent for so long has no holes any more that the receiver waits for:
/// it serves the next conversation.
const QUIET: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Known {
    traffic: InnerTraffic,
    /// Bytes of the largest packet so far, in either direction.
    largest: u32,
    /// Those of the rule that decided about the last packet; `None` before the first is sent.
    counters: Option<Arc<RuleCounters>>,
    /// The place of its flow.
    way: Option<usize>,
    /// When the hub was last told of that, by a packet or otherwise.
    told: Timestamp,
}

/// How often the hub is told where to send a conversation whose packets still come by another
/// flow, as in the product.
const TELL_AGAIN: Duration = Duration::from_millis(100);

/// What becomes of a packet that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A rule drops it.
    Dropped,
    /// It goes on to its host. The hub is to be told to answer in this flow.
    Passes { tell: Option<FlowId> },
}

impl EdgeConversations {
    pub(super) fn new(rules: GatewayRules) -> Self {
        Self { rules, conversations: BTreeMap::new(), flows: Vec::new() }
    }

    pub(super) fn add(&mut self, conversation: u32, traffic: InnerTraffic) {
        let told = Timestamp::ZERO;
        let known = Known { traffic, largest: 0, counters: None, way: None, told };
        self.conversations.insert(conversation, known);
    }

    /// Opens the flow in which conversations come that the hub begins.
    pub(super) fn open_first(&mut self, bond: &mut Bond, now: Timestamp) {
        if self.flows.is_empty() {
            // While the bond cannot open it, it is tried again.
            let _ = self.open(FlowConfig::of(FlowMode::Aggregate), bond, now);
        }
    }

    /// The flow of a packet that is to be sent; `None` if it is dropped.
    pub(super) fn send(
        &mut self,
        packet: &Packet,
        bond: &mut Bond,
        now: Timestamp,
    ) -> Option<FlowId> {
        let config = self.steer(packet, Way::Sent, now)?;
        let at = self.place(packet.flow, config, bond, now)?;
        self.flows[at].used = now;
        let known = self.conversations.get_mut(&packet.flow)?;
        (known.way, known.told) = (Some(at), now);
        Some(self.flows[at].flow)
    }

    /// A packet has come for a host, by this flow.
    pub(super) fn receive(
        &mut self,
        packet: &Packet,
        by: FlowId,
        bond: &mut Bond,
        now: Timestamp,
    ) -> Arrived {
        let known = self.conversations.get(&packet.flow);
        let Some(before) = known.filter(|known| known.counters.is_some()).map(|known| known.way)
        else {
            return Arrived::Passes { tell: None };
        };
        let Some(config) = self.steer(packet, Way::Received, now) else { return Arrived::Dropped };
        let at = self.place(packet.flow, config, bond, now).or(before);
        let flow = at.map(|at| self.flows[at].flow);
        let Some(known) = self.conversations.get_mut(&packet.flow) else {
            return Arrived::Passes { tell: None };
        };
        known.way = at;
        let again = now.since(known.told) >= TELL_AGAIN;
        let tell = flow.filter(|flow| *flow != by && (at != before || again));
        if tell.is_some() {
            known.told = now;
        }
        Arrived::Passes { tell }
    }

    /// How a conversation is carried now that one of its packets passes; `None` drops that.
    fn steer(&mut self, packet: &Packet, way: Way, now: Timestamp) -> Option<FlowConfig> {
        let known = self.conversations.get_mut(&packet.flow)?;
        known.largest = known.largest.max(known.traffic.size(packet));
        let traffic = Traffic { packet_size: Some(known.largest), ..known.traffic.traffic() };
        let Decision { verdict, counters } = self.rules.rules.decide(&traffic);
        let Verdict::Carry(carriage) = verdict else {
            counters.drop_one();
            return None;
        };
        // That every path has a number was seen to before the run.
        let config = carriage.flow_config(|name| self.rules.number(name)).ok()?;
        let bytes = packet.bytes as usize;
        if !counters.admit(way, bytes, now) {
            return None;
        }
        if !known.counters.as_ref().is_some_and(|before| Arc::ptr_eq(before, &counters)) {
            counters.begin_conversation();
        }
        match way {
            Way::Sent => counters.send_datagram(bytes),
            Way::Received => counters.receive_datagram(bytes),
        }
        known.counters = Some(counters);
        Some(config)
    }

    /// The place of the flow of a conversation, which stays where it is if that carries it so.
    fn place(
        &mut self,
        conversation: u32,
        config: FlowConfig,
        bond: &mut Bond,
        now: Timestamp,
    ) -> Option<usize> {
        let before = self.conversations.get(&conversation)?.way;
        before
            .filter(|&at| self.flows[at].config == config)
            .or_else(|| self.flow_for(config, bond, now))
    }

    /// The place of a flow for a conversation: one that is quiet, or another one as long as the
    /// bond has any. Conversations whose datagrams are not put in order share one.
    fn flow_for(&mut self, config: FlowConfig, bond: &mut Bond, now: Timestamp) -> Option<usize> {
        let flows = self.flows.iter().enumerate().filter(|(_, known)| known.config == config);
        let quietest = flows.min_by_key(|(_, known)| known.used);
        let is_free = |known: &Pooled| !config.mode.spreads() || now.since(known.used) >= QUIET;
        match quietest.map(|(at, known)| (at, is_free(known))) {
            Some((at, true)) => Some(at),
            Some((at, false)) => self.open(config, bond, now).ok().or(Some(at)),
            None => self.open(config, bond, now).ok(),
        }
    }

    fn open(
        &mut self,
        config: FlowConfig,
        bond: &mut Bond,
        now: Timestamp,
    ) -> Result<usize, OpenError> {
        let flow = bond.open_flow(config)?;
        self.flows.push(Pooled { config, flow, used: now });
        Ok(self.flows.len() - 1)
    }
}
