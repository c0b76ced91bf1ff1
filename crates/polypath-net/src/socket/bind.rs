//! Opening a UDP socket on one uplink.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

/// What to tie a socket to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindTo {
    /// A device by name (SO_BINDTODEVICE): packets leave and come by it, whatever the routes say.
    Device {
        /// Name of the interface.
        name: String,
        /// An address of the interface, for when the device cannot be bound for want of permission;
        /// also the source address of what is sent.
        address: Option<IpAddr>,
        /// Address family if there is no address.
        ipv6: bool,
    },
    /// A local address. Which device packets leave by depends on the routes.
    Address(IpAddr),
}

/// How to open a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UplinkOptions {
    /// What to tie it to.
    pub bind_to: BindTo,
    /// Local port; 0: any free one.
    pub port: u16,
    /// Kernel buffers to ask for in bytes, each way. The kernel may grant less.
    pub buffer_bytes: usize,
    /// The mark of its packets (SO_MARK), by which rules of the host know them.
    pub mark: Option<u32>,
}

impl UplinkOptions {
    /// Buffers for 50 ms at 500 Mbit/s, about 3 MB, and some more.
    pub(crate) const DEFAULT_BUFFER_BYTES: usize = 4 * 1024 * 1024;

    /// Any free port and large buffers.
    pub fn new(bind_to: BindTo) -> Self {
        Self { bind_to, port: 0, buffer_bytes: Self::DEFAULT_BUFFER_BYTES, mark: None }
    }
}

/// How a socket is tied to its uplink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// To the device of this name.
    Device(String),
    /// To this address, as asked.
    Address(IpAddr),
    /// To this address although a device was asked for: the process may not bind to devices (it
    /// lacks CAP_NET_RAW on old kernels), or the system has no such thing.
    AddressInsteadOfDevice {
        /// The device asked for.
        device: String,
        /// The address used.
        address: IpAddr,
    },
}

/// A socket that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The port is taken.
    #[error("UDP port {0} is in use")]
    PortInUse(SocketAddr),
    /// The process may not bind to the device, and there is no address to bind to instead; or the
    /// port is a privileged one.
    #[error("no permission to bind to {0}")]
    NoPermission(String),
    /// There is no interface of that name.
    #[error("no interface named {0:?}")]
    NoSuchInterface(String),
    /// No interface has that address.
    #[error("no interface has the address {0}")]
    AddressNotAvailable(IpAddr),
    /// The system refused something else.
    #[error("{what}: {error}")]
    Setup {
        /// What was being set up.
        what: &'static str,
        /// What it said.
        error: io::Error,
    },
}

impl BindTo {
    /// The address to bind to, if one is said, and whether it is of IPv6.
    fn address(&self) -> (Option<IpAddr>, bool) {
        match self {
            Self::Address(ip) => (Some(*ip), ip.is_ipv6()),
            Self::Device { address, ipv6, .. } => {
                (*address, address.map_or(*ipv6, |ip| ip.is_ipv6()))
            }
        }
    }
}

pub(super) fn open(options: &UplinkOptions) -> Result<(Socket, Binding), BindError> {
    let socket = create(options.bind_to.address().1, options.buffer_bytes)?;
    let binding = tie(&socket, &options.bind_to, options.port, options.mark)?;
    Ok((socket, binding))
}

/// Ties a socket of the family of `bind_to` to an uplink, at a port (0: any free one), and gives
/// its packets a mark.
pub(crate) fn tie(
    socket: &Socket,
    bind_to: &BindTo,
    port: u16,
    mark: Option<u32>,
) -> Result<Binding, BindError> {
    if let Some(mark) = mark {
        set_mark(socket, mark).map_err(|error| BindError::Setup { what: "SO_MARK", error })?;
    }
    let (address, ipv6) = bind_to.address();
    let binding = match bind_to {
        BindTo::Address(ip) => Binding::Address(*ip),
        BindTo::Device { name, address, .. } => tie_to_device(socket, name, *address)?,
    };
    let unspecified =
        if ipv6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
    let local = SocketAddr::new(address.unwrap_or(unspecified), port);
    match socket.bind(&local.into()) {
        Ok(()) => Ok(binding),
        Err(error) => Err(bind_error(local, error)),
    }
}

fn create(ipv6: bool, buffer_bytes: usize) -> Result<Socket, BindError> {
    let domain = if ipv6 { Domain::IPV6 } else { Domain::IPV4 };
    let setup = |what| move |error| BindError::Setup { what, error };
    let socket =
        Socket::new(domain, Type::DGRAM, Some(Protocol::UDP)).map_err(setup("UDP socket"))?;
    if ipv6 {
        socket.set_only_v6(true).map_err(setup("IPV6_V6ONLY"))?;
    }
    socket.set_nonblocking(true).map_err(setup("non-blocking mode"))?;
    socket.set_send_buffer_size(buffer_bytes).map_err(setup("SO_SNDBUF"))?;
    socket.set_recv_buffer_size(buffer_bytes).map_err(setup("SO_RCVBUF"))?;
    Ok(socket)
}

fn tie_to_device(
    socket: &Socket,
    name: &str,
    address: Option<IpAddr>,
) -> Result<Binding, BindError> {
    let device = name.to_owned();
    match (bind_device(socket, name), address) {
        (Ok(()), _) => Ok(Binding::Device(device)),
        (Err(error), Some(address)) if may_use_address(&error) => {
            Ok(Binding::AddressInsteadOfDevice { device, address })
        }
        (Err(error), None) if may_use_address(&error) => Err(BindError::NoPermission(device)),
        // ENODEV; a name too long for any interface is EINVAL.
        (Err(_), _) => Err(BindError::NoSuchInterface(device)),
    }
}

fn may_use_address(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

#[cfg(target_os = "linux")]
fn bind_device(socket: &Socket, name: &str) -> io::Result<()> {
    if name.is_empty() {
        // An empty name would untie the socket (socket(7)).
        return Err(io::ErrorKind::InvalidInput.into());
    }
    socket.bind_device(Some(name.as_bytes()))
}

#[cfg(not(target_os = "linux"))]
fn bind_device(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn set_mark(socket: &Socket, mark: u32) -> io::Result<()> {
    socket.set_mark(mark)
}

#[cfg(not(target_os = "linux"))]
fn set_mark(_: &Socket, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn bind_error(local: SocketAddr, error: io::Error) -> BindError {
    match error.kind() {
        io::ErrorKind::AddrInUse => BindError::PortInUse(local),
        io::ErrorKind::PermissionDenied => BindError::NoPermission(local.to_string()),
        io::ErrorKind::AddrNotAvailable => BindError::AddressNotAvailable(local.ip()),
        _ => BindError::Setup { what: "binding", error },
    }
}
