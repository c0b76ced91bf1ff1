//! The hub's side: carries out the requests of edges, within a policy and limits.
//!
//! [`Exit`] is an [`Opener`] too: without a tunnel the proxies use it directly.

mod connect;
mod embedded;
mod files;
#[cfg(target_os = "linux")]
mod local_route;
mod own;
mod policy;
mod reserved;
mod resolve;
mod serve;
mod udp;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

pub use files::{EdgeInbox, FileStore, FileStoreOptions, InboxQuota, StoreError};
use policy::Forbidden;
pub use policy::{RuleError, RuleProblem, TargetPolicy, TargetRule};
use resolve::SystemResolver;
pub use resolve::{Resolve, Resolving};
pub use serve::{ServeError, Served};
pub use udp::UdpExit;

use embedded::judged;
use own::OwnAddresses;

use crate::proxy::{FlowOptions, GuardedStream, OpenError, Opener};
use crate::tunnel::{ConnectFailure, Host, Refusal, RefusalKind, Target};

/// Bounds of a hub; all fields have sensible defaults.
#[derive(Clone, Debug)]
pub struct ExitOptions {
    /// Which targets may be reached.
    pub policy: TargetPolicy,
    /// TCP connections at the same time, over all edges.
    pub max_connections: usize,
    /// UDP associations at the same time, over all edges.
    pub max_associations: usize,
    /// Peers that one association remembers; the one silent for longest is forgotten first.
    pub max_peers: usize,
    /// Time for a name to resolve.
    pub resolve_timeout: Duration,
    /// Time for a connection to be set up, over all addresses of its target.
    pub connect_timeout: Duration,
    /// Time for an edge to finish its request after it opened a stream.
    pub request_timeout: Duration,
    /// Time for a target to take what an edge that has left had sent to it.
    pub delivery_timeout: Duration,
    /// Silence after which an association ends, and the longest that an edge may ask for (RFC 4787,
    /// REQ-5: five minutes).
    pub udp_idle_timeout: Duration,
}

impl Default for ExitOptions {
    fn default() -> Self {
        Self {
            policy: TargetPolicy::default(),
            max_connections: 4096,
            max_associations: 1024,
            max_peers: 1024,
            resolve_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(10),
            delivery_timeout: Duration::from_secs(10),
            udp_idle_timeout: Duration::from_secs(300),
        }
    }
}

/// Carries out requests. Clones share policy and limits.
#[derive(Clone, Debug)]
pub struct Exit(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: ExitOptions,
    resolver: Box<dyn Resolve>,
    own: OwnAddresses,
    connections: Arc<Semaphore>,
    associations: Arc<Semaphore>,
}

impl Exit {
    /// An exit with the resolver of the operating system.
    pub fn new(options: ExitOptions) -> Self {
        Self::with_resolver(options, SystemResolver)
    }

    /// An exit with a resolver of the caller's.
    pub fn with_resolver(options: ExitOptions, resolver: impl Resolve) -> Self {
        Self::with_own(options, resolver, OwnAddresses::new(own::ask))
    }

    fn with_own(options: ExitOptions, resolver: impl Resolve, own: OwnAddresses) -> Self {
        let limit = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        let connections = limit(options.max_connections);
        let associations = limit(options.max_associations);
        let resolver = Box::new(resolver);
        Self(Arc::new(Inner { options, resolver, own, connections, associations }))
    }

    /// The bounds.
    pub fn options(&self) -> &ExitOptions {
        &self.0.options
    }

