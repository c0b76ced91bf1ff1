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

use ipnet::IpNet;
use polypath_gateway::device::{DeviceError, DeviceSettings};
use polypath_gateway::host::{Gateway, HostError};
use polypath_gateway::{InterfaceName, Mtu};
use polypath_net::interfaces::InterfaceError;

/// Pause before a device that was lost is made again, or what the host refused is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Where it is written what parameters of the kernel were before, for `polypath gateway clean`.
pub(crate) fn record_directory() -> PathBuf {
    PathBuf::from("/run/polypath/gateway")
}

/// How often it is looked whether what was set is still there.
const CHECK: Duration = Duration::from_secs(10);

/// Why packets are not carried now.
#[derive(Debug, thiserror::Error)]
enum Interrupted {
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(transparent)]
    Interfaces(#[from] InterfaceError),
    #[error(
        "something has removed rules or routes of the gateway, such as a firewall that was loaded anew"
    )]
    Damaged,
    #[error("the hub has given other addresses")]
    Lease,
}

/// Fails when something of what was set is missing.
async fn check(set: Option<&Gateway>) -> Result<(), Interrupted> {
    match set {
        Some(gateway) if !gateway.is_whole().await? => Err(Interrupted::Damaged),
        _ => Ok(()),
    }
}

/// The device with these addresses. What a host sends has the size that is usual, whatever the
/// paths carry: the bond cuts datagrams.
fn device(name: &InterfaceName, addresses: impl Iterator<Item = IpNet>) -> DeviceSettings {
    DeviceSettings {
        name: name.clone(),
        addresses: addresses.collect(),
        mtu: Mtu::default(),
        offload: true,
    }
}
