//! Which addresses of which interfaces are paths.

use std::net::IpAddr;

use polypath_host::interfaces::{Interface, Kind, Snapshot};

use crate::choice::Choice;
use crate::path::Path;

/// The most paths: a connection has eight subflows at most (`MPTCP_SUBFLOWS_MAX` of Linux).
const MOST: usize = 8;

/// The paths that there are: from the uplinks, or from what is chosen in place of these.
pub(super) fn of(interfaces: &Snapshot, chosen: &[Choice], known: &[Path]) -> Vec<Path> {
    let of_interface = |interface| starts(interface, chosen).into_iter();
    let mut found: Vec<_> = interfaces.values().flat_map(of_interface).collect();
    found
        .sort_by_key(|(_, choice, address)| (choice.map_or(0, |choice| choice.priority), *address));
    found.truncate(MOST);
    let mut paths: Vec<Path> = Vec::new();
    for (interface, choice, address) in found {
        let id = number(address, known, &paths);
        paths.push(Path {
            interface: interface.name.clone(),
            index: interface.index,
            address,
            id,
            backup: choice.is_some_and(|choice| choice.backup),
            priority: choice.map_or(0, |choice| choice.priority),
        });
    }
    paths
}

/// The addresses of an interface from which paths begin, with what was said of it.
fn starts<'a>(
    interface: &'a Interface,
    chosen: &'a [Choice],
) -> Vec<(&'a Interface, Option<&'a Choice>, IpAddr)> {
    let choice = chosen.iter().find(|choice| choice.interface.as_str() == interface.name);
    let addresses: Vec<IpAddr> = match choice {
        Some(_) if interface.is_attached() && interface.kind != Kind::Loopback => {
            interface.global_addresses().collect()
        }
        None if chosen.is_empty() && interface.is_usable() => {
            interface.source_addresses().collect()
        }
        _ => Vec::new(),
    };
    addresses.into_iter().map(|address| (interface, choice, address)).collect()
}

/// The number that an address had, or one that none has.
fn number(address: IpAddr, known: &[Path], paths: &[Path]) -> u8 {
    let same = known.iter().find(|path| path.address == address).map(|path| path.id);
    let taken = |id: &u8| known.iter().chain(paths).any(|path| path.id == *id);
    // At most as many as there are paths and known ones are taken.
    same.unwrap_or_else(|| (1..=u8::MAX).find(|id| !taken(id)).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_their_numbers() {
        let path = |id, last: u8| Path {
            interface: "eth0".to_owned(),
            index: 2,
            address: [10, 0, 0, last].into(),
            id,
            backup: false,
            priority: 0,
        };
        let known = [path(1, 1), path(2, 2)];
        assert_eq!(number([10, 0, 0, 2].into(), &known, &[]), 2);
        assert_eq!(number([10, 0, 0, 3].into(), &known, &[path(3, 9)]), 4);
    }
}
