//! By which interface a host is reached (rtnetlink(7)).

use std::io;
use std::net::IpAddr;

use rtnetlink::RouteMessageBuilder;
use rtnetlink::packet_core::NetlinkPayload;
use rtnetlink::packet_route::RouteNetlinkMessage;
use rtnetlink::packet_route::route::{RouteAttribute, RouteType};
use rtnetlink::sys::protocols::NETLINK_ROUTE;

use super::netlink::ask;

/// Where an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is this host's own.
    Here,
    /// Behind the interface of this index.
    Behind(u32),
}

/// Where packets to an address would go; `None` if nowhere.
pub(super) fn place(address: IpAddr) -> io::Result<Option<Place>> {
    let prefix = if address.is_ipv4() { 32 } else { 128 };
    let route = RouteMessageBuilder::<IpAddr>::new().destination_prefix(address, prefix);
    let route = route.map_err(io::Error::other)?.build();
    let question = NetlinkPayload::from(RouteNetlinkMessage::GetRoute(route));
    let Some(RouteNetlinkMessage::NewRoute(route)) = ask(NETLINK_ROUTE, question)? else {
        return Ok(None);
    };
    if route.header.kind == RouteType::Local {
        return Ok(Some(Place::Here));
    }
    Ok(route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Oif(index) => Some(Place::Behind(*index)),
        _ => None,
    }))
}
