//! Which sockets and addresses of the hub the paths may use, given the interfaces. Sans-I/O.

use crate::socket::{BindTo, UplinkOptions};
use polypath_bond::identity::HubAddress;
use polypath_host::interfaces::{Interface, Kind, Snapshot};
use std::net::{IpAddr, SocketAddr};

/// The paths of an edge.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgePaths {
    /// One for each usable uplink, as they come and go.
    Auto,
    /// These.
    Listed(Vec<WantedPath>),
}

impl EdgePaths {
    /// The hub's addresses that single paths have.
    pub(super) fn remotes(&self) -> impl Iterator<Item = &HubAddress> {
        let paths = match self {
            Self::Auto => &[],
            Self::Listed(paths) => paths.as_slice(),
        };
        paths.iter().filter_map(|path| path.remote.as_ref())
    }
}

/// A path that the user listed.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedPath {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub local: Local,
    /// The hub's address on it, if not the usual one.
    pub remote: Option<HubAddress>,
    /// Used only when no other path works.
    pub backup: bool,
}

/// Where a path begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Local {
    /// An interface, with whatever addresses it has.
    Interface(String),
    /// A local address.
    Address(IpAddr),
}

/// A path that can be used now.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Planned {
    pub(super) name: String,
    /// How it may reach the hub, at least one, in the order in which they are tried.
    pub(super) ways: Vec<PlannedWay>,
    pub(super) backup: bool,
}

impl Planned {
    /// Whether all ways of `other` are among those of this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.backup == other.backup && other.ways.iter().all(|way| self.ways.contains(way))
    }
}

/// Where a path may begin, and the hub's address that can be reached from there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedWay {
    pub(super) start: Start,
    pub(super) remote: SocketAddr,
}

/// A socket for a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    pub(super) socket: UplinkOptions,
    /// Index of the interface that the socket is tied to: another one of the same name needs
    /// another socket.
    pub(super) device: Option<u32>,
}

/// Why a path cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unplanned {
    #[error("path {path}: there is no interface {interface:?}")]
    NoInterface { path: String, interface: String },
    #[error("path {path}: the interface {interface} is down or has no carrier")]
    Down { path: String, interface: String },
    #[error("path {path}: the interface {interface} has no address")]
    NoAddress { path: String, interface: String },
    #[error(
        "path {path}: the interface {interface} has {has} addresses only, and the hub has none of \
         these; allowed: a hub with an {has} address, in the join string or as NAME=LOCAL,REMOTE"
    )]
    OtherFamily { path: String, interface: String, has: &'static str },
    #[error("path {path}: no address of the hub is known yet")]
    NoHubAddress { path: String },
    #[error("path {path}: the hub has no {family} address; allowed: NAME=LOCAL,REMOTE")]
    NoRemote { path: String, family: &'static str },
}

fn family(ip: &IpAddr) -> &'static str {
    if ip.is_ipv4() { "IPv4" } else { "IPv6" }
}

/// Each of `remotes` for which there is one of `locals` of the same family, with the first such.
fn pairs(locals: &[IpAddr], remotes: &[SocketAddr]) -> Vec<(IpAddr, SocketAddr)> {
    let pair = |remote: &SocketAddr| {
        let same = |ip: &&IpAddr| ip.is_ipv4() == remote.is_ipv4();
        locals.iter().find(same).map(|local| (*local, *remote))
    };
    remotes.iter().filter_map(pair).collect()
}

fn is_on_this_host(remote: IpAddr, interfaces: &Snapshot) -> bool {
    let has = |i: &Interface| i.addresses.iter().any(|address| address.ip == remote);
    remote.is_loopback() || interfaces.values().any(has)
}

/// The interface that has an address; rather one that works, and rather one that leads elsewhere,
/// if several have it.
fn owner(ip: IpAddr, interfaces: &Snapshot) -> Option<&Interface> {
    let has = |i: &&Interface| i.addresses.iter().any(|address| address.ip == ip);
    let worth = |i: &&Interface| (i.is_attached(), i.kind != Kind::Loopback);
    interfaces.values().filter(has).max_by_key(worth)
}

