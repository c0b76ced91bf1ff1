//! The host's network interfaces, and what becomes of them.
//!
//! [`list`] takes a snapshot; a [`Watcher`] reports changes. The comparison of snapshots and the
//! debouncing are sans-I/O.

mod debounce;
mod diff;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::collections::BTreeMap;
use std::net::IpAddr;

use debounce::Debounce;
pub use diff::Change;
use diff::diff;
#[cfg(target_os = "linux")]
pub use linux::{Watcher, list, snapshot};
#[cfg(not(target_os = "linux"))]
pub use unsupported::{Watcher, list};

/// The interfaces at one time, by index.
pub type Snapshot = BTreeMap<u32, Interface>;

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, such as `wwan0`.
    pub name: String,
    /// Its index. A new interface of an old name has a new index.
    pub index: u32,
    /// What it is.
    pub kind: Kind,
    /// Its addresses that may be used as a source, sorted: no tentative, failed or deprecated ones.
    pub addresses: Vec<Address>,
    /// Largest packet in bytes.
    pub mtu: u32,
    /// Switched on by the administrator.
    pub up: bool,
    /// Has carrier: the cable is in, the modem is attached.
    pub running: bool,
    /// A default route for IPv4 leaves by it, in any routing table.
    pub default_route_v4: bool,
    /// A default route for IPv6 leaves by it, in any routing table.
    pub default_route_v6: bool,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Length of its network's prefix in bits.
    pub prefix_len: u8,
}

/// What an interface is, as far as the system tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Wired, or what looks so: a USB modem that poses as a network card is Ethernet too.
    Ethernet,
    /// Wireless LAN.
    Wifi,
    /// A mobile-network modem.
    Cellular,
    /// A point-to-point tunnel: VPN, TUN device, PPP.
    Tunnel,
    /// Bridges, containers' links and other devices without hardware.
    Virtual,
    /// This host.
    Loopback,
    /// Something else.
    Other,
}

impl Interface {
    /// Whether something is sent that leaves by it: it is up and running.
    pub const fn is_attached(&self) -> bool {
        self.up && self.running
    }

    /// Whether it is an uplink if nobody says so: it is attached, not loopback, and has a default
    /// route and an address of the same family that is not link-local.
    pub fn is_usable(&self) -> bool {
        let link = self.is_attached() && self.kind != Kind::Loopback;
        link && self.source_addresses().next().is_some()
    }

    /// The addresses from which a path can begin if nobody says by which interface.
    pub fn source_addresses(&self) -> impl Iterator<Item = IpAddr> {
        let route = |ip: &IpAddr| match ip {
            IpAddr::V4(_) => self.default_route_v4,
            IpAddr::V6(_) => self.default_route_v6,
        };
        self.global_addresses().filter(route)
    }

    /// The addresses that are good beyond the link.
    pub fn global_addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.addresses.iter().map(|a| a.ip).filter(|ip| !is_link_local(ip))
    }
}

fn is_link_local(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

/// The interfaces cannot be listed or watched.
#[derive(Debug, thiserror::Error)]
pub enum InterfaceError {
    /// No netlink socket.
    #[error("netlink socket: {0}")]
    Socket(std::io::Error),
    /// The kernel refused a query.
    #[error("netlink query for {what}: {reason}")]
    Query {
        /// What was asked for.
        what: &'static str,
        /// What the kernel or the library said.
        reason: String,
    },
    /// The netlink connection ended; start another watcher.
    #[error("netlink connection ended")]
    Closed,
    /// This operating system has no implementation.
    #[error("interfaces cannot be listed on {0}; name the local addresses instead")]
    Unsupported(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(ip: &str) -> Interface {
        Interface {
            name: "wwan0".into(),
            index: 3,
            kind: Kind::Cellular,
            addresses: vec![Address { ip: ip.parse().unwrap(), prefix_len: 24 }],
            mtu: 1500,
            up: true,
            running: true,
            default_route_v4: true,
            default_route_v6: false,
        }
    }

    #[test]
    fn usable_means_address_and_default_route_of_one_family() {
        assert!(interface("192.0.2.1").is_usable());
        assert!(!interface("169.254.0.1").is_usable());
        assert!(!interface("2001:db8::1").is_usable());
        assert!(Interface { default_route_v6: true, ..interface("2001:db8::1") }.is_usable());
        assert!(!Interface { default_route_v6: true, ..interface("fe80::1") }.is_usable());
        assert!(!Interface { up: false, ..interface("192.0.2.1") }.is_usable());
        assert!(!Interface { running: false, ..interface("192.0.2.1") }.is_usable());
        assert!(!Interface { kind: Kind::Loopback, ..interface("192.0.2.1") }.is_usable());
    }
}
