//! Events of Multipath TCP: that something has changed. What it is now is asked of inet_diag.

use std::future::poll_fn;
use std::io::{self, ErrorKind};

use rtnetlink::sys::protocols::NETLINK_GENERIC;
use rtnetlink::sys::{AsyncSocket, SocketAddr, TokioSocket};

use super::path_manager::PathManager;

/// Larger than any event.
const RECEIVE_BUFFER: usize = 8 << 10;

/// The events of the network namespace of the thread that opened it. While there is a listener, the
/// kernel lets peers add subflows to connections whose path manager is in user space.
pub struct Events {
    socket: TokioSocket,
    buffer: Vec<u8>,
}

impl Events {
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// If there is no such socket to be had.
    pub fn listen(manager: &PathManager) -> io::Result<Self> {
        let mut socket = TokioSocket::new(NETLINK_GENERIC)?;
        socket.socket_mut().bind(&SocketAddr::new(0, 0))?;
        socket.socket_mut().add_membership(manager.events())?;
        Ok(Self { socket, buffer: Vec::with_capacity(RECEIVE_BUFFER) })
    }

    /// Waits until something has changed. Which event it was does not matter.
    ///
    /// # Errors
    /// What the kernel says.
    pub async fn changed(&mut self) -> io::Result<()> {
        self.buffer.clear();
        let Self { socket, buffer } = self;
        match poll_fn(|context| socket.poll_recv(context, buffer)).await {
            // More events than the socket holds: that there were some is known.
            Err(error) if error.raw_os_error() == Some(OVERRUN) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            received => received,
        }
    }
}

const OVERRUN: i32 = rustix::io::Errno::NOBUFS.raw_os_error();
