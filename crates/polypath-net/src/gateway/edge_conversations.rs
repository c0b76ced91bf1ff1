//! An edge's conversations: by which rule and in which flow each is carried.

use std::io;
use std::sync::Arc;

use polypath_bond::{FlowConfig, FlowMode};
use polypath_ip::{ConversationTable, FragmentTracker, HashKey, IdleTimeouts, Packet};
use polypath_policy::Traffic;
use polypath_units::Timestamp;

use super::flow_pool::{FlowIndex, FlowPool};
use super::{MAX_CONVERSATIONS, MAX_FLOWS, PacketFate};
use crate::edge::PathNumbers;
use crate::proxy::{RuleCounters, Steered, Steering};

/// The conversations of one bond.
#[derive(Debug)]
pub(super) struct EdgeConversations {
    steering: Steering,
    numbers: PathNumbers,
    known: ConversationTable<Known>,
    fragments: FragmentTracker,
    pool: FlowPool,
}

#[derive(Debug)]
struct Known {
    /// Bytes of the largest packet so far, as rules count them.
    largest: u32,
    /// Those of the rule that decided about the last packet that was sent.
    counters: Arc<RuleCounters>,
    config: FlowConfig,
    flow: FlowIndex,
}

impl EdgeConversations {
    /// None yet. `key` is random: others choose the packets.
    pub(super) fn new(steering: Steering, numbers: PathNumbers, key: &HashKey) -> Self {
        Self {
            steering,
            numbers,
            known: ConversationTable::new(MAX_CONVERSATIONS, IdleTimeouts::DEFAULT, key),
            fragments: FragmentTracker::new(key),
            pool: FlowPool::new(MAX_FLOWS),
        }
    }

    /// Opens the first flow, by which conversations come that the other end begins.
    ///
    /// # Errors
    /// That of `open`.
    pub(super) fn open_first(
        &mut self,
        now: Timestamp,
        open: impl FnOnce(FlowConfig) -> io::Result<()>,
    ) -> io::Result<()> {
        self.pool.flow_for(FlowConfig::of(FlowMode::Aggregate), now, open).map(drop)
    }

    /// The flow of a packet that is to be sent. `open` opens another one, whose number is the next.
    ///
    /// # Errors
    /// What becomes of the packet otherwise.
    pub(super) fn send(
        &mut self,
        packet: &Packet<&[u8]>,
        now: Timestamp,
        open: impl FnOnce(FlowConfig) -> io::Result<()>,
    ) -> Result<FlowIndex, PacketFate> {
        let member = self.fragments.membership(packet, now);
        let traffic = packet.traffic();
        let size = traffic.packet_size.unwrap_or_default();
        let known = self.known.look_up(&member, now);
        let largest = known.as_ref().map_or(size, |known| known.largest.max(size));
        let traffic = Traffic { packet_size: Some(largest), ..traffic };
        let Some(Steered { carriage, counters }) = self.steering.steer(&traffic) else {
            return Err(PacketFate::DroppedByRule);
        };
        let config = self.numbers.flow_config(&carriage).map_err(|_| PacketFate::NoFlow)?;
        if !known.as_ref().is_some_and(|known| Arc::ptr_eq(&known.counters, &counters)) {
            counters.begin_conversation();
        }
        counters.send_datagram(packet.bytes().len());
        if let Some(known) = known {
            (known.largest, known.counters) = (largest, Arc::clone(&counters));
            if known.config == config {
                self.pool.on_sent(known.flow, now);
                return Ok(known.flow);
            }
        }
        while self.known.pop_expired(now).is_some() {}
        let flow = self.pool.flow_for(config, now, open).map_err(|_| PacketFate::NoFlow)?;
        self.known.insert(&member, Known { largest, counters, config, flow }, now);
        Ok(flow)
    }

