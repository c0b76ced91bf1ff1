//! Joins two byte streams.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional_with_sizes};

/// Bytes buffered for each direction.
const BUFFER: usize = 64 * 1024;

/// What passed between two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spliced {
    /// Bytes from the first stream to the second.
    pub forward: u64,
    /// Bytes from the second stream to the first.
    pub backward: u64,
}

/// One of the two streams broke, and both are gone.
#[derive(Debug, thiserror::Error)]
#[error("connection broke: {0}")]
pub struct SpliceError(io::Error);

/// Copies in both directions until both have ended. The end of one direction is a half-close of the other
/// stream; the other direction goes on. An error on either side drops both streams unfinished, which resets
/// them if they keep the promise of [`Opener::Stream`](super::Opener::Stream).
pub async fn splice<A, B>(mut a: A, mut b: B) -> Result<Spliced, SpliceError>
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let copied = copy_bidirectional_with_sizes(&mut a, &mut b, BUFFER, BUFFER).await;
    let (forward, backward) = copied.map_err(SpliceError)?;
    Ok(Spliced { forward, backward })
}
