//! Links that packets pass without delay: veth pairs as Linux has them.

use super::{NodePlan, Step};
use std::net::Ipv4Addr;

/// What joins two nodes by a veth pair, called the same at both ends, with an address in a /24 at
/// each.
pub(crate) fn veth_pair(device: &str, ends: [(&NodePlan, Ipv4Addr); 2]) -> [Step; 2] {
    let [(near, at), (far, to)] = ends;
    let peer = &far.namespace;
    let add = format!("link add {device} type veth peer name {device} netns {peer}");
    let own = |address| {
        let add = format!("address add {address}/24 dev {device}");
        [add, format!("link set dev {device} up")].into_iter()
    };
    [near.step([add].into_iter().chain(own(at))), far.step(own(to))]
}
