//! A conversation at an edge.

use std::sync::Arc;
use std::time::Duration;

use polypath_policy::Traffic;
use polypath_units::Timestamp;

use crate::{Carriage, FlowIndex, RuleCounters, Steered, Way};

/// How often the hub is told where to send a conversation whose packets still come by another
/// flow: what was under way when it was told first comes so for a round trip.
const TELL_AGAIN: Duration = Duration::from_millis(100);

/// A conversation that goes through an edge, since its first packet was sent: by which rule and in
/// which flow it is carried.
///
/// Each of its packets is decided about by itself: rules see the traffic that
/// [`sent_traffic`](Self::sent_traffic) or [`received_traffic`](Self::received_traffic) says, with
/// what its owner has learnt of it otherwise, and the packet is told once it has
/// [passed](crate::CountedRules::pass) them.
#[derive(Debug)]
pub struct EdgeConversation {
    /// Of what is sent, as rules see it, with the size of the largest packet in either direction.
    traffic: Traffic<'static>,
    /// Those of the rule that decided about the last packet.
    counters: Arc<RuleCounters>,
    carriage: Carriage,
    flow: FlowIndex,
    /// When the hub was last told of that flow, by the first packet in it or otherwise.
    told: Timestamp,
}

impl EdgeConversation {
    /// What rules look at of a packet that is to be sent: its size is that of the largest so far.
    pub fn sent_traffic(known: Option<&Self>, packet: Traffic<'static>) -> Traffic<'static> {
        let largest = known.and_then(|known| known.traffic.packet_size);
        Traffic { packet_size: packet.packet_size.max(largest), ..packet }
    }

    /// The first packet is sent now, whose [`sent_traffic`](Self::sent_traffic) has passed the
    /// rules so. `flow_for` gives a flow that carries it.
    ///
    /// # Errors
    /// That of `flow_for`.
    pub fn begin<E>(
        traffic: Traffic<'static>,
        Steered { carriage, counters }: Steered,
        now: Timestamp,
        flow_for: impl FnOnce(&Carriage) -> Result<FlowIndex, E>,
    ) -> Result<Self, E> {
        let flow = flow_for(&carriage)?;
        counters.begin_conversation();
        Ok(Self { traffic, counters, carriage, flow, told: now })
    }

    /// Another packet is sent now, as in [`begin`](Self::begin). Returns its flow.
    ///
    /// # Errors
    /// That of `flow_for`.
    pub fn send<E>(
        &mut self,
        traffic: Traffic<'static>,
        Steered { carriage, counters }: Steered,
        now: Timestamp,
        flow_for: impl FnOnce(&Carriage) -> Result<FlowIndex, E>,
    ) -> Result<FlowIndex, E> {
        self.traffic = traffic;
        self.count_by(counters);
        if self.carriage != carriage {
            self.flow = flow_for(&carriage)?;
            self.carriage = carriage;
            self.told = now;
        }
        Ok(self.flow)
    }

    /// What rules look at of a packet of this size that has come for the host. A later one is of no
    /// smaller size, whatever they say.
    pub fn received_traffic(&mut self, packet_size: Option<u32>) -> Traffic<'static> {
        self.traffic.packet_size = self.traffic.packet_size.max(packet_size);
        self.traffic
    }

    /// A packet has come by a flow, whose [`received_traffic`](Self::received_traffic) has passed
    /// the rules so. Returns the flow in which the hub is to be told to answer from now on. Where
    /// `flow_for` gives none, the conversation stays where it is.
    pub fn receive<E>(
        &mut self,
        Steered { carriage, counters }: Steered,
        by: FlowIndex,
        now: Timestamp,
        flow_for: impl FnOnce(&Carriage) -> Result<FlowIndex, E>,
    ) -> Option<FlowIndex> {
        self.count_by(counters);
        let changes = self.carriage != carriage;
        if changes {
            self.flow = flow_for(&carriage).unwrap_or(self.flow);
            self.carriage = carriage;
        }
        let tell = self.flow != by && (changes || now.since(self.told) >= TELL_AGAIN);
        tell.then(|| {
            self.told = now;
            self.flow
        })
    }

