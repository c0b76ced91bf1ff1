//! Which mode the traffic of each client has, and what is refused.
//!
//! Rules are those of a [`Policy`]. A datagram is decided about by itself, with what is known of
//! its conversation; a connection once, when it is opened.

mod conversations;
mod counted;

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use polypath_policy::{Protocol, Traffic};
pub(crate) use polypath_steering::RuleCounters;
pub use polypath_steering::{Carriage, RuleCounts, RuleUse, SteeringRules};
use polypath_steering::{CountedRules, Decision, Verdict};

use crate::tunnel::{Host, RefusalKind, Target};

use super::OpenError;
pub(super) use conversations::Conversations;
pub(super) use counted::Counted;

/// How a packet is carried, and where it counts.
#[derive(Clone, Debug)]
pub(crate) struct Steered {
    pub(crate) carriage: Carriage,
    pub(crate) counters: Arc<RuleCounters>,
}

/// The rules that the clients of an edge are served by, which may change meanwhile, and what has
/// passed by each. Clones share them.
#[derive(Clone, Debug)]
pub struct Steering(Arc<RwLock<Arc<CountedRules>>>);

impl Default for Steering {
    fn default() -> Self {
        Self::new(SteeringRules::default())
    }
}

impl Steering {
    /// Begins with these rules.
    pub fn new(rules: SteeringRules) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(CountedRules::new(rules, None)))))
    }

    /// Decides by these rules from now on. Rules that stand in both go on counting; connections
    /// that are open stay open, and count for the rule that they were opened by.
    pub fn replace(&self, rules: SteeringRules) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(CountedRules::new(rules, Some(&current)));
    }

    /// What has passed by each rule, in their order, and by none of them.
    pub fn uses(&self) -> Vec<RuleUse> {
        self.current().uses()
    }

    /// How datagrams are carried that no rule matches.
    pub(super) fn otherwise(&self) -> Carriage {
        self.current().otherwise()
    }

    fn current(&self) -> Arc<CountedRules> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How a packet is steered; `None` if a rule drops it, which is counted.
    pub(crate) fn steer(&self, traffic: &Traffic<'_>) -> Option<Steered> {
        let Decision { verdict, counters } = self.decide(traffic);
        let Verdict::Carry(carriage) = verdict else {
            counters.drop_one();
            return None;
        };
        Some(Steered { carriage, counters })
    }

    fn decide(&self, traffic: &Traffic<'_>) -> Decision {
        self.current().decide(traffic)
    }

    /// Whether a client may connect to a target: where it counts then.
    pub(super) fn admit(
        &self,
        client: Option<SocketAddr>,
        target: &Target,
    ) -> Result<Arc<RuleCounters>, OpenError> {
        let Decision { verdict, counters } = self.decide(&traffic(Protocol::TCP, client, target));
        if let Verdict::Drop { rule } = verdict {
            counters.drop_one();
            let detail = format!("by the rule {rule:?} of this edge");
            return Err(OpenError::Refused(RefusalKind::Policy.with(detail)));
        }
        Ok(counters)
    }
}

/// What is known of all that a client sends to a target.
fn traffic(protocol: Protocol, client: Option<SocketAddr>, target: &Target) -> Traffic<'_> {
    let (destination, domain) = match &target.host {
        Host::Ip(ip) => (Some(*ip), None),
        Host::Domain(name) => (None, Some(name.as_str())),
    };
    Traffic {
        source: client.map(|client| client.ip()),
        source_port: client.map(|client| client.port()),
        destination,
        domain,
        port: Some(target.port),
        ..Traffic::of(protocol)
    }
}
