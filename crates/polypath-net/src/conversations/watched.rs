//! A stream of which others know what passes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use polypath_steering::Way;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Talk;

/// A stream of a bond, whose conversation lasts as long as it does.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    talk: Talk,
}

impl<S> Watched<S> {
    pub(crate) const fn new(stream: S, talk: Talk) -> Self {
        Self { stream, talk }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let bytes = buf.filled().len() - before;
        if bytes > 0 {
            self.talk.pass(Way::Received, bytes);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        if let Poll::Ready(Ok(bytes)) = written {
            self.talk.pass(Way::Sent, bytes);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
