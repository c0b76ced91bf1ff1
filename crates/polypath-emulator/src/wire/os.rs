//! System calls of packet sockets and threads that no crate in use wraps.
#![expect(unsafe_code, reason = "packet(7), recvmmsg(2), sendmmsg(2), sched_setscheduler(2)")]

use rustix::fd::{AsFd, AsRawFd};
use std::io::{self, Error};
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::time::Duration;

/// How many frames one call moves at most.
pub(super) const BATCH: usize = 32;

/// What the kernel says of a frame that it has put into its buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival {
    /// The length of the frame, which may be larger than the buffer.
    pub(super) length: usize,
    /// When it arrived, since the epoch of the real-time clock.
    pub(super) stamp: Option<Duration>,
}

fn check(result: libc::c_int) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| Error::last_os_error())
}

/// Binds a packet socket to an interface, for frames of all protocols.
pub(super) fn bind(socket: impl AsFd, interface: u32) -> io::Result<()> {
    // SAFETY: all fields are numbers, for which zero is valid.
    let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = i32::try_from(interface).map_err(Error::other)?;
    let length = size_of_val(&address) as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the address is valid for its length while the call reads it.
    check(unsafe { libc::bind(fd, (&raw const address).cast(), length) })?;
    Ok(())
}

/// Sets a socket option whose value is a C `int`.
pub(super) fn set_option(socket: impl AsFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    let length = size_of_val(&value) as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the value is valid for its length while the call reads it.
    check(unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), length) })?;
    Ok(())
}

/// How many frames the kernel had no room for since the last call.
pub(super) fn take_drops(socket: impl AsFd) -> io::Result<u32> {
    // SAFETY: all fields are numbers, for which zero is valid.
    let mut statistics: libc::tpacket_stats = unsafe { mem::zeroed() };
    let mut length = size_of_val(&statistics) as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    let (value, option) = ((&raw mut statistics).cast(), libc::PACKET_STATISTICS);
    // SAFETY: the value has room for `length` bytes.
    check(unsafe { libc::getsockopt(fd, libc::SOL_PACKET, option, value, &raw mut length) })?;
    Ok(statistics.tp_drops)
}

/// The MTU of an interface.
pub(super) fn mtu(socket: impl AsFd, interface: &str) -> io::Result<usize> {
    // SAFETY: all fields are numbers or null pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    // One byte stays zero, as the end.
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the request is valid for reading and writing, as SIOCGIFMTU does.
    check(unsafe { libc::ioctl(fd, libc::SIOCGIFMTU, &raw mut request) })?;
    // SAFETY: that call has set this field of the union.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    usize::try_from(mtu).map_err(Error::other)
}

/// Gives the calling thread the lowest priority of those that go before all ordinary ones.
pub(super) fn take_realtime_priority() -> io::Result<()> {
    // SAFETY: all fields are numbers, for which zero is valid.
    let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
    parameters.sched_priority = 1;
    // SAFETY: the parameters are valid while the call reads them. Thread 0 is the calling one.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })?;
    Ok(())
}

/// Receives a frame into each buffer, as long as there are any; how many there were.
pub(super) fn receive(
    socket: impl AsFd,
    buffers: &mut [Box<[u8]>; BATCH],
    arrivals: &mut [Arrival; BATCH],
) -> io::Result<usize> {
    let mut controls = [const { MaybeUninit::<Control>::uninit() }; BATCH];
    let mut vectors = buffers
        .each_mut()
        .map(|buffer| libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() });
    let mut messages = [const { empty_message() }; BATCH];
    for ((message, vector), control) in messages.iter_mut().zip(&mut vectors).zip(&mut controls) {
        message.msg_hdr.msg_iov = vector;
        message.msg_hdr.msg_iovlen = 1;
        message.msg_hdr.msg_control = control.as_mut_ptr().cast();
        message.msg_hdr.msg_controllen = size_of::<Control>() as _;
    }
    let fd = socket.as_fd().as_raw_fd();
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: each message points to one vector, that to one buffer, and to one control buffer
    // of its size. All of them outlive the call, and nothing else uses them.
    let count = unsafe {
        libc::recvmmsg(fd, messages.as_mut_ptr(), BATCH as _, flags as _, ptr::null_mut())
    };
    let count = check(count)?;
    for (arrival, message) in arrivals.iter_mut().zip(&messages[..count.min(BATCH)]) {
        // SAFETY: the kernel has filled in this header, whose control buffer still exists.
        let stamp = unsafe { stamp(&message.msg_hdr) };
        *arrival = Arrival { length: message.msg_len as usize, stamp };
    }
    Ok(count)
}

/// Sends frames, at most [`BATCH`] of them; how many the kernel took before one that it refused.
///
/// # Errors
/// Why it refused the first one.
pub(super) fn send<'a>(
    socket: impl AsFd,
    frames: impl Iterator<Item = &'a [u8]>,
) -> io::Result<usize> {
    let mut vectors = [const { libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 } }; BATCH];
    let mut count = 0;
    for (vector, frame) in vectors.iter_mut().zip(frames) {
        *vector = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
        count += 1;
    }
    let mut messages = [const { empty_message() }; BATCH];
    for (message, vector) in messages.iter_mut().zip(&mut vectors) {
        message.msg_hdr.msg_iov = vector;
        message.msg_hdr.msg_iovlen = 1;
    }
    let fd = socket.as_fd().as_raw_fd();
    let flags = libc::MSG_DONTWAIT;
    // SAFETY: the first `count` messages point to one vector each, that to a frame. All of them
    // outlive the call, which only reads the frames.
    check(unsafe { libc::sendmmsg(fd, messages.as_mut_ptr(), count, flags as _) })
}

/// Room for a control message with a `timespec`, aligned as its header must be.
type Control = [u64; 8];

const fn empty_message() -> libc::mmsghdr {
    // SAFETY: all fields are numbers or pointers, for which zero is valid: nothing.
    unsafe { mem::zeroed() }
}

/// The time stamp among the control messages of a received message.
///
/// # Safety
/// The header is as the kernel has left it, and its control buffer still exists.
unsafe fn stamp(header: &libc::msghdr) -> Option<Duration> {
    // SAFETY: as the caller has promised; the macros stay within the control buffer, and a message
    // of this type holds a `timespec`, which may be unaligned.
    let time = unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        loop {
            let found = message.as_ref()?;
            if (found.cmsg_level, found.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                break libc::CMSG_DATA(message).cast::<libc::timespec>().read_unaligned();
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    };
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}
