//! Families as rtnetlink(7) has them.

use polypath_host::netlink::families;
use rtnetlink::packet_route::AddressFamily;

use crate::plan::Family;

/// The families that this kernel has.
pub(super) fn available() -> Vec<Family> {
    families().filter_map(family).collect()
}

pub(super) const fn address_family(family: Family) -> AddressFamily {
    match family {
        Family::V4 => AddressFamily::Inet,
        Family::V6 => AddressFamily::Inet6,
    }
}

/// `None` for what is not IP.
pub(super) const fn family(told: AddressFamily) -> Option<Family> {
    match told {
        AddressFamily::Inet => Some(Family::V4),
        AddressFamily::Inet6 => Some(Family::V6),
        _ => None,
    }
}
