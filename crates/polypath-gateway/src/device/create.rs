//! Making a TUN device.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use rtnetlink::LinkUnspec;
use rtnetlink::packet_route::address::AddressHeaderFlags;
use rtnetlink::packet_route::link::{AfSpecInet6, AfSpecUnspec, In6AddrGenMode, LinkAttribute};
use rustix::io::Errno;
use tokio::time::sleep;
use tun_rs::{AsyncDevice, DeviceBuilder};

use super::reader::MAX_SEGMENTS;
use super::{DeviceError, DeviceSettings, TunReader, TunWriter};
use crate::{InterfaceName, Mtu};
use polypath_host::netlink::{Netlink, told};

/// Packets that wait for the reader. With fewer, bursts of a fast sender are lost before the reader
/// has run.
const TX_QUEUE_LENGTH: u32 = 1000;
/// A device of this name that was just dropped may be there still: a process that is just being
/// started has all files open until it runs its program.
const TRIES: u32 = 50;
const WAIT: Duration = Duration::from_millis(10);
/// By this alias an interface is known as one of ours.
const ALIAS: &str = "polypath";

/// A TUN device. It is removed when it is dropped, with the reader and writer that it was split
/// into.
#[derive(Debug)]
pub struct Tun {
    opened: Arc<Opened>,
    index: u32,
    mtu: Mtu,
}

/// What reader and writer share.
pub(super) struct Opened {
    pub(super) device: AsyncDevice,
    pub(super) name: InterfaceName,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tun {
    /// Makes a device in the network namespace of the calling thread, and switches it on. Must be
    /// called within a tokio runtime.
    ///
    /// # Errors
    /// If the name is taken, or the kernel refuses the device or a setting. Nothing is left then.
    pub async fn create(settings: &DeviceSettings) -> Result<Self, DeviceError> {
        let name = &settings.name;
        let failed = |error| DeviceError::Create { name: name.clone(), error };
        let netlink = Netlink::open().map_err(failed)?;
        let index =
            async || netlink.index(name.as_str()).await.map_err(|error| failed(told(error)));
        let mut tries = 0;
        while index().await?.is_some() {
            if tries == TRIES {
                return Err(DeviceError::Exists { name: name.clone() });
            }
            tries += 1;
            sleep(WAIT).await;
        }
        let device = open(settings)?;
        let opened = Arc::new(Opened { device, name: name.clone() });
        let index = index().await?.ok_or_else(|| DeviceError::Gone { name: name.clone() })?;
        let tun = Self { opened, index, mtu: settings.mtu };
        tun.configure(&netlink, &settings.addresses).await?;
        Ok(tun)
    }

    /// The index of the interface.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Whether the kernel hands over TCP segments in one piece.
    pub fn has_tcp_offload(&self) -> bool {
        self.opened.device.tcp_gso()
    }

    /// Whether the kernel hands over UDP datagrams in one piece.
    pub fn has_udp_offload(&self) -> bool {
        self.opened.device.udp_gso()
    }

    /// The two directions, to be used by two tasks.
    pub fn split(self) -> (TunReader, TunWriter) {
        (TunReader::new(self.opened.clone(), self.mtu), TunWriter::new(self.opened))
    }

    async fn configure(&self, netlink: &Netlink, addresses: &[IpNet]) -> Result<(), DeviceError> {
        let failed = |what: String| {
            move |error| {
                let name = self.opened.name.clone();
                DeviceError::Configure { name, what, error: told(error) }
            }
        };
        // The kernel's own address of the link would have it send solicitations to nobody.
        let quiet = AfSpecInet6::AddrGenMode(In6AddrGenMode::None);
        let link = LinkUnspec::new_with_index(self.index)
            .mtu(self.mtu.bytes().into())
            .txqueuelen(TX_QUEUE_LENGTH)
            .alias(ALIAS)
            .append_extra_attribute(LinkAttribute::GsoMaxSegs(MAX_SEGMENTS as u32));
        let set = netlink.handle.link().set(link.build()).execute().await;
        set.map_err(failed(format!("MTU {}, queue, alias and segments", self.mtu)))?;
        let silenced = LinkUnspec::new_with_index(self.index).append_extra_attribute(
            LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![quiet])]),
        );
        match netlink.handle.link().set(silenced.build()).execute().await {
            // Kernels without IPv6 know no such thing, and need none.
            Err(error) if addresses.iter().all(|address| matches!(address, IpNet::V4(_))) => {
                tracing::debug!("{}: IPv6 is not silenced: {error}", self.opened.name);
            }
            set => set.map_err(failed("no address of its own".into()))?,
        }
        for address in addresses {
            let (ip, length) = (address.addr(), address.prefix_len());
            let mut adding = netlink.handle.address().add(self.index, ip, length);
            // Nobody else is on the link who could have it: it can be used at once.
            adding.message_mut().header.flags.insert(AddressHeaderFlags::Nodad);
            adding.execute().await.map_err(failed(format!("address {address}")))?;
        }
        let up = LinkUnspec::new_with_index(self.index).up().build();
        netlink.handle.link().set(up).execute().await.map_err(failed("up".into()))
    }
}

fn open(settings: &DeviceSettings) -> Result<AsyncDevice, DeviceError> {
    // It is switched on when it has its addresses.
    let builder = DeviceBuilder::default().name(settings.name.as_str()).enable(false);
    let opened = builder.offload(settings.offload).build_async();
    opened.map_err(|error| refused(&settings.name, error))
}

fn refused(name: &InterfaceName, error: io::Error) -> DeviceError {
    let name = name.clone();
    match Errno::from_io_error(&error) {
        Some(Errno::PERM | Errno::ACCESS) => DeviceError::Permission { name },
        Some(Errno::NOENT | Errno::NODEV | Errno::NXIO) => DeviceError::NoDriver { name },
        _ => DeviceError::Create { name, error },
    }
}

impl Opened {
    /// An error of reading or writing after which the device is of no use, or else `None`.
    pub(super) fn lost(&self, error: &io::Error) -> Option<DeviceError> {
        let name = self.name.clone();
        match Errno::from_io_error(error)? {
            Errno::BADFD => Some(DeviceError::Gone { name }),
            // Only of writing: there is nothing to read from a device that is switched off.
            Errno::IO => Some(DeviceError::Down { name }),
            _ => None,
        }
    }
}
