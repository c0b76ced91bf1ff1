//! What is known of a conversation that its packets do not say.

use std::sync::Arc;

use polypath_policy::{Names, Traffic, User};

use crate::origin;

/// What was learnt of a conversation when it began, so that it stays under its rule; nothing of
/// what no rule looks at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learnt {
    /// What its target is called.
    pub(super) names: Vec<Arc<str>>,
    /// Where it comes from.
    pub(super) origin: origin::Known,
}

impl Learnt {
    /// The traffic, with that. Of a target that the client has called by name, that is its name.
    pub(crate) fn add_to<'a>(&'a self, traffic: Traffic<'a>) -> Traffic<'a> {
        let origin::Known { source, interface, user } = &self.origin;
        let user = user.as_ref();
        Traffic {
            source: source.map(|source| source.ip()).or(traffic.source),
            source_port: source.map(|source| source.port()).or(traffic.source_port),
            domain: match traffic.domain {
                Names::Unknown => Names::Told(&self.names),
                known => known,
            },
            interface: interface.as_deref(),
            user: user.map(|(uid, name)| User { uid: Some(*uid), name: name.as_deref() }),
            ..traffic
        }
    }
}
