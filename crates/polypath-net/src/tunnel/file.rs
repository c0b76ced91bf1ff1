//! Receiving side of a FILE stream: content and trailer (docs/tunnel.md, section 4).

use super::digest::{DIGEST_LENGTH, Digest, FileHasher};

/// What the hub has of a file already: the first message behind its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Bytes of content that the hub has, from the first on.
    pub offset: u64,
    /// Their digest.
    pub prefix: Digest,
}

impl Resume {
    /// Length of the message in bytes.
    pub const LENGTH: usize = 8 + DIGEST_LENGTH;

    /// The message as bytes.
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut out = [0; Self::LENGTH];
        out[..8].copy_from_slice(&self.offset.to_be_bytes());
        out[8..].copy_from_slice(&self.prefix.0);
        out
    }

    /// Every sequence of this length is a message; whether the offset fits, the file decides.
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let (mut offset, mut prefix) = ([0; 8], [0; DIGEST_LENGTH]);
        offset.copy_from_slice(&bytes[..8]);
        prefix.copy_from_slice(&bytes[8..]);
        Self { offset: u64::from_be_bytes(offset), prefix: Digest(prefix) }
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
    /// The sender begins where it may not.
    #[error("content begins at byte {start}; allowed are 0 and {offset}")]
    BadStart {
        /// Where it begins.
        start: u64,
        /// What the hub has.
        offset: u64,
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
    /// Expects the rest of `size` bytes of content and then the trailer; `received` bytes of it
    /// went through `hasher` before.
    pub(crate) fn resumed(size: u64, received: u64, hasher: FileHasher) -> Self {
        let trailer = Vec::with_capacity(DIGEST_LENGTH);
        Self { size, received: received.min(size), hasher, trailer }
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
        match self.hasher.digest() {
            actual if actual == announced => Ok(actual),
            actual => Err(FileTransferError::DigestMismatch { actual, announced }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(content: &[u8]) -> FileHasher {
        let mut hasher = FileHasher::default();
        hasher.update(content);
        hasher
    }

    fn receiver(size: u64) -> FileReceiver {
        FileReceiver::resumed(size, 0, FileHasher::default())
    }

    #[test]
    fn bytes_of_the_specification() {
        let resume = Resume { offset: 258, prefix: Digest([7; 32]) };
        let bytes = resume.encode();
        assert_eq!(bytes[..9], [0, 0, 0, 0, 0, 0, 1, 2, 7]);
        assert_eq!(Resume::decode(&bytes), resume);
    }

    #[test]
    fn content_and_trailer_are_separated_at_every_cut() {
        let digest = hashed(b"abc").digest();
        let wire = [b"abc".as_slice(), &digest.0].concat();
        for cut in 0..=wire.len() {
            let mut receiver = receiver(3);
            let mut content = receiver.push(&wire[..cut]).unwrap().to_vec();
            content.extend(receiver.push(&wire[cut..]).unwrap());
            assert_eq!(content, b"abc");
            assert_eq!(receiver.finish().unwrap(), digest);
        }
    }

    #[test]
    fn what_came_before_counts() {
        let mut receiver = FileReceiver::resumed(3, 2, hashed(b"ab"));
        let digest = hashed(b"abc").digest();
        assert_eq!(receiver.push(&[b"c".as_slice(), &digest.0].concat()).unwrap(), b"c");
        assert_eq!(receiver.finish(), Ok(digest));
    }

    #[test]
    fn wrong_streams_are_named() {
        let good = hashed(b"abc").digest();
        let mut changed = receiver(3);
        changed.push(b"abd").unwrap();
        changed.push(&good.0).unwrap();
        let actual = hashed(b"abd").digest();
        assert_eq!(
            changed.finish(),
            Err(FileTransferError::DigestMismatch { actual, announced: good })
        );
        let mut short = receiver(3);
        short.push(b"ab").unwrap();
        assert_eq!(short.finish(), Err(FileTransferError::Truncated { received: 2, expected: 35 }));
        let mut long = receiver(0);
        assert_eq!(long.push(&[0; 33]), Err(FileTransferError::TrailingData));
        assert!(receiver(u64::MAX).finish().is_err());
    }
}
