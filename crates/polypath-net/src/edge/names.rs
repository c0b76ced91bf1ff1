//! The hub's addresses, as its names resolve now.

use crate::blocking_pool::BlockingPool;
use futures_util::future::join_all;
use polypath_bond::identity::HubAddress;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;

/// Names that are looked up at the same time: the hub's, and those of paths.
const LOOKUPS: usize = 4;
/// Addresses that are used of one name. Names of hubs have one or two; more would take minutes to
/// try where they are silent.
const MAX_ADDRESSES: usize = 16;

/// The answer of a [`LookUp`].
pub type LookingUp<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Finds the addresses of a hub's host.
pub trait LookUp: fmt::Debug + Send + Sync + 'static {
    /// The addresses of `host` with `port`, the preferred ones first.
    fn look_up<'a>(&'a self, host: &'a str, port: u16) -> LookingUp<'a>;
}

/// The resolver of the operating system, in threads of its own: it has no call that does not block.
#[derive(Debug)]
pub(super) struct SystemNames(io::Result<BlockingPool>);

impl SystemNames {
    pub(super) fn new() -> Self {
        Self(BlockingPool::new("polypath-names", LOOKUPS))
    }
}

impl LookUp for SystemNames {
    fn look_up<'a>(&'a self, host: &'a str, port: u16) -> LookingUp<'a> {
        let owned = host.to_owned();
        Box::pin(async move {
            let threads = self.0.as_ref().map_err(|error| io::Error::from(error.kind()))?;
            let found = threads.run(move || (owned, port).to_socket_addrs()).await??;
            Ok(found.collect())
        })
    }
}

/// What came of looking up every name once.
#[derive(Debug)]
pub(super) struct Found(Vec<(HubAddress, io::Result<Vec<SocketAddr>>)>);

/// The addresses of names, as last seen.
#[derive(Debug)]
pub(super) struct Names {
    resolver: Arc<dyn LookUp>,
    /// A name that cannot be resolved now keeps the addresses that it had.
    known: BTreeMap<HubAddress, Vec<SocketAddr>>,
}

impl Names {
    /// Of these addresses, those that are names.
    pub(super) fn new<'a>(
        resolver: Arc<dyn LookUp>,
        addresses: impl Iterator<Item = &'a HubAddress>,
    ) -> Self {
        let names = addresses.filter(|address| matches!(address, HubAddress::Name { .. }));
        Self { resolver, known: names.map(|name| (name.clone(), Vec::new())).collect() }
    }

    /// Whether there is nothing to look up.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether some name has no address yet.
    pub(super) fn lacks_some(&self) -> bool {
        self.known.values().any(Vec::is_empty)
    }

    /// What is known of `addresses`, each once, the families in turn (RFC 8305, section 4).
    pub(super) fn of(&self, addresses: &[HubAddress]) -> Vec<SocketAddr> {
        let mut found = Vec::new();
        for address in addresses {
            match address {
                HubAddress::Socket(address) => found.push(*address),
                HubAddress::Name { .. } => {
                    found.extend(self.known.get(address).into_iter().flatten());
                }
            }
        }
        in_turn(&found)
    }

    /// Looks up every name.
    pub(super) fn look_up(&self) -> impl Future<Output = Found> + Send + use<> {
        let lookups = self.known.keys().cloned().map(|name| {
            let resolver = Arc::clone(&self.resolver);
            async move {
                let found = match &name {
                    HubAddress::Socket(address) => Ok(vec![*address]),
                    HubAddress::Name { host, port } => resolver.look_up(host, *port).await,
                };
                (name, found)
            }
        });
        let lookups = join_all(lookups.collect::<Vec<_>>());
        async move { Found(lookups.await) }
    }

    /// Takes up what was found. Returns why a name has no address, one line for each.
    pub(super) fn learn(&mut self, found: Found) -> Vec<String> {
        let mut failed = Vec::new();
        for (name, found) in found.0 {
            match found {
                Ok(found) if found.is_empty() => {
                    failed.push(format!("the hub's name {name} has no address"));
                }
                Ok(mut found) => {
                    found.truncate(MAX_ADDRESSES);
                    self.known.insert(name, found);
                }
                Err(error) => {
                    failed.push(format!("the hub's name {name} cannot be resolved: {error}"));
                }
            }
        }
        failed
    }
}

/// Each address once, an address of one family after one of the other while there are both.
fn in_turn(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v4 = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.iter().copied().partition(|address| address.is_ipv4() == first_is_v4);
    let longest = first.len().max(second.len());
    let mut out: Vec<SocketAddr> = Vec::with_capacity(addresses.len());
    for index in 0..longest {
        for address in [first.get(index), second.get(index)].into_iter().flatten() {
            if !out.contains(address) {
                out.push(*address);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_tried_in_turn_and_each_address_once() {
        let parse = |list: &[&str]| list.iter().map(|a| a.parse().unwrap()).collect::<Vec<_>>();
        let given = parse(&["[::1]:1", "[::2]:1", "[::3]:1", "10.0.0.1:1", "[::1]:1"]);
        assert_eq!(in_turn(&given), parse(&["[::1]:1", "10.0.0.1:1", "[::2]:1", "[::3]:1"]));
        assert!(in_turn(&[]).is_empty());
    }

    #[test]
    fn a_name_that_fails_keeps_the_addresses_that_it_had() {
        let name: HubAddress = "hub.example.org:1".parse().unwrap();
        let mut names = Names::new(Arc::new(SystemNames::new()), [&name].into_iter());
        assert!(names.lacks_some());
        let address: SocketAddr = "10.0.0.1:1".parse().unwrap();
        assert!(names.learn(Found(vec![(name.clone(), Ok(vec![address]))])).is_empty());
        let failed = names.learn(Found(vec![(name.clone(), Err(io::ErrorKind::TimedOut.into()))]));
        assert!(failed[0].contains("hub.example.org:1 cannot be resolved"), "{failed:?}");
        assert_eq!(names.of(&[name]), [address]);
        assert!(!names.lacks_some());
    }
}
