//! Content and digest of a FILE stream (docs/tunnel.md, section 4).

use std::fmt;
use std::io;

use ring::digest::{Context, SHA256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes of a SHA-256 digest.
const DIGEST_LENGTH: usize = 32;

/// A SHA-256 digest (FIPS 180-4); prints as hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest(pub [u8; DIGEST_LENGTH]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes the digest of a file piece by piece.
struct FileHasher(Context);

impl Default for FileHasher {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl FileHasher {
    /// Adds content.
    fn update(&mut self, content: &[u8]) {
        self.0.update(content);
    }

    /// The digest of all content.
    fn finish(self) -> Digest {
        let mut out = [0; DIGEST_LENGTH];
        out.copy_from_slice(self.0.finish().as_ref());
        Digest(out)
    }
}

/// A FILE stream whose bytes are not what was announced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileTransferError {
    /// The stream ended early.
    #[error("file ended after {received} bytes of content and trailer, announced were {expected}")]
    Truncated {
        /// Bytes received, trailer included.
        received: u64,
        /// Bytes announced, trailer included.
        expected: u64,
    },
    /// The stream went on after the trailer.
    #[error("file stream goes on after its trailer")]
    TrailingData,
    /// The content is not what the sender hashed.
    #[error("file has digest {actual}, its sender says {announced}")]
    DigestMismatch {
        /// Digest of the bytes received.
        actual: Digest,
        /// Digest in the trailer.
        announced: Digest,
    },
}

/// Receiving side of a FILE stream: separates content from trailer and checks both. Sans-I/O.
pub(crate) struct FileReceiver {
    size: u64,
    received: u64,
    hasher: FileHasher,
    trailer: Vec<u8>,
}

impl FileReceiver {
    /// Expects `size` bytes of content and then the trailer.
    pub(crate) fn new(size: u64) -> Self {
        let trailer = Vec::with_capacity(DIGEST_LENGTH);
        Self { size, received: 0, hasher: FileHasher::default(), trailer }
    }

    /// Takes received bytes and returns those that are content, to be stored.
    pub(crate) fn push<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], FileTransferError> {
        let missing = usize::try_from(self.size - self.received).unwrap_or(usize::MAX);
        let (content, rest) = bytes.split_at(bytes.len().min(missing));
        if self.trailer.len() + rest.len() > DIGEST_LENGTH {
            return Err(FileTransferError::TrailingData);
        }
        self.received += content.len() as u64;
        self.hasher.update(content);
        self.trailer.extend(rest);
        Ok(content)
    }

    /// Checks the whole after the end of the stream; the digest goes back to the sender.
    pub(crate) fn finish(self) -> Result<Digest, FileTransferError> {
        let received = self.received + self.trailer.len() as u64;
        let truncated = FileTransferError::Truncated {
            received,
            expected: self.size.saturating_add(DIGEST_LENGTH as u64),
        };
        let announced = Digest(self.trailer.try_into().map_err(|_| truncated)?);
        match self.hasher.finish() {
            actual if actual == announced => Ok(actual),
            actual => Err(FileTransferError::DigestMismatch { actual, announced }),
        }
    }
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
    /// The stream to the hub broke, or the hub closed it without a digest: it has not stored the
    /// file.
    #[error("sending the file: {0}")]
    Stream(io::Error),
    /// The hub stored something else.
    #[error("the hub received digest {hub}, sent was {sent}")]
    DigestMismatch {
        /// Digest of what was read.
        sent: Digest,
        /// Digest of what the hub stored.
        hub: Digest,
    },
}

const CHUNK: usize = 64 * 1024;

/// Sends `size` bytes of `source` and the trailer on a stream whose FILE request was granted, then
/// waits for the hub's digest. Returns once the hub has stored the file.
pub async fn send_file<S, R>(
    stream: &mut S,
    source: &mut R,
    size: u64,
) -> Result<Digest, FileSendError>
where
    S: AsyncRead + AsyncWrite + Unpin,
    R: AsyncRead + Unpin,
{
    let sent = send_content(stream, source, size).await?;
    stream.write_all(&sent.0).await.map_err(FileSendError::Stream)?;
    stream.shutdown().await.map_err(FileSendError::Stream)?;
    let mut hub = Digest([0; DIGEST_LENGTH]);
    stream.read_exact(&mut hub.0).await.map_err(FileSendError::Stream)?;
    if hub == sent { Ok(sent) } else { Err(FileSendError::DigestMismatch { sent, hub }) }
}

async fn send_content<S, R>(
    stream: &mut S,
    source: &mut R,
    announced: u64,
) -> Result<Digest, FileSendError>
where
    S: AsyncWrite + Unpin,
    R: AsyncRead + Unpin,
{
    let mut hasher = FileHasher::default();
    let mut actual = 0;
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = source.read(&mut buffer).await.map_err(FileSendError::Source)?;
        actual += count as u64;
        if actual > announced || (count == 0 && actual < announced) {
            return Err(FileSendError::SizeChanged { announced, actual });
        }
        if count == 0 {
            return Ok(hasher.finish());
        }
        hasher.update(&buffer[..count]);
        stream.write_all(&buffer[..count]).await.map_err(FileSendError::Stream)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4 example: SHA-256 of "abc".
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn digest_of(content: &[u8]) -> Digest {
        let mut hasher = FileHasher::default();
        hasher.update(content);
        hasher.finish()
    }

    #[test]
    fn digest_is_sha256() {
        assert_eq!(digest_of(b"abc").to_string(), ABC);
    }

    #[test]
    fn content_and_trailer_are_separated_at_every_cut() {
        let wire = [b"abc".as_slice(), &digest_of(b"abc").0].concat();
        for cut in 0..=wire.len() {
            let mut receiver = FileReceiver::new(3);
            let mut content = receiver.push(&wire[..cut]).unwrap().to_vec();
            content.extend(receiver.push(&wire[cut..]).unwrap());
            assert_eq!(content, b"abc");
            assert_eq!(receiver.finish().unwrap().to_string(), ABC);
        }
    }

    #[test]
    fn wrong_streams_are_named() {
        let good = digest_of(b"abc");
        let mut changed = FileReceiver::new(3);
        changed.push(b"abd").unwrap();
        changed.push(&good.0).unwrap();
        let actual = digest_of(b"abd");
        assert_eq!(
            changed.finish(),
            Err(FileTransferError::DigestMismatch { actual, announced: good })
        );
        let mut short = FileReceiver::new(3);
        short.push(b"ab").unwrap();
        assert_eq!(short.finish(), Err(FileTransferError::Truncated { received: 2, expected: 35 }));
        let mut long = FileReceiver::new(0);
        assert_eq!(long.push(&[0; 33]), Err(FileTransferError::TrailingData));
        assert!(FileReceiver::new(u64::MAX).finish().is_err());
    }

    #[tokio::test]
    async fn a_file_that_changes_while_it_is_sent_is_an_error() {
        for (content, actual) in [(b"ab".as_slice(), 2), (b"abcd", 4)] {
            let (mut near, _far) = tokio::io::duplex(1024);
            let sent = send_file(&mut near, &mut &content[..], 3).await;
            assert!(
                matches!(sent, Err(FileSendError::SizeChanged { announced: 3, actual: a }) if a == actual)
            );
        }
    }
}
