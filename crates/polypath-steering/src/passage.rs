//! Datagrams that pass by the rules.

use std::sync::Arc;

use polypath_policy::Traffic;
use polypath_units::Timestamp;

use crate::{Carriage, CountedRules, Decision, RuleCounters, Verdict, Way};

/// How a datagram is carried, and where it counts.
#[derive(Clone, Debug)]
pub struct Steered {
    /// How it is carried.
    pub carriage: Carriage,
    /// Those of the rule that decided.
    pub counters: Arc<RuleCounters>,
}

impl CountedRules {
    /// A datagram of so many bytes passes, and is counted; `None` if a rule drops it, or it is
    /// beyond the rate of its rule. `now` is of the clock that rates go by.
    pub fn pass(
        &self,
        traffic: &Traffic<'_>,
        way: Way,
        bytes: usize,
        now: Timestamp,
    ) -> Option<Steered> {
        let Decision { verdict, counters } = self.decide(traffic);
        let Verdict::Carry(carriage) = verdict else {
            counters.drop_one();
            return None;
        };
        counters.pass_datagram(way, bytes, now).then_some(Steered { carriage, counters })
    }
}
