//! A connection to rtnetlink(7).

use std::io;
use std::net::IpAddr;
use std::path::Path;

use futures_util::TryStreamExt;
use rtnetlink::packet_route::AddressFamily;
use rtnetlink::packet_route::link::{LinkAttribute, LinkMessage};
use rtnetlink::packet_route::route::{RouteAttribute, RouteMessage};
use rtnetlink::packet_route::rule::RuleMessage;
use rtnetlink::{Error, Handle, IpVersion, RouteMessageBuilder};
use tokio::task::JoinSet;

/// A connection in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    /// What requests are made with.
    pub handle: Handle,
    /// Ended when the connection is dropped.
    _tasks: JoinSet<()>,
}

impl Netlink {
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// If there is no such socket to be had.
    pub fn open() -> io::Result<Self> {
        let (connection, handle, _) = rtnetlink::new_connection()?;
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        Ok(Self { handle, _tasks: tasks })
    }

    /// The index of an interface, if there is one of this name.
    ///
    /// # Errors
    /// What the kernel says.
    pub async fn index(&self, name: &str) -> Result<Option<u32>, Error> {
        let mut links = self.handle.link().get().execute();
        while let Some(link) = links.try_next().await? {
            if name_of(&link) == Some(name) {
                return Ok(Some(link.header.index));
            }
        }
        Ok(None)
    }
}

/// The routes of all tables.
///
/// # Errors
/// What the kernel says.
pub async fn routes(handle: &Handle) -> Result<Vec<RouteMessage>, Error> {
    let mut routes = Vec::new();
    for family in families() {
        let mut query = RouteMessageBuilder::<IpAddr>::new().build();
        query.header.address_family = family;
        routes.extend(handle.route().get(query).execute().try_collect::<Vec<_>>().await?);
    }
    Ok(routes)
}

/// The rules of policy routing.
///
/// # Errors
/// What the kernel says.
pub async fn rules(handle: &Handle) -> Result<Vec<RuleMessage>, Error> {
    let mut rules = Vec::new();
    for family in families() {
        let version = match family {
            AddressFamily::Inet => IpVersion::V4,
            _ => IpVersion::V6,
        };
        rules.extend(handle.rule().get(version).execute().try_collect::<Vec<_>>().await?);
    }
    Ok(rules)
}

/// The families that this kernel has: IPv6 may have been left out, or switched off when it started.
pub fn families() -> impl Iterator<Item = AddressFamily> {
    let has_v6 = Path::new("/proc/thread-self/net/if_inet6").exists();
    let both = [AddressFamily::Inet, AddressFamily::Inet6];
    both.into_iter().filter(move |family| *family == AddressFamily::Inet || has_v6)
}

/// The table that a route is in.
pub fn table(route: &RouteMessage) -> u32 {
    let table = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(table) => Some(*table),
        _ => None,
    });
    table.unwrap_or_else(|| route.header.table.into())
}

/// The name of an interface.
pub(crate) fn name_of(link: &LinkMessage) -> Option<&str> {
    link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.as_str()),
        _ => None,
    })
}

/// What the kernel said, as an error of the operating system where it is one.
pub fn told(error: Error) -> io::Error {
    match error {
        Error::NetlinkError(message) => message.to_io(),
        other => io::Error::other(other),
    }
}
