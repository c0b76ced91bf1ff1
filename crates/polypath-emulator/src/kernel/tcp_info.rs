//! What the kernel tells of a TCP connection.
#![expect(unsafe_code, reason = "TCP_INFO of tcp(7), which no crate in use wraps")]

use rustix::fd::{AsFd, AsRawFd};
use std::io;
use std::mem;

/// The state of a connected socket of TCP.
pub(crate) fn tcp_info(socket: impl AsFd) -> io::Result<libc::tcp_info> {
    // SAFETY: all fields are numbers, for which zero is valid.
    let mut info: libc::tcp_info = unsafe { mem::zeroed() };
    let mut length = size_of_val(&info) as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    let (value, length) = ((&raw mut info).cast(), &raw mut length);
    // SAFETY: the value has room for `length` bytes, and the kernel writes no more.
    match unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, value, length) } {
        0 => Ok(info),
        _ => Err(io::Error::last_os_error()),
    }
}
