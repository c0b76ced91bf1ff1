//! A UDP socket that receives and sends many datagrams at once.

use super::batch::Batch;
use noq_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use rustix::fd::{AsFd, BorrowedFd};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// What the kernel may hold for us while we sleep, in bytes of its own accounting. Without the
/// privilege to go beyond, the system's limit (`net.core.rmem_max`) applies.
const SOCKET_BUFFER: usize = 8 << 20;

/// The largest datagram, or sequence of datagrams that the kernel has merged.
const MAX_MERGED: usize = 65_535;

/// Sequences of datagrams in one call.
const CALL: usize = if BATCH_SIZE < 8 { BATCH_SIZE } else { 8 };

/// Calls in a row on one socket, so that a flood on one cannot starve the others.
const CALLS: usize = 8;

/// A non-blocking UDP socket with GRO, GSO and ECN where the system has them.
#[derive(Debug)]
pub(super) struct Port {
    socket: UdpSocket,
    state: UdpSocketState,
}

/// Where a datagram came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) source: SocketAddr,
    /// The address it was sent to.
    pub(super) destination: Option<IpAddr>,
    pub(super) ecn: Option<EcnCodepoint>,
}

impl Port {
    pub(super) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        let state = UdpSocketState::new((&socket).into())?;
        enlarge_buffers(&socket);
        Ok(Self { socket, state })
    }

    pub(super) fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// How many datagrams one send can carry.
    pub(super) fn max_segments(&self) -> usize {
        self.state.max_gso_segments().get()
    }

    /// Hands over what has arrived, datagram by datagram.
    pub(super) fn receive(
        &self,
        buffers: &mut Buffers,
        mut take: impl FnMut(Origin, &[u8]),
    ) -> io::Result<()> {
        for _ in 0..CALLS {
            let count = match buffers.fill(self) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            for (meta, buffer) in buffers.filled(count) {
                let (source, destination, ecn) = (meta.addr, meta.dst_ip, meta.ecn);
                let origin = Origin { source, destination, ecn };
                segments(buffer, meta.stride).for_each(|datagram| take(origin, datagram));
            }
            if count < CALL {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends a batch from `source`, or from the address of the socket.
    pub(super) fn send(
        &self,
        batch: &Batch,
        destination: SocketAddr,
        source: Option<IpAddr>,
    ) -> io::Result<()> {
        let transmit = Transmit {
            destination,
            ecn: batch.ecn(),
            contents: batch.contents(),
            segment_size: batch.segment_size(),
            src_ip: source,
        };
        self.state.try_send((&self.socket).into(), &transmit)
    }
}

/// Asks for more than the system's limit, then for as much as it gives. What we get decides only
/// how long a pause the relay survives without loss.
fn enlarge_buffers(socket: &UdpSocket) {
    use rustix::net::sockopt;
    if sockopt::set_socket_recv_buffer_size_force(socket, SOCKET_BUFFER).is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(socket, SOCKET_BUFFER);
    }
    let _ = sockopt::set_socket_send_buffer_size(socket, SOCKET_BUFFER);
}

/// The datagrams in a merged sequence: all of `stride` bytes but the last. An empty datagram is
/// one, too.
fn segments(merged: &[u8], stride: usize) -> impl Iterator<Item = &[u8]> {
    let empty = merged.is_empty().then_some(merged);
    empty.into_iter().chain(merged.chunks(stride.max(1)))
}

/// Where received datagrams are put; one for each thread.
#[derive(Debug)]
pub(super) struct Buffers {
    memory: Vec<u8>,
    meta: [RecvMeta; CALL],
}

impl Buffers {
    pub(super) fn new() -> Self {
        Self { memory: vec![0; CALL * MAX_MERGED], meta: [RecvMeta::default(); CALL] }
    }

    fn fill(&mut self, port: &Port) -> io::Result<usize> {
        let mut chunks = self.memory.chunks_exact_mut(MAX_MERGED);
        let mut slices: [IoSliceMut<'_>; CALL] =
            core::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        port.state.recv((&port.socket).into(), &mut slices, &mut self.meta)
    }

    fn filled(&self, count: usize) -> impl Iterator<Item = (&RecvMeta, &[u8])> {
        let buffers = self.memory.chunks_exact(MAX_MERGED);
        self.meta.iter().zip(buffers).take(count).map(|(meta, buffer)| (meta, &buffer[..meta.len]))
    }
}

#[cfg(test)]
mod tests {
    use super::segments;

    #[test]
    fn merged_datagrams_are_split_at_their_stride() {
        let split = |merged: &'static [u8], stride| segments(merged, stride).collect::<Vec<_>>();
        assert_eq!(split(b"aabbc", 2), [&b"aa"[..], b"bb", b"c"]);
        assert_eq!(split(b"aa", 2), [b"aa"]);
        assert_eq!(split(b"", 0), [b""]);
    }
}
