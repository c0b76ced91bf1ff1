//! The gateway at each end of a bond: what goes through it beside the bond's own traffic.
//!
//! The edge decides about each packet by the rules of a policy, with what is known of its
//! conversation; a conversation has a flow of the bond for itself where its datagrams are put in
//! order, others share one for each way of steering; the hub answers in the flow that brought the
//! edge's last packet, or that it has asked for since. All that is the product's, of
//! [`polypath_steering`]. A TCP connection that is split is a stream of the bond.

mod edge;
mod hub;
mod splits;

pub use edge::InnerTraffic;
use edge::{Arrived, EdgeConversations};
use hub::HubConversations;
use splits::Splits;
pub(super) use splits::{OWN_STREAM, head};

use super::bond_stream::BondStream;
use crate::fabric::{Fabric, Packet};
use bytes::{Bytes, BytesMut};
use polypath_bond::{Bond, FlowId, Side, StreamId};
use polypath_steering::{CountedRules, RuleCounters};
use polypath_units::PathId;
use std::collections::VecDeque;
use std::sync::Arc;

/// Tells a packet of a conversation from a datagram of the bond's own flows, in whose place its
/// number stands.
const PASSES: u64 = 1 << 63;
/// Tells what an edge asks its hub for from these: to send the conversation whose number stands
/// behind it in the flow that this comes by.
const MOVES: u64 = 1 << 62;
/// A datagram holds the number of a packet.
const NUMBER_BYTES: usize = 8;

/// What a gateway is told of the conversations that go through it. Equal at both ends.
#[derive(Clone, Debug)]
pub struct GatewayRules {
    /// Decide, and count at the edge.
    pub rules: Arc<CountedRules>,
    /// The names of the bond's paths, in the order of their numbers.
    pub paths: Vec<String>,
}

/// How a conversation goes through a gateway.
#[derive(Clone, Debug)]
pub enum Conversation {
    /// As packets, each of which is decided about.
    Packets(InnerTraffic),
    /// As a stream, of a TCP connection that was decided about; without counters its rule refuses
    /// it.
    Split(Option<Arc<RuleCounters>>),
}

impl GatewayRules {
    /// The number of the path of a name.
    fn number(&self, name: &str) -> Option<PathId> {
        let at = self.paths.iter().position(|path| path == name)?;
        PathId::new(at as u8)
    }
}

/// The gateway at one end.
#[derive(Debug)]
pub(super) struct Gateway {
    end: End,
    /// Packets that are to go through the bond.
    outward: VecDeque<Packet>,
    splits: Splits,
    /// Bytes of packets that have come.
    packet_bytes: u64,
}

#[derive(Debug)]
enum End {
    Edge(EdgeConversations),
    Hub(HubConversations),
}

impl Gateway {
    pub(super) fn new(side: Side, rules: GatewayRules) -> Self {
        let end = match side {
            Side::Edge => End::Edge(EdgeConversations::new(rules)),
            Side::Hub => End::Hub(HubConversations::default()),
        };
        Self {
            end,
            outward: VecDeque::new(),
            splits: Splits::new(side == Side::Edge),
            packet_bytes: 0,
        }
    }

    /// A conversation of this number goes through it.
    pub(super) fn admit(&mut self, conversation: u32, kind: Conversation) {
        match (kind, &mut self.end) {
            (Conversation::Packets(traffic), End::Edge(edge)) => edge.add(conversation, traffic),
            (Conversation::Packets(_), End::Hub(_)) => {}
            (Conversation::Split(counters), _) => self.splits.add(conversation, counters),
        }
    }

    /// The stream of a TCP connection.
    pub(super) fn split(&self, conversation: u32) -> Option<&BondStream> {
        self.splits.get(conversation)
    }

    pub(super) fn split_mut(&mut self, conversation: u32) -> Option<&mut BondStream> {
        self.splits.get_mut(conversation)
    }

    /// The other end has opened a flow.
    pub(super) fn on_flow(&mut self, flow: FlowId) {
        if let End::Hub(hub) = &mut self.end {
            hub.on_flow(flow);
        }
    }

    /// The other end has opened a stream.
    pub(super) fn on_stream(&mut self, stream: StreamId) {
        self.splits.on_opened(stream);
    }

    /// A packet is to go through the bond.
    pub(super) fn push(&mut self, packet: Packet) {
        self.outward.push_back(packet);
    }

    /// Sends what is to be sent, and lets streams go on. Returns the stream that is the bond's own,
    /// if it has been found among those that the other end has opened.
    pub(super) fn drive(&mut self, bond: &mut Bond, fabric: &mut Fabric) -> Option<StreamId> {
        let now = fabric.now();
        if let End::Edge(edge) = &mut self.end {
            edge.open_first(bond, now);
        }
        while let Some(packet) = self.outward.pop_front() {
            let flow = match &mut self.end {
                End::Edge(edge) => edge.send(&packet, bond, now),
                End::Hub(hub) => hub.send(&packet),
            };
            let Some(flow) = flow else { continue };
            let size = (packet.bytes as usize).max(NUMBER_BYTES);
            let number = PASSES | fabric.carry(packet);
            let mut data = BytesMut::zeroed(size);
            data[..NUMBER_BYTES].copy_from_slice(&number.to_be_bytes());
            if bond.send_datagram(flow, &data.freeze(), now).is_err() {
                // A full queue drops it, as it drops what hosts send.
                fabric.arrive(number & !PASSES);
            }
        }
        self.splits.drive(bond, now)
    }

    /// A datagram has come. Returns whether it was one of the gateways.
    pub(super) fn receive(
        &mut self,
        flow: FlowId,
        data: &Bytes,
        bond: &mut Bond,
        fabric: &mut Fabric,
    ) -> bool {
        let number = data.first_chunk().map_or(0, |number| u64::from_be_bytes(*number));
        if number & PASSES != 0 {
            if let Some(packet) = fabric.arrive(number & !PASSES) {
                self.take(packet, flow, bond, fabric);
            }
        } else if number & MOVES != 0 {
            if let End::Hub(hub) = &mut self.end {
                hub.answer_in(number as u32, flow);
            }
        } else {
            return false;
        }
        true
    }

    /// A packet has come by a flow.
    fn take(&mut self, packet: Packet, by: FlowId, bond: &mut Bond, fabric: &mut Fabric) {
        match &mut self.end {
            End::Edge(edge) => match edge.receive(&packet, by, bond, fabric.now()) {
                Arrived::Dropped => return,
                Arrived::Passes { tell: Some(flow) } => {
                    let number = MOVES | u64::from(packet.flow);
                    // A full queue drops it; it is told again.
                    let _ = bond.send_datagram(
                        flow,
                        &Bytes::copy_from_slice(&number.to_be_bytes()),
                        fabric.now(),
                    );
                }
                Arrived::Passes { tell: None } => {}
            },
            End::Hub(hub) => hub.receive(&packet, by),
        }
        self.packet_bytes += u64::from(packet.bytes);
        fabric.hand_out(packet);
    }

    /// Bytes that have come: of packets with their headers, of streams the payload.
    pub(super) fn delivered(&self) -> u64 {
        self.packet_bytes + self.splits.delivered()
    }
}
