//! Routes.

use std::net::IpAddr;

use ipnet::IpNet;
use polypath_host::netlink::{self, Netlink, table, told};
use rtnetlink::RouteMessageBuilder;
use rtnetlink::packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteProtocol, RouteScope, RouteType,
};

use super::HostError;
use super::family::{self, family};
use crate::InterfaceName;
use crate::plan::{DEVICE_TABLE, Family, INTERCEPT_TABLE, PROTOCOL, Route, RouteKind};

/// Makes our routes these, in the families that the kernel has. Returns how many have been removed.
pub(super) async fn set(netlink: &Netlink, wanted: &[Route]) -> Result<usize, HostError> {
    for route in available(wanted) {
        let message = message(netlink, route).await?;
        let failed = |error| HostError::Netlink { what: route.to_string(), error: told(error) };
        netlink.handle.route().add(message).replace().execute().await.map_err(failed)?;
    }
    let is_wanted = |message: &RouteMessage| wanted.iter().any(|route| is_for(message, route));
    let extra = list(netlink).await?.into_iter().filter(|message| !is_wanted(message));
    let extra: Vec<_> = extra.collect();
    let count = extra.len();
    for message in extra {
        let to = destination(&message).map_or_else(String::new, |to| to.to_string());
        let what = format!("removing the route to {to} from table {}", table(&message));
        let removed = netlink.handle.route().del(message).execute().await;
        removed.map_err(|error| HostError::Netlink { what, error: told(error) })?;
    }
    Ok(count)
}

/// Whether these routes are there.
pub(super) async fn are_set(netlink: &Netlink, wanted: &[Route]) -> Result<bool, HostError> {
    let there = list(netlink).await?;
    Ok(available(wanted).all(|route| there.iter().any(|message| is_for(message, route))))
}

fn available(wanted: &[Route]) -> impl Iterator<Item = &Route> {
    let families = family::available();
    wanted.iter().filter(move |route| families.contains(&Family::of(route.destination)))
}

/// Whether it has destination and table of a route.
fn is_for(message: &RouteMessage, route: &Route) -> bool {
    destination(message) == Some(route.destination) && table(message) == route.table
}

/// All routes that are known as ours.
async fn list(netlink: &Netlink) -> Result<Vec<RouteMessage>, HostError> {
    let failed = |error| HostError::Netlink { what: "listing routes".into(), error: told(error) };
    let routes = netlink::routes(&netlink.handle).await.map_err(failed)?;
    Ok(routes.into_iter().filter(is_ours).collect())
}

fn is_ours(message: &RouteMessage) -> bool {
    let tables = [DEVICE_TABLE, INTERCEPT_TABLE];
    message.header.protocol == RouteProtocol::Other(PROTOCOL) && tables.contains(&table(message))
}

async fn message(netlink: &Netlink, route: &Route) -> Result<RouteMessage, HostError> {
    let Route { destination, table, kind } = route;
    let (address, length) = (destination.addr(), destination.prefix_len());
    let builder = RouteMessageBuilder::<IpAddr>::new().destination_prefix(address, length);
    let builder = builder.map_err(|error| HostError::Netlink {
        what: route.to_string(),
        error: std::io::Error::other(error),
    })?;
    let builder = builder.table_id(*table).protocol(RouteProtocol::Other(PROTOCOL));
    Ok(match kind {
        RouteKind::Device(device) => {
            let builder = builder.scope(RouteScope::Link);
            builder.output_interface(index(netlink, device).await?)
        }
        RouteKind::Local => {
            let builder = builder.kind(RouteType::Local).scope(RouteScope::Host);
            builder.output_interface(index(netlink, &InterfaceName::loopback()).await?)
        }
        RouteKind::Throw => builder.kind(RouteType::Throw),
        RouteKind::Unreachable => builder.kind(RouteType::Unreachable),
    }
    .build())
}

async fn index(netlink: &Netlink, name: &InterfaceName) -> Result<u32, HostError> {
    let failed =
        |error| HostError::Netlink { what: "listing interfaces".into(), error: told(error) };
    let index = netlink.index(name.as_str()).await.map_err(failed)?;
    index.ok_or_else(|| HostError::NoDevice { name: name.clone() })
}

/// `None` for what is no route of IP. A default route has no destination.
fn destination(message: &RouteMessage) -> Option<IpNet> {
    let family = family(message.header.address_family)?;
    let length = message.header.destination_prefix_length;
    let address = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Destination(RouteAddress::Inet(address)) => Some(IpAddr::V4(*address)),
        RouteAttribute::Destination(RouteAddress::Inet6(address)) => Some(IpAddr::V6(*address)),
        _ => None,
    });
    match address {
        Some(address) => IpNet::new(address, length).ok(),
        None => (length == 0).then(|| family.everything()),
    }
}