/// A way from an address of `interface`. It is tied to the interface: by the routes alone, what
/// comes from any address would leave by the one default route. What stays on this host passes no
/// uplink, and would not come back to a socket that is tied to one.
fn from_interface(
    interface: &Interface,
    (local, remote): (IpAddr, SocketAddr),
    interfaces: &Snapshot,
) -> PlannedWay {
    let leaves = interface.kind != Kind::Loopback && !is_on_this_host(remote.ip(), interfaces);
    let (bind_to, device) = if leaves {
        let (name, ipv6) = (interface.name.clone(), local.is_ipv6());
        (BindTo::Device { name, address: Some(local), ipv6 }, Some(interface.index))
    } else {
        (BindTo::Address(local), None)
    };
    PlannedWay { start: Start { socket: UplinkOptions::new(bind_to), device }, remote }
}

/// A path from `interface` by each pair of addresses; `None` without any.
fn by_each(
    path: &str,
    interface: &Interface,
    ends: Vec<(IpAddr, SocketAddr)>,
    interfaces: &Snapshot,
) -> Option<Planned> {
    let ways = ends.into_iter().map(|ends| from_interface(interface, ends, interfaces));
    let planned = Planned { name: path.to_owned(), ways: ways.collect(), backup: false };
    (!planned.ways.is_empty()).then_some(planned)
}

/// The path that an interface makes by itself; `None` if it is no uplink.
pub(super) fn automatic(
    interface: &Interface,
    interfaces: &Snapshot,
    remotes: &[SocketAddr],
) -> Option<Result<Planned, Unplanned>> {
    if !interface.is_usable() {
        return None;
    }
    let locals: Vec<_> = interface.source_addresses().collect();
    let name = &interface.name;
    let planned = by_each(name, interface, pairs(&locals, remotes), interfaces);
    Some(planned.ok_or_else(|| without_ends(name, interface, &locals, remotes)))
}

/// Why no address of the interface goes with one of the hub's.
fn without_ends(
    path: &str,
    interface: &Interface,
    locals: &[IpAddr],
    remotes: &[SocketAddr],
) -> Unplanned {
    let (path, interface) = (path.to_owned(), interface.name.clone());
    if remotes.is_empty() {
        return Unplanned::NoHubAddress { path };
    }
    match locals.first() {
        Some(local) => Unplanned::OtherFamily { path, interface, has: family(local) },
        None => Unplanned::NoAddress { path, interface },
    }
}

/// A listed path to those of `remotes` that it can reach.
pub(super) fn listed(
    wanted: &WantedPath,
    interfaces: &Snapshot,
    remotes: &[SocketAddr],
) -> Result<Planned, Unplanned> {
    let planned = match &wanted.local {
        Local::Address(ip) => from_address(&wanted.name, *ip, interfaces, remotes)?,
        Local::Interface(name) => from_named(&wanted.name, name, interfaces, remotes)?,
    };
    Ok(Planned { backup: wanted.backup, ..planned })
}

fn from_address(
    path: &str,
    ip: IpAddr,
    interfaces: &Snapshot,
    remotes: &[SocketAddr],
) -> Result<Planned, Unplanned> {
    let no_remote = || match remotes.is_empty() {
        true => Unplanned::NoHubAddress { path: path.to_owned() },
        false => Unplanned::NoRemote { path: path.to_owned(), family: family(&ip) },
    };
    let ends = pairs(&[ip], remotes);
    if ends.is_empty() {
        return Err(no_remote());
    }
    match owner(ip, interfaces) {
        Some(owner) => {
            works(path, owner)?;
            by_each(path, owner, ends, interfaces).ok_or_else(no_remote)
        }
        // An address of a local route, or none of this host: opening the socket tells.
        None => {
            let socket = UplinkOptions::new(BindTo::Address(ip));
            let start = Start { socket, device: None };
            let way = |(_, remote)| PlannedWay { start: start.clone(), remote };
            let ways = ends.into_iter().map(way).collect();
            Ok(Planned { name: path.to_owned(), ways, backup: false })
        }
    }
}

