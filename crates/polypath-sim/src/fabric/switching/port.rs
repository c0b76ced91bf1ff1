//! A port of a switch: a link whose queue has a class for each class of traffic.

use super::SwitchError;
use crate::topology::{Edge, Topology};
use polypath_brf::{Class, PortCounters, Shares, Transmitted};
use polypath_link::{
    HtbClass, HtbConfig, HtbContent, LeafQueue, Link, LinkConfig, Packet, QueueConfig, Rate,
};
use polypath_units::{Bandwidth, Timestamp};

/// Share of a port that the queue of CUBIC keeps where CUBIC has none: what waits there, or comes
/// late, must leave.
const LEFTOVER: f64 = 0.01;
/// Bytes of the packets that a limit in bytes is taken to be for.
const PACKET: u32 = 1_500;

/// A link that leaves a switch.
#[derive(Debug)]
pub(super) struct Port {
    /// The rate of the link.
    capacity: Bandwidth,
    /// The queue of each class: that which the link was given.
    leaf: LeafQueue,
    /// What its classes were set to.
    applied: Option<Shares>,
}

/// The number of a class in the link's queue.
pub(super) const fn number(class: Class) -> u8 {
    match class {
        Class::Udp => 0,
        Class::Cubic => 1,
        Class::Brf => 2,
    }
}

impl Port {
    pub(super) fn new(edge: &Edge, topology: &Topology) -> Result<Self, SwitchError> {
        let names = || (topology.nodes()[edge.from.index()].clone(), edge.name.clone());
        let Rate::Constant(capacity) = edge.config.rate else {
            let (node, link) = names();
            return Err(SwitchError::VaryingRate { node, link });
        };
        let QueueConfig::Leaf(leaf) = &edge.config.queue else {
            let (node, link) = names();
            return Err(SwitchError::Classful { node, link });
        };
        Ok(Self { capacity, leaf: leaf.clone(), applied: None })
    }

    pub(super) const fn capacity(&self) -> Bandwidth {
        self.capacity
    }

    /// Somebody changed the link: its queue now, and its rate if that is constant. Whether the rate
    /// is another one.
    pub(super) fn follow(&mut self, config: &LinkConfig) -> bool {
        if let QueueConfig::Leaf(leaf) = &config.queue {
            self.leaf = leaf.clone();
        }
        self.applied = None;
        match config.rate {
            Rate::Constant(rate) if rate != self.capacity => {
                self.capacity = rate;
                true
            }
            _ => false,
        }
    }

    /// The queue of the link, if other shares than before ask for another one.
    pub(super) fn queue_for(&mut self, shares: Shares) -> Option<QueueConfig> {
        if self.applied == Some(shares) {
            return None;
        }
        self.applied = Some(shares);
        Some(self.queue(shares).into())
    }

    /// No class borrows from another. What the shares leave of the link drains the queue of BRF: at
    /// the rate of its allocations alone, what once waits there would wait for ever.
    fn queue(&self, shares: Shares) -> HtbConfig {
        let capacity = self.capacity.bytes_per_sec();
        let cubic = shares.cubic.max(LEFTOVER * capacity);
        let brf = capacity - shares.udp - cubic;
        let class = |(name, class, rate)| {
            let rate = Bandwidth::from_bytes_per_sec(rate).max(Bandwidth::from_bits_per_sec(1));
            let serves = vec![number(class)];
            HtbClass::new(name, rate, HtbContent::Leaf { serves, queue: self.leaf.clone() })
        };
        let classes = [
            ("udp", Class::Udp, shares.udp),
            ("cubic", Class::Cubic, cubic),
            ("brf", Class::Brf, brf),
        ];
        let classes = classes.into_iter().map(class).collect();
        HtbConfig { classes, default: number(Class::Cubic) }
    }

    /// What the controller reads. What the loss model takes was transmitted.
    pub(super) fn counters<P: Packet>(&self, link: &Link<P>, now: Timestamp) -> PortCounters {
        let counters = link.counters();
        let sent = counters.delivered + counters.propagating + counters.dropped.loss;
        let capacity = self.leaf.limit().packets(PACKET, link.config());
        PortCounters {
            read_at: now,
            transmitted: Transmitted::Bytes(sent.bytes),
            queued_packets: link.backlog(number(Class::Brf)).unwrap_or(0) as u64,
            queue_capacity_packets: capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_link::QueueLimit;

    fn port() -> Port {
        let leaf = QueueLimit::Packets(100).into();
        Port { capacity: Bandwidth::from_bytes_per_sec(1e6), leaf, applied: None }
    }

    fn rates(shares: Shares) -> Vec<f64> {
        let Some(QueueConfig::Htb(queue)) = port().queue_for(shares) else { panic!("not HTB") };
        queue.classes.iter().map(|class| class.rate.bytes_per_sec()).collect()
    }

    #[test]
    fn the_classes_have_their_shares_and_brf_what_is_left() {
        let shares = Shares { udp: 50e3, cubic: 400e3, brf: 500e3 };
        assert_eq!(rates(shares), [50e3, 400e3, 550e3]);
        let shares = Shares { udp: 50e3, cubic: 0.0, brf: 920e3 };
        assert_eq!(rates(shares), [50e3, 10e3, 940e3]);
    }

    #[test]
    fn equal_shares_leave_the_queue_alone_until_somebody_changes_the_link() {
        let (mut port, shares) = (port(), Shares { udp: 50e3, cubic: 0.0, brf: 920e3 });
        assert!(port.queue_for(shares).is_some() && port.queue_for(shares).is_none());
        let mut config = LinkConfig::new(port.capacity, core::time::Duration::ZERO);
        assert!(!port.follow(&config), "the rate is the same");
        assert!(port.queue_for(shares).is_some());
        config.rate = Bandwidth::from_bytes_per_sec(2e6).into();
        assert!(port.follow(&config));
        assert_eq!(port.capacity().bytes_per_sec(), 2e6);
    }
}
