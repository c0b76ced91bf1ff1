//! What a send or receive may come to besides success.

use std::io;

/// Outcome of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Everything was handed to the kernel.
    All,
    /// The kernel's buffer is full; nothing was sent. Wait for
    /// [`writable`](super::UplinkSocket::writable).
    WouldBlock,
    /// The kernel's buffer filled up after so many bytes of the contents; the rest was not sent.
    Part {
        /// Bytes sent, whole segments.
        bytes: usize,
    },
    /// The device's queue is full (ENOBUFS); the datagram is lost like one on a full link.
    Dropped,
    /// Larger than the known path MTU or than a datagram can be (EMSGSIZE); not sent.
    TooLarge,
    /// The destination cannot be reached at the moment; not sent.
    Unreachable(Unreachable),
}

/// Outcome of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// The batch has datagrams.
    Datagrams,
    /// An ICMP message about an earlier datagram came in. ICMP is not authenticated: a hint, no
    /// proof.
    Unreachable(Unreachable),
}

/// Why a destination cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreachable {
    /// Nobody listens there (ICMP port unreachable, ECONNREFUSED).
    Port,
    /// No route to the host (EHOSTUNREACH).
    Host,
    /// No route to the network, or the link is down (ENETUNREACH, ENETDOWN).
    Network,
    /// A firewall on this host forbids it (EPERM, EACCES).
    Forbidden,
    /// The source address is gone from this host (EADDRNOTAVAIL), or does not fit the destination
    /// (EINVAL), as a loopback source for a destination elsewhere.
    Source,
}

fn unreachable(error: &io::Error) -> Option<Unreachable> {
    use io::ErrorKind as K;
    match error.kind() {
        K::ConnectionRefused | K::ConnectionReset => Some(Unreachable::Port),
        K::HostUnreachable => Some(Unreachable::Host),
        K::NetworkUnreachable | K::NetworkDown => Some(Unreachable::Network),
        K::PermissionDenied => Some(Unreachable::Forbidden),
        K::AddrNotAvailable | K::InvalidInput => Some(Unreachable::Source),
        _ => None,
    }
}

/// ENOBUFS has no portable kind.
fn is_no_buffers(error: &io::Error) -> bool {
    const ENOBUFS: i32 = if cfg!(target_os = "linux") { 105 } else { 55 };
    cfg!(unix) && error.raw_os_error() == Some(ENOBUFS)
}

/// EIO and EINVAL are what devices without segmentation offload say to it (and some other things).
pub(super) fn may_be_gso(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    error.kind() == io::ErrorKind::InvalidInput || (cfg!(unix) && error.raw_os_error() == Some(EIO))
}

pub(super) fn of_send(error: io::Error) -> io::Result<Sent> {
    match unreachable(&error) {
        Some(why) => Ok(Sent::Unreachable(why)),
        None if error.kind() == io::ErrorKind::WouldBlock => Ok(Sent::WouldBlock),
        None if noq_udp::is_msg_size_err(&error) => Ok(Sent::TooLarge),
        None if is_no_buffers(&error) => Ok(Sent::Dropped),
        None => Err(error),
    }
}

pub(super) fn of_receive(error: io::Error) -> io::Result<Received> {
    match unreachable(&error) {
        Some(why) => Ok(Received::Unreachable(why)),
        None => Err(error),
    }
}