fn from_named(
    path: &str,
    name: &str,
    interfaces: &Snapshot,
    remotes: &[SocketAddr],
) -> Result<Planned, Unplanned> {
    let missing = || Unplanned::NoInterface { path: path.to_owned(), interface: name.to_owned() };
    let interface = interfaces.values().find(|i| i.name == name).ok_or_else(missing)?;
    works(path, interface)?;
    let locals: Vec<_> = interface.global_addresses().collect();
    let planned = by_each(path, interface, pairs(&locals, remotes), interfaces);
    planned.ok_or_else(|| without_ends(path, interface, &locals, remotes))
}

fn works(path: &str, interface: &Interface) -> Result<(), Unplanned> {
    let down = || Unplanned::Down { path: path.to_owned(), interface: interface.name.clone() };
    interface.is_attached().then_some(()).ok_or_else(down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_host::interfaces::Address;

    fn interface(index: u32, name: &str, ips: &[&str]) -> Interface {
        let addresses = ips.iter().map(|ip| Address { ip: ip.parse().unwrap(), prefix_len: 24 });
        Interface {
            name: name.to_owned(),
            index,
            kind: Kind::Cellular,
            addresses: addresses.collect(),
            mtu: 1500,
            up: true,
            running: true,
            default_route_v4: true,
            default_route_v6: false,
        }
    }

    /// The only way of a path.
    fn only(planned: Result<Planned, Unplanned>) -> PlannedWay {
        let [way] = <[_; 1]>::try_from(planned.unwrap().ways).unwrap();
        way
    }

    fn wanted(local: Local) -> WantedPath {
        WantedPath { name: "lte".to_owned(), local, remote: None, backup: false }
    }

    #[test]
    fn a_path_uses_the_hubs_address_of_its_own_family() {
        let hub = ["[2001:db8::1]:4433".parse().unwrap(), "192.0.2.1:4433".parse().unwrap()];
        let lte = interface(3, "wwan0", &["10.0.0.2"]);
        let all: Snapshot = [(3, lte.clone())].into();
        let planned = automatic(&lte, &all, &hub).unwrap();
        assert_eq!(planned.as_ref().unwrap().name, "wwan0");
        assert_eq!(only(planned).remote, hub[1]);
        let error = automatic(&lte, &all, &hub[..1]).unwrap().unwrap_err();
        assert!(error.to_string().contains("has IPv4 addresses only"), "{error}");
        let by_address = wanted(Local::Address("10.0.0.2".parse().unwrap()));
        let error = listed(&by_address, &Snapshot::new(), &hub[..1]).unwrap_err();
        assert!(error.to_string().contains("IPv4"), "{error}");
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let hub = ["192.0.2.1:4433".parse().unwrap()];
        let path = wanted(Local::Interface("wwan0".to_owned()));
        let error = listed(&path, &Snapshot::new(), &hub).unwrap_err();
        assert!(error.to_string().contains("\"wwan0\""), "{error}");
        let there: Snapshot = [(3, interface(3, "wwan0", &["169.254.0.1", "10.0.0.2"]))].into();
        let way = only(listed(&path, &there, &hub));
        assert_eq!(way.remote, hub[0]);
        let BindTo::Device { address, .. } = way.start.socket.bind_to else { panic!("a device") };
        assert_eq!(address, Some("10.0.0.2".parse().unwrap()), "not the link-local address");
    }

    fn uplinks() -> Snapshot {
        let lo = Interface { kind: Kind::Loopback, ..interface(1, "lo", &["127.0.0.1"]) };
        let (wifi, lte) =
            (interface(2, "wlan0", &["10.1.0.2"]), interface(3, "wwan0", &["10.2.0.2"]));
        [(1, lo), (2, wifi), (3, lte)].into()
    }

    #[test]
    fn a_path_may_take_every_address_that_it_has_a_family_for() {
        let hub: Vec<SocketAddr> = ["[2001:db8::1]:1", "192.0.2.1:1", "[2001:db8::2]:1"]
            .map(|a| a.parse().unwrap())
            .into();
        let both: Snapshot = [(3, interface(3, "wwan0", &["10.0.0.2", "2001:db8:1::2"]))].into();
        let planned = listed(&wanted(Local::Interface("wwan0".to_owned())), &both, &hub).unwrap();
        let remotes: Vec<_> = planned.ways.iter().map(|way| way.remote).collect();
        assert_eq!(remotes, hub, "in their order");
        assert_eq!(planned.ways[0].start, planned.ways[2].start, "one socket for a family");
        assert_ne!(planned.ways[0].start, planned.ways[1].start);
        let without = Planned { ways: planned.ways[1..].to_vec(), ..planned.clone() };
        assert!(planned.covers(&without) && !without.covers(&planned));
    }

    fn from(local: &str, remote: &str, interfaces: &Snapshot) -> Result<Planned, Unplanned> {
        let path = wanted(Local::Address(local.parse().unwrap()));
        listed(&path, interfaces, &[remote.parse().unwrap()])
    }

    #[test]
    fn an_address_leaves_by_the_interface_that_has_it() {
        let start = |interfaces: &_| only(from("10.2.0.2", "192.0.2.1:1", interfaces)).start;
        let first = start(&uplinks());
        let BindTo::Device { name, address, .. } = first.socket.bind_to else { panic!("a device") };
        assert_eq!((name.as_str(), address), ("wwan0", Some([10, 2, 0, 2].into())));
        assert_eq!(first.device, Some(3));

        // The address moves to an interface that takes the name, then to another one.
        let mut moved = uplinks();
        let lte = moved.remove(&3).unwrap();
        moved.insert(4, Interface { index: 4, ..lte });
        assert_eq!(start(&moved).device, Some(4));
        moved.get_mut(&4).unwrap().running = false;
        let error = from("10.2.0.2", "192.0.2.1:1", &moved).unwrap_err();
        assert!(error.to_string().contains("wwan0 is down or has no carrier"), "{error}");
        moved
            .get_mut(&2)
            .unwrap()
            .addresses
            .push(Address { ip: [10, 2, 0, 2].into(), prefix_len: 24 });
        assert_eq!(start(&moved).device, Some(2));
    }

    #[test]
    fn what_stays_on_this_host_is_tied_to_no_uplink() {
        for (local, remote) in [
            ("127.0.0.1", "127.0.0.1:1"),
            ("127.0.0.2", "127.0.0.1:1"),
            ("127.0.0.1", "10.1.0.2:1"),
            ("10.2.0.2", "10.1.0.2:1"),
            ("10.2.0.2", "10.2.0.2:1"),
            // Nobody has it: opening the socket tells.
            ("10.9.0.9", "192.0.2.1:1"),
        ] {
            let start = only(from(local, remote, &uplinks())).start;
            assert_eq!(start.socket.bind_to, BindTo::Address(local.parse().unwrap()), "{remote}");
        }
        let path = wanted(Local::Interface("wwan0".to_owned()));
        let start = only(listed(&path, &uplinks(), &["10.2.0.2:1".parse().unwrap()])).start;
        assert_eq!(start.socket.bind_to, BindTo::Address([10, 2, 0, 2].into()));
    }

    #[test]
    fn why_an_interface_makes_no_path_is_told() {
        let named = || wanted(Local::Interface("wwan0".to_owned()));
        let hub = ["192.0.2.1:4433".parse().unwrap()];
        let told =
            |lte: Interface| listed(&named(), &[(3, lte)].into(), &hub).unwrap_err().to_string();
        let only_ipv6 = told(interface(3, "wwan0", &["2001:db8::2"]));
        assert!(only_ipv6.contains("wwan0 has IPv6 addresses only"), "{only_ipv6}");
        let without = told(interface(3, "wwan0", &["169.254.0.1"]));
        assert!(without.contains("wwan0 has no address"), "{without}");
        let down = told(Interface { up: false, ..interface(3, "wwan0", &["10.0.0.2"]) });
        assert!(down.contains("wwan0 is down"), "{down}");
    }
}