    /// An error about the conversation, of so many bytes, passes. It says nothing of how the
    /// conversation is to be carried. Returns its flow, in which one that is sent goes.
    pub fn pass_error(&self, way: Way, bytes: usize) -> FlowIndex {
        self.counters.count_datagram(way, bytes);
        self.flow
    }

    /// Those of the rule that decided about its last packet.
    pub const fn counters(&self) -> &Arc<RuleCounters> {
        &self.counters
    }

    /// The flow of its packets.
    pub const fn flow(&self) -> FlowIndex {
        self.flow
    }

    /// The rule of these counters decides from now on.
    fn count_by(&mut self, counters: Arc<RuleCounters>) {
        if !Arc::ptr_eq(&self.counters, &counters) {
            counters.begin_conversation();
            self.counters = counters;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CountedRules, FlowPool, SteeringRules};
    use polypath_bond::{FlowConfig, FlowMode};
    use polypath_policy::{Policy, Protocol};
    use std::path::Path;

    const RULES: &str = r#"
        [[rule]]
        name = "small"
        packet_size = { at_most = 300 }
        mode = "redundant"
    "#;

    /// An edge with one conversation, of which everything is known but the sizes.
    struct Edge {
        rules: CountedRules,
        pool: FlowPool,
        opened: Vec<FlowMode>,
        may_open: bool,
        known: Option<EdgeConversation>,
    }

    impl Edge {
        fn new(rules: &str) -> Self {
            let policy = Policy::parse(Path::new("p"), rules).unwrap();
            let rules = CountedRules::new(SteeringRules::new(policy, FlowMode::Aggregate), None);
            let pool = FlowPool::default();
            Self { rules, pool, opened: Vec::new(), may_open: true, known: None }
        }

        fn replace(&mut self, rules: &str) {
            let policy = Policy::parse(Path::new("p"), rules).unwrap();
            let rules = SteeringRules::new(policy, FlowMode::Aggregate);
            self.rules = CountedRules::new(rules, Some(&self.rules));
        }

        /// A packet of so many bytes is sent at `ms`: its flow, if it has one.
        fn send(&mut self, bytes: u32, ms: u64) -> Option<FlowIndex> {
            let Self { rules, pool, opened, may_open, known } = self;
            let now = Timestamp::from_millis(ms);
            let traffic = EdgeConversation::sent_traffic(known.as_ref(), traffic(bytes));
            let steered = rules.pass(&traffic, Way::Sent, bytes as usize, now)?;
            let flow_for = |carriage: &Carriage| flow_for(pool, opened, *may_open, carriage, now);
            match known {
                Some(known) => known.send(traffic, steered, now, flow_for).ok(),
                None => {
                    let begun = EdgeConversation::begin(traffic, steered, now, flow_for);
                    begun.ok().map(|begun| known.insert(begun).flow())
                }
            }
        }

        /// A packet of so many bytes comes by a flow at `ms`: what the hub is told; `None` if the
        /// packet is dropped.
        fn receive(&mut self, by: FlowIndex, bytes: u32, ms: u64) -> Option<Option<FlowIndex>> {
            let Self { rules, pool, opened, may_open, known } = self;
            let (known, now) = (known.as_mut().unwrap(), Timestamp::from_millis(ms));
            let traffic = known.received_traffic(Some(bytes));
            let steered = rules.pass(&traffic, Way::Received, bytes as usize, now)?;
            let flow_for = |carriage: &Carriage| flow_for(pool, opened, *may_open, carriage, now);
            Some(known.receive(steered, by, now, flow_for))
        }

        /// Conversations, datagrams both ways and those dropped, of each rule.
        fn counted(&self) -> Vec<[u64; 4]> {
            let counts = self.rules.uses().into_iter().map(|rule| rule.counts);
            counts
                .map(|c| [c.conversations, c.datagrams_sent, c.datagrams_received, c.dropped])
                .collect()
        }
    }

    fn traffic(bytes: u32) -> Traffic<'static> {
        Traffic { packet_size: Some(bytes), ..Traffic::of(Protocol::UDP) }
    }

