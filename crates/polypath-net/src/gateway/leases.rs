//! Which addresses the edges of a gateway have.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use polypath_bond::identity::PublicKey;

use crate::tunnel::Lease;

/// The number of the hub's own address in its networks; that of the network itself is 0.
const HUB: u32 = 1;

/// The addresses of edges: each key has the same number in the hub's networks for ever, so that
/// rules and names for it stay true. A file keeps them.
#[derive(Debug)]
pub struct Leases {
    v4: Option<Ipv4Net>,
    v6: Option<Ipv6Net>,
    file: Option<PathBuf>,
    numbers: BTreeMap<PublicKey, u32>,
    keys: BTreeMap<u32, PublicKey>,
}

/// Why edges cannot have addresses.
#[derive(Debug, thiserror::Error)]
pub enum LeasesError {
    /// There is no network.
    #[error("a gateway needs a network; allowed: one of IPv4, one of IPv6, or both")]
    NoNetwork,
    /// Two networks of a family.
    #[error("{first} and {second}: a gateway has one network of each family")]
    TwoNetworks {
        /// One.
        first: IpNet,
        /// The other.
        second: IpNet,
    },
    /// The network has no room for an edge.
    #[error("{0} has no room for an edge; allowed: prefixes up to /30 with IPv4, /126 with IPv6")]
    TooSmall(IpNet),
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line of the file is none.
    #[error("{path}, line {line}: {text:?} is no lease; allowed: KEY NUMBER, each once")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// All addresses are taken.
    #[error("all {0} addresses for edges are taken")]
    Full(u32),
}

impl Leases {
    /// The leases in these networks, as `file` keeps them, which need not exist.
    ///
    /// # Errors
    /// When the networks cannot be used, or the file makes no sense.
    pub fn open(networks: &[IpNet], file: Option<PathBuf>) -> Result<Self, LeasesError> {
        let (v4, v6) = families(networks)?;
        let mut leases = Self { v4, v6, file, numbers: BTreeMap::new(), keys: BTreeMap::new() };
        if let Some(path) = leases.file.clone() {
            leases.read(&path)?;
        }
        Ok(leases)
    }

    /// The hub's own addresses.
    pub fn hub(&self) -> Lease {
        self.lease(HUB)
    }

    /// The networks.
    pub fn networks(&self) -> impl Iterator<Item = IpNet> + use<> {
        self.v4
            .map(|net| IpNet::V4(net.trunc()))
            .into_iter()
            .chain(self.v6.map(|net| IpNet::V6(net.trunc())))
    }

    /// The addresses of an edge. The first time it gets the next number that is free from one that
    /// its key says, so that it would most likely be the same without the file.
    ///
    /// # Errors
    /// When none is free, or the file cannot be written: then it has none.
    pub fn of(&mut self, key: PublicKey) -> Result<Lease, LeasesError> {
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(self.lease(number));
        }
        let count = self.count();
        let wanted = key.as_bytes().iter().take(8).fold(0, |n, byte| n << 8 | u64::from(*byte));
        let first = (wanted % u64::from(count)) as u32;
        let mut numbers = (first..count).chain(0..first).map(|number| number + HUB + 1);
        let number = numbers.find(|number| !self.keys.contains_key(number));
        let number = number.ok_or(LeasesError::Full(count))?;
        self.keep(key, number)?;
        self.take(key, number);
        Ok(self.lease(number))
    }

    /// How many edges there can be.
    fn count(&self) -> u32 {
        // Of IPv4 the last address is that of broadcasts.
        let v4 = self.v4.map(|net| u32::MAX.checked_shr(net.prefix_len().into()).unwrap_or(0) - 1);
        let v6 =
            self.v6.map(|net| u32::MAX >> 32_u32.saturating_sub(128 - u32::from(net.prefix_len())));
        v4.into_iter().chain(v6).min().unwrap_or(0) - HUB
    }

    fn lease(&self, number: u32) -> Lease {
        let v4 = self.v4.map(|net| {
            let address = Ipv4Addr::from(u32::from(net.network()) + number);
            Ipv4Net::new_assert(address, net.prefix_len())
        });
        let v6 = self.v6.map(|net| {
            let address = Ipv6Addr::from(u128::from(net.network()) + u128::from(number));
            Ipv6Net::new_assert(address, net.prefix_len())
        });
        Lease::new(v4, v6).expect("there is a network: `families` says so")
    }

    fn take(&mut self, key: PublicKey, number: u32) {
        self.numbers.insert(key, number);
        self.keys.insert(number, key);
    }

    fn read(&mut self, path: &Path) -> Result<(), LeasesError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(LeasesError::Io { path: path.to_owned(), error }),
        };
        for (index, line) in text.lines().enumerate() {
            let (key, number) = self.parse(line).ok_or_else(|| LeasesError::Line {
                path: path.to_owned(),
                line: index + 1,
                text: line.to_owned(),
            })?;
            // A number that a smaller network does not have any more is free for another.
            if number <= self.count() + HUB {
                self.take(key, number);
            }
        }
        Ok(())
    }

    /// A line that says nothing against those before.
    fn parse(&self, line: &str) -> Option<(PublicKey, u32)> {
        let (key, number) = line.split_once(' ')?;
        let (key, number) = (key.parse().ok()?, number.parse().ok()?);
        let is_new = !self.numbers.contains_key(&key) && !self.keys.contains_key(&number);
        (is_new && number > HUB).then_some((key, number))
    }

    fn keep(&self, key: PublicKey, number: u32) -> Result<(), LeasesError> {
        let Some(path) = &self.file else { return Ok(()) };
        let append = || {
            let mut file = OpenOptions::new().create(true).append(true).open(path)?;
            // In one call: a line is there or not.
            file.write_all(format!("{key} {number}\n").as_bytes())?;
            file.sync_data()
        };
        append().map_err(|error| LeasesError::Io { path: path.clone(), error })
    }
}

