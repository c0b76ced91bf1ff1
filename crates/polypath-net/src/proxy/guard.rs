//! A TCP stream that is reset, not closed, when it is dropped unfinished.

use std::future::Future;
use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::limit::Place;

/// Silence after which the kernel asks whether the other end still lives.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// What an unread rest of a request may cost at a graceful close, in time and bytes.
const LINGER_TIME: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 256 * 1024;

/// A TCP stream that tells an interrupted transfer from a complete one: dropping it before
/// [`shutdown`](AsyncWriteExt::shutdown) sends RST, where a plain `TcpStream` would send the FIN of
/// a complete one.
#[derive(Debug)]
pub struct GuardedStream {
    socket: Arc<Socket>,
    /// Bytes read too far, given out before those of the socket.
    unread: Bytes,
    finished: bool,
    /// Its place under a limit, free again when it is dropped.
    place: Option<Place>,
}

/// What is shared with who waits until it breaks.
#[derive(Debug)]
struct Socket {
    tcp: TcpStream,
    /// The end was read.
    ended: Notify,
}

impl GuardedStream {
    /// Guards `tcp`, without delaying small segments and with keep-alive probes.
    pub fn new(tcp: TcpStream) -> io::Result<Self> {
        tcp.set_nodelay(true)?;
        SockRef::from(&tcp).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))?;
        let socket = Arc::new(Socket { tcp, ended: Notify::new() });
        Ok(Self { socket, unread: Bytes::new(), finished: false, place: None })
    }

    /// Counts against a limit for as long as it lives.
    #[must_use]
    pub(crate) fn counted(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The socket.
    pub fn tcp(&self) -> &TcpStream {
        &self.socket.tcp
    }

    /// Waits until the other end resets the connection or no longer answers probes, for who does
    /// not read meanwhile, to whom reading tells it.
    pub(crate) fn broken(&self) -> impl Future<Output = io::Error> + use<> {
        let socket = Arc::clone(&self.socket);
        async move { socket.broken().await }
    }

    /// The same once the end was read, behind which reading tells nothing. One may wait at a time.
    pub(crate) fn broken_behind_end(&self) -> impl Future<Output = io::Error> + use<> {
        let socket = Arc::clone(&self.socket);
        async move {
            socket.ended.notified().await;
            socket.broken().await
        }
    }

    /// The end was read of what is inside, such as TLS, behind which the end of the socket is not
    /// looked for. It counts as that for [`broken_behind_end`](Self::broken_behind_end).
    pub(crate) fn ended_inside(&self) {
        self.socket.ended.notify_one();
    }

    /// Waits until a client that waits for an answer has given up: its connection breaks, or it has
    /// ended its half and waited for so long since, as one that has left seems to do. Behind bytes
    /// that wait to be read the end is not seen; then keep-alive probes show who has left.
    pub(crate) fn given_up(
        &self,
        half_closed_timeout: Duration,
    ) -> impl Future<Output = io::Error> + use<> {
        let socket = Arc::clone(&self.socket);
        async move {
            let overdue = async {
                match socket.tcp.peek(&mut [0; 1]).await {
                    Ok(0) => tokio::time::sleep(half_closed_timeout).await,
                    Ok(_) => std::future::pending().await,
                    Err(error) => return error,
                }
                let message =
                    format!("it ended its half of the connection {half_closed_timeout:?} ago");
                io::Error::new(io::ErrorKind::TimedOut, message)
            };
            tokio::select! {
                error = overdue => error,
                error = socket.broken() => error,
            }
        }
    }

    /// Puts bytes back that were read too far; they come before what the socket has.
    pub fn unread(&mut self, bytes: Bytes) {
        self.unread = if self.unread.is_empty() {
            bytes
        } else {
            [bytes, std::mem::take(&mut self.unread)].concat().into()
        };
    }

    /// Finishes with an answer that must arrive: closing a socket with unread input would reset it
    /// and may take the answer away from the client, so the rest is read first, within bounds.
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
            let _ = self.tcp().set_zero_linger();
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
            return self.socket.poll_read(cx, buf);
        }
        let count = buf.remaining().min(self.unread.len());
        buf.put_slice(&self.unread.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_write(cx, buf)
    }

    /// Nothing is buffered.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = SockRef::from(self.tcp()).shutdown(Shutdown::Write);
        // A connection that is over needs no end.
        let shut = shut.or_else(|error| match error.kind() {
            io::ErrorKind::NotConnected => Ok(()),
            _ => Err(error),
        });
        self.finished |= shut.is_ok();
        Poll::Ready(shut)
    }
}

impl Socket {
    async fn broken(&self) -> io::Error {
        let pending = || self.tcp.take_error()?.ok_or(io::ErrorKind::WouldBlock.into());
        self.tcp.async_io(Interest::ERROR, pending).await.unwrap_or_else(|error| error)
    }

    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            ready!(self.tcp.poll_read_ready(cx))?;
            match self.tcp.try_read(buf.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(count) => {
                    if count == 0 {
                        self.ended.notify_one();
                    }
                    buf.advance(count);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }

    fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.tcp.poll_write_ready(cx))?;
            match self.tcp.try_write(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::poll;
    use tokio::net::TcpListener;
    use tokio::time::timeout;

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
    async fn a_reset_behind_the_end_is_noticed() {
        let (mut near, mut far) = pair().await;
        let mut broken = pin!(near.broken_behind_end());
        assert!(poll!(&mut broken).is_pending());
        far.shutdown().await.unwrap();
        assert_eq!(near.read(&mut [0; 1]).await.unwrap(), 0);
        assert!(poll!(&mut broken).is_pending(), "it may still want to have an answer");
        far.set_zero_linger().unwrap();
        drop(far);
        let error = timeout(Duration::from_secs(30), broken).await.unwrap();
        // Linux gives EPIPE for a reset behind the end.
        assert!(matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset));
    }

    #[tokio::test]
    async fn who_waits_gives_up_by_a_reset_or_some_time_after_its_end() {
        let (near, far) = pair().await;
        let mut waiting = pin!(near.given_up(Duration::ZERO));
        assert!(poll!(&mut waiting).is_pending());
        far.set_zero_linger().unwrap();
        drop(far);
        let error = timeout(Duration::from_secs(30), waiting).await.unwrap();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);

        let (mut near, mut far) = pair().await;
        far.shutdown().await.unwrap();
        let at_once = near.given_up(Duration::ZERO);
        let error = timeout(Duration::from_secs(30), at_once).await.unwrap();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let mut later = pin!(near.given_up(Duration::from_secs(3600)));
        assert!(poll!(&mut later).is_pending(), "it may want an answer");
        assert_eq!(near.read(&mut [0; 1]).await.unwrap(), 0, "the end is still there to be read");
    }

    #[tokio::test]
    async fn bytes_of_who_waits_stay_unread() {
        let (mut near, mut far) = pair().await;
        far.write_all(b"a").await.unwrap();
        far.shutdown().await.unwrap();
        near.tcp().readable().await.unwrap();
        let mut waiting = pin!(near.given_up(Duration::ZERO));
        assert!(poll!(&mut waiting).is_pending());
        let mut got = Vec::new();
        near.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, b"a");
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
