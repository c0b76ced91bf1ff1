//! Gateways on the host: the TUN device, routes and rules, and what passes through them.

mod edge;
mod hub;
mod options;
mod pump;

pub(crate) use edge::EdgeSide;
pub(crate) use hub::HubSide;
pub use options::{
    EdgeGatewayArgs, EdgeGatewayOptions, HubGatewayArgs, HubGatewaySettings, TcpHandling,
};

use std::path::PathBuf;
use std::time::Duration;

use polypath_gateway::device::DeviceSettings;
use polypath_gateway::{InterfaceName, Mtu};
use polypath_net::tunnel::Lease;

/// Pause before a device that was lost is made again, or what the host refused is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Where it is written what parameters of the kernel were before, for `polypath gateway clean`.
pub(crate) fn record_directory() -> PathBuf {
    PathBuf::from("/run/polypath/gateway")
}

/// The device with the addresses of a lease. What a host sends has the size that is usual, whatever
/// the paths carry: the bond cuts datagrams.
fn device(name: &InterfaceName, lease: &Lease) -> DeviceSettings {
    DeviceSettings {
        name: name.clone(),
        addresses: lease.addresses().collect(),
        mtu: Mtu::default(),
        offload: true,
    }
}
