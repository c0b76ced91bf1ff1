//! An ordered list of rules.

use std::sync::Arc;

use crate::{Criterion, Judgement, Protocol, Rule, Traffic};

/// Most rules of a policy: a packet may be compared with each of them.
pub const MAX_RULES: usize = 256;

/// Most ways in which the rules of a policy can steer packets. A client's packets are carried in
/// one more, that of those which no rule matches.
pub const MAX_STEERINGS: usize = 7;

/// An ordered list of rules, of which the first that matches decides. Clones share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    rules: Arc<[Rule]>,
}

/// Rules that make no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// There are too many.
    #[error("{0} rules; allowed: up to {MAX_RULES}")]
    TooMany(usize),
    /// Two rules have one name.
    #[error("{name:?} is the name of a rule before it, too; allowed: another name")]
    NameTwice {
        /// Which rule, from 0.
        rule: usize,
        /// The name.
        name: String,
    },
    /// The rules steer in too many ways.
    #[error(
        "{name:?} steers in a way of its own, and {MAX_STEERINGS} rules before it do, too; \
         allowed: up to {MAX_STEERINGS} different modes with their paths"
    )]
    TooManySteerings {
        /// Which rule, from 0.
        rule: usize,
        /// Its name.
        name: String,
    },
    /// A rule that would never be used: the list is not what its author thinks.
    #[error(
        "{name:?} is never reached, since {before:?} matches all of its traffic; allowed: the \
         narrower rule first"
    )]
    Unreachable {
        /// Which rule, from 0.
        rule: usize,
        /// Its name.
        name: String,
        /// The one before it.
        before: String,
    },
}

/// A rule that says nothing of the streams that it is for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rule {name:?} with `in_order = false` is for TCP connections alone, which are split into \
     streams here, and these are in order; allowed: a gateway with tcp = \"tunnel\", or a protocol \
     other than tcp"
)]
pub struct StreamsInOrder {
    /// The name of the rule.
    pub name: String,
}

impl PolicyError {
    /// The rule at fault, counted from 0; the first too many if there are.
    pub(crate) fn rule(&self) -> usize {
        match self {
            Self::TooMany(_) => MAX_RULES,
            Self::NameTwice { rule, .. }
            | Self::TooManySteerings { rule, .. }
            | Self::Unreachable { rule, .. } => *rule,
        }
    }
}

impl Policy {
    /// The policy of these rules.
    ///
    /// # Errors
    /// When there are too many, two have one name, one is never reached, or they steer in too many
    /// ways.
    pub fn new(rules: Vec<Rule>) -> Result<Self, PolicyError> {
        if rules.len() > MAX_RULES {
            return Err(PolicyError::TooMany(rules.len()));
        }
        for (at, rule) in rules.iter().enumerate() {
            let (name, earlier) = (rule.name().to_owned(), &rules[..at]);
            let covers = |before: &&Rule| before.descriptor().covers(rule.descriptor());
            if let Some(before) = earlier.iter().find(covers) {
                let before = before.name().to_owned();
                return Err(PolicyError::Unreachable { rule: at, name, before });
            }
            if earlier.iter().any(|before| before.name() == name) {
                return Err(PolicyError::NameTwice { rule: at, name });
            }
        }
        check_steerings(&rules)?;
        Ok(Self { rules: rules.into() })
    }

    /// This policy with another in front of it, which may take what rules here are for.
    ///
    /// # Errors
    /// When there are too many rules together, two have one name, or they steer in too many ways.
    pub fn behind(&self, front: &Self) -> Result<Self, PolicyError> {
        let count = front.rules.len() + self.rules.len();
        if count > MAX_RULES {
            return Err(PolicyError::TooMany(count));
        }
        let is_in_front = |rule: &Rule| front.rules.iter().any(|other| other.name() == rule.name());
        if let Some(at) = self.rules.iter().position(is_in_front) {
            let (rule, name) = (front.rules.len() + at, self.rules[at].name().to_owned());
            return Err(PolicyError::NameTwice { rule, name });
        }
        let rules: Vec<_> = front.rules.iter().chain(self.rules.iter()).cloned().collect();
        check_steerings(&rules)?;
        Ok(Self { rules: rules.into() })
    }

