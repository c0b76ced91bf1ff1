//! The conversations of an edge: by which rule and in which flow each is carried.

use super::GatewayRules;
use crate::IP_UDP_HEADER;
use crate::fabric::Packet;
use polypath_bond::{Bond, FlowConfig, FlowId, FlowMode, OpenError};
use polypath_policy::{Protocol, Traffic};
use polypath_steering::{Decision, RuleCounters, Verdict};
use polypath_units::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What is known of a conversation before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerTraffic {
    known: Traffic<'static>,
    domain: Option<String>,
}

impl InnerTraffic {
    /// What `traffic` says; its size is that of the packets.
    pub fn new(traffic: &Traffic<'_>) -> Self {
        let domain = traffic.domain.map(str::to_owned);
        // All but the name, which is kept beside it.
        let &Traffic { protocol, source, source_port, destination, port, dscp, .. } = traffic;
        let known =
            Traffic { source, source_port, destination, port, dscp, ..Traffic::of(protocol) };
        Self { known, domain }
    }

    /// Traffic of which nothing is known but its protocol.
    pub const fn of(protocol: Protocol) -> Self {
        Self { known: Traffic::of(protocol), domain: None }
    }

    /// What rules look at.
    pub fn traffic(&self) -> Traffic<'_> {
        Traffic { domain: self.domain.as_deref(), ..self.known }
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
    /// Those of the rule that decided about the last packet that was sent.
    counters: Option<Arc<RuleCounters>>,
    /// The place of its flow.
    way: Option<usize>,
}

impl EdgeConversations {
    pub(super) fn new(rules: GatewayRules) -> Self {
        Self { rules, conversations: BTreeMap::new(), flows: Vec::new() }
    }

    pub(super) fn add(&mut self, conversation: u32, traffic: InnerTraffic) {
        let known = Known { traffic, largest: 0, counters: None, way: None };
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
        if !known.counters.as_ref().is_some_and(|before| Arc::ptr_eq(before, &counters)) {
            counters.begin_conversation();
        }
        counters.send_datagram(packet.bytes as usize);
        known.counters = Some(counters);
        let before = known.way.filter(|&at| self.flows[at].config == config);
        let at = before.or_else(|| self.flow_for(config, bond, now))?;
        self.flows[at].used = now;
        self.conversations.get_mut(&packet.flow)?.way = Some(at);
        Some(self.flows[at].flow)
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

    /// A packet has come for a host.
    pub(super) fn receive(&mut self, packet: &Packet) {
        let Some(known) = self.conversations.get_mut(&packet.flow) else { return };
        known.largest = known.largest.max(known.traffic.size(packet));
        if let Some(counters) = &known.counters {
            counters.receive_datagram(packet.bytes as usize);
        }
    }
}
