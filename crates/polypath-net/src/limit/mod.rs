//! Limits that clients share fairly, and what is said of those who reach them.

mod fair;
mod notice;

pub use fair::{FairLimit, LimitReached, Place};
pub(crate) use notice::Lines;
pub use notice::{Notice, Notices};

use std::cmp::Ordering;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use polypath_bond::Source;
use polypath_bond::identity::PublicKey;

/// Who takes part of what is limited.
#[derive(Clone, Debug)]
pub struct Client {
    id: ClientId,
    /// What people call it.
    name: Arc<str>,
}

impl PartialEq for Client {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Client {}

impl PartialOrd for Client {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Client {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

/// What tells clients apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ClientId {
    Edge(PublicKey),
    Host(Source),
}

impl Client {
    /// An edge and what the operator calls it; its key stands for an empty name.
    pub fn edge(key: PublicKey, name: &str) -> Self {
        let name = if name.is_empty() { key.to_string() } else { name.to_owned() };
        Self { id: ClientId::Edge(key), name: name.into() }
    }

    /// The host that an address belongs to.
    pub fn host(address: IpAddr) -> Self {
        let name = address.to_canonical().to_string().into();
        Self { id: ClientId::Host(Source::of(address)), name }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_host_are_one_client() {
        let id = |ip: &str| Client::host(ip.parse().unwrap()).id;
        assert_eq!(id("192.0.2.1"), id("::ffff:192.0.2.1"));
        assert_ne!(id("192.0.2.1"), id("192.0.2.2"));
        assert_eq!(id("2001:db8::1"), id("2001:db8::ffff:0:0:2"));
        assert_ne!(id("2001:db8::1"), id("2001:db8:0:1::1"));
        assert_eq!(Client::host("2001:db8::1".parse().unwrap()).to_string(), "2001:db8::1");
    }
}
