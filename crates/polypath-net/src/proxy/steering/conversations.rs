//! What a client and its targets say to each other in datagrams.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::sync::Arc;

use polypath_policy::{Dscp, Protocol, Traffic};
use polypath_steering::Way;

use super::{Carriage, RuleCounters, Steered, Steering, traffic};
use crate::conversations::{Carried, Talk};
use crate::tunnel::{Host, Target};

/// Conversations that an association remembers. Of more, the one that was silent for longest is
/// forgotten, and begins anew when something is sent in it.
const MAX_CONVERSATIONS: usize = 256;

/// The conversations of one association: what was said so far decides which class of packet sizes
/// they are of.
#[derive(Debug)]
pub(in crate::proxy) struct Conversations {
    steering: Steering,
    known: BTreeMap<Key, Conversation>,
    /// Counts what passes, to tell what is older.
    clock: u64,
}

/// What a client sends to a target with different DSCPs are different conversations.
type Key = (Target, Option<Dscp>);

#[derive(Debug)]
struct Conversation {
    /// Bytes of the largest payload.
    largest: u32,
    /// Those of the rule that decided about the last datagram.
    counters: Arc<RuleCounters>,
    talk: Talk,
    /// When something passed last, by the clock.
    used: u64,
}

impl Conversations {
    pub(in crate::proxy) fn new(steering: &Steering) -> Self {
        Self { steering: steering.clone(), known: BTreeMap::new(), clock: 0 }
    }

    /// A client sends a datagram of so many bytes: how it is carried; `None` if it is dropped.
    pub(in crate::proxy) fn send(
        &mut self,
        client: SocketAddr,
        target: &Target,
        dscp: Option<Dscp>,
        bytes: usize,
    ) -> Option<Carriage> {
        self.clock += 1;
        let key = (target.clone(), dscp);
        let known = self.known.get(&key);
        let largest = known.map_or(0, |known| known.largest).max(size(bytes));
        let traffic = traffic(Protocol::UDP, Some(client), target);
        let traffic = Traffic { dscp, packet_size: Some(largest), ..traffic };
        let Steered { carriage, counters } = self.steering.pass(&traffic, Way::Sent, bytes)?;
        let clock = self.clock;
        let known = self.known_or_begun(key, client, (&counters, &carriage));
        (known.largest, known.used) = (largest, clock);
        known.talk.pass_packet(Way::Sent, bytes);
        Some(carriage)
    }

    /// The conversation of a datagram that is carried so, by the rule of these counters.
    fn known_or_begun(
        &mut self,
        key: Key,
        client: SocketAddr,
        (counters, carriage): (&Arc<RuleCounters>, &Carriage),
    ) -> &mut Conversation {
        if !self.known.contains_key(&key) {
            self.make_room();
        }
        let Self { steering, known, .. } = self;
        match known.entry(key) {
            Entry::Occupied(known) => {
                let known = known.into_mut();
                if !Arc::ptr_eq(&known.counters, counters) {
                    counters.begin_conversation();
                    known.talk.steer(counters, carriage);
                    known.counters = Arc::clone(counters);
                }
                known
            }
            Entry::Vacant(new) => {
                counters.begin_conversation();
                let talk = steering.begin(Carried::Datagrams, Some(client), new.key().0.clone());
                talk.steer(counters, carriage);
                let counters = Arc::clone(counters);
                new.insert(Conversation { largest: 0, counters, talk, used: 0 })
            }
        }
    }

    /// A datagram of so many bytes came for the client. What comes from where nothing was sent to
    /// belongs to no conversation. Returns whether it goes on to the client.
    pub(in crate::proxy) fn receive(&mut self, source: &Target, bytes: usize) -> bool {
        self.clock += 1;
        let clock = self.clock;
        let now = self.steering.now();
        let Some(known) = self.of_answer(source) else { return true };
        known.largest = known.largest.max(size(bytes));
        known.used = clock;
        let passes = known.counters.pass_datagram(Way::Received, bytes, now);
        if passes {
            known.talk.pass_packet(Way::Received, bytes);
        }
        passes
    }

    fn make_room(&mut self) {
        if self.known.len() >= MAX_CONVERSATIONS {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.and_then(|oldest| self.known.remove(&oldest));
        }
    }

    /// The conversation that an answer belongs to: the last one with its source. The hub tells
    /// addresses alone: of a target that the client has called by name the port is all that can be
    /// compared.
    fn of_answer(&mut self, source: &Target) -> Option<&mut Conversation> {
        let (mut exact, mut by_port) = (None, None);
        for ((target, _), known) in &mut self.known {
            let best = if target == source {
                &mut exact
            } else if matches!(target.host, Host::Domain(_)) && target.port == source.port {
                &mut by_port
            } else {
                continue;
            };
            if best.as_ref().is_none_or(|best: &&mut Conversation| best.used < known.used) {
                *best = Some(known);
            }
        }
        exact.or(by_port)
    }
}

