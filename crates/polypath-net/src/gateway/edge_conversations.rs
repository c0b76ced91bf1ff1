//! An edge's conversations: by which rule and in which flow each is carried.

use std::io;
use std::sync::Arc;

use polypath_bond::{FlowConfig, FlowCounters, FlowMode};
use polypath_ip::{
    ConversationKey, ConversationTable, Event, FragmentTracker, HashKey, IdleTimeouts, Packet,
};
use polypath_steering::{Carriage, EdgeConversation, FlowIndex, FlowPool, Way, flow_of};
use polypath_units::Timestamp;

use super::learnt::LearntTable;
use super::tally::{Before, Look, Met, Tallied, Tally};
use super::{MAX_CONVERSATIONS, PacketFate};
use crate::conversations::Wanted;
use crate::edge::PathNumbers;
use crate::proxy::Steering;

/// The conversations of one bond.
#[derive(Debug)]
pub(super) struct EdgeConversations {
    steering: Steering,
    numbers: PathNumbers,
    known: ConversationTable<Tallied<EdgeConversation>>,
    learnt: LearntTable,
    fragments: FragmentTracker,
    pool: FlowPool,
    before: Before,
    /// That a conversation has got since somebody has asked.
    taken_up: Option<FlowIndex>,
}

/// A conversation as it was met, with its rule.
pub(super) type MetAtEdge = Met<Option<Arc<str>>>;

/// That the hub is to send a conversation in another flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) conversation: ConversationKey,
    pub(super) to: FlowIndex,
}

