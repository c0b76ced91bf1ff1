//! Attaching connections that go through a bond, as through a gateway.

use super::DatagramFlow;
use super::attach::{Attached, CONTROLS};
use super::plan::{Plan, Planned, RunError};
use super::settings::Streams;
use crate::Direction;
use crate::endpoint::{
    Conversation, GatewayRules, InnerTraffic, QuicConfig, QuicEnd, SplitEnd, TcpEnd, TcpSettings,
};
use crate::fabric::EndpointId;
use crate::scenario::{BondOptions, InnerTcp, Through, Transport};
use crate::simulator::{Gateway, Simulator};
use polypath_bond::FlowMode;
use polypath_core::congestion::CongestionConfig;
use polypath_link::RunSeed;
use polypath_policy::Policy;
use polypath_steering::{CountedRules, SteeringRules, Verdict};
use std::sync::Arc;

impl Plan {
    /// Makes both ends of a bond gateways, if anything goes through them.
    pub(super) fn set_gateway(
        &self,
        planned: &Planned,
        ends: [EndpointId; 2],
        simulator: &mut Simulator,
    ) -> Option<Arc<CountedRules>> {
        if !self.is_gateway(planned) {
            return None;
        }
        let policy = self.scenario().connections[planned.spec].policy.clone();
        let policy = policy.unwrap_or_else(Policy::standard);
        let rules = SteeringRules::new(policy, FlowMode::Aggregate);
        let rules = Arc::new(CountedRules::new(rules, None));
        let paths = planned.routes.iter().map(|route| self.topology().name_of(route));
        let gateway = GatewayRules { rules: Arc::clone(&rules), paths: paths.collect() };
        ends.into_iter().for_each(|end| simulator.set_gateway(end, gateway.clone()));
        Some(rules)
    }

    /// Connects through a gateway when the first flow begins.
    pub(super) fn connect_inside(
        &self,
        number: usize,
        gateway: &Attached,
        streams: &Streams,
        simulator: &mut Simulator,
        seed: RunSeed,
    ) -> Result<(EndpointId, EndpointId), RunError> {
        let planned = &self.connections()[number];
        let begins = self.flows_of(planned).map(|(_, flow)| planned.times(flow).0).min();
        let start = begins.unwrap_or(planned.start);
        let way = self.way(planned, gateway);
        let seed = seed.stream(CONTROLS + number as u64);
        let seeded =
            |congestion: &CongestionConfig| CongestionConfig { seed, ..congestion.clone() };
        let ends = match streams {
            Streams::Tcp(_) if self.splits(planned) => {
                let ends = SplitEnd::connect_inside(simulator, &way);
                let kind = split(gateway, &self.traffic(planned));
                way.ends.into_iter().for_each(|end| simulator.admit(end, ends.0.0, kind.clone()));
                return Ok(ends);
            }
            Streams::Tcp(tcp) => {
                let tcp = TcpSettings { congestion: seeded(&tcp.congestion), tcp: tcp.tcp };
                TcpEnd::connect_inside(simulator, &way, &tcp, start)
            }
            Streams::Quic(quic) => {
                let quic = QuicConfig { congestion: seeded(&quic.congestion), ..quic.clone() };
                QuicEnd::connect_inside(simulator, &way, &quic, start)
            }
            _ => {
                let problem = "it goes through no bond";
                return Err(RunError::Setting { connection: planned.name.clone(), problem });
            }
        };
        self.admit_packets(planned, &way, ends.0, simulator);
        Ok(ends)
    }

    /// The datagrams of a flow through a gateway.
    pub(super) fn datagrams_inside(
        &self,
        simulator: &mut Simulator,
        planned: &Planned,
        gateway: &Attached,
        number: usize,
        seed: u64,
    ) -> Result<Attached, RunError> {
        let (way, flow) = (self.way(planned, gateway), &self.scenario().flows[number]);
        let (down, times) = (flow.direction == Direction::Down, planned.times(flow));
        let datagrams = DatagramFlow::attach_inside(simulator, &way, down, &flow.kind, times, seed)
            .map_err(|error| RunError::NoRate { flow: number, error })?;
        self.admit_packets(planned, &way, datagrams.source, simulator);
        Ok(Attached::of_datagrams(datagrams, flow.direction))
    }

    fn admit_packets(
        &self,
        planned: &Planned,
        way: &Gateway<'_>,
        first: EndpointId,
        simulator: &mut Simulator,
    ) {
        let kind = Conversation::Packets(self.traffic(planned));
        way.ends.into_iter().for_each(|end| simulator.admit(end, first.0, kind.clone()));
    }

    fn through(&self, planned: &Planned) -> Option<&Through> {
        self.scenario().connections[planned.spec].through.as_ref()
    }

    fn traffic(&self, planned: &Planned) -> InnerTraffic {
        let through = self.through(planned).expect("only those that go through a bond are asked");
        through.traffic.clone()
    }

    fn way<'a>(&'a self, planned: &Planned, gateway: &Attached) -> Gateway<'a> {
        let name = self.through(planned).map_or("", |through| through.bond.as_str());
        Gateway { name, ends: gateway.ends }
    }

    /// Whether the bond ends TCP connections that go through it.
    fn splits(&self, planned: &Planned) -> bool {
        let bond = self.gateway_of(planned).map(|bond| self.connections()[bond].spec);
        let bond = bond.map(|spec| &self.scenario().connections[spec].transport);
        matches!(bond, Some(Transport::Bond(BondOptions { tcp: InnerTcp::Split, .. })))
    }
}

/// How a TCP connection passes that is split: what its rule says is decided when it is opened.
fn split(gateway: &Attached, traffic: &InnerTraffic) -> Conversation {
    let rules = gateway.rules.as_ref().expect("what others go through is a gateway");
    let decision = rules.decide(&traffic.traffic());
    Conversation::Split(match decision.verdict {
        Verdict::Carry(_) => {
            decision.counters.begin_conversation();
            Some(decision.counters)
        }
        Verdict::Drop { .. } => {
            decision.counters.drop_one();
            None
        }
    })
}
