//! The hub's side: carries out the requests of edges, within a policy and limits.
//!
//! [`Exit`] is an [`Opener`] too: without a tunnel the proxies use it directly.

mod association;
mod connect;
mod embedded;
mod files;
#[cfg(target_os = "linux")]
mod local_route;
mod own;
mod peers;
mod ping;
mod policy;
mod reserved;
mod resolve;
mod serve;
mod share;
mod udp;

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

pub use association::NamedFlowError;
pub use files::{EdgeInbox, FileStore, FileStoreOptions, InboxQuota, StoreError};
pub(crate) use ping::{Echo, EchoKind, PingExit};
use policy::Forbidden;
pub use policy::{RuleError, RuleProblem, TargetPolicy, TargetRule};
use resolve::SystemResolver;
pub use resolve::{Lookup, Resolve, Resolving};
pub(crate) use serve::refuse;
pub use serve::{ServeError, Served};
pub use share::ClientLimits;
use share::{Limits, Share};
pub use udp::UdpExit;

use embedded::judged;
use own::OwnAddresses;
pub(crate) use own::ask as is_own_address;

use crate::conversations::{Carried, Conversations, LiveTalks, Parties, Talk, Wanted};
use crate::limit::{Client, Place};
use crate::proxy::{FlowOptions, GuardedStream, OpenError, Opener};
use crate::tunnel::{ConnectFailure, Host, Refusal, RefusalKind, Target};

/// How long the reply to an echo request is waited for (RFC 5508, REQ-2: at least 60 s).
const PING_IDLE: Duration = Duration::from_secs(60);

/// Bounds of a hub; all fields have sensible defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitOptions {
    /// Which targets may be reached.
    pub policy: TargetPolicy,
    /// TCP connections at the same time, over all clients, which share them fairly
    /// ([`FairLimit`](crate::limit::FairLimit)).
    pub max_connections: usize,
    /// UDP associations at the same time, over all clients, which share them in the same way.
    pub max_associations: usize,
    /// Names looked up at the same time, over all clients, which share them in the same way.
    pub max_lookups: usize,
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
            max_lookups: 1024,
            max_peers: 1024,
            resolve_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(10),
            delivery_timeout: Duration::from_secs(10),
            udp_idle_timeout: Duration::from_secs(300),
        }
    }
}

/// Carries out requests of one client. Clones are for the same one; all that come of one
/// [`Exit::new`] share policy and limits.
#[derive(Clone, Debug)]
pub struct Exit {
    inner: Arc<Inner>,
    client: Arc<Share>,
}

#[derive(Debug)]
struct Inner {
    options: ExitOptions,
    resolver: Box<dyn Resolve>,
    own: OwnAddresses,
    limits: Limits,
    /// The connections of all clients.
    talks: LiveTalks,
}

impl Exit {
    /// An exit with the resolver of the operating system, for what this host itself asks for.
    pub fn new(options: ExitOptions) -> Self {
        let resolver = SystemResolver::new(options.max_lookups);
        Self::with_resolver(options, resolver)
    }

    /// The same with a resolver of the caller's.
    pub fn with_resolver(options: ExitOptions, resolver: impl Resolve) -> Self {
        Self::with_own(options, resolver, OwnAddresses::new(own::ask))
    }

    fn with_own(options: ExitOptions, resolver: impl Resolve, own: OwnAddresses) -> Self {
        let limits = Limits::new(&options);
        let this_host = Client::host(Ipv4Addr::LOCALHOST.into());
        let client = limits.share_of(this_host, ClientLimits::default());
        let talks = LiveTalks::new(Instant::now());
        let inner = Inner { options, resolver: Box::new(resolver), own, limits, talks };
        Self { inner: Arc::new(inner), client }
    }

    /// The exit for another client. All exits for it count together.
    #[must_use]
    pub fn for_client(&self, client: Client, limits: ClientLimits) -> Self {
        let client = self.inner.limits.share_of(client, limits);
        Self { inner: Arc::clone(&self.inner), client }
    }