    /// Connects to a target: limit, policy on the name, resolution, policy on each address,
    /// connection. The connection counts against the limit for as long as it lives.
    pub async fn open_tcp(&self, target: &Target) -> Result<GuardedStream, Refusal> {
        let permit = permit(&self.0.connections, "TCP connections")?;
        let addresses = self.allowed_addresses(target).await?;
        let within = self.0.options.connect_timeout;
        let tcp = match timeout(within, connect::connect_any(&addresses, target.port)).await {
            Ok(connected) => connected.and_then(GuardedStream::new),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        let tcp = tcp.map_err(|error| {
            RefusalKind::ConnectFailed(ConnectFailure::from(&error))
                .with(format!("{target}: {error}"))
        })?;
        Ok(tcp.counted(permit))
    }

    /// Opens the sockets of a UDP association.
    pub(crate) async fn open_udp(&self, options: FlowOptions) -> Result<UdpExit, Refusal> {
        let permit = permit(&self.0.associations, "UDP associations")?;
        let most = self.0.options.udp_idle_timeout;
        let idle_timeout = options.idle_timeout.unwrap_or(most).min(most);
        UdpExit::bind(self.clone(), idle_timeout, permit)
            .await
            .map_err(|error| RefusalKind::ConnectFailed((&error).into()).with(error))
    }

    /// The addresses of a target that the policy lets through, in the resolver's order.
    async fn allowed_addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Refusal> {
        let forbidden = |error: Forbidden| RefusalKind::Policy.with(error);
        self.0.options.policy.check_name(&target.host, target.port).map_err(forbidden)?;
        let mut addresses = self.resolve(&target.host).await?;
        let mut refused = None;
        addresses.retain(|&ip| match self.check_address(target, ip) {
            Ok(()) => true,
            Err(error) => {
                refused = Some(error);
                false
            }
        });
        match refused {
            Some(error) if addresses.is_empty() => Err(forbidden(error)),
            _ => Ok(addresses),
        }
    }

    fn check_address(&self, target: &Target, ip: IpAddr) -> Result<(), Forbidden> {
        let policy = &self.0.options.policy;
        policy.check_address(&target.host, ip, target.port)?;
        // A 6to4 address may be the hub's own, or lead to an IPv4 address that is.
        let (own, inner) = (&self.0.own, judged(ip));
        if own.contains(ip) || (inner != ip && own.contains(inner)) {
            policy.check_own(ip, target.port)
        } else {
            Ok(())
        }
    }

    async fn resolve(&self, host: &Host) -> Result<Vec<IpAddr>, Refusal> {
        let name = match host {
            Host::Ip(ip) => return Ok(vec![ip.to_canonical()]),
            Host::Domain(name) => name.as_str(),
        };
        let failed = |why: &dyn std::fmt::Display| {
            RefusalKind::NameNotResolved.with(format!("{name}: {why}"))
        };
        let within = self.0.options.resolve_timeout;
        match timeout(within, self.0.resolver.resolve(name)).await {
            Ok(Ok(found)) if found.is_empty() => Err(failed(&"no address")),
            Ok(Ok(found)) => Ok(found.into_iter().map(|ip| ip.to_canonical()).collect()),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(failed(&format_args!("no answer within {within:?}"))),
        }
    }
}

fn permit(limit: &Arc<Semaphore>, what: &str) -> Result<OwnedSemaphorePermit, Refusal> {
    limit
        .clone()
        .try_acquire_owned()
        .map_err(|_| RefusalKind::LimitReached.with(format!("too many {what}")))
}

impl Opener for Exit {
    type Stream = GuardedStream;
    type Flow = UdpExit;

    async fn connect(&self, target: Target) -> Result<GuardedStream, OpenError> {
        Ok(self.open_tcp(&target).await?)
    }

    async fn associate(&self, options: FlowOptions) -> Result<UdpExit, OpenError> {
        Ok(self.open_udp(options).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [&str; 3] = ["192.0.2.2", "2001:db8::2", "2002:c000:209::9"];

    /// An exit of a host with the addresses of [`OWN`].
    fn exit(rules: &[&str]) -> Exit {
        let own = |ip: IpAddr| OWN.contains(&ip.to_string().as_str());
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let options = ExitOptions { policy: TargetPolicy::new(rules), ..ExitOptions::default() };
        Exit::with_own(options, Named, OwnAddresses::new(own))
    }

    /// Every name is the host's own.
    #[derive(Debug)]
    struct Named;

    impl Resolve for Named {
        fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
            Box::pin(async { Ok(vec!["192.0.2.2".parse().unwrap()]) })
        }
    }

    async fn allows(exit: &Exit, target: &str) -> bool {
        match exit.allowed_addresses(&target.parse().unwrap()).await {
            Ok(addresses) => !addresses.is_empty(),
            Err(refusal) if refusal.kind == RefusalKind::Policy => false,
            Err(refusal) => panic!("{refusal}"),
        }
    }

    #[tokio::test]
    async fn the_hubs_own_addresses_are_refused_unless_a_rule_names_that_very_one() {
        let wide = ["*:*", "192.0.2.0/24:*", "[2001:db8::/32]:*", "own.example:*"];
        for exit in [exit(&[]), exit(&wide)] {
            for target in
                ["192.0.2.2:80", "[::ffff:192.0.2.2]:80", "[2001:db8::2]:80", "own.example:80"]
            {
                assert!(!allows(&exit, target).await, "{target}");
            }
            for target in
                ["[64:ff9b::192.0.2.2]:80", "[2002:c000:202::1]:80", "[2002:c000:209::9]:80"]
            {
                assert!(!allows(&exit, target).await, "{target}");
            }
            assert!(allows(&exit, "192.0.2.3:80").await);
            assert!(allows(&exit, "[2001:db8::3]:80").await);
        }
        let named = exit(&["192.0.2.2:80", "[2001:db8::2]:80"]);
        for host in [
            "192.0.2.2",
            "[::ffff:192.0.2.2]",
            "[64:ff9b::192.0.2.2]",
            "[2001:db8::2]",
            "own.example",
        ] {
            assert!(allows(&named, &format!("{host}:80")).await, "{host}");
            assert!(!allows(&named, &format!("{host}:81")).await, "{host}");
        }
    }
}
