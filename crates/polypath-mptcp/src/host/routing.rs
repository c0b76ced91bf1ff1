//! What begins at the address of a path leaves by its interface.
//!
//! Each path has a table of its own, with the routes of the main table that lead through its
//! interface, and a rule that sends what begins at its address there. All of them carry the number
//! [`PROTOCOL`], by which what a process that was killed has left is found and removed.

use std::net::IpAddr;

use polypath_host::netlink::{self, Netlink, table};
use rtnetlink::packet_route::AddressFamily;
use rtnetlink::packet_route::route::{
    RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use rtnetlink::packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};

use super::HostError;
use crate::path::Path;

/// Who has set a rule or a route: one below those of others (`/etc/iproute2/rt_protos`), beside
/// 112, which is that of gateways.
const PROTOCOL: u8 = 113;
/// The table of a path is this and its number.
const TABLES: u32 = 7_800;
/// Before the rules of gateways (7700), which would send a subflow into the tunnel.
const PRIORITY: u32 = 7_600;

/// Makes rules and routes those of these paths. Returns how many were removed.
pub(super) async fn set(netlink: &Netlink, paths: &[Path]) -> Result<usize, HostError> {
    let listed = netlink::routes(&netlink.handle).await;
    let there = listed.map_err(HostError::of("listing routes"))?;
    let main = u32::from(RouteHeader::RT_TABLE_MAIN);
    let of_main = || there.iter().filter(|route| table(route) == main);
    let copies = paths.iter().flat_map(|path| of_main().filter_map(move |route| copy(route, path)));
    let mut wanted: Vec<_> = copies.collect();
    // A gateway is found by the route to its network.
    wanted.sort_by_key(|route| route.header.scope != RouteScope::Link);
    let ours: Vec<_> = there.iter().filter(|route| is_ours(route)).collect();
    let rules = rules(netlink).await?;
    let wanted_rules: Vec<_> = paths.iter().map(rule).collect();
    let mut removed = 0;
    for rule in rules.iter().filter(|rule| !wanted_rules.iter().any(|one| is_same(one, rule))) {
        let deleted = netlink.handle.rule().del(rule.clone()).execute().await;
        deleted.map_err(HostError::of("removing a rule of routing"))?;
        removed += 1;
    }
    for route in &ours {
        if !wanted.iter().any(|one| key(one) == key(route)) {
            let deleted = netlink.handle.route().del((*route).clone()).execute().await;
            deleted.map_err(HostError::of("removing a route"))?;
            removed += 1;
        }
    }
    for route in wanted {
        if !ours.iter().any(|one| key(one) == key(&route)) {
            let added = netlink.handle.route().add(route).replace().execute().await;
            added.map_err(HostError::of("adding a route"))?;
        }
    }
    for rule in wanted_rules {
        if !rules.iter().any(|told| is_same(&rule, told)) {
            let mut request = netlink.handle.rule().add();
            *request.message_mut() = rule;
            request.execute().await.map_err(HostError::of("adding a rule of routing"))?;
        }
    }
    Ok(removed)
}

/// All rules that are ours.
async fn rules(netlink: &Netlink) -> Result<Vec<RuleMessage>, HostError> {
    let listed = netlink::rules(&netlink.handle).await;
    let listed = listed.map_err(HostError::of("listing rules of routing"))?;
    let ours = RuleAttribute::Protocol(RouteProtocol::Other(PROTOCOL));
    Ok(listed.into_iter().filter(|rule| rule.attributes.contains(&ours)).collect())
}

fn is_ours(route: &RouteMessage) -> bool {
    let tables = TABLES + 1..=TABLES + u32::from(u8::MAX);
    route.header.protocol == RouteProtocol::Other(PROTOCOL) && tables.contains(&table(route))
}

fn table_of(path: &Path) -> u32 {
    TABLES + u32::from(path.id)
}

/// What a route does, apart from who has set it.
fn key(route: &RouteMessage) -> (u32, u8, Vec<RouteAttribute>) {
    let kept = route.attributes.iter().filter(|attribute| is_kept(attribute)).cloned();
    let mut kept: Vec<_> = kept.collect();
    kept.sort_by_key(|attribute| format!("{attribute:?}"));
    (table(route), route.header.destination_prefix_length, kept)
}

/// What is copied of a route; the rest is its table and what the kernel tells besides.
fn is_kept(attribute: &RouteAttribute) -> bool {
    matches!(
        attribute,
        RouteAttribute::Destination(_)
            | RouteAttribute::Gateway(_)
            | RouteAttribute::Via(_)
            | RouteAttribute::Oif(_)
            | RouteAttribute::PrefSource(_)
            | RouteAttribute::Priority(_)
    )
}

/// A route of the main table for the table of a path, if it leads through its interface.
fn copy(route: &RouteMessage, path: &Path) -> Option<RouteMessage> {
    let family = if path.address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let leads = route.attributes.contains(&RouteAttribute::Oif(path.index));
    let fits = route.header.address_family == family && route.header.kind == RouteType::Unicast;
    if !leads || !fits {
        return None;
    }
    let mut copy = RouteMessage::default();
    // A gateway that is in no network of the interface is taken as it is.
    let flags = route.header.flags & RouteFlags::Onlink;
    copy.header = RouteHeader { table: 0, flags, ..route.header.clone() };
    copy.header.protocol = RouteProtocol::Other(PROTOCOL);
    copy.attributes =
        route.attributes.iter().filter(|attribute| is_kept(attribute)).cloned().collect();
    copy.attributes.push(RouteAttribute::Table(table_of(path)));
    Some(copy)
}

fn rule(path: &Path) -> RuleMessage {
    let mut rule = RuleMessage::default();
    (rule.header.family, rule.header.src_len) = match path.address {
        IpAddr::V4(_) => (AddressFamily::Inet, 32),
        IpAddr::V6(_) => (AddressFamily::Inet6, 128),
    };
    rule.header.action = RuleAction::ToTable;
    rule.attributes = vec![
        RuleAttribute::Source(path.address),
        RuleAttribute::Priority(PRIORITY),
        RuleAttribute::Table(table_of(path)),
        RuleAttribute::Protocol(RouteProtocol::Other(PROTOCOL)),
    ];
    rule
}

/// Whether the kernel's telling of a rule is about this one.
fn is_same(wanted: &RuleMessage, told: &RuleMessage) -> bool {
    wanted.header.family == told.header.family
        && wanted.attributes.iter().all(|attribute| told.attributes.contains(attribute))
}
