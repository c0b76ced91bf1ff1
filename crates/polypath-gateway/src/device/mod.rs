//! The TUN device: whole IP packets, in batches.
//!
//! With segmentation offload (IFF_VNET_HDR, TUN_F_TSO4 and TUN_F_TSO6, and TUN_F_USO4 and
//! TUN_F_USO6 from Linux 6.2 on) the kernel hands over up to 64 KiB of a flow at once, which are
//! split into packets when they are read; packets of a flow that follow each other are coalesced
//! when they are written. There is one reader and one writer: several would reorder packets of a
//! flow.

#[cfg(target_os = "linux")]
mod create;
mod error;
#[cfg(target_os = "linux")]
mod outgoing;
#[cfg(target_os = "linux")]
mod reader;
#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(target_os = "linux")]
mod writer;

#[cfg(target_os = "linux")]
pub use create::Tun;
pub use error::DeviceError;
use ipnet::IpNet;
#[cfg(target_os = "linux")]
pub use reader::{Packets, TunReader};
#[cfg(not(target_os = "linux"))]
pub use unsupported::{Packets, Tun, TunReader, TunWriter};
#[cfg(target_os = "linux")]
pub use writer::TunWriter;

use crate::{InterfaceName, Mtu};

/// What a TUN device is made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSettings {
    /// Its name. There must be no interface of this name yet.
    pub name: InterfaceName,
    /// Its addresses, each with the length of its prefix: the kernel routes the rest of the prefix
    /// to the device.
    pub addresses: Vec<IpNet>,
    /// The largest packet.
    pub mtu: Mtu,
    /// Whether the kernel may hand over several packets of a flow in one piece.
    pub offload: bool,
}