/// A datagram is shorter than 2^16 bytes.
fn size(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::SteeringRules;
    use super::*;
    use polypath_bond::FlowMode;
    use polypath_policy::Policy;
    use std::path::Path;

    const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 2], 9);
    const RULES: &str = r#"
        [[rule]]
        name = "drop"
        protocol = "udp"
        port = 25
        mode = "drop"
        [[rule]]
        name = "urgent"
        dscp = "ef"
        mode = "redundant"
        [[rule]]
        name = "small"
        packet_size = { at_most = 300 }
        mode = "active_standby"
    "#;

    fn steering() -> Steering {
        let policy = Policy::parse(Path::new("p"), RULES).unwrap();
        Steering::new(SteeringRules::new(policy, FlowMode::Aggregate))
    }

    fn target(text: &str) -> Target {
        text.parse().unwrap()
    }

    impl Conversations {
        fn says(&mut self, to: &str, dscp: &str, bytes: usize) -> Option<FlowMode> {
            let sent = self.send(CLIENT.into(), &target(to), dscp.parse().ok(), bytes);
            sent.map(|carriage| carriage.mode)
        }
    }

    /// Conversations and datagrams both ways, of each rule.
    fn counted(steering: &Steering) -> Vec<[u64; 4]> {
        let counts = steering.uses().into_iter().map(|rule| rule.counts);
        counts
            .map(|c| [c.conversations, c.datagrams_sent, c.datagrams_received, c.dropped])
            .collect()
    }

    #[test]
    fn what_was_large_once_in_either_direction_is_not_small_again() {
        let steering = steering();
        let mut talk = Conversations::new(&steering);
        let [a, b] = ["192.0.2.1:5", "192.0.2.2:5"];
        assert_eq!(talk.says(a, "cs0", 300), Some(FlowMode::Best));
        assert_eq!(talk.says(b, "cs0", 301), Some(FlowMode::Aggregate));
        assert_eq!(talk.says(b, "cs0", 10), Some(FlowMode::Aggregate));
        talk.receive(&target(a), 301);
        assert_eq!(talk.says(a, "cs0", 10), Some(FlowMode::Aggregate));
        assert_eq!(talk.says(a, "ef", 10), Some(FlowMode::Redundant));
        assert_eq!(talk.says("192.0.2.1:25", "ef", 10), None);
        let expected = [[0, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 0], [2, 3, 0, 0]];
        assert_eq!(counted(&steering), expected);
    }

    #[test]
    fn answers_belong_to_the_last_conversation_with_their_source_or_with_a_name_and_their_port() {
        let steering = steering();
        let mut talk = Conversations::new(&steering);
        talk.says("192.0.2.1:5", "ef", 10);
        talk.says("192.0.2.1:5", "cs0", 10);
        talk.says("a.example.org:5", "ef", 10);
        for from in ["192.0.2.1:5", "192.0.2.9:5", "192.0.2.9:6"] {
            talk.receive(&target(from), 10);
        }
        // One from the address, one for the name, and one from nobody.
        let expected = [[0; 4], [2, 2, 1, 0], [1, 1, 1, 0], [0; 4]];
        assert_eq!(counted(&steering), expected);
    }

    #[test]
    fn the_conversation_that_was_silent_for_longest_is_forgotten() {
        let steering = steering();
        let mut talk = Conversations::new(&steering);
        let port = |port: usize| format!("192.0.2.1:{port}");
        for at in 1_000..1_000 + MAX_CONVERSATIONS {
            talk.says(&port(at), "cs0", 301);
        }
        talk.receive(&target(&port(1_000)), 10);
        talk.says("192.0.2.2:1", "cs0", 301);
        assert_eq!(talk.known.len(), MAX_CONVERSATIONS);
        assert_eq!(talk.says(&port(1_000), "cs0", 10), Some(FlowMode::Aggregate));
        assert_eq!(talk.says(&port(1_001), "cs0", 10), Some(FlowMode::Best), "it begins anew");
    }

    /// 12 kbit/s are 75 bytes in the 50 ms that may pass at once.
    #[test]
    fn a_datagram_beyond_the_rate_begins_no_conversation_and_makes_none_large() {
        let rules = "[[rule]]\nname = \"slow\"\npacket_size = { at_most = 300 }\n\
                     mode = \"redundant\"\n[[rule]]\nname = \"large\"\nmode = \"aggregate\"\n\
                     rate = \"12 kbit/s\"\n";
        let policy = Policy::parse(Path::new("p"), rules).unwrap();
        let steering = Steering::new(SteeringRules::new(policy, FlowMode::Aggregate));
        let mut talk = Conversations::new(&steering);
        let [a, b] = ["192.0.2.1:5", "192.0.2.2:5"];
        assert_eq!(talk.says(a, "cs0", 1_000), Some(FlowMode::Aggregate));
        assert_eq!(talk.says(b, "cs0", 1_000), None);
        assert_eq!(talk.says(b, "cs0", 10), Some(FlowMode::Redundant));
        assert_eq!(counted(&steering), [[1, 1, 0, 0], [1, 1, 0, 1], [0; 4]]);
    }

    #[test]
    fn rules_that_stand_in_the_next_policy_go_on_counting() {
        let steering = steering();
        let mut talk = Conversations::new(&steering);
        talk.says("192.0.2.1:5", "ef", 10);
        talk.says("192.0.2.1:5", "cs0", 10);
        let changed = RULES.replace("at_most = 300", "at_most = 5");
        let policy = Policy::parse(Path::new("p"), &changed).unwrap();
        steering.replace(SteeringRules::new(policy, FlowMode::Aggregate));
        assert_eq!(counted(&steering), [[0; 4], [1, 1, 0, 0], [0; 4], [0; 4]]);
        assert_eq!(talk.says("192.0.2.1:5", "cs0", 10), Some(FlowMode::Aggregate));
        assert_eq!(counted(&steering)[3], [1, 1, 0, 0]);
    }
}
