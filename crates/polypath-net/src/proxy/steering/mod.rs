//! Which mode the traffic of each client has, and what is refused.
//!
//! Rules are those of a [`Policy`]. A datagram is decided about by itself, with what is known of
//! its conversation; a connection once, when it is opened.

mod conversations;
mod counted;
mod learnt;
mod names;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};

use polypath_ip::Packet;
use polypath_policy::{Names, Protocol, Traffic};
pub use polypath_steering::{Carriage, RuleCounts, RuleUse, SteeringRules};
use polypath_steering::{CountedRules, Decision, RuleCounters, Steered, Verdict, Way};
use polypath_units::Timestamp;
use tokio::time::Instant;

use crate::conversations::{
    Carried, Conversations as Told, LiveTalks, Parties, Talk, Wanted, Watched,
};
use crate::limit::Notice;
use crate::origin::{self, Ends};
use crate::tunnel::{Host, RefusalKind, Target};

use super::OpenError;
pub(super) use conversations::Conversations;
pub(super) use counted::Counted;
pub(crate) use learnt::Learnt;
use names::KnownNames;
#[cfg(test)]
pub(crate) use names::tests::dns_exchange;

/// The stream to a client's target.
pub(super) type ClientStream<S> = Counted<Watched<S>>;

/// A connection that no rule drops.
#[derive(Debug)]
pub(super) struct Admission {
    /// Where it counts.
    pub(super) counters: Arc<RuleCounters>,
    /// How the rule wants it to be carried; by default where none matches.
    pub(super) carriage: Carriage,
}

/// The rules that the clients of an edge are served by, which may change meanwhile, and what has
/// passed by each. Clones share them.
#[derive(Clone, Debug)]
pub struct Steering(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    rules: RwLock<Arc<CountedRules>>,
    names: KnownNames,
    unknown_origins: Notice,
    /// The connections and datagrams of clients.
    talks: LiveTalks,
    epoch: Instant,
}

impl Default for Steering {
    fn default() -> Self {
        Self::new(SteeringRules::default())
    }
}

impl Steering {
    /// Begins with these rules.
    pub fn new(rules: SteeringRules) -> Self {
        let rules = RwLock::new(Arc::new(CountedRules::new(rules, None)));
        let epoch = Instant::now();
        Self(Arc::new(Inner {
            rules,
            names: KnownNames::default(),
            unknown_origins: Notice::default(),
            talks: LiveTalks::new(epoch),
            epoch,
        }))
    }

    /// Decides by these rules from now on. Rules that stand in both go on counting; connections
    /// that are open stay open, and count for the rule that they were opened by.
    pub fn replace(&self, rules: SteeringRules) {
        let mut current = self.0.rules.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(CountedRules::new(rules, Some(&current)));
    }

    /// What has passed by each rule, in their order, and by none of them.
    pub fn uses(&self) -> Vec<RuleUse> {
        self.current().uses()
    }

    /// Those connections, and conversations in datagrams, of clients of proxies, of forwarded ports
    /// and of a gateway that splits connections, which are wanted.
    pub async fn conversations(&self, wanted: &Wanted) -> Told {
        self.0.talks.told(wanted, |address| self.names_of(address)).await
    }

    /// What answers of DNS call an address now.
    pub(crate) fn names_of(&self, address: IpAddr) -> Vec<String> {
        let names = self.0.names.of(address, self.now());
        names.iter().map(|name| name.to_string()).collect()
    }

    /// A client begins to talk to a target.
    pub(super) fn begin(
        &self,
        carried: Carried,
        source: Option<SocketAddr>,
        target: Target,
    ) -> Talk {
        self.0.talks.begin(Parties { carried, edge: None, source, target })
    }

    /// A packet goes to the hub: it may ask for the addresses of a name.
    pub(crate) fn on_sent(&self, packet: &Packet<&[u8]>) {
        self.0.names.on_sent(packet, self.now());
    }