    /// The bounds.
    pub fn options(&self) -> &ExitOptions {
        &self.inner.options
    }

    /// Those connections to targets that are wanted, of all clients. Which rule of an edge they
    /// come under is not known here.
    pub async fn conversations(&self, wanted: &Wanted) -> Conversations {
        self.inner.talks.told(wanted, |_| Vec::new()).await
    }

    /// The client begins to talk to a target that it was connected to.
    fn begin(&self, target: &Target) -> Talk {
        let edge = Some(self.client().to_string().into());
        let target = target.clone();
        self.inner.talks.begin(Parties { carried: Carried::Stream, edge, source: None, target })
    }

    /// Whose requests it carries out.
    pub fn client(&self) -> &Client {
        self.client.client()
    }

    /// Connects to a target: limit, policy on the name, resolution, policy on each address,
    /// connection. The connection counts against the limit for as long as it lives.
    pub async fn open_tcp(&self, target: &Target) -> Result<GuardedStream, Refusal> {
        let place = self.client.connection(&self.inner.limits)?;
        let addresses = self.allowed_addresses(target).await?;
        let within = self.inner.options.connect_timeout;
        let tcp = match timeout(within, connect::connect_any(&addresses, target.port)).await {
            Ok(connected) => connected.and_then(GuardedStream::new),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        let tcp = tcp.map_err(|error| {
            RefusalKind::ConnectFailed(ConnectFailure::from(&error))
                .with(format!("{target}: {error}"))
        })?;
        Ok(tcp.counted(place))
    }

    /// Opens the sockets of a UDP association.
    pub(crate) async fn open_udp(&self, options: FlowOptions) -> Result<UdpExit, Refusal> {
        let place = self.association()?;
        self.open_udp_at(place, options).await
    }

    /// A place for a UDP association, or for a socket for echo requests, which counts as one.
    pub(crate) fn association(&self) -> Result<Place, Refusal> {
        self.client.association(&self.inner.limits)
    }

    /// Opens the sockets of a UDP association that has a place.
    pub(crate) async fn open_udp_at(
        &self,
        place: Place,
        options: FlowOptions,
    ) -> Result<UdpExit, Refusal> {
        let most = self.inner.options.udp_idle_timeout;
        let idle_timeout = options.idle_timeout.unwrap_or(most).min(most);
        UdpExit::bind(self.clone(), idle_timeout, place)
            .await
            .map_err(|error| RefusalKind::ConnectFailed((&error).into()).with(error))
    }

    /// Opens a socket for echo requests.
    pub(crate) fn open_ping(&self, place: Place, is_v4: bool) -> Result<PingExit, Refusal> {
        PingExit::open(is_v4, PING_IDLE, place)
            .map_err(|error| RefusalKind::ConnectFailed((&error).into()).with(error))
    }

    /// The addresses of a target that the policy lets through, in the resolver's order.
    async fn allowed_addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Refusal> {
        let forbidden = |error: Forbidden| RefusalKind::Policy.with(error);
        self.client
            .policy(&self.inner.options)
            .check_name(&target.host, target.port)
            .map_err(forbidden)?;
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

    /// Whether packets may go to an address, and a port where the protocol has ports.
    pub(crate) fn may_send_to(&self, ip: IpAddr, port: Option<u16>) -> bool {
        let target = Target { host: Host::Ip(ip), port: port.unwrap_or_default() };
        self.check_address(&target, ip).is_ok()
    }

    fn check_address(&self, target: &Target, ip: IpAddr) -> Result<(), Forbidden> {
        let policy = self.client.policy(&self.inner.options);
        policy.check_address(&target.host, ip, target.port)?;
        // A 6to4 address may be the hub's own, or lead to an IPv4 address that is.
        let (own, inner) = (&self.inner.own, judged(ip));
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
        let within = self.inner.options.resolve_timeout;
        let deadline = Instant::now() + within;
        let lookup = match timeout_at(deadline, self.client.lookup(&self.inner.limits)).await {
            Ok(lookup) => lookup?,
            Err(_) => return Err(failed(&"earlier lookups of this client have had no answer yet")),
        };
        match timeout_at(deadline, self.inner.resolver.resolve(name, lookup)).await {
            Ok(Ok(found)) if found.is_empty() => Err(failed(&"no address")),
            Ok(Ok(found)) => Ok(found.into_iter().map(|ip| ip.to_canonical()).collect()),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(failed(&format_args!("no answer within {within:?}"))),
        }
    }
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
    use tokio::task::JoinSet;

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
        fn resolve<'a>(&'a self, _: &'a str, _: Lookup) -> Resolving<'a> {
            Box::pin(async { Ok(vec!["192.0.2.2".parse().unwrap()]) })
        }
    }

    /// Answers nothing, and goes on with it for ever.
    #[derive(Debug, Default)]
    struct Silent(std::sync::Mutex<Vec<Lookup>>);

    impl Resolve for Silent {
        fn resolve<'a>(&'a self, name: &'a str, lookup: Lookup) -> Resolving<'a> {
            if name == "known.example" {
                return Box::pin(async { Ok(vec!["192.0.2.9".parse().unwrap()]) });
            }
            self.0.lock().unwrap().push(lookup);
            Box::pin(std::future::pending())
        }
    }

    fn of(exit: &Exit, host: u8) -> Exit {
        exit.for_client(Client::host([198, 51, 100, host].into()), ClientLimits::default())
    }

    #[tokio::test(start_paused = true)]
    async fn names_that_are_never_answered_hold_up_their_client_alone() {
        let exit = Exit::with_resolver(ExitOptions::default(), Silent::default());
        let (greedy, other) = (of(&exit, 1), of(&exit, 2));
        let target: Target = "silent.example:80".parse().unwrap();
        let waiting: JoinSet<_> = (0..3_000)
            .map(|_| {
                let (greedy, target) = (greedy.clone(), target.clone());
                async move { greedy.allowed_addresses(&target).await }
            })
            .collect();
        let failed = waiting.join_all().await;
        assert!(failed.iter().all(Result::is_err));
        assert!(allows(&other, "known.example:80").await);
        // Another bond of the same client waits for those lookups too.
        let again = of(&exit, 1).allowed_addresses(&"known.example:80".parse().unwrap()).await;
        let refusal = again.unwrap_err();
        assert!(refusal.to_string().contains("earlier lookups of this client"), "{refusal}");
    }

    #[tokio::test]
    async fn the_system_knows_its_own_name() {
        let exit = Exit::new(ExitOptions::default());
        let target: Target = "localhost:80".parse().unwrap();
        let found = exit.resolve(&target.host).await.unwrap();
        assert!(found.iter().all(IpAddr::is_loopback) && !found.is_empty(), "{found:?}");
    }

    #[tokio::test]
    async fn one_client_does_not_take_all_places() {
        let options = ExitOptions { max_connections: 8, ..ExitOptions::default() };
        let exit = Exit::with_resolver(options, Silent::default());
        let take = |of: &Exit| of.client.connection(&of.inner.limits);
        let greedy = of(&exit, 1);
        let places: Vec<_> = std::iter::from_fn(|| take(&greedy).ok()).collect();
        assert_eq!(places.len(), 6, "three times as many as are left");
        assert_eq!(take(&greedy).unwrap_err().kind, RefusalKind::LimitReached);
        let place = take(&of(&exit, 2)).unwrap();
        drop((places, place));
        let limits = ClientLimits { connections: 1, ..ClientLimits::default() };
        let limited = exit.for_client(Client::host([198, 51, 100, 3].into()), limits);
        let place = take(&limited).unwrap();
        assert_eq!(take(&limited).unwrap_err().kind, RefusalKind::LimitReached);
        drop(place);
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
