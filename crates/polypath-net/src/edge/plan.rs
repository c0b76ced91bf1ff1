//! Which sockets the paths need, given the interfaces. Sans-I/O.

use crate::interfaces::{Interface, Snapshot};
use crate::socket::{BindTo, UplinkOptions};
use std::net::{IpAddr, SocketAddr};

/// The paths of an edge.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgePaths {
    /// One for each usable uplink, as they come and go.
    Auto,
    /// These.
    Listed(Vec<WantedPath>),
}

/// A path that the user listed.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedPath {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub local: Local,
    /// The hub's address on it, if not the usual one.
    pub remote: Option<SocketAddr>,
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

/// A path that can be used now: its socket and the hub's address.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) socket: UplinkOptions,
    pub(super) remote: SocketAddr,
    pub(super) backup: bool,
}

/// Why a listed path cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unplanned {
    #[error("path {path}: there is no interface {interface:?}, or it is down or has no address")]
    NoInterface { path: String, interface: String },
    #[error("path {path}: the hub has no {family} address; allowed: NAME=LOCAL,REMOTE")]
    NoRemote { path: String, family: &'static str },
}

fn family(ip: &IpAddr) -> &'static str {
    if ip.is_ipv4() { "IPv4" } else { "IPv6" }
}

/// The first of `remotes` that `local` can reach.
fn remote_for(local: IpAddr, remotes: &[SocketAddr]) -> Option<SocketAddr> {
    remotes.iter().copied().find(|remote| remote.is_ipv4() == local.is_ipv4())
}

/// An address of the interface and the hub's address of the same family, IPv4 or IPv6 as the hub's
/// addresses are ordered.
fn pair(interface: &Interface, remotes: &[SocketAddr]) -> Option<(IpAddr, SocketAddr)> {
    let addresses = || interface.addresses.iter().map(|address| address.ip);
    let usable = |ip: &IpAddr| match ip {
        IpAddr::V4(ip) => !ip.is_link_local(),
        IpAddr::V6(ip) => !ip.is_unicast_link_local(),
    };
    remotes.iter().find_map(|remote| {
        let same = |ip: &IpAddr| ip.is_ipv4() == remote.is_ipv4();
        addresses().filter(usable).find(same).map(|local| (local, *remote))
    })
}

fn on_device(interface: &Interface, local: IpAddr) -> UplinkOptions {
    UplinkOptions::new(BindTo::Device {
        name: interface.name.clone(),
        address: Some(local),
        ipv6: local.is_ipv6(),
    })
}

/// The path that an interface makes by itself.
pub(super) fn automatic(interface: &Interface, remotes: &[SocketAddr]) -> Option<Planned> {
    if !interface.is_usable() {
        return None;
    }
    let local = interface.source_addresses().find(|ip| remote_for(*ip, remotes).is_some())?;
    Some(Planned {
        name: interface.name.clone(),
        socket: on_device(interface, local),
        remote: remote_for(local, remotes)?,
        backup: false,
    })
}

/// The socket of a listed path.
pub(super) fn listed(
    wanted: &WantedPath,
    interfaces: &Snapshot,
    remotes: &[SocketAddr],
) -> Result<Planned, Unplanned> {
    let path = || wanted.name.clone();
    let own = wanted.remote.as_slice();
    let remotes = if own.is_empty() { remotes } else { own };
    let (socket, remote) = match &wanted.local {
        Local::Address(ip) => {
            let remote = remote_for(*ip, remotes)
                .ok_or_else(|| Unplanned::NoRemote { path: path(), family: family(ip) })?;
            (UplinkOptions::new(BindTo::Address(*ip)), remote)
        }
        Local::Interface(name) => {
            let missing = || Unplanned::NoInterface { path: path(), interface: name.clone() };
            let up = |i: &&Interface| i.name == *name && i.up && i.running;
            let interface = interfaces.values().find(up).ok_or_else(missing)?;
            let (local, remote) = pair(interface, remotes).ok_or_else(missing)?;
            (on_device(interface, local), remote)
        }
    };
    Ok(Planned { name: path(), socket, remote, backup: wanted.backup })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interfaces::{Address, Kind};

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

    fn wanted(local: Local, remote: Option<&str>) -> WantedPath {
        let remote = remote.map(|text| text.parse().unwrap());
        WantedPath { name: "lte".to_owned(), local, remote, backup: false }
    }

    #[test]
    fn a_path_uses_the_hubs_address_of_its_own_family() {
        let hub = ["[2001:db8::1]:4433".parse().unwrap(), "192.0.2.1:4433".parse().unwrap()];
        let lte = interface(3, "wwan0", &["10.0.0.2"]);
        let planned = automatic(&lte, &hub).unwrap();
        assert_eq!((planned.name.as_str(), planned.remote), ("wwan0", hub[1]));
        assert_eq!(automatic(&lte, &hub[..1]), None);
        let by_address = wanted(Local::Address("10.0.0.2".parse().unwrap()), None);
        let error = listed(&by_address, &Snapshot::new(), &hub[..1]).unwrap_err();
        assert!(error.to_string().contains("IPv4"), "{error}");
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let hub = ["192.0.2.1:4433".parse().unwrap()];
        let path = wanted(Local::Interface("wwan0".to_owned()), Some("192.0.2.9:1"));
        let error = listed(&path, &Snapshot::new(), &hub).unwrap_err();
        assert!(error.to_string().contains("\"wwan0\""), "{error}");
        let there: Snapshot = [(3, interface(3, "wwan0", &["169.254.0.1", "10.0.0.2"]))].into();
        let planned = listed(&path, &there, &hub).unwrap();
        assert_eq!(planned.remote, "192.0.2.9:1".parse().unwrap());
        let BindTo::Device { address, .. } = planned.socket.bind_to else { panic!("a device") };
        assert_eq!(address, Some("10.0.0.2".parse().unwrap()), "not the link-local address");
    }
}
