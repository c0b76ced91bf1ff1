//! What a policy means for a bond.
//!
//! A [`Policy`](polypath_policy::Policy) says in the words of operators how traffic is steered; a
//! bond carries datagrams in flows. [`Carriage`] is how a flow carries what a rule matches, and
//! [`CountedRules`] decides by a policy and counts what has passed by each rule. Whatever carries
//! traffic by a policy, edges and the simulator alike, decides here. There is no I/O and no clock.

mod carriage;
mod counters;
mod rules;

pub use carriage::{Carriage, CarriageError};
pub use counters::{RuleCounters, RuleCounts, Way};
pub use rules::{CountedRules, Decision, RuleUse, SteeringRules, Verdict};