    /// A packet came for the host. One of no conversation begins none: how it is answered is
    /// decided when it is.
    pub(super) fn receive(&mut self, packet: &Packet<&[u8]>, now: Timestamp) {
        let member = self.fragments.membership(packet, now);
        if let Some(known) = self.known.look_up(&member, now) {
            let size = packet.traffic().packet_size.unwrap_or_default();
            known.largest = known.largest.max(size);
            known.counters.receive_datagram(packet.bytes().len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::SteeringRules;
    use bytes::Bytes;
    use polypath_ip::{IpHeader, Ports};
    use polypath_policy::Policy;
    use std::net::Ipv4Addr;
    use std::path::Path;

    const RULES: &str = r#"
        [[rule]]
        name = "small"
        packet_size = { at_most = 300 }
        mode = "redundant"
        [[rule]]
        name = "no mail"
        port = 25
        mode = "drop"
    "#;

    fn conversations() -> EdgeConversations {
        let policy = Policy::parse(Path::new("p"), RULES).unwrap();
        let rules = SteeringRules::new(policy, FlowMode::Aggregate);
        EdgeConversations::new(Steering::new(rules), PathNumbers::default(), &[7; 16])
    }

    fn udp(from: u16, to: u16, size: usize) -> Bytes {
        let addresses = [1, 2].map(|last| Ipv4Addr::new(10, 0, 0, last).into());
        let ports = Ports { source: from, destination: to };
        let mut packet = Vec::new();
        let header = IpHeader::new(addresses[0], addresses[1]).unwrap();
        header.write_udp(ports, &vec![0; size], &mut packet).unwrap();
        packet.into()
    }

    /// Sends a packet at 0; the flow, and the kind of flow that was opened for it.
    fn send(
        conversations: &mut EdgeConversations,
        packet: &Bytes,
    ) -> (Result<FlowIndex, PacketFate>, Option<FlowMode>) {
        let mut opened = None;
        let packet = Packet::parse(&packet[..]).unwrap();
        let sent = conversations.send(&packet, Timestamp::ZERO, |config| {
            opened = Some(config.mode);
            Ok(())
        });
        (sent, opened)
    }

    #[test]
    fn each_conversation_has_the_flow_that_its_rule_says() {
        let mut conversations = conversations();
        let large = |from| udp(from, 53, 1_000);
        assert_eq!(send(&mut conversations, &large(1)), (Ok(0), Some(FlowMode::Aggregate)));
        assert_eq!(send(&mut conversations, &large(1)), (Ok(0), None));
        assert_eq!(send(&mut conversations, &large(2)), (Ok(1), Some(FlowMode::Aggregate)));
        assert_eq!(send(&mut conversations, &udp(3, 53, 9)), (Ok(2), Some(FlowMode::Redundant)));
        assert_eq!(send(&mut conversations, &udp(4, 53, 9)), (Ok(2), None));
        assert_eq!(
            send(&mut conversations, &udp(5, 25, 1_000)),
            (Err(PacketFate::DroppedByRule), None)
        );
    }

    /// The second name that the rule has is the second that is met.
    #[test]
    fn the_paths_of_a_rule_are_told_by_their_numbers() {
        let rules = "[[rule]]\nname = \"a\"\nprotocol = \"udp\"\nmode = \"priority_based\"\n\
                     paths = [\"wifi\", \"lte\"]\n";
        let policy = Policy::parse(Path::new("p"), rules).unwrap();
        let steering = Steering::new(SteeringRules::new(policy, FlowMode::Aggregate));
        let numbers = PathNumbers::default();
        let mut conversations = EdgeConversations::new(steering, numbers.clone(), &[7; 16]);
        let (packet, mut opened) = (udp(1, 53, 9), None);
        let packet = Packet::parse(&packet[..]).unwrap();
        let sent = conversations.send(&packet, Timestamp::ZERO, |config| {
            opened = Some(config);
            Ok(())
        });
        sent.unwrap();
        let config = opened.unwrap();
        let paths: Vec<_> = config.paths.listed().iter().map(|listed| listed.path).collect();
        assert_eq!(config.mode, FlowMode::PriorityBased);
        assert_eq!(paths, ["wifi", "lte"].map(|name| numbers.of(name).unwrap()));
    }

    /// What counts is the largest packet so far, in either direction.
    #[test]
    fn a_conversation_that_becomes_large_changes_its_flow_once() {
        let mut conversations = conversations();
        assert_eq!(send(&mut conversations, &udp(1, 53, 9)).0, Ok(0));
        let answer = udp(1, 53, 1_000);
        conversations.receive(&Packet::parse(&answer[..]).unwrap(), Timestamp::ZERO);
        let after = send(&mut conversations, &udp(1, 53, 9));
        assert_eq!(after, (Ok(1), Some(FlowMode::Aggregate)));
        assert_eq!(send(&mut conversations, &udp(1, 53, 9)), (Ok(1), None));
    }
}
