//! The flow table of a switch, and what it remembers of finished flows.
//!
//! Source: S4 sections 3.2 and 3.3, equation (9). The paper's prediction `F` is a learned model
//! that it does not describe; here it is the smoothed mean rate of finished flows to the same
//! service.

use super::flow::Flow;
use super::{FlowKey, PortId};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// The flows of all ports, at most a number of them.
#[derive(Clone, Debug)]
pub(super) struct FlowTable {
    flows: BTreeMap<FlowKey, Flow>,
    capacity: usize,
}

impl FlowTable {
    pub(super) fn new(capacity: usize) -> Self {
        Self { flows: BTreeMap::new(), capacity }
    }

    pub(super) fn get(&self, key: &FlowKey) -> Option<&Flow> {
        self.flows.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &FlowKey) -> Option<&mut Flow> {
        self.flows.get_mut(key)
    }

    pub(super) fn remove(&mut self, key: &FlowKey) -> Option<Flow> {
        self.flows.remove(key)
    }

    pub(super) fn len(&self) -> usize {
        self.flows.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.flows.len() >= self.capacity
    }

    /// Adds a flow; false if the table is full.
    pub(super) fn insert(&mut self, key: FlowKey, flow: Flow) -> bool {
        let fits = !self.is_full();
        if fits {
            self.flows.insert(key, flow);
        }
        fits
    }

    /// The flows of a port, in the order of their keys.
    pub(super) fn at(&self, port: PortId) -> impl Iterator<Item = (&FlowKey, &Flow)> {
        self.flows.iter().filter(move |(_, flow)| flow.port == port)
    }

    /// The same, to change.
    pub(super) fn at_mut(&mut self, port: PortId) -> impl Iterator<Item = (&FlowKey, &mut Flow)> {
        self.flows.iter_mut().filter(move |(_, flow)| flow.port == port)
    }

    /// Removes and returns the flows that `gone` picks.
    pub(super) fn take_if(&mut self, gone: impl Fn(&Flow) -> bool) -> Vec<(FlowKey, Flow)> {
        let keys: Vec<_> =
            self.flows.iter().filter(|(_, flow)| gone(flow)).map(|(&key, _)| key).collect();
        keys.into_iter().filter_map(|key| Some((key, self.flows.remove(&key)?))).collect()
    }
}

/// What flows with similar rates have in common.
type Service = (IpAddr, u16, u8);

fn service(key: &FlowKey) -> Service {
    (key.destination, key.destination_port, key.protocol)
}

/// Mean rates of finished flows by service, in bytes/s; the service known longest goes first.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    rates: BTreeMap<Service, f64>,
    /// In the order in which services appeared.
    order: VecDeque<Service>,
    gain: f64,
    capacity: usize,
}

impl Predictor {
    pub(super) fn new(gain: f64, capacity: usize) -> Self {
        Self { rates: BTreeMap::new(), order: VecDeque::new(), gain, capacity }
    }

    /// Equation (9): `F`, if a flow of the service has finished before.
    pub(super) fn predict(&self, key: &FlowKey) -> Option<f64> {
        self.rates.get(&service(key)).copied()
    }

    /// A flow has finished.
    pub(super) fn record(&mut self, key: &FlowKey, rate: f64) {
        let service = service(key);
        if let Some(mean) = self.rates.get_mut(&service) {
            *mean += self.gain * (rate - *mean);
        } else if self.capacity > 0 {
            self.make_room();
            self.rates.insert(service, rate);
            self.order.push_back(service);
        }
    }

    fn make_room(&mut self) {
        if self.rates.len() >= self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.rates.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;
    use crate::testing::key;
    use polypath_units::Timestamp;

    fn flow() -> Flow {
        Flow::new(Class::Brf, PortId(0), None, Timestamp::ZERO)
    }

    #[test]
    fn a_full_table_takes_no_flow() {
        let mut table = FlowTable::new(2);
        assert!(table.insert(key(1), flow()) && table.insert(key(2), flow()));
        assert!(!table.insert(key(3), flow()));
        assert!(table.remove(&key(1)).is_some());
        assert!(table.insert(key(3), flow()));
        assert_eq!(table.at(PortId(0)).count(), 2);
        assert_eq!(table.at(PortId(1)).count(), 0);
    }

    #[test]
    fn rates_of_a_service_are_smoothed_and_the_oldest_service_goes_first() {
        let mut predictor = Predictor::new(0.125, 2);
        let of = |port| FlowKey { destination_port: port, ..key(1) };
        assert_eq!(predictor.predict(&of(80)), None);
        for rate in [800.0, 1_600.0] {
            predictor.record(&of(80), rate);
        }
        assert_eq!(predictor.predict(&FlowKey { source_port: 9, ..of(80) }), Some(900.0));
        predictor.record(&of(81), 1.0);
        predictor.record(&of(82), 2.0);
        assert_eq!(
            [80, 81, 82].map(|port| predictor.predict(&of(port))),
            [None, Some(1.0), Some(2.0)]
        );
    }
}
