//! Joins a TCP connection and another byte stream.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional_with_sizes};

use super::GuardedStream;

/// Bytes buffered for each direction.
const BUFFER: usize = 64 * 1024;

/// What passed, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spliced {
    /// From the TCP connection.
    pub from_tcp: u64,
    /// To the TCP connection.
    pub to_tcp: u64,
}

/// One of the two streams broke, and both are gone.
#[derive(Debug, thiserror::Error)]
#[error("connection broke: {0}")]
pub struct SpliceError(io::Error);

/// Copies in both directions until both have ended. The end of one direction is a half-close of the
/// other stream; the other direction goes on. An error on either side drops both streams
/// unfinished, which resets them if they keep the promise of
/// [`Opener::Stream`](super::Opener::Stream); so does a TCP connection that breaks behind its end,
/// while there is nothing to be sent to it.
pub(crate) async fn splice<S>(mut tcp: GuardedStream, mut stream: S) -> Result<Spliced, SpliceError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let broken = tcp.broken_behind_end();
    let copied = tokio::select! {
        biased;
        copied = copy_bidirectional_with_sizes(&mut tcp, &mut stream, BUFFER, BUFFER) => copied,
        error = broken => Err(error),
    };
    let (from_tcp, to_tcp) = copied.map_err(SpliceError)?;
    Ok(Spliced { from_tcp, to_tcp })
}
