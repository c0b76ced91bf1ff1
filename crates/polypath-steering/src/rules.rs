//! Rules, each with what has passed by it.

use std::sync::Arc;

use polypath_bond::FlowMode;
use polypath_policy::{Criterion, Policy, Rule, Traffic, Treatment};
use serde::{Deserialize, Serialize};

use crate::{Carriage, RuleCounters, RuleCounts};

/// How the traffic of clients is steered: as the first rule of a policy that matches it says, or
/// for datagrams that none matches in one mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SteeringRules {
    policy: Policy,
    otherwise: FlowMode,
}

impl SteeringRules {
    /// The modes that `policy` says, and `otherwise` for datagrams that none of its rules matches.
    pub const fn new(policy: Policy, otherwise: FlowMode) -> Self {
        Self { policy, otherwise }
    }

    /// One mode for all datagrams.
    pub fn always(mode: FlowMode) -> Self {
        Self { otherwise: mode, ..Self::default() }
    }
}

/// What of traffic is learnt from where it comes from.
const ORIGIN: [Criterion; 4] =
    [Criterion::Source, Criterion::SourcePort, Criterion::Interface, Criterion::User];

/// What has passed by a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleUse {
    /// What the rule is called; `None` for what no rule matched.
    pub name: Option<String>,
    /// What becomes of what it matches; of what no rule matched, of datagrams.
    pub mode: String,
    /// What has passed.
    #[serde(flatten)]
    pub counts: RuleCounts,
}

/// What becomes of some traffic, and where it counts.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What becomes of it.
    pub verdict: Verdict,
    /// Where it counts.
    pub counters: Arc<RuleCounters>,
}

/// What becomes of some traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is carried, datagrams so.
    Carry(Carriage),
    /// It is dropped.
    Drop {
        /// The rule that says so.
        rule: Arc<str>,
    },
}

impl Verdict {
    fn of(rule: &Rule) -> Self {
        match rule.treatment() {
            Treatment::Steer(steering) => Self::Carry(steering.into()),
            Treatment::Drop => Self::Drop { rule: rule.name().into() },
        }
    }
}

/// Rules, each with what has passed by it.
#[derive(Debug)]
pub struct CountedRules {
    rules: SteeringRules,
    otherwise: Carriage,
    /// Whether a rule is for names.
    asks_for_names: bool,
    /// Whether a rule looks at where traffic comes from.
    asks_for_origin: bool,
    /// Of each rule.
    verdicts: Vec<Verdict>,
    counters: Vec<Arc<RuleCounters>>,
    unmatched: Arc<RuleCounters>,
}

impl CountedRules {
    /// Rules that stand in `before`, too, go on counting there.
    pub fn new(rules: SteeringRules, before: Option<&Self>) -> Self {
        let counters = |rule: &Rule| {
            let known = before.and_then(|before| before.counters_of(rule));
            known.unwrap_or_else(|| Arc::new(RuleCounters::of(rule)))
        };
        Self {
            otherwise: rules.otherwise.into(),
            asks_for_names: rules.policy.asks_for(Criterion::Domain),
            asks_for_origin: ORIGIN.iter().any(|of| rules.policy.asks_for(*of)),
            verdicts: rules.policy.rules().iter().map(Verdict::of).collect(),
            counters: rules.policy.rules().iter().map(counters).collect(),
            unmatched: before.map(|before| Arc::clone(&before.unmatched)).unwrap_or_default(),
            rules,
        }
    }

    fn counters_of(&self, rule: &Rule) -> Option<Arc<RuleCounters>> {
        let mut known = self.rules.policy.rules().iter().zip(&self.counters);
        known.find(|(known, _)| *known == rule).map(|(_, counters)| Arc::clone(counters))
    }

    /// How datagrams are carried that no rule matches.
    pub fn otherwise(&self) -> Carriage {
        self.otherwise.clone()
    }

    /// Whether a rule is for names.
    pub fn asks_for_names(&self) -> bool {
        self.asks_for_names
    }

    /// Whether a rule looks at where traffic comes from.
    pub fn asks_for_origin(&self) -> bool {
        self.asks_for_origin
    }

    /// What becomes of some traffic.
    pub fn decide(&self, traffic: &Traffic<'_>) -> Decision {
        let Some(at) = self.rules.policy.decide(traffic) else {
            let verdict = Verdict::Carry(self.otherwise());
            return Decision { verdict, counters: Arc::clone(&self.unmatched) };
        };
        let verdict = self.verdicts[at].clone();
        Decision { verdict, counters: Arc::clone(&self.counters[at]) }
    }

    /// What has passed by each rule, in their order, and by none of them.
    pub fn uses(&self) -> Vec<RuleUse> {
        let of_rule = |(rule, counters): (&Rule, &Arc<RuleCounters>)| RuleUse {
            name: Some(rule.name().to_owned()),
            mode: rule.treatment().name().to_owned(),
            counts: counters.counts(),
        };
        let unmatched = RuleUse {
            name: None,
            mode: self.rules.otherwise.to_string(),
            counts: self.unmatched.counts(),
        };
        let rules = self.rules.policy.rules().iter().zip(&self.counters);
        rules.map(of_rule).chain([unmatched]).collect()
    }
}
