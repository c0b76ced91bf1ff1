//! A connection between edge and hub: as it is, or inside TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_rustls::TlsStream;

use crate::proxy::GuardedStream;

/// A connection between edge and hub. One that ends without the close_notify of TLS breaks (RFC
/// 8446, section 6.1), and dropped unfinished it resets as without TLS.
#[derive(Debug)]
pub(super) enum Channel {
    /// What passes can be read and changed on the way.
    Plain(GuardedStream),
    /// It cannot.
    Tls(Box<TlsStream<GuardedStream>>),
}

impl Channel {
    /// The connection itself.
    pub(super) fn guarded(&self) -> &GuardedStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        }
    }

    /// Whether it is encrypted.
    pub(super) const fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Finishes with an answer that must arrive: see [`GuardedStream::close`].
    pub(super) async fn close(mut self) -> io::Result<()> {
        self.shutdown().await?;
        let stream = match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => match *stream {
                TlsStream::Client(stream) => stream.into_inner().0,
                TlsStream::Server(stream) => stream.into_inner().0,
            },
        };
        stream.close().await
    }
}

impl AsyncRead for Channel {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = match self.get_mut() {
            Self::Plain(stream) => return Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => stream,
        };
        let before = buf.remaining();
        ready!(Pin::new(&mut *stream).poll_read(cx, buf))?;
        if before > 0 && buf.remaining() == before {
            stream.get_ref().0.ended_inside();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Channel {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
