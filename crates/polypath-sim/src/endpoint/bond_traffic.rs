//! What a simulated bond carries.

use super::bond_datagrams::BondDatagrams;
use super::bond_stream::BondStream;
use super::gateway::{Conversation, Gateway, GatewayRules, OWN_STREAM, head};
use crate::fabric::{Fabric, Packet};
use polypath_bond::{Bond, Event, Side};

/// The stream of each direction, its datagrams, and what goes through its gateway.
#[derive(Debug)]
pub(super) struct BondTraffic {
    side: Side,
    pub(super) stream: BondStream,
    pub(super) datagrams: BondDatagrams,
    gateway: Option<Box<Gateway>>,
    /// Whose stream the application looks at: that of a conversation, or the bond's own.
    looked_at: Option<u32>,
}

impl BondTraffic {
    /// That of one end, which is no gateway yet.
    pub(super) fn new(side: Side) -> Self {
        let (stream, datagrams) = (BondStream::default(), BondDatagrams::default());
        Self { side, stream, datagrams, gateway: None, looked_at: None }
    }

    /// Payload bytes that came.
    pub(super) fn delivered(&self) -> u64 {
        let through = self.gateway.as_ref().map_or(0, |gateway| gateway.delivered());
        self.stream.delivered() + self.datagrams.delivered() + through
    }

    /// Makes this end a gateway.
    pub(super) fn set_gateway(&mut self, rules: GatewayRules) {
        self.stream.set_head(head(OWN_STREAM));
        self.gateway = Some(Box::new(Gateway::new(self.side, rules)));
    }

    /// A conversation goes through the gateway.
    pub(super) fn admit(&mut self, conversation: u32, kind: Conversation) {
        if let Some(gateway) = &mut self.gateway {
            gateway.admit(conversation, kind);
        }
    }

    /// A packet is to go through the gateway.
    pub(super) fn forward(&mut self, packet: Packet) {
        if let Some(gateway) = &mut self.gateway {
            gateway.push(packet);
        }
    }

    /// Lets the application look at the stream of a conversation, or at the bond's own; false if
    /// there is none.
    pub(super) fn look_at(&mut self, conversation: Option<u32>) -> bool {
        self.looked_at = conversation;
        conversation.is_none_or(|conversation| self.split(conversation).is_some())
    }

    /// The stream of a split connection.
    pub(super) fn split(&self, conversation: u32) -> Option<&BondStream> {
        self.gateway.as_ref()?.split(conversation)
    }

    /// The stream that the application looks at.
    pub(super) fn current(&self) -> &BondStream {
        let split = self.looked_at.and_then(|conversation| self.split(conversation));
        split.unwrap_or(&self.stream)
    }

    /// The same, to use it.
    pub(super) fn current_mut(&mut self) -> &mut BondStream {
        let split = self.looked_at.and_then(|conversation| {
            self.gateway.as_mut().and_then(|gateway| gateway.split_mut(conversation))
        });
        split.unwrap_or(&mut self.stream)
    }

    /// Hands over what is to be sent and takes what there is.
    pub(super) fn drive(&mut self, bond: &mut Bond, fabric: &mut Fabric) {
        let now = fabric.now();
        while let Some(event) = bond.poll_event() {
            match (event, &mut self.gateway) {
                (Event::FlowOpened(id), gateway) => {
                    gateway.iter_mut().for_each(|gateway| gateway.on_flow(id));
                    self.datagrams.on_opened(id);
                }
                (Event::FlowReadable(id), Some(gateway)) => {
                    while let Some(datagram) = bond.recv_datagram(id) {
                        if !gateway.receive(id, &datagram.data, bond, fabric) {
                            self.datagrams.take(&datagram.data);
                        }
                    }
                }
                (Event::StreamOpened(id), Some(gateway)) => gateway.on_stream(id),
                (event, _) => self.stream.on_event(&event, now),
            }
        }
        if let Some(gateway) = &mut self.gateway
            && let Some(own) = gateway.drive(bond, fabric)
        {
            self.stream.take_incoming(own);
        }
        self.stream.drive(bond, now);
        self.datagrams.drive(bond, self.gateway.is_none(), now);
    }
}
