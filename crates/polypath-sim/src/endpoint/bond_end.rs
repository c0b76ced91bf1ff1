//! The ends of bonds, which can be gateways.

use super::bond_stream::BondStream;
use super::bond_traffic::BondTraffic;
use super::{Conversation, EndReport, Endpoint, GatewayRules, Stream};
use crate::fabric::{Fabric, Packet};
use polypath_bond::Bond;

/// An end of a bond, as a gateway of its host.
pub trait BondEnd {
    /// Makes it a gateway, by these rules; before anything goes through it.
    fn set_gateway(&mut self, rules: GatewayRules);

    /// A conversation goes through it, the number of which is the `flow` of its packets.
    fn admit(&mut self, conversation: u32, kind: Conversation);

    /// A packet of its host is to go through it. What is no gateway drops it.
    fn forward(&mut self, packet: Packet, fabric: &mut Fabric);

    /// The stream of an endpoint that is [`within`](Endpoint::within) this one.
    fn inner_stream(&mut self, conversation: u32) -> Option<&mut dyn Stream>;

    /// What has been done for an endpoint that is [`within`](Endpoint::within) this one.
    fn inner_report(&self, conversation: u32) -> EndReport;
}

/// An end of a bond, however its packets travel.
pub(super) trait CarriesTraffic: Endpoint {
    fn traffic(&self) -> &BondTraffic;

    /// The same with the bond that carries it, once there is one.
    fn traffic_mut(&mut self) -> (&mut BondTraffic, Option<&mut Bond>);
}

impl<T: CarriesTraffic> BondEnd for T {
    fn set_gateway(&mut self, rules: GatewayRules) {
        self.traffic_mut().0.set_gateway(rules);
    }

    fn admit(&mut self, conversation: u32, kind: Conversation) {
        self.traffic_mut().0.admit(conversation, kind);
    }

    fn forward(&mut self, packet: Packet, fabric: &mut Fabric) {
        self.traffic_mut().0.forward(packet);
        self.on_due(fabric);
    }

    fn inner_stream(&mut self, conversation: u32) -> Option<&mut dyn Stream> {
        self.traffic_mut().0.look_at(Some(conversation)).then_some(self as &mut dyn Stream)
    }

    fn inner_report(&self, conversation: u32) -> EndReport {
        let delivered = self.traffic().split(conversation).map_or(0, BondStream::delivered);
        EndReport { delivered, ..EndReport::default() }
    }
}

/// The stream that was looked at last.
impl<T: CarriesTraffic> Stream for T {
    fn write(&mut self, bytes: u64) {
        self.traffic_mut().0.current_mut().write(bytes);
    }

    fn withdraw(&mut self) -> u64 {
        let (traffic, bond) = self.traffic_mut();
        traffic.current_mut().withdraw(bond)
    }

    fn close(&mut self) {
        self.traffic_mut().0.current_mut().close();
    }

    fn delivered(&self) -> u64 {
        self.traffic().current().delivered()
    }

    fn is_finished(&self) -> bool {
        self.traffic().current().is_finished()
    }
}
