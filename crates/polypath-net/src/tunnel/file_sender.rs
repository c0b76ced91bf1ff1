//! Sending side of a FILE stream (docs/tunnel.md, section 4).

use std::io::{self, SeekFrom};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt};

use super::digest::{DIGEST_LENGTH, Digest, FileHasher};
use super::file::Resume;
use super::handshake::{ReceiveError, receive};
use super::{Refusal, Status, StatusError};

const CHUNK: usize = 64 * 1024;

/// A file that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentFile {
    /// Digest of the whole, as sent and as stored.
    pub digest: Digest,
    /// Bytes that the hub had before.
    pub resumed_at: u64,
}

/// A file that could not be sent, or that the hub did not get right.
#[derive(Debug, thiserror::Error)]
pub enum FileSendError {
    /// The file could not be read.
    #[error("reading the file: {0}")]
    Source(io::Error),
    /// The file changed its length while it was being sent.
    #[error("file was announced with {announced} bytes but has {actual}")]
    SizeChanged {
        /// Announced size in bytes.
        announced: u64,
        /// What could be read of it, in bytes; one more than announced if it grew.
        actual: u64,
    },
    /// The stream to the hub broke before the hub had said that the file is stored.
    #[error("sending the file: {0}")]
    Stream(io::Error),
    /// The hub says why it has not stored the file.
    #[error(transparent)]
    Refused(Refusal),
    /// The hub's answer makes no sense.
    #[error("answer of the hub: {0}")]
    Malformed(StatusError),
    /// The hub has more of the file than there is.
    #[error("the hub has {offset} bytes of a file of {size}")]
    BadOffset {
        /// What it says it has.
        offset: u64,
        /// The size of the file.
        size: u64,
    },
    /// The hub stored something else.
    #[error("the hub received digest {hub}, sent was {sent}")]
    DigestMismatch {
        /// Digest of what was read.
        sent: Digest,
        /// Digest of what the hub stored.
        hub: Digest,
    },
}

/// Sends what the hub lacks of the `size` bytes of `source`, and the trailer, on a stream whose
/// FILE request was granted, then waits for the hub's digest. Returns once the hub has stored the
/// file.
pub async fn send_file<S, R>(
    stream: &mut S,
    source: &mut R,
    size: u64,
) -> Result<SentFile, FileSendError>
where
    S: AsyncRead + AsyncWrite + Unpin,
    R: AsyncRead + AsyncSeek + Unpin,
{
    let agreed = agree_on_start(stream, source, size).await?;
    let resumed_at = agreed.start;
    Ok(SentFile { digest: send_rest(stream, source, agreed, size).await?, resumed_at })
}

/// Where a transfer begins: what is before that, the hub has.
#[derive(Debug)]
pub struct Agreed {
    start: u64,
    hasher: FileHasher,
}

impl Agreed {
    /// Bytes that the hub has already.
    pub fn start(&self) -> u64 {
        self.start
    }
}

/// The first half of [`send_file`]: reads what the hub has, and goes there in `source` if that
/// begins with the same bytes.
pub async fn agree_on_start<S, R>(
    stream: &mut S,
    source: &mut R,
    size: u64,
) -> Result<Agreed, FileSendError>
where
    S: AsyncRead + Unpin,
    R: AsyncRead + AsyncSeek + Unpin,
{
    let mut resume = [0; Resume::LENGTH];
    stream.read_exact(&mut resume).await.map_err(FileSendError::Stream)?;
    common_prefix(source, Resume::decode(&resume), size).await
}

/// The second half of [`send_file`].
pub async fn send_rest<S, R>(
    stream: &mut S,
    source: &mut R,
    agreed: Agreed,
    size: u64,
) -> Result<Digest, FileSendError>
where
    S: AsyncRead + AsyncWrite + Unpin,
    R: AsyncRead + Unpin,
{
    let sent = match send_content(stream, source, agreed, size).await {
        // A hub that takes no more has said why before.
        Err(FileSendError::Stream(error)) => return Err(why(stream, error).await),
        sent => sent?,
    };
    match receive(stream, Status::decode).await {
        Ok(Status::Ok) => {}
        Ok(Status::Refused(refusal)) => return Err(FileSendError::Refused(refusal)),
        Err(ReceiveError::Stream(error)) => return Err(FileSendError::Stream(error)),
        Err(ReceiveError::Malformed(error)) => return Err(FileSendError::Malformed(error)),
    }
    let mut hub = Digest([0; DIGEST_LENGTH]);
    stream.read_exact(&mut hub.0).await.map_err(FileSendError::Stream)?;
    if hub == sent { Ok(sent) } else { Err(FileSendError::DigestMismatch { sent, hub }) }
}

async fn why<S: AsyncRead + Unpin>(stream: &mut S, error: io::Error) -> FileSendError {
    match receive(stream, Status::decode).await {
        Ok(Status::Refused(refusal)) => FileSendError::Refused(refusal),
        _ => FileSendError::Stream(error),
    }
}

