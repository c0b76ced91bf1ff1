//! A TCP stream that is reset, not closed, when it is dropped unfinished.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::OwnedSemaphorePermit;

/// Silence after which the kernel asks whether the other end still lives.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// What an unread rest of a request may cost at a graceful close, in time and bytes.
const LINGER_TIME: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 256 * 1024;

/// A TCP stream that tells an interrupted transfer from a complete one: dropping it before
/// [`shutdown`](AsyncWriteExt::shutdown) sends RST, where a plain `TcpStream` would send the FIN of a
/// complete one.
#[derive(Debug)]
pub struct GuardedStream {
    tcp: TcpStream,
    /// Bytes read too far, given out before those of the socket.
    unread: Bytes,
    finished: bool,
    /// Its place under a limit, free again when it is dropped.
    permit: Option<OwnedSemaphorePermit>,
}

impl GuardedStream {
    /// Guards `tcp`, without delaying small segments and with keep-alive probes.
    pub fn new(tcp: TcpStream) -> io::Result<Self> {
        tcp.set_nodelay(true)?;
        SockRef::from(&tcp).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))?;
        Ok(Self { tcp, unread: Bytes::new(), finished: false, permit: None })
    }

    /// Counts against a limit for as long as it lives.
    #[must_use]
    pub(crate) fn counted(mut self, permit: OwnedSemaphorePermit) -> Self {
        self.permit = Some(permit);
        self
    }

    /// The socket.
    pub fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    /// Both directions of the socket at once, without the bytes that were put back.
    pub(crate) fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        self.tcp.split()
    }

    /// Puts bytes back that were read too far; they come before what the socket has.
    pub fn unread(&mut self, bytes: Bytes) {
        self.unread = if self.unread.is_empty() {
            bytes
        } else {
            [bytes, std::mem::take(&mut self.unread)].concat().into()
        };
    }

    /// Finishes with an answer that must arrive: closing a socket with unread input would reset it and may
    /// take the answer away from the client, so the rest is read first, within bounds.
    pub async fn close(mut self) -> io::Result<()> {
        self.shutdown().await?;
        let mut rest = (&mut self).take(LINGER_BYTES);
        let mut nowhere = tokio::io::sink();
        let drain = tokio::io::copy(&mut rest, &mut nowhere);
        // A client that goes on sending is cut off; it has had its answer and a second to read it.
        let _ = tokio::time::timeout(LINGER_TIME, drain).await;
        Ok(())
    }
}

impl Drop for GuardedStream {
    fn drop(&mut self) {
        if !self.finished {
            // The one error is a socket already dead, which needs no reset.
            let _ = self.tcp.set_zero_linger();
        }
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.unread.is_empty() {
            return Pin::new(&mut self.tcp).poll_read(cx, buf);
        }
        let count = buf.remaining().min(self.unread.len());
        buf.put_slice(&self.unread.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for GuardedStream {
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
        ready!(Pin::new(&mut self.tcp).poll_shutdown(cx))?;
        self.finished = true;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> (GuardedStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (far, _) = listener.accept().await.unwrap();
        (GuardedStream::new(near).unwrap(), far)
    }

    #[tokio::test]
    async fn dropped_unfinished_it_resets_and_finished_it_closes() {
        let (near, mut far) = pair().await;
        drop(near);
        let error = far.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);

        let (mut near, mut far) = pair().await;
        near.shutdown().await.unwrap();
        drop(near);
        assert_eq!(far.read(&mut [0; 1]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn an_answer_arrives_although_the_request_was_not_read() {
        let (mut near, mut far) = pair().await;
        far.write_all(&[7; 10_000]).await.unwrap();
        near.write_all(b"no").await.unwrap();
        let client = async {
            let mut answer = Vec::new();
            far.read_to_end(&mut answer).await.map(|_| answer)
        };
        let (closed, answer) = tokio::join!(near.close(), client);
        closed.unwrap();
        assert_eq!(answer.unwrap(), b"no");
    }

    #[tokio::test]
    async fn unread_bytes_come_first() {
        let (mut near, mut far) = pair().await;
        far.write_all(b"c").await.unwrap();
        near.unread(Bytes::from_static(b"b"));
        near.unread(Bytes::from_static(b"a"));
        let mut got = [0; 3];
        near.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"abc");
    }
}
