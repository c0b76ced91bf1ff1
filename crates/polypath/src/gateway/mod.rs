//! Gateways on the host: the TUN device, routes and rules, and what passes through them.

mod edge;
mod hub;
mod installed;
mod options;
mod pump;
mod transport;

pub(crate) use edge::EdgeSide;
pub(crate) use hub::HubSide;
pub use options::{
    EdgeGatewayArgs, EdgeGatewayOptions, HubGatewayArgs, HubGatewaySettings, TcpHandling,
};
pub use transport::Transport;

use std::convert::Infallible;
use std::time::Duration;

use ipnet::IpNet;
use polypath_gateway::device::{DeviceError, DeviceSettings};
use polypath_gateway::host::HostError;
use polypath_gateway::{InterfaceName, Mtu};
use polypath_host::interfaces::InterfaceError;

pub(crate) use installed::record_directory;

/// Pause before a device that was lost is made again, or what the host refused is tried again.
const PAUSE: Duration = Duration::from_secs(1);

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
    #[error("the hub has given other addresses or networks")]
    Grant,
}

/// An end of a gateway that carries packets between its device and the bond.
trait Carry {
    /// Sets up what is needed, and carries packets until something is in the way.
    async fn carry_once(&mut self) -> Result<Infallible, Interrupted>;

    /// Whether it has worked at any time.
    fn has_worked(&self) -> bool;
}

/// Carries packets as long as nothing stands in the way that will not pass: what has never worked
/// is for the operator to mend.
async fn carry(side: &mut impl Carry) -> Interrupted {
    loop {
        let interrupted = match side.carry_once().await {
            Ok(never) => match never {},
            Err(interrupted) => interrupted,
        };
        if !side.has_worked() {
            return interrupted;
        }
        tracing::error!(%interrupted, "the gateway is set up anew");
        tokio::time::sleep(PAUSE).await;
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