    /// The rules, in their order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether a rule looks at this.
    pub fn asks_for(&self, criterion: Criterion) -> bool {
        self.rules.iter().any(|rule| !rule.descriptor().wanted(criterion).is_empty())
    }

    /// Refuses rules that say nothing where TCP connections are split into streams, which are in
    /// order: such as leave the order of their packets open, and are for no other protocol.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_for_streams(&self) -> Result<(), StreamsInOrder> {
        let is_wrong = |rule: &&Rule| {
            let steering = rule.treatment().steering();
            steering.is_some_and(|steering| steering.in_order == Some(false))
                && rule.descriptor().protocol == [Protocol::TCP]
        };
        let wrong = self.rules.iter().find(is_wrong);
        wrong.map_or(Ok(()), |rule| Err(StreamsInOrder { name: rule.name().to_owned() }))
    }

    /// The place of the first rule that matches, from 0.
    pub fn decide(&self, traffic: &Traffic<'_>) -> Option<usize> {
        self.rules.iter().position(|rule| rule.matches(traffic))
    }

    /// The rules up to the first that matches, each held against the traffic.
    pub fn explain(&self, traffic: &Traffic<'_>) -> Vec<Judgement<'_>> {
        let last = self.decide(traffic).unwrap_or(self.rules.len());
        let judged = self.rules.iter().take(last + 1).enumerate();
        judged.map(|(at, rule)| Judgement::new(at + 1, rule, traffic)).collect()
    }
}

