//! The stream to a client's target, whichever way it takes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::channel::Channel;
use super::counts::Counters;
use super::socket::is_plain;
use crate::driver::BondStream;

/// A connection that the hub has answered, or that was accepted from an edge. It is counted, and
/// once more if it becomes plain TCP.
#[derive(Debug)]
pub struct MptcpStream {
    channel: Channel,
    counters: Arc<Counters>,
    is_plain: bool,
}

impl MptcpStream {
    pub(super) fn new(channel: Channel, counters: Arc<Counters>) -> Self {
        counters.connect(channel.is_encrypted());
        let is_plain = is_plain(channel.guarded().tcp());
        if is_plain {
            counters.become_plain();
        }
        Self { channel, counters, is_plain }
    }

    /// See [`GuardedStream::broken_behind_end`](crate::proxy::GuardedStream::broken_behind_end).
    pub(super) fn broken_behind_end(&self) -> impl Future<Output = io::Error> + use<> {
        self.channel.guarded().broken_behind_end()
    }
}

/// Some fall back in the middle of their life.
impl Drop for MptcpStream {
    fn drop(&mut self) {
        if !self.is_plain && is_plain(self.channel.guarded().tcp()) {
            self.counters.become_plain();
        }
    }
}

impl AsyncRead for MptcpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.channel).poll_read(cx, buf)
    }
}

impl AsyncWrite for MptcpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.channel).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.channel).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.channel).poll_shutdown(cx)
    }
}

/// A byte stream to a target, by one of two ways.
#[derive(Debug)]
pub enum MptcpOrBond {
    /// A connection of its own.
    Mptcp(MptcpStream),
    /// A stream of the bond.
    Bond(BondStream),
}

impl AsyncRead for MptcpOrBond {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Mptcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Bond(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for MptcpOrBond {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Mptcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Bond(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Mptcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Bond(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Mptcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Bond(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
