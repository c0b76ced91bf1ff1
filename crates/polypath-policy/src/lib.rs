//! Policies: which traffic is steered how.
//!
//! The words are those of 3GPP ATSSS (TS 23.501, clause 5.32; TS 24.193): a policy is an ordered
//! list of [`Rule`]s, each a [`TrafficDescriptor`] and a steering mode ([`Treatment`]). The first
//! rule that matches decides ([`Policy::decide`]), and [`Policy::explain`] says why.
//!
//! A policy is data, read from a TOML file ([`Policy::parse`]). There is no I/O here and no clock,
//! so that everything that carries traffic can use the same file.

mod criterion;
mod descriptor;
mod document;
mod domain;
mod dscp;
mod explain;
mod mode;
mod names;
mod origin;
mod policy;
mod ports;
mod protocol;
mod rate;
mod rule;
mod steering;
mod traffic;
mod udp_rule;

pub use criterion::Criterion;
pub use descriptor::{PacketSize, TrafficDescriptor};
pub use domain::{DomainPattern, ParseDomainPatternError};
pub use dscp::{Dscp, ParseDscpError};
pub use explain::{Finding, Judgement};
pub use mode::{ParseTreatmentError, SteeringMode, Treatment};
pub use names::Names;
pub use origin::{Origin, ParseOriginError, User, UserPattern};
pub use policy::{MAX_RULES, MAX_STEERINGS, Policy, PolicyError, StreamsInOrder};
pub use ports::{ParsePortRangeError, PortRange};
pub use protocol::{ParseProtocolError, Protocol};
pub use rate::{MAX_RATE, MIN_RATE, RateLimit};
pub use rule::{MAX_RULE_NAME, Rule, RuleError};
pub use steering::{
    MAX_COPIES, MAX_PATH_NAME, MAX_RTT_ABOVE, MAX_STEERING_PATHS, MAX_WEIGHT, Redundancy, Steering,
    SteeringPath,
};
pub use traffic::{ParseTrafficError, Traffic};
pub use udp_rule::{ParseUdpRuleError, UdpRule, UdpRuleProblem};
