//! A TCP connection from the hub to a target.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;

use crate::proxy::GuardedStream;

/// A TCP connection to a target, reset when dropped unfinished. It counts against the hub's limit for as
/// long as it lives.
#[derive(Debug)]
pub struct ExitStream {
    tcp: GuardedStream,
    _permit: OwnedSemaphorePermit,
}

impl ExitStream {
    pub(super) fn new(tcp: GuardedStream, permit: OwnedSemaphorePermit) -> Self {
        Self { tcp, _permit: permit }
    }

    /// The connection.
    pub fn tcp(&self) -> &tokio::net::TcpStream {
        self.tcp.tcp()
    }
}

impl AsyncRead for ExitStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buf)
    }
}

impl AsyncWrite for ExitStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}
