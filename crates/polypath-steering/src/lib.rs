//! What a policy means for a bond.
//!
//! A [`Policy`](polypath_policy::Policy) says in the words of operators how traffic is steered; a
//! bond carries datagrams in flows. [`Carriage`] is how a flow carries what a rule matches, and
//! [`CountedRules`] decides by a policy and counts what has passed by each rule. Whatever carries
//! traffic by a policy, edges and the simulator alike, decides here.
//!
//! Of the packets that pass a gateway, an [`EdgeConversation`] and a [`HubConversation`] know in
//! which flow those of one conversation travel, and [`FlowPool`] is where an edge finds that flow.
//! Where conversations are kept, and how they are told apart, is the matter of who has them. There
//! is no I/O and no clock.

mod carriage;
mod counters;
mod edge_conversation;
mod flow_pool;
mod hub_conversation;
mod passage;
mod rules;

pub use carriage::{Carriage, CarriageError, flow_of, steering_mode};
pub use counters::{RuleCounters, RuleCounts, Way};
pub use edge_conversation::EdgeConversation;
pub use flow_pool::{FlowIndex, FlowPool};
pub use hub_conversation::HubConversation;
pub use passage::Steered;
pub use rules::{CountedRules, Decision, RuleUse, SteeringRules, Verdict};