fn families(networks: &[IpNet]) -> Result<(Option<Ipv4Net>, Option<Ipv6Net>), LeasesError> {
    let (mut v4, mut v6) = (None, None);
    for &network in networks {
        if network.prefix_len() > network.max_prefix_len() - 2 {
            return Err(LeasesError::TooSmall(network));
        }
        let before = match network {
            IpNet::V4(net) => v4.replace(net).map(IpNet::V4),
            IpNet::V6(net) => v6.replace(net).map(IpNet::V6),
        };
        if let Some(first) = before {
            return Err(LeasesError::TwoNetworks { first, second: network });
        }
    }
    if v4.is_none() && v6.is_none() {
        return Err(LeasesError::NoNetwork);
    }
    Ok((v4, v6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::identity::SecretKey;

    fn key(seed: u8) -> PublicKey {
        SecretKey::from_seed([seed; 32]).public()
    }

    fn nets(texts: &[&str]) -> Vec<IpNet> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn an_edge_has_the_same_addresses_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = Some(folder.path().join("leases"));
        let networks = nets(&["10.77.0.0/24", "fd77::/64"]);
        let mut before = Leases::open(&networks, file.clone()).unwrap();
        let leases: Vec<_> = (0..100).map(|n| before.of(key(n)).unwrap()).collect();
        let mut after = Leases::open(&networks, file).unwrap();
        // In another order.
        for n in (0..100).rev() {
            assert_eq!(after.of(key(n)).unwrap(), leases[usize::from(n)]);
        }
        let distinct: std::collections::BTreeSet<_> = leases.iter().map(Lease::v4).collect();
        assert_eq!(distinct.len(), 100);
        assert!(leases.iter().all(|lease| lease.v4() != before.hub().v4()));
    }

    /// Of the four addresses of a /30 one is the network's, one the hub's, one that of broadcasts.
    #[test]
    fn a_network_has_as_many_edges_as_it_has_room_for() {
        let mut leases = Leases::open(&nets(&["10.77.0.0/30"]), None).unwrap();
        let lease = leases.of(key(1)).unwrap();
        assert_eq!(lease.v4(), "10.77.0.2/30".parse().ok());
        assert_eq!(leases.of(key(1)).unwrap(), lease);
        assert!(matches!(leases.of(key(2)), Err(LeasesError::Full(1))));
        let count = |nets_: &[&str]| Leases::open(&nets(nets_), None).unwrap().count();
        assert_eq!(count(&["10.77.0.0/16"]), (1 << 16) - 3);
        assert_eq!(count(&["0.0.0.0/0"]), u32::MAX - 2);
        assert_eq!(count(&["fd77::/126"]), 2);
        assert_eq!(count(&["fd77::/48"]), u32::MAX - 1);
        assert_eq!(count(&["fd77::/48", "10.77.0.0/29"]), 5);
    }

    #[test]
    fn networks_that_cannot_be_used_are_named() {
        let error = |texts: &[&str]| Leases::open(&nets(texts), None).unwrap_err().to_string();
        assert!(error(&[]).contains("needs a network"));
        assert!(error(&["10.0.0.0/31"]).contains("10.0.0.0/31 has no room"));
        let twice = error(&["10.0.0.0/8", "10.1.0.0/16"]);
        assert!(twice.contains("10.0.0.0/8 and 10.1.0.0/16"), "{twice}");
    }

    #[test]
    fn a_file_that_is_malformed_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leases");
        let first = format!("{} 7\n", key(1));
        for line in [format!("{} 7", key(2)), format!("{} 8", key(1)), "x 9".to_owned()] {
            fs::write(&path, format!("{first}{line}\n")).unwrap();
            let error = Leases::open(&nets(&["10.77.0.0/24"]), Some(path.clone())).unwrap_err();
            assert!(matches!(error, LeasesError::Line { line: 2, .. }), "{error}");
        }
    }
}
