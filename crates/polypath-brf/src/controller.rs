//! [`Controller`]: polls the counters of all ports and tells each switch whether it is congested.
//!
//! Source: S4 section 3.1 and figure 2. It does no I/O: a host asks it when to poll, carries
//! counters and decisions over a control channel, whatever delay that has, and passes the time.

use super::detection::Detector;
use super::parameters::secs;
use super::{Cause, DetectionParameters, PortCounters};
use polypath_units::{Bandwidth, Timestamp};
use std::collections::BTreeMap;

/// A port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// A switch, as the controller and its neighbours know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

/// A port of any switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortAddress {
    /// The switch.
    pub switch: SwitchId,
    /// Its port.
    pub port: PortId,
}

/// What the controller tells a switch of one of its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Why the port is congested; `None` if it is not.
    pub congestion: Option<Cause>,
    /// Packets that were queued when the counters were read.
    pub queued_packets: u64,
}

/// Counters of a port that the controller does not watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("port {} of switch {} is not watched: add it first", .0.port.0, .0.switch.0)]
pub struct UnknownPort(pub PortAddress);

/// The congestion detection of a network.
#[derive(Clone, Debug)]
pub struct Controller {
    parameters: DetectionParameters,
    ports: BTreeMap<PortAddress, Watched>,
    next_poll: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct Watched {
    capacity: Bandwidth,
    detector: Detector,
}

impl Controller {
    /// A controller that watches no port yet.
    pub fn new(parameters: DetectionParameters) -> Self {
        Self { parameters, ports: BTreeMap::new(), next_poll: Timestamp::ZERO }
    }

    /// Watches a port whose link has rate `capacity`; one that is known forgets its counters.
    pub fn add_port(&mut self, address: PortAddress, capacity: Bandwidth) {
        self.ports.insert(address, Watched { capacity, detector: Detector::default() });
    }

    /// Watches a port no longer.
    pub fn remove_port(&mut self, address: PortAddress) {
        self.ports.remove(&address);
    }

    /// When to call [`Controller::on_timer`]; `None` while no port is watched.
    pub fn next_timer(&self) -> Option<Timestamp> {
        (!self.ports.is_empty()).then_some(self.next_poll)
    }

    /// Time has passed: the ports whose counters must be polled now.
    pub fn on_timer(&mut self, now: Timestamp) -> Vec<PortAddress> {
        if now < self.next_poll {
            return Vec::new();
        }
        self.next_poll = now + secs(self.parameters.period_ms / 1e3);
        self.ports.keys().copied().collect()
    }

    /// Counters arrived: what to tell the switch. To be told after every reading, so that nothing
    /// depends on a single message.
    ///
    /// # Errors
    /// When the port is not watched.
    pub fn on_counters(
        &mut self,
        address: PortAddress,
        counters: &PortCounters,
    ) -> Result<Decision, UnknownPort> {
        let port = self.ports.get_mut(&address).ok_or(UnknownPort(address))?;
        let congestion = port.detector.on_counters(counters, port.capacity, &self.parameters);
        Ok(Decision { congestion, queued_packets: counters.queued_packets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transmitted;
    use std::time::Duration;

    const fn port(switch: u32, port: u32) -> PortAddress {
        PortAddress { switch: SwitchId(switch), port: PortId(port) }
    }

    fn counters(millis: u64, bytes: u64) -> PortCounters {
        PortCounters {
            read_at: Timestamp::from_millis(millis),
            transmitted: Transmitted::Bytes(bytes),
            queued_packets: 3,
            queue_capacity_packets: 1_000,
        }
    }

    #[test]
    fn every_port_is_polled_once_in_a_period() {
        let mut controller = Controller::new(DetectionParameters::DEFAULT);
        assert_eq!(controller.next_timer(), None);
        controller.add_port(port(2, 0), Bandwidth::ZERO);
        controller.add_port(port(1, 7), Bandwidth::ZERO);
        let now = controller.next_timer().unwrap() + Duration::from_millis(5);
        assert_eq!(controller.on_timer(now), [port(1, 7), port(2, 0)]);
        assert_eq!(controller.on_timer(now), []);
        assert_eq!(controller.next_timer(), Some(now + Duration::from_millis(100)));
        controller.remove_port(port(1, 7));
        assert_eq!(controller.on_timer(now + Duration::from_millis(100)), [port(2, 0)]);
    }

    #[test]
    fn ports_are_judged_on_their_own() {
        let mut controller = Controller::new(DetectionParameters::DEFAULT);
        controller.add_port(port(1, 0), Bandwidth::from_mbit_per_sec(80.0));
        controller.add_port(port(1, 1), Bandwidth::from_mbit_per_sec(800.0));
        let mut tell = |port, millis, bytes| {
            controller.on_counters(port, &counters(millis, bytes)).unwrap().congestion
        };
        // 0.99 MB in 100 ms are 79.2 Mbit/s.
        for (number, verdict) in [(0, Some(Cause::Burst)), (1, None)] {
            assert_eq!(tell(port(1, number), 0, 0), None);
            assert_eq!(tell(port(1, number), 100, 990_000), verdict);
        }
        let unknown = controller.on_counters(port(9, 4), &counters(0, 0)).unwrap_err();
        assert_eq!(unknown.to_string(), "port 4 of switch 9 is not watched: add it first");
    }
}