fn check_steerings(rules: &[Rule]) -> Result<(), PolicyError> {
    let mut ways = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let new = rule.treatment().steering().filter(|steering| !ways.contains(steering));
        ways.extend(new);
        if ways.len() > MAX_STEERINGS {
            return Err(PolicyError::TooManySteerings { rule: at, name: rule.name().to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Finding, Treatment};
    use proptest::prelude::*;
    use std::path::Path;

    fn policy(rules: &[(&str, &str)]) -> Result<Policy, String> {
        named("", rules)
    }

    /// Rules whose names begin so.
    fn named(name: &str, rules: &[(&str, &str)]) -> Result<Policy, String> {
        let rule = |(at, (line, mode)): (usize, &(&str, &str))| {
            format!(
                "[[rule]]\nname = \"{name}{at}\"\nprotocol = \"udp\"\n{line}\nmode = \"{mode}\"\n"
            )
        };
        let text: String = rules.iter().enumerate().map(rule).collect();
        Policy::parse(Path::new("p"), &text).map_err(|error| error.to_string())
    }

    fn traffic(text: &str) -> Traffic<'_> {
        Traffic::parse(text).unwrap()
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let policy = policy(&[
            ("port = 53", "redundant"),
            ("port = \"50-60\"", "active_standby"),
            ("port = \"60-70\"\ndscp = \"af41\"", "aggregate"),
            ("dscp = \"ef\"", "active_standby"),
            ("port = \"60-70\"", "drop"),
        ])
        .unwrap();
        for (text, rule) in [
            ("udp 192.0.2.1:49 dscp cs0", None),
            ("udp 192.0.2.1:49 dscp ef", Some(3)),
            ("udp 192.0.2.1:50 dscp cs0", Some(1)),
            ("udp 192.0.2.1:53 dscp ef", Some(0)),
            ("udp 192.0.2.1:60 dscp af41", Some(1)),
            ("udp 192.0.2.1:61 dscp cs0", Some(4)),
            ("udp 192.0.2.1:61 dscp af41", Some(2)),
            ("udp 192.0.2.1:61 dscp ef", Some(3)),
            ("udp 192.0.2.1:61", Some(4)),
            ("udp 192.0.2.1:71 dscp af41", None),
            ("tcp 192.0.2.1:53", None),
        ] {
            assert_eq!(policy.decide(&traffic(text)), rule, "{text}");
        }
    }

    #[test]
    fn the_standard_rules_send_what_is_urgent_twice_and_spread_most() {
        let policy = Policy::standard();
        for (text, name) in [
            ("udp 192.0.2.1:5000 dscp ef size 1200", Some("expedited")),
            ("udp 192.0.2.1:53 dscp cs0 size 40", Some("dns")),
            ("udp 192.0.2.1:53 dscp cs0 size 1200", Some("dns")),
            ("udp 192.0.2.1:27015 dscp cs0 size 160", Some("small packets")),
            ("udp 192.0.2.1:27015 dscp cs0 size 301", None),
            ("udp 192.0.2.1:443 dscp cs0 size 1200", None),
            ("tcp 192.0.2.1:53", None),
        ] {
            let rule = policy.decide(&traffic(text)).map(|rule| policy.rules()[rule].name());
            assert_eq!(rule, name, "{text}");
        }
    }

    #[test]
    fn an_explanation_says_why_a_rule_matches_and_why_those_before_it_do_not() {
        let policy = policy(&[
            ("port = [53, \"60-70\"]", "redundant"),
            ("dscp = \"ef\"\nport = 5000", "active_standby"),
            ("domain = \"*.example.org\"", "aggregate"),
            ("destination = \"192.0.2.0/24\"", "drop"),
            ("", "aggregate"),
        ])
        .unwrap();
        let judgements = policy.explain(&traffic("udp 192.0.2.1:5000 dscp 10"));
        let said: Vec<Vec<_>> = judgements
            .iter()
            .map(|judgement| judgement.findings.iter().map(Finding::to_string).collect())
            .collect();
        let udp = "protocol udp fits udp";
        assert_eq!(
            said,
            [
                &[udp, "port 5000 does not fit 53, 60-70"][..],
                &[udp, "port 5000 fits 5000", "dscp af11 does not fit ef"],
                &[udp, "domain is not known; wanted: *.example.org"],
                &[udp, "destination 192.0.2.1 fits 192.0.2.0/24"],
            ]
        );
        let matching: Vec<_> = judgements.iter().map(Judgement::matches).collect();
        assert_eq!(matching, [false, false, false, true]);
        assert_eq!(judgements[3].number, 4);
        assert_eq!(judgements[3].rule.treatment(), &Treatment::Drop);
        let none = policy.explain(&traffic("tcp 192.0.2.1:5000"));
        assert!(none.len() == 5 && !none.iter().any(Judgement::matches));
    }

    #[test]
    fn a_rule_behind_one_that_takes_all_of_its_traffic_is_refused() {
        let size = |bounds: &str| format!("packet_size = {{ {bounds} }}");
        let [small, smaller] = [size("at_most = 300"), size("at_least = 2, at_most = 300")];
        for (before, behind, reached) in [
            ("port = 53", "port = 53", false),
            ("port = \"50-60\"", "port = [53, 60]\ndscp = \"ef\"", false),
            ("port = [53, 54]", "port = \"53-54\"", true),
            ("dscp = \"ef\"", "dscp = 46", false),
            ("dscp = \"ef\"", "dscp = \"ef\"\nport = 53", false),
            ("dscp = \"ef\"\nport = 53", "dscp = \"ef\"", true),
            ("destination = \"10.0.0.0/8\"", "destination = \"10.1.0.0/16\"", false),
            ("destination = \"10.1.0.0/16\"", "destination = \"10.0.0.0/8\"", true),
            ("domain = \"*.org\"", "domain = \"a.org\"", false),
            (&small, &smaller, false),
            (&smaller, &small, true),
            ("", "port = 53", false),
            ("source_port = 53", "port = 53", true),
        ] {
            let read = policy(&[(before, "drop"), (behind, "drop")]);
            assert_eq!(read.is_ok(), reached, "{before}; {behind}: {read:?}");
            let refused = read.err().is_none_or(|error| error.contains("is never reached"));
            assert!(refused, "{before}; {behind}");
        }
    }

    #[test]
    fn rules_that_steer_in_too_many_ways_are_refused() {
        let line = |at: usize| format!("port = {}\npaths = [\"{}\"]", at + 1, at % 8);
        let lines: Vec<_> = (0..8).map(line).collect();
        let rules: Vec<_> = lines.iter().map(|line| (line.as_str(), "aggregate")).collect();
        assert!(policy(&rules[..MAX_STEERINGS]).is_ok());
        let error = policy(&rules).unwrap_err();
        assert!(
            error.contains("\"7\" steers in a way of its own, and 7 rules before it"),
            "{error}"
        );
        let (front, behind) = (policy(&rules[..4]).unwrap(), named("b", &rules[4..]).unwrap());
        let error = behind.behind(&front).unwrap_err();
        assert_eq!(error, PolicyError::TooManySteerings { rule: 7, name: "b3".into() });
    }

    /// A rule that is for other protocols, too, does what it says of those.
    #[test]
    fn rules_for_streams_out_of_order_are_told() {
        let check = |line: &str| {
            let rule = "[[rule]]\nname = \"a\"\nmode = \"aggregate\"\nin_order = false\n";
            Policy::parse(Path::new("p"), &format!("{rule}{line}\n")).unwrap().check_for_streams()
        };
        assert_eq!(check("protocol = \"tcp\""), Err(StreamsInOrder { name: "a".into() }));
        assert_eq!(check("protocol = [\"tcp\", \"udp\"]"), Ok(()));
        assert_eq!(check(""), Ok(()));
    }

    #[test]
    fn rules_in_front_may_take_what_others_are_for() {
        let front = policy(&[("", "drop")]).unwrap();
        let same = policy(&[("port = 53", "redundant")]).unwrap().behind(&front).unwrap_err();
        assert_eq!(same, PolicyError::NameTwice { rule: 1, name: "0".into() });
        let both = named("b", &[("port = 53", "redundant")]).unwrap().behind(&front).unwrap();
        let treatments: Vec<_> = both.rules().iter().map(Rule::treatment).collect();
        assert_eq!(treatments.len(), 2);
        assert_eq!(both.decide(&traffic("udp 192.0.2.1:53")), Some(0));
        assert_eq!(treatments[0], &Treatment::Drop);
    }

    fn line() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just(String::new()),
            (1u16..9).prop_map(|port| format!("port = {port}")),
            (1u16..9, 0u16..9)
                .prop_map(|(first, more)| format!("port = \"{first}-{}\"", first + more)),
            (0u8..4).prop_map(|dscp| format!("dscp = [{dscp}, 63]")),
            (8u8..33).prop_map(|bits| format!("source = \"10.0.0.0/{bits}\"")),
            Just("domain = \"*.org\"".to_owned()),
            (0u32..9).prop_map(|size| format!("packet_size = {{ at_most = {size} }}")),
        ];
        // A key stands once.
        prop::collection::btree_map(any::<u8>(), line, 1..3)
            .prop_filter("twice", |lines| {
                let keys: std::collections::BTreeSet<_> =
                    lines.values().map(|line| line.split(' ').next()).collect();
                keys.len() == lines.len()
            })
            .prop_map(|lines| lines.into_values().collect::<Vec<_>>().join("\n"))
    }

    proptest! {
        #[test]
        fn the_rule_that_decides_is_the_first_whose_findings_all_fit(
            lines in prop::collection::vec(line(), 1..6),
            text in "udp( (a\\.org|10\\.0\\.0\\.1):[1-9])?( from 10\\.[01]\\.0\\.[0-9])?( dscp [0-4])?( size [0-9])?",
        ) {
            let rules: Vec<_> = lines.iter().map(|line| (line.as_str(), "drop")).collect();
            if let Ok(policy) = policy(&rules) {
                let traffic = Traffic::parse(&text).unwrap();
                let decided = policy.decide(&traffic);
                let judgements = policy.explain(&traffic);
                prop_assert_eq!(judgements.iter().position(Judgement::matches), decided);
                let judged = decided.map_or(rules.len(), |rule| rule + 1);
                prop_assert_eq!(judgements.len(), judged);
            }
        }
    }
}
