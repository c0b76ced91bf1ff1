//! SHA-256 of files.

use std::fmt;

use ring::digest::{Context, SHA256};

/// Bytes of a SHA-256 digest.
pub(crate) const DIGEST_LENGTH: usize = 32;

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
#[derive(Clone)]
pub(crate) struct FileHasher(Context);

impl Default for FileHasher {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl fmt::Debug for FileHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileHasher").field(&self.digest()).finish()
    }
}

impl FileHasher {
    /// Adds content.
    pub(crate) fn update(&mut self, content: &[u8]) {
        self.0.update(content);
    }

    /// The digest of what was added so far.
    pub(crate) fn digest(&self) -> Digest {
        let mut out = [0; DIGEST_LENGTH];
        out.copy_from_slice(self.0.clone().finish().as_ref());
        Digest(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4 example: SHA-256 of "abc".
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn digest_is_sha256_and_can_be_taken_on_the_way() {
        let mut hasher = FileHasher::default();
        hasher.update(b"ab");
        assert_ne!(hasher.digest().to_string(), ABC);
        hasher.update(b"c");
        assert_eq!(hasher.digest().to_string(), ABC);
    }
}
