//! A stream of a bond as tokio sees it.

use super::shared::{Shared, gone};
use bytes::{Buf, Bytes};
use polypath_bond::{BondKey, ReadError, StreamId, WriteError};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most that one write hands over: larger ones are cut by the caller's loop.
const MAX_WRITE: usize = 256 << 10;
/// Code of a stream that was dropped unfinished (docs/tunnel.md).
const ABANDONED: u64 = 0;

/// A bidirectional stream. Shutting down ends the writing half; dropping the stream before that
/// resets it, and stops the peer unless its end was read.
#[derive(Debug)]
pub struct BondStream {
    shared: Arc<Shared>,
    bond: BondKey,
    id: StreamId,
    finished: bool,
    read_to_end: bool,
    /// An error that was met behind data which came first.
    pending_error: Option<io::Error>,
}

impl BondStream {
    pub(super) fn new(shared: Arc<Shared>, bond: BondKey, id: StreamId) -> Self {
        Self { shared, bond, id, finished: false, read_to_end: false, pending_error: None }
    }

    /// Its number.
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Writes without copying: hands over as much of `data` as the send buffer takes, which leaves
    /// the rest in `data`.
    ///
    /// # Errors
    /// When the stream was finished or stopped, or the bond ended.
    pub fn poll_write_chunk(
        &mut self,
        cx: &mut Context<'_>,
        data: &mut Bytes,
    ) -> Poll<io::Result<()>> {
        self.write_some(cx, data).map_ok(|written| data.advance(written))
    }

    fn write_some(&self, cx: &mut Context<'_>, data: &Bytes) -> Poll<io::Result<usize>> {
        let (bond, id) = (self.bond, self.id);
        let mut inner = self.shared.lock();
        match inner.node.bond_mut(bond).map(|bond| bond.write(id, data)) {
            Some(Ok(written)) => {
                self.shared.drive(&mut inner);
                Poll::Ready(Ok(written))
            }
            Some(Err(WriteError::Blocked)) => {
                inner.wakers.await_writing(bond, id, cx);
                Poll::Pending
            }
            Some(Err(error)) => Poll::Ready(Err(io::Error::new(io::ErrorKind::BrokenPipe, error))),
            None => Poll::Ready(Err(gone())),
        }
    }

    /// Reads without copying: the next bytes in order, at most `max`; `None` at the end.
    ///
    /// # Errors
    /// When the peer reset the stream or the bond ended.
    pub fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
        max: usize,
    ) -> Poll<io::Result<Option<Bytes>>> {
        if let Some(error) = self.pending_error.take() {
            return Poll::Ready(Err(error));
        }
        if self.read_to_end {
            return Poll::Ready(Ok(None));
        }
        let now = self.shared.now();
        let (bond, id) = (self.bond, self.id);
        let mut inner = self.shared.lock();
        let result = inner.node.bond_mut(bond).map(|bond| bond.read(id, max, now));
        match result {
            Some(Err(ReadError::Blocked)) => {
                inner.wakers.await_reading(bond, id, cx);
                // A limit on the rate may have set a timer.
                self.shared.drive(&mut inner);
                Poll::Pending
            }
            Some(Ok(data)) => {
                // Most reads change nothing that the peer must hear of now.
                if inner.node.bond(bond).is_some_and(|bond| bond.has_news(now)) {
                    self.shared.drive(&mut inner);
                }
                self.read_to_end = data.is_none();
                Poll::Ready(Ok(data))
            }
            Some(Err(error @ ReadError::Reset(_))) => {
                self.read_to_end = true;
                Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionReset, error)))
            }
            Some(Err(ReadError::UnknownStream(_))) | None => Poll::Ready(Err(gone())),
        }
    }
}

impl AsyncRead for BondStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let start = buf.filled().len();
        while buf.remaining() > 0 {
            let read_some = buf.filled().len() > start;
            match self.poll_chunk(cx, buf.remaining()) {
                Poll::Ready(Ok(Some(data))) => buf.put_slice(&data),
                Poll::Ready(Ok(None)) => break,
                Poll::Ready(Err(error)) if read_some => {
                    // What was read comes first.
                    self.pending_error = Some(error);
                    break;
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending if read_some => break,
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for BondStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        // Only what has room is copied, and not behind the lock. Without room a single byte asks
        // whether the stream can be written, and waits.
        let room = self.shared.lock().node.bond(self.bond).map_or(0, |b| b.send_room(self.id));
        let len = buf.len().min(MAX_WRITE).min(usize::try_from(room).unwrap_or(MAX_WRITE).max(1));
        self.write_some(cx, &Bytes::copy_from_slice(&buf[..len]))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.finished {
            return Poll::Ready(Ok(()));
        }
        let (bond, id) = (self.bond, self.id);
        let result = self.shared.with(|inner| Some(inner.node.bond_mut(bond)?.finish(id)));
        match result {
            Some(Ok(())) => {
                self.finished = true;
                Poll::Ready(Ok(()))
            }
            Some(Err(error)) => Poll::Ready(Err(io::Error::new(io::ErrorKind::BrokenPipe, error))),
            None => Poll::Ready(Err(gone())),
        }
    }
}

impl Drop for BondStream {
    fn drop(&mut self) {
        let now = self.shared.now();
        let (bond, id, finished) = (self.bond, self.id, self.finished);
        self.shared.with(|inner| {
            inner.wakers.wake_reader(bond, id);
            inner.wakers.wake_writer(bond, id);
            if let Some(bond) = inner.node.bond_mut(bond) {
                if !finished {
                    bond.reset(id, ABANDONED);
                }
                bond.stop(id, ABANDONED, now);
            }
        });
    }
}
