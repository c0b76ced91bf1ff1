//! Interfaces through rtnetlink(7).
//!
//! Notifications only say that something changed; what is then asked anew. Messages lost to a full
//! socket buffer (ENOBUFS) are notifications too, so nothing is missed.

use std::path::Path;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use polypath_units::Timestamp;
use rtnetlink::packet_core::{NetlinkMessage, NetlinkPayload};
use rtnetlink::packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage,
};
use rtnetlink::packet_route::link::{
    InfoKind, LinkAttribute, LinkFlags, LinkInfo, LinkLayerType, LinkMessage,
};
use rtnetlink::packet_route::route::{RouteAttribute, RouteMessage, RouteType};
use rtnetlink::packet_route::{AddressFamily, RouteNetlinkMessage};
use rtnetlink::{Handle, MulticastGroup, new_multicast_connection};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::netlink::{self, Netlink, name_of};

use super::{Address, Change, Debounce, Interface, InterfaceError, Kind, Snapshot, diff};

const QUIET: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(1);

const GROUPS: [MulticastGroup; 5] = [
    MulticastGroup::Link,
    MulticastGroup::Ipv4Ifaddr,
    MulticastGroup::Ipv6Ifaddr,
    MulticastGroup::Ipv4Route,
    MulticastGroup::Ipv6Route,
];

/// Lists the interfaces. Must be called within a tokio runtime.
pub async fn list() -> Result<Snapshot, InterfaceError> {
    snapshot(&Netlink::open().map_err(InterfaceError::Socket)?.handle).await
}

/// Watches the interfaces.
#[derive(Debug)]
pub struct Watcher {
    handle: Handle,
    current: Snapshot,
    notifications: watch::Receiver<u64>,
    debounce: Debounce,
    /// Time zero of the debouncer.
    epoch: Instant,
    /// Ended when the watcher is dropped.
    _tasks: JoinSet<()>,
}

impl Watcher {
    /// Starts watching. Must be called within a tokio runtime.
    pub async fn start() -> Result<Self, InterfaceError> {
        let (connection, handle, mut messages) =
            new_multicast_connection(&GROUPS).map_err(InterfaceError::Socket)?;
        let (notify, notifications) = watch::channel(0_u64);
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        // A counter, not the messages: a watcher that is not asked for long must not fill the
        // memory.
        tasks.spawn(async move {
            while let Some((message, _)) = messages.next().await {
                if is_relevant(&message) {
                    notify.send_modify(|count| *count = count.wrapping_add(1));
                }
            }
        });
        let current = snapshot(&handle).await?;
        let debounce = Debounce::new(QUIET, LONGEST);
        let epoch = Instant::now();
        Ok(Self { handle, current, notifications, debounce, epoch, _tasks: tasks })
    }

    /// The interfaces as last reported.
    pub fn current(&self) -> &Snapshot {
        &self.current
    }

    /// Waits for changes and reports them all, never none. Cancel-safe.
    pub async fn changes(&mut self) -> Result<Vec<Change>, InterfaceError> {
        loop {
            self.burst().await?;
            let after = snapshot(&self.handle).await?;
            self.debounce.reset();
            let changes = diff(&self.current, &after);
            self.current = after;
            if !changes.is_empty() {
                return Ok(changes);
            }
        }
    }