    fn flow_for(
        pool: &mut FlowPool,
        opened: &mut Vec<FlowMode>,
        may_open: bool,
        carriage: &Carriage,
        now: Timestamp,
    ) -> Result<FlowIndex, &'static str> {
        pool.flow_for(FlowConfig::of(carriage.mode), now, |config| {
            opened.push(config.mode);
            may_open.then_some(()).ok_or("no more flows")
        })
    }

    /// What counts is the largest packet so far, in either direction. The hub is told at once, and
    /// again while it has not heard of it.
    #[test]
    fn a_conversation_that_becomes_large_changes_its_flow_once_and_the_hub_is_told() {
        let mut edge = Edge::new(RULES);
        assert_eq!(edge.send(9, 0), Some(0));
        assert_eq!(edge.receive(0, 300, 5), Some(None));
        assert_eq!(edge.receive(0, 301, 10), Some(Some(1)));
        assert_eq!(edge.receive(0, 9, 109), Some(None));
        assert_eq!(edge.receive(0, 9, 110), Some(Some(1)));
        assert_eq!(edge.receive(1, 9, 300), Some(None));
        assert_eq!(edge.send(9, 300), Some(1));
        assert_eq!(edge.opened, [FlowMode::Redundant, FlowMode::Aggregate]);
        assert_eq!(edge.counted(), [[1, 1, 1, 0], [1, 1, 4, 0]]);
    }

    /// The packet in the new flow tells the hub, which has it after a while.
    #[test]
    fn a_packet_that_is_sent_tells_the_hub_of_the_flow() {
        let mut edge = Edge::new(RULES);
        assert_eq!(edge.send(9, 0), Some(0));
        assert_eq!(edge.send(301, 500), Some(1));
        assert_eq!(edge.receive(0, 9, 599), Some(None));
        assert_eq!(edge.receive(0, 9, 600), Some(Some(1)));
    }

    #[test]
    fn packets_that_come_meet_the_rules_of_the_moment() {
        let mut edge = Edge::new(RULES);
        assert_eq!(edge.send(9, 0), Some(0));
        edge.replace("[[rule]]\nname = \"none\"\nprotocol = \"udp\"\nmode = \"drop\"\n");
        assert_eq!(edge.receive(0, 9, 0), None);
        assert_eq!(edge.counted()[0], [0, 0, 0, 1]);
    }

    /// It begins again, and counts once, when it has one.
    #[test]
    fn a_conversation_without_a_flow_has_not_begun() {
        let mut edge = Edge::new(RULES);
        edge.may_open = false;
        assert_eq!([0, 1].map(|ms| edge.send(9, ms)), [None, None]);
        edge.may_open = true;
        assert_eq!(edge.send(9, 2), Some(0));
        assert_eq!(edge.counted()[0], [1, 3, 0, 0]);
    }

    /// One that is to be sent is dropped: in its old flow it would not be carried as the rule says.
    #[test]
    fn without_another_flow_a_conversation_stays_in_that_which_it_has() {
        let mut edge = Edge::new(RULES);
        assert_eq!(edge.send(9, 0), Some(0));
        edge.may_open = false;
        assert_eq!(edge.send(301, 0), None);
        assert_eq!(edge.receive(0, 9, 0), Some(None));
        assert_eq!(edge.known.unwrap().flow(), 0);
    }

    /// 12 kbit/s are 75 bytes in the 50 ms that may pass at once.
    #[test]
    fn what_is_beyond_the_rate_of_a_rule_is_dropped_in_each_direction() {
        let rate = "[[rule]]\nname = \"slow\"\nmode = \"aggregate\"\nrate = \"12 kbit/s\"\n";
        let mut edge = Edge::new(rate);
        assert_eq!([0, 0].map(|ms| edge.send(1_000, ms)), [Some(0), None]);
        assert_eq!([0, 0].map(|ms| edge.receive(0, 1_000, ms)), [Some(None), None]);
        assert_eq!(edge.counted()[0], [1, 1, 1, 2]);
    }
}