impl EdgeConversations {
    /// None yet. `key` is random: others choose the packets.
    pub(super) fn new(steering: Steering, numbers: PathNumbers, key: &HashKey) -> Self {
        Self {
            steering,
            numbers,
            known: ConversationTable::new(MAX_CONVERSATIONS, IdleTimeouts::DEFAULT, key),
            learnt: LearntTable::new(key),
            fragments: FragmentTracker::new(key),
            pool: FlowPool::default(),
            before: Before::default(),
            taken_up: None,
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
        self.pool.flow_for(flow_of(FlowMode::Aggregate), now, open).map(drop)
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
        self.steering.on_sent(packet);
        let member = self.fragments.membership(packet, now);
        let bytes = packet.bytes().len();
        let mut known = self.known.look_up(&member, now);
        if let (Event::Error, Some(known)) = (member.event, &mut known) {
            known.tally.sent.count(bytes);
            let flow = known.conversation.pass_error(Way::Sent, bytes);
            self.pool.on_sent(flow, now);
            return Ok(flow);
        }
        let talk = known.as_deref().map(|known| &known.conversation);
        let traffic = EdgeConversation::sent_traffic(talk, packet.traffic());
        let learnt = self.learnt.of_sent(&self.steering, packet, &member, now);
        let steered = self.steering.pass(&learnt.add_to(traffic), Way::Sent, bytes);
        let steered = steered.ok_or(PacketFate::DroppedByRule)?;
        let flow_for = |carriage: &Carriage| {
            let config = self.numbers.flow_config(carriage)?;
            self.pool.flow_for(config, now, open)
        };
        let no_flow = |_| PacketFate::NoFlow;
        if let Some(Tallied { conversation, tally }) = known {
            let before = conversation.flow();
            let flow = conversation.send(traffic, steered, now, flow_for).map_err(no_flow)?;
            tally.sent.count(bytes);
            if flow != before {
                tally.change_flow(now);
                self.taken_up = Some(flow);
            }
            self.pool.on_sent(flow, now);
            return Ok(flow);
        }
        let begun = EdgeConversation::begin(traffic, steered, now, flow_for).map_err(no_flow)?;
        let flow = begun.flow();
        if member.event != Event::Error {
            while self.known.pop_expired(now).is_some() {}
            let mut tally = Tally::begin(&member, now);
            tally.sent.count(bytes);
            self.known.insert(&member, Tallied { conversation: begun, tally }, now);
            self.taken_up = Some(flow);
        }
        Ok(flow)
    }

    /// A packet came for the host, by a flow. One of no conversation begins none: how it is
    /// answered is decided when it is. What the hub is to be told.
    ///
    /// # Errors
    /// What becomes of the packet, if it is not for the host.
    pub(super) fn receive(
        &mut self,
        packet: &Packet<&[u8]>,
        by: FlowIndex,
        now: Timestamp,
        open: impl FnOnce(FlowConfig) -> io::Result<()>,
    ) -> Result<Option<Move>, PacketFate> {
        self.steering.on_received(packet);
        let member = self.fragments.membership(packet, now);
        let Some(Tallied { conversation: known, tally }) = self.known.look_up(&member, now) else {
            return Ok(None);
        };
        let bytes = packet.bytes().len();
        if member.event == Event::Error {
            tally.received.count(bytes);
            known.pass_error(Way::Received, bytes);
            return Ok(None);
        }
        let traffic = known.received_traffic(packet.traffic().packet_size);
        let learnt = self.learnt.of_received(&self.steering, &member, now);
        let steered = self.steering.pass(&learnt.add_to(traffic), Way::Received, bytes);
        let steered = steered.ok_or(PacketFate::DroppedByRule)?;
        tally.received.count(bytes);
        let before = known.flow();
        let to = known.receive(steered, by, now, |carriage| {
            let config = self.numbers.flow_config(carriage)?;
            self.pool.flow_for(config, now, open)
        });
        if known.flow() != before {
            tally.change_flow(now);
            self.taken_up = Some(known.flow());
        }
        Ok(to.map(|to| Move { conversation: member.key, to }))
    }

    /// The flow that a conversation has got with the last packet.
    pub(super) const fn taken_up(&mut self) -> Option<FlowIndex> {
        self.taken_up.take()
    }

    /// A conversation has got a flow, of whose datagrams this has become until now.
    pub(super) fn take_up(&mut self, flow: FlowIndex, counters: Option<FlowCounters>) {
        self.before.take_up(flow, counters);
    }

    /// Looks at another page of conversations; false behind the last one.
    pub(super) fn look(&self, look: &mut Look<Option<Arc<str>>>, wanted: &Wanted) -> bool {
        look.page(&self.known, |known| {
            let rule = known.counters().rule();
            let is_wanted = wanted.has(rule.map(|name| &**name));
            (known.flow(), is_wanted.then(|| rule.cloned()))
        })
    }

    /// What was met, those of most bytes first, and how many others there are.
    pub(super) fn met(&self, look: Look<Option<Arc<str>>>) -> (Vec<(u64, MetAtEdge)>, usize) {
        look.finish(&self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::{SteeringRules, dns_exchange};
    use bytes::Bytes;
    use polypath_ip::{IcmpError, IpHeader, Ports, answer};
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
        udp_to(Ipv4Addr::new(10, 0, 0, 2), (from, to), size)
    }

    fn udp_to(address: Ipv4Addr, (from, to): (u16, u16), size: usize) -> Bytes {
        let ports = Ports { source: from, destination: to };
        let mut packet = Vec::new();
        let source = Ipv4Addr::new(10, 0, 0, 1);
        let header = IpHeader::new(source.into(), address.into()).unwrap();
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

    /// A packet that comes at `ms`; what the hub is told, and the kind of flow that was opened.
    fn receive(
        conversations: &mut EdgeConversations,
        (by, packet): (FlowIndex, &Bytes),
        ms: u64,
    ) -> (Option<FlowIndex>, Option<FlowMode>) {
        let (packet, mut opened) = (Packet::parse(&packet[..]).unwrap(), None);
        let told = conversations.receive(&packet, by, Timestamp::from_millis(ms), |config| {
            opened = Some(config.mode);
            Ok(())
        });
        let key = packet.membership().key;
        (
            told.unwrap().inspect(|told| assert_eq!(told.conversation, key)).map(|told| told.to),
            opened,
        )
    }

    #[test]
    fn a_conversation_that_becomes_large_changes_its_flow_and_the_hub_is_told() {
        let mut conversations = conversations();
        assert_eq!(send(&mut conversations, &udp(1, 53, 9)).0, Ok(0));
        let answer = udp(1, 53, 1_000);
        let told = receive(&mut conversations, (0, &answer), 10);
        assert_eq!(told, (Some(1), Some(FlowMode::Aggregate)));
        assert_eq!(send(&mut conversations, &udp(1, 53, 9)), (Ok(1), None));
    }

    /// Neither has it one of its own.
    #[test]
    fn an_error_goes_the_way_of_the_conversation_that_it_is_about() {
        let mut conversations = conversations();
        let about = udp(1, 53, 1_000);
        assert_eq!(send(&mut conversations, &about).0, Ok(0));
        let packet = Packet::parse(&about[..]).unwrap();
        let mut error = Vec::new();
        let router = Ipv4Addr::new(10, 0, 0, 9).into();
        answer(&packet, IcmpError::HostUnreachable, router, &mut error).unwrap();
        let error = Bytes::from(error);
        assert_eq!(send(&mut conversations, &error), (Ok(0), None));
        assert_eq!(receive(&mut conversations, (9, &error), 500), (None, None));
        assert_eq!(send(&mut conversations, &udp(1, 53, 1_000)), (Ok(0), None));
    }

    /// Names are those that the target had when the conversation began, so that it stays one.
    #[test]
    fn a_conversation_with_an_address_that_was_asked_for_comes_under_rules_for_names() {
        let rules = "[[rule]]\nname = \"a\"\nprotocol = \"udp\"\ndomain = \"a.org\"\n\
                     mode = \"redundant\"\n";
        let policy = Policy::parse(Path::new("p"), rules).unwrap();
        let steering = Steering::new(SteeringRules::new(policy, FlowMode::Aggregate));
        let mut conversations = EdgeConversations::new(steering, PathNumbers::default(), &[7; 16]);
        let to_a = |from| udp_to(Ipv4Addr::new(192, 0, 2, 1), (from, 5), 9);
        assert_eq!(send(&mut conversations, &to_a(1)).1, Some(FlowMode::Aggregate));
        let [question, answer] = dns_exchange().map(Bytes::from);
        send(&mut conversations, &question).0.unwrap();
        assert_eq!(receive(&mut conversations, (0, &answer), 0), (None, None));
        assert_eq!(send(&mut conversations, &to_a(2)).1, Some(FlowMode::Redundant));
        assert_eq!(send(&mut conversations, &to_a(1)), (Ok(0), None));
    }

    /// What is met of those that are wanted, and how many others there are.
    fn met(conversations: &EdgeConversations, wanted: &Wanted) -> (Vec<MetAtEdge>, usize) {
        let mut look = Look::new(wanted.most);
        while conversations.look(&mut look, wanted) {}
        let (met, left_out) = conversations.met(look);
        (met.into_iter().map(|(_, met)| met).collect(), left_out)
    }

    #[test]
    fn what_passes_both_ways_is_counted_with_the_rule_and_the_ends_of_its_conversation() {
        let mut conversations = conversations();
        send(&mut conversations, &udp(1, 53, 9)).0.unwrap();
        send(&mut conversations, &udp(2, 53, 1_000)).0.unwrap();
        send(&mut conversations, &udp(2, 25, 1_000)).0.unwrap_err();
        receive(&mut conversations, (1, &udp(2, 53, 400)), 10);
        let all = Wanted { most: 9, rule: None };
        let (met, left_out) = met(&conversations, &all);
        let [large, small] = &met[..] else { panic!("{met:?}") };
        let passed = |passed: crate::gateway::tally::Passed| (passed.packets, passed.bytes);
        // With 28 bytes of headers each.
        assert_eq!(
            (passed(large.tally.sent), passed(large.tally.received)),
            ((1, 1_028), (1, 428))
        );
        assert_eq!((passed(small.tally.sent), passed(small.tally.received)), ((1, 37), (0, 0)));
        assert_eq!((large.more.as_deref(), small.more.as_deref()), (None, Some("small")));
        let [source, destination] = small.ends().map(|end| (end.address.to_string(), end.port));
        assert_eq!(source, ("10.0.0.1".to_owned(), Some(1)));
        assert_eq!(destination, ("10.0.0.2".to_owned(), Some(53)));
        assert_eq!(left_out, 0);
        let of_rule = Wanted { rule: Some("small".to_owned()), ..all };
        let (met, left_out) = self::met(&conversations, &of_rule);
        assert_eq!((met.len(), left_out), (1, 0), "what is not wanted is not left out");
    }

    /// Losses of a flow are those of a conversation that has it alone, since it has it.
    #[test]
    fn order_is_told_of_the_conversation_that_has_its_flow_alone() {
        let counters = |lost| FlowCounters { lost, ..FlowCounters::default() };
        let mut conversations = conversations();
        let large = |from| udp(from, 53, 1_000);
        let lost = |conversations: &EdgeConversations| {
            let (mut met, _) = met(conversations, &Wanted { most: 9, rule: None });
            met.sort_by_key(|met| met.ends()[0].port);
            let lost = |met: &MetAtEdge| Some(met.order(&counters(7))?.lost);
            met.iter().map(lost).collect::<Vec<_>>()
        };
        let at = |conversations: &mut EdgeConversations, from, ms| {
            let packet = large(from);
            let packet = Packet::parse(&packet[..]).unwrap();
            let flow = conversations.send(&packet, Timestamp::from_millis(ms), |_| Ok(())).unwrap();
            if let Some(index) = conversations.taken_up() {
                assert_eq!(index, flow);
                conversations.take_up(flow, Some(counters(ms / 1_000)));
            }
            flow
        };
        assert_eq!(at(&mut conversations, 1, 1), 0);
        assert_eq!(lost(&conversations), [Some(7)]);
        // Two seconds later the flow is free for another.
        assert_eq!(at(&mut conversations, 2, 3_000), 0);
        assert_eq!(lost(&conversations), [None, Some(4)]);
        assert_eq!(at(&mut conversations, 1, 3_500), 0);
        assert_eq!(lost(&conversations), [None, None], "both use it");
    }

    /// As many as there may be, and more: an answer has as many as are wanted, and each page that
    /// is looked at under the lock is small.
    #[test]
    fn of_as_many_conversations_as_there_may_be_the_largest_are_told() {
        let mut conversations = conversations();
        for number in 0..20_000_u32 {
            let address = Ipv4Addr::from(0x0a01_0000 + number);
            let size = 400 + number as usize % 1_000;
            send(&mut conversations, &udp_to(address, (1, 53), size)).0.unwrap();
        }
        let wanted = Wanted { most: 100, rule: None };
        let mut look = Look::new(wanted.most);
        let mut pages = 1;
        while conversations.look(&mut look, &wanted) {
            pages += 1;
        }
        let (met, left_out) = conversations.met(look);
        assert!(pages >= 16_384 / crate::conversations::PAGE, "{pages}");
        assert_eq!((met.len(), left_out), (100, 16_384 - 100));
        let least = met.iter().map(|(bytes, _)| *bytes).min().unwrap();
        // Of 16,384 with a thousand sizes each size has sixteen or seventeen: the hundred largest
        // are of the seven largest sizes.
        assert!(least >= 400 + 993 + 28, "{least}");
    }
}