    /// Waits for a burst of notifications and its end.
    async fn burst(&mut self) -> Result<(), InterfaceError> {
        loop {
            let deadline = self.debounce.deadline();
            let since_epoch = deadline.map(|at| at.since(Timestamp::ZERO));
            let over = async {
                match since_epoch {
                    Some(after) => sleep_until(self.epoch + after).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = self.notifications.changed() => {
                    changed.map_err(|_| InterfaceError::Closed)?;
                    self.debounce.notify(Timestamp::ZERO + self.epoch.elapsed());
                }
                () = over => return Ok(()),
            }
        }
    }
}

/// On a router most route messages concern prefixes that nobody here asks for.
fn is_relevant(message: &NetlinkMessage<RouteNetlinkMessage>) -> bool {
    use RouteNetlinkMessage::{DelRoute, NewRoute};
    match &message.payload {
        NetlinkPayload::InnerMessage(NewRoute(route) | DelRoute(route)) => is_default(route),
        _ => true,
    }
}

fn is_default(route: &RouteMessage) -> bool {
    route.header.destination_prefix_length == 0 && route.header.kind == RouteType::Unicast
}

/// The interfaces, asked for over a connection that is there.
///
/// # Errors
/// [`InterfaceError::Query`].
pub async fn snapshot(handle: &Handle) -> Result<Snapshot, InterfaceError> {
    let failed = |what| {
        move |error: rtnetlink::Error| InterfaceError::Query { what, reason: error.to_string() }
    };
    let links = handle.link().get().execute().try_collect::<Vec<_>>();
    let links = links.await.map_err(failed("links"))?;
    let mut out: Snapshot = links.iter().filter_map(interface).map(|i| (i.index, i)).collect();

    let addresses = handle.address().get().execute().try_collect::<Vec<_>>();
    for message in addresses.await.map_err(failed("addresses"))? {
        if let Some(interface) = out.get_mut(&message.header.index) {
            interface.addresses.extend(address(&message));
        }
    }
    let routes = netlink::routes(handle).await.map_err(failed("routes"))?;
    routes.iter().filter(|route| is_default(route)).for_each(|route| mark_default(&mut out, route));
    out.values_mut().for_each(|interface| interface.addresses.sort());
    Ok(out)
}

fn mark_default(interfaces: &mut Snapshot, route: &RouteMessage) {
    for index in outputs(route) {
        if let Some(interface) = interfaces.get_mut(&index) {
            match route.header.address_family {
                AddressFamily::Inet => interface.default_route_v4 = true,
                _ => interface.default_route_v6 = true,
            }
        }
    }
}

fn outputs(route: &RouteMessage) -> impl Iterator<Item = u32> {
    route.attributes.iter().flat_map(|attribute| match attribute {
        RouteAttribute::Oif(index) => vec![*index],
        RouteAttribute::MultiPath(hops) => hops.iter().map(|hop| hop.interface_index).collect(),
        _ => Vec::new(),
    })
}

fn interface(link: &LinkMessage) -> Option<Interface> {
    let name = name_of(link)?.to_owned();
    let mtu = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Mtu(mtu) => Some(*mtu),
        _ => None,
    });
    Some(Interface {
        kind: kind(link, &name),
        name,
        index: link.header.index,
        addresses: Vec::new(),
        mtu: mtu.unwrap_or_default(),
        up: link.header.flags.contains(LinkFlags::Up),
        running: link.header.flags.contains(LinkFlags::Running),
        default_route_v4: false,
        default_route_v6: false,
    })
}

fn kind(link: &LinkMessage, name: &str) -> Kind {
    let info = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(infos) => infos.iter().find_map(|info| match info {
            LinkInfo::Kind(kind) => Some(kind),
            _ => None,
        }),
        _ => None,
    });
    match (link.header.link_layer_type, info) {
        (LinkLayerType::Loopback, _) => Kind::Loopback,
        (_, Some(InfoKind::Wwan | InfoKind::RmNet)) => Kind::Cellular,
        (_, Some(InfoKind::Tun | InfoKind::Wireguard | InfoKind::Xfrm)) => Kind::Tunnel,
        (LinkLayerType::Ether, Some(_)) => Kind::Virtual,
        (LinkLayerType::Ether, None) => hardware_kind(name, Kind::Ethernet),
        (LinkLayerType::Rawip, _) => hardware_kind(name, Kind::Cellular),
        (LinkLayerType::None, _) => hardware_kind(name, Kind::Tunnel),
        (LinkLayerType::Ppp, _) | (_, Some(_)) => Kind::Tunnel,
        _ => Kind::Other,
    }
}

/// What netlink does not tell, sysfs does (Documentation/ABI/testing/sysfs-class-net).
fn hardware_kind(name: &str, otherwise: Kind) -> Kind {
    let folder = Path::new("/sys/class/net").join(name);
    let uevent = std::fs::read_to_string(folder.join("uevent")).unwrap_or_default();
    match uevent.lines().find_map(|line| line.strip_prefix("DEVTYPE=")) {
        Some("wlan") => Kind::Wifi,
        Some("wwan") => Kind::Cellular,
        _ => otherwise,
    }
}

fn address(message: &AddressMessage) -> Option<Address> {
    const UNUSABLE: AddressHeaderFlags = AddressHeaderFlags::Tentative
        .union(AddressHeaderFlags::Dadfailed)
        .union(AddressHeaderFlags::Deprecated);
    // IFA_FLAGS has the lower bits too, but old kernels send the header alone.
    let flags = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Flags(flags) => Some(*flags),
        _ => None,
    });
    // An optimistic address (RFC 4429) is usable while it is tentative.
    let optimistic = flags.is_some_and(|flags| flags.contains(AddressFlags::Optimistic));
    if message.header.flags.intersects(UNUSABLE) && !optimistic {
        return None;
    }
    // On point-to-point links IFA_ADDRESS is the other end, and IFA_LOCAL this one.
    let attribute = |local: bool| {
        message.attributes.iter().find_map(move |attribute| match attribute {
            AddressAttribute::Local(ip) if local => Some(*ip),
            AddressAttribute::Address(ip) if !local => Some(*ip),
            _ => None,
        })
    };
    let ip = attribute(true).or_else(|| attribute(false))?;
    Some(Address { ip, prefix_len: message.header.prefix_len })
}
