//! UDP sockets of the paths: one for each uplink, with GSO, GRO and ECN.

mod batch;
mod bind;
mod meter;
mod outcome;

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::num::NonZeroUsize;

use noq_udp::{Transmit, UdpSocketState};
use tokio::io::Interest;
use tokio::net::UdpSocket;

pub(crate) use batch::ReceiveBatch;
pub(crate) use bind::tie;
pub use bind::{BindError, BindTo, Binding, UplinkOptions};
pub(crate) use meter::Meter;
pub(crate) use noq_udp::Transmit as UdpTransmit;
pub(crate) use outcome::{Received, Sent};

/// A UDP socket that sends and receives over one uplink.
///
/// Datagrams are never fragmented (the DF bit is set): the path MTU is the transport's business.
#[derive(Debug)]
pub struct UplinkSocket {
    io: UdpSocket,
    state: UdpSocketState,
    binding: Binding,
    local_addr: SocketAddr,
    meter: Option<Meter>,
}

impl UplinkSocket {
    /// Opens a socket. Must be called within a tokio runtime.
    pub fn bind(options: &UplinkOptions) -> Result<Self, BindError> {
        let (socket, binding) = bind::open(options)?;
        let setup = |error| BindError::Setup { what: "UDP socket", error };
        let io = UdpSocket::from_std(socket.into()).map_err(setup)?;
        let state = UdpSocketState::new((&io).into()).map_err(setup)?;
        let local_addr = io.local_addr().map_err(setup)?;
        Ok(Self { io, state, binding, local_addr, meter: None })
    }

    /// The same socket; what it sends and receives from now on is counted there too.
    pub(crate) fn metered(self, meter: Option<Meter>) -> Self {
        Self { meter, ..self }
    }

    /// How the socket is tied to its uplink.
    pub(crate) fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The local address; its IP is unspecified if the socket is tied to a device alone.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Most segments that one [`Transmit`] may have; 1 without GSO. May fall to 1 while running,
    /// when the device turns out not to support it.
    pub(crate) fn max_gso_segments(&self) -> NonZeroUsize {
        self.state.max_gso_segments()
    }

    /// Size of the kernel's buffers in bytes, as granted: sending, receiving. Linux grants twice
    /// what is asked, up to `net.core.wmem_max` and `rmem_max`, and counts its own overhead in.
    pub fn buffer_sizes(&self) -> io::Result<(usize, usize)> {
        let send = self.state.send_buffer_size((&self.io).into())?;
        Ok((send, self.state.recv_buffer_size((&self.io).into())?))
    }

    /// Waits until [`try_send`](Self::try_send) may succeed. Cancel-safe.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.io.writable().await
    }

    /// Sends one datagram, or `segment_size` pieces of `contents` as many datagrams.
    ///
    /// What happens to one datagram or one destination is an outcome, not an error: the transport
    /// above recovers from it. An error means that the socket is of no more use.
    pub(crate) fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<Sent> {
        match self.send_now(transmit) {
            Ok(()) => Ok(Sent::All),
            // The state has just given up GSO, or had before this transmit was built.
            Err(error)
                if transmit.segment_size.is_some()
                    && self.max_gso_segments().get() == 1
                    && outcome::may_be_gso(&error) =>
            {
                self.send_singly(transmit)
            }
            Err(error) => outcome::of_send(error),
        }
    }

    fn send_singly(&self, transmit: &Transmit<'_>) -> io::Result<Sent> {
        let size = transmit.segment_size.unwrap_or(transmit.contents.len()).max(1);
        for (index, contents) in transmit.contents.chunks(size).enumerate() {
            let single = Transmit { contents, segment_size: None, ..transmit.clone() };
            if let Err(error) = self.send_now(&single) {
                let outcome = outcome::of_send(error)?;
                return Ok(match outcome {
                    Sent::WouldBlock if index > 0 => Sent::Part { bytes: index * size },
                    other => other,
                });
            }
        }
        Ok(Sent::All)
    }

    fn send_now(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.attempt(Interest::WRITABLE, || self.state.try_send((&self.io).into(), transmit))?;
        if let Some(meter) = &self.meter {
            let bytes = transmit.contents.len();
            let datagrams = meter::datagrams(bytes, transmit.segment_size.unwrap_or(bytes));
            meter.count(transmit.destination, datagrams, bytes);
        }
        Ok(())
    }

    /// Asks the kernel first: tokio knows nothing about a socket that it has not waited for yet. If
    /// the kernel says no, asks again through tokio, which then clears the readiness that
    /// [`writable`](Self::writable) and [`readable`](Self::readable) wait for, without missing what
    /// comes between.
    fn attempt<T>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.io.try_io(interest, operation)
            }
            done => done,
        }
    }

    /// Waits until [`try_recv`](Self::try_recv) may find datagrams. Cancel-safe.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.io.readable().await
    }

    /// Takes the datagrams that are there, as many as fit into `batch`; `None` if there are none.
    pub(crate) fn try_recv(&self, batch: &mut ReceiveBatch) -> io::Result<Option<Received>> {
        batch.filled = 0;
        let mut slices: Vec<_> = batch.buffers.iter_mut().map(|b| IoSliceMut::new(b)).collect();
        let received = self.attempt(Interest::READABLE, || {
            self.state.recv((&self.io).into(), &mut slices, &mut batch.meta)
        });
        match received {
            Ok(filled) => {
                batch.filled = filled;
                self.count_received(batch);
                Ok(Some(Received::Datagrams))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => outcome::of_receive(error).map(Some),
        }
    }

    fn count_received(&self, batch: &ReceiveBatch) {
        let Some(meter) = &self.meter else { return };
        for received in batch.meta.iter().take(batch.filled) {
            let datagrams = meter::datagrams(received.len, received.stride);
            meter.count(received.addr, datagrams, received.len);
        }
    }

    /// Buffers for [`try_recv`](Self::try_recv), large enough for what GRO may join.
    pub(crate) fn receive_batch(&self) -> ReceiveBatch {
        ReceiveBatch::new(self.state.gro_segments())
    }
}

#[cfg(test)]
mod tests;