/// Where to begin: behind what the hub has if this file begins with it, otherwise at the start.
/// Leaves `source` there.
async fn common_prefix<R>(
    source: &mut R,
    resume: Resume,
    size: u64,
) -> Result<Agreed, FileSendError>
where
    R: AsyncRead + AsyncSeek + Unpin,
{
    let Resume { offset, prefix } = resume;
    if offset > size {
        return Err(FileSendError::BadOffset { offset, size });
    }
    source.seek(SeekFrom::Start(0)).await.map_err(FileSendError::Source)?;
    let mut hasher = FileHasher::default();
    let (mut read, mut buffer) = (0, vec![0; CHUNK]);
    while read < offset {
        let most = usize::try_from(offset - read).unwrap_or(CHUNK).min(CHUNK);
        let count = source.read(&mut buffer[..most]).await.map_err(FileSendError::Source)?;
        if count == 0 {
            return Err(FileSendError::SizeChanged { announced: size, actual: read });
        }
        hasher.update(&buffer[..count]);
        read += count as u64;
    }
    if hasher.digest() == prefix {
        return Ok(Agreed { start: offset, hasher });
    }
    source.seek(SeekFrom::Start(0)).await.map_err(FileSendError::Source)?;
    Ok(Agreed { start: 0, hasher: FileHasher::default() })
}

async fn send_content<S, R>(
    stream: &mut S,
    source: &mut R,
    agreed: Agreed,
    announced: u64,
) -> Result<Digest, FileSendError>
where
    S: AsyncWrite + Unpin,
    R: AsyncRead + Unpin,
{
    let Agreed { start, mut hasher } = agreed;
    stream.write_all(&start.to_be_bytes()).await.map_err(FileSendError::Stream)?;
    let mut actual = start;
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = source.read(&mut buffer).await.map_err(FileSendError::Source)?;
        actual += count as u64;
        if actual > announced || (count == 0 && actual < announced) {
            return Err(FileSendError::SizeChanged { announced, actual });
        }
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
        stream.write_all(&buffer[..count]).await.map_err(FileSendError::Stream)?;
    }
    let digest = hasher.digest();
    stream.write_all(&digest.0).await.map_err(FileSendError::Stream)?;
    stream.shutdown().await.map_err(FileSendError::Stream)?;
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::RefusalKind;
    use std::io::Cursor;
    use tokio::io::duplex;

    fn resume(content: &[u8]) -> [u8; Resume::LENGTH] {
        let mut hasher = FileHasher::default();
        hasher.update(content);
        Resume { offset: content.len() as u64, prefix: hasher.digest() }.encode()
    }

    /// What the sender of `abc` writes to a hub that says it has `had`.
    async fn written(had: &[u8]) -> Vec<u8> {
        let (mut near, mut far) = duplex(1024);
        far.write_all(&resume(had)).await.unwrap();
        let sending = tokio::spawn(async move {
            let _ = send_file(&mut near, &mut Cursor::new(b"abc"), 3).await;
        });
        let mut wire = vec![0; 8];
        far.read_exact(&mut wire).await.unwrap();
        far.read_to_end(&mut wire).await.unwrap_or_default();
        drop(far);
        sending.await.unwrap();
        wire.truncate(wire.len() - DIGEST_LENGTH);
        wire
    }

    #[tokio::test]
    async fn only_what_the_hub_lacks_is_sent() {
        assert_eq!(written(b"").await, b"\0\0\0\0\0\0\0\0abc");
        assert_eq!(written(b"ab").await, b"\0\0\0\0\0\0\0\x02c");
        assert_eq!(written(b"abc").await, b"\0\0\0\0\0\0\0\x03");
    }

    #[tokio::test]
    async fn another_beginning_is_not_continued() {
        assert_eq!(written(b"aX").await, b"\0\0\0\0\0\0\0\0abc");
    }

    #[tokio::test]
    async fn a_file_that_changes_while_it_is_sent_is_an_error() {
        for (content, actual) in [(b"ab".as_slice(), 2), (b"abcd", 4)] {
            let (mut near, mut far) = duplex(1024);
            far.write_all(&resume(b"")).await.unwrap();
            let sent = send_file(&mut near, &mut Cursor::new(content), 3).await;
            assert!(
                matches!(sent, Err(FileSendError::SizeChanged { announced: 3, actual: a }) if a == actual)
            );
        }
    }

    #[tokio::test]
    async fn the_reason_of_a_hub_that_takes_no_more_is_told() {
        let (mut near, mut far) = duplex(64);
        let refusal = RefusalKind::Storage.with("no space");
        far.write_all(&resume(b"")).await.unwrap();
        let hub = async {
            far.read_exact(&mut [0; 100]).await.unwrap();
            far.write_all(&Status::Refused(refusal.clone()).encode()).await.unwrap();
            drop(far);
        };
        let content = vec![7; 10_000];
        let mut source = Cursor::new(&content);
        let (sent, ()) = tokio::join!(send_file(&mut near, &mut source, 10_000), hub);
        assert!(matches!(sent, Err(FileSendError::Refused(r)) if r == refusal));
    }
}
