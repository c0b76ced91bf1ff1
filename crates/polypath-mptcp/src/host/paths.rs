//! Which addresses of which interfaces are paths.

use std::collections::BTreeMap;
use std::net::IpAddr;

use futures_util::TryStreamExt;
use polypath_gateway::netlink::Netlink;
use rtnetlink::packet_route::AddressFamily;
use rtnetlink::packet_route::address::{
    AddressAttribute, AddressFlags, AddressMessage, AddressScope,
};
use rtnetlink::packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use rtnetlink::packet_route::route::RouteAttribute;

use super::{HostError, routing};
use crate::choice::Choice;
use crate::path::Path;

/// The most paths: a connection has eight subflows at most (`MPTCP_SUBFLOWS_MAX` of Linux).
const MOST: usize = 8;

/// An interface that is up.
struct Interface {
    name: String,
    choice: Option<Choice>,
}

/// The paths that there are.
pub(super) async fn list(
    netlink: &Netlink,
    chosen: &[Choice],
    known: &[Path],
) -> Result<Vec<Path>, HostError> {
    let interfaces = interfaces(netlink, chosen).await?;
    let failed = HostError::of("listing addresses");
    let addresses: Vec<_> =
        netlink.handle.address().get().execute().try_collect().await.map_err(failed)?;
    let addresses = addresses.iter().filter_map(usable);
    let mut found: Vec<_> = addresses
        .filter_map(|(index, address)| Some((interfaces.get(&index)?, index, address)))
        .collect();
    found.sort_by_key(|(interface, _, address)| {
        (interface.choice.as_ref().map_or(0, |choice| choice.priority), *address)
    });
    found.truncate(MOST);
    let mut paths: Vec<Path> = Vec::new();
    for (interface, index, address) in found {
        let id = number(address, known, &paths);
        let choice = interface.choice.as_ref();
        paths.push(Path {
            interface: interface.name.clone(),
            index,
            address,
            id,
            backup: choice.is_some_and(|choice| choice.backup),
            priority: choice.map_or(0, |choice| choice.priority),
        });
    }
    Ok(paths)
}

/// The number that an address had, or one that none has.
fn number(address: IpAddr, known: &[Path], paths: &[Path]) -> u8 {
    let same = known.iter().find(|path| path.address == address).map(|path| path.id);
    let taken = |id: &u8| known.iter().chain(paths).any(|path| path.id == *id);
    // At most as many as there are paths and known ones are taken.
    same.unwrap_or_else(|| (1..=u8::MAX).find(|id| !taken(id)).unwrap_or(u8::MAX))
}

/// Interfaces that are up, and are chosen; without any choice those with a default route.
async fn interfaces(
    netlink: &Netlink,
    chosen: &[Choice],
) -> Result<BTreeMap<u32, Interface>, HostError> {
    let failed = HostError::of("listing interfaces");
    let links: Vec<LinkMessage> =
        netlink.handle.link().get().execute().try_collect().await.map_err(failed)?;
    let routes = routing::list(netlink).await?;
    let leads_out = |index: u32| {
        routes.iter().any(|route| {
            route.header.destination_prefix_length == 0
                && route.attributes.contains(&RouteAttribute::Oif(index))
        })
    };
    let mut interfaces = BTreeMap::new();
    for link in links {
        let index = link.header.index;
        let flags = link.header.flags;
        let up = flags.contains(LinkFlags::Up | LinkFlags::Running);
        let Some(name) = name(&link).filter(|_| up && !flags.contains(LinkFlags::Loopback)) else {
            continue;
        };
        let choice = chosen.iter().find(|choice| choice.interface.as_str() == name).cloned();
        if choice.is_some() || (chosen.is_empty() && leads_out(index)) {
            interfaces.insert(index, Interface { name: name.to_owned(), choice });
        }
    }
    Ok(interfaces)
}

fn name(link: &LinkMessage) -> Option<&str> {
    link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.as_str()),
        _ => None,
    })
}

/// Interface and address, if others can be reached from it.
fn usable(message: &AddressMessage) -> Option<(u32, IpAddr)> {
    let is_ip = matches!(message.header.family, AddressFamily::Inet | AddressFamily::Inet6);
    let universe = message.header.scope == AddressScope::Universe;
    let unusable = AddressFlags::Tentative | AddressFlags::Deprecated | AddressFlags::Dadfailed;
    let flags = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Flags(flags) => Some(*flags),
        _ => None,
    });
    if !is_ip || !universe || flags.is_some_and(|flags| flags.intersects(unusable)) {
        return None;
    }
    let local = |attribute: &AddressAttribute| match attribute {
        AddressAttribute::Local(address) => Some(*address),
        _ => None,
    };
    // IPv6 has only this one.
    let address = |attribute: &AddressAttribute| match attribute {
        AddressAttribute::Address(address) => Some(*address),
        _ => None,
    };
    let attributes = || message.attributes.iter();
    let found = attributes().find_map(local).or_else(|| attributes().find_map(address))?;
    Some((message.header.index, found))
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
