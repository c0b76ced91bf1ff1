//! One end of a wire: all frames of one interface, in and out.

use super::frame::ETHERNET_HEADER;
use super::os::{self, Arrival, BATCH};
use super::parcel::{OFFLOAD_HEADER, Parcel, Received};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::net::{netdevice, sockopt};
use socket2::{Domain, Socket, Type};
use std::io;

/// What the kernel may hold for us while we are late, in bytes of its own accounting, which takes
/// about twice the frame: some 10 000 frames, 50 ms at 200 000 frames/s.
const RECEIVE_BUFFER: usize = 32 << 20;

/// A veth takes frames at once; this is for other interfaces.
const SEND_BUFFER: usize = 8 << 20;

/// A non-blocking packet socket.
#[derive(Debug)]
pub(super) struct PacketSocket {
    socket: Socket,
    /// The largest frame, with its offload header.
    largest: usize,
}

impl PacketSocket {
    /// Takes the frames that come out of an interface of the namespace that the thread is in.
    pub(super) fn bind(interface: &str) -> io::Result<Self> {
        // Protocol 0 takes no frame until the socket is bound to its interface.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        let index = netdevice::name_to_index(&socket, interface)?;
        let largest = OFFLOAD_HEADER + ETHERNET_HEADER + os::mtu(&socket, interface)?;
        let on = [
            (libc::SOL_PACKET, libc::PACKET_VNET_HDR),
            (libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS),
            (libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING),
            (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS),
        ];
        for (level, option) in on {
            os::set_option(&socket, level, option, 1)?;
        }
        sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER)?;
        sockopt::set_socket_send_buffer_size_force(&socket, SEND_BUFFER)?;
        socket.set_nonblocking(true)?;
        os::bind(&socket, index)?;
        Ok(Self { socket, largest })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// How many frames the kernel had no room for since the last call.
    pub(super) fn take_drops(&self) -> io::Result<u64> {
        os::take_drops(&self.socket).map(u64::from)
    }

    /// Sends frames, at most [`BATCH`] of them; how many the kernel took before it refused one.
    ///
    /// # Errors
    /// Why it refused the first.
    pub(super) fn send<'a>(&self, parcels: impl Iterator<Item = &'a Parcel>) -> io::Result<usize> {
        os::send(&self.socket, parcels.map(Parcel::bytes))
    }
}

/// Where frames of one socket are put.
#[derive(Debug)]
pub(super) struct Inbox {
    buffers: [Box<[u8]>; BATCH],
    arrivals: [Arrival; BATCH],
    /// Buffers of frames that have been sent.
    spare: Vec<Box<[u8]>>,
    largest: usize,
}

impl Inbox {
    pub(super) fn new(socket: &PacketSocket) -> Self {
        let largest = socket.largest;
        Self {
            buffers: core::array::from_fn(|_| vec![0; largest].into()),
            arrivals: [Arrival::default(); BATCH],
            spare: Vec::new(),
            largest,
        }
    }

    /// Receives what there is, at most [`BATCH`] frames; how many.
    pub(super) fn fill(&mut self, socket: &PacketSocket) -> io::Result<usize> {
        match os::receive(&socket.socket, &mut self.buffers, &mut self.arrivals) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            result => result,
        }
    }

    /// Takes the first `count` frames, with the time stamps of the kernel.
    pub(super) fn take(
        &mut self,
        count: usize,
    ) -> impl Iterator<Item = (Arrival, Received)> + use<'_> {
        let Self { buffers, arrivals, spare, largest } = self;
        buffers.iter_mut().zip(arrivals).take(count).map(|(buffer, arrival)| {
            let fresh = spare.pop().unwrap_or_else(|| vec![0; *largest].into());
            let full = core::mem::replace(buffer, fresh);
            (*arrival, Received::new(full, arrival.length))
        })
    }

    /// Takes the memory of a frame back.
    pub(super) fn recycle(&mut self, buffer: Box<[u8]>) {
        if self.spare.len() < BATCH {
            self.spare.push(buffer);
        }
    }
}