    /// A packet has come from the hub: it may tell the addresses of a name.
    pub(crate) fn on_received(&self, packet: &Packet<&[u8]>) {
        self.0.names.on_received(packet, self.now());
    }

    /// Whether rules look at more than what packets say.
    pub(crate) fn asks_for_more(&self) -> bool {
        let rules = self.current();
        rules.asks_for_names() || rules.asks_for_origin()
    }

    /// What rules look at of a conversation, beyond what is in its first packet.
    pub(crate) fn learn(&self, packet: &Packet<&[u8]>) -> Learnt {
        let ends = packet.transport().ports().map(|ports| Ends {
            protocol: packet.protocol().number(),
            source: SocketAddr::new(packet.source(), ports.source),
            destination: SocketAddr::new(packet.destination(), ports.destination),
        });
        self.learn_of(Some(packet.destination()), || ends.map(origin::of_packet))
    }

    fn learn_of(
        &self,
        target: Option<IpAddr>,
        origin: impl FnOnce() -> Option<io::Result<origin::Known>>,
    ) -> Learnt {
        let rules = self.current();
        let target = target.filter(|_| rules.asks_for_names());
        let origin = if rules.asks_for_origin() { origin() } else { None };
        Learnt {
            names: target.map(|target| self.0.names.of(target, self.now())).unwrap_or_default(),
            origin: origin.map(|known| self.told(known)).unwrap_or_default(),
        }
    }

    /// What cannot be learned stays unknown, which the log says once a minute.
    fn told(&self, known: io::Result<origin::Known>) -> origin::Known {
        known.unwrap_or_else(|error| {
            if let Some(times) = self.0.unknown_origins.happens() {
                tracing::warn!(
                    times,
                    %error,
                    "where conversations come from is not known: rules with interface or user are \
                     for none"
                );
            }
            origin::Known::default()
        })
    }

    /// How datagrams are carried that no rule matches.
    pub(super) fn otherwise(&self) -> Carriage {
        self.current().otherwise()
    }

    /// When the clock began that rates and names go by.
    pub(super) fn epoch(&self) -> Instant {
        self.0.epoch
    }

    /// The time of that clock.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::ZERO + self.0.epoch.elapsed()
    }

    fn current(&self) -> Arc<CountedRules> {
        Arc::clone(&self.0.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A datagram of so many bytes passes, and is counted; `None` if a rule drops it, or it is
    /// beyond the rate of its rule.
    pub(crate) fn pass(&self, traffic: &Traffic<'_>, way: Way, bytes: usize) -> Option<Steered> {
        self.current().pass(traffic, way, bytes, self.now())
    }

    /// Whether a client may connect to a target: where it counts then, and how it is to be carried.
    /// `client` are the ends of its own connection, which may have left already.
    pub(super) fn admit(
        &self,
        client: Option<Ends>,
        target: &Target,
    ) -> Result<Admission, OpenError> {
        let traffic = traffic(Protocol::TCP, client.map(|client| client.source), target);
        let learnt = self.learn_of(traffic.destination, || client.map(origin::of_connection));
        let Decision { verdict, counters } = self.current().decide(&learnt.add_to(traffic));
        let carriage = match verdict {
            Verdict::Drop { rule } => {
                counters.drop_one();
                let detail = format!("by the rule {rule:?} of this edge");
                return Err(OpenError::Refused(RefusalKind::Policy.with(detail)));
            }
            Verdict::Carry(carriage) if counters.rule().is_some() => carriage,
            // What stands there is for datagrams.
            Verdict::Carry(_) => Carriage::default(),
        };
        Ok(Admission { counters, carriage })
    }
}

/// What is known of all that a client sends to a target.
fn traffic(protocol: Protocol, client: Option<SocketAddr>, target: &Target) -> Traffic<'_> {
    let (destination, domain) = match &target.host {
        Host::Ip(ip) => (Some(*ip), Names::Unknown),
        Host::Domain(name) => (None, Names::Called(name.as_str())),
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
