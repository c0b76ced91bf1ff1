//! What proves that a message comes of a session.

use std::fmt;

use ring::{hkdf, hmac};

/// What tells the keys of this protocol from those of others.
const SALT: &[u8] = b"polypath mptcp 1";
const OF_EDGE: &[u8] = b"edge to hub";
const OF_HUB: &[u8] = b"hub to edge";

/// Bytes of a tag: HMAC-SHA256, not cut.
pub(super) const TAG: usize = 32;

/// What the hub has drawn at random for one session.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionSecret(pub [u8; 32]);

/// Nobody finds it in a log.
impl fmt::Debug for SessionSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionSecret(..)")
    }
}

/// The keys of a session, one for each direction, so that nothing that one side has said can be
/// said back to it (HKDF with SHA-256, RFC 5869; HMAC, RFC 2104).
#[derive(Clone, Debug)]
pub struct SessionKeys {
    pub(super) of_edge: hmac::Key,
    pub(super) of_hub: hmac::Key,
}

impl SessionKeys {
    /// Those that follow from a secret.
    pub fn new(secret: &SessionSecret) -> Self {
        let extracted = hkdf::Salt::new(hkdf::HKDF_SHA256, SALT).extract(&secret.0);
        let key = |direction| {
            let information = [direction];
            let expanded = extracted.expand(&information, hmac::HMAC_SHA256);
            hmac::Key::from(expanded.expect("a key has 32 bytes, and up to 8160 can be had"))
        };
        Self { of_edge: key(OF_EDGE), of_hub: key(OF_HUB) }
    }
}

/// A tag that is not that of the message: somebody else has sent it, or it was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tag is not that of the message")]
pub struct BadTag;

/// A message whose tag is yet to be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed<T> {
    pub(super) message: T,
    /// What the tag is of, as it came.
    pub(super) signed: Vec<u8>,
    pub(super) tag: [u8; TAG],
}

impl<T> Sealed<T> {
    /// The message, if the tag is that of `before` and of what came. Takes as long whatever the tag
    /// is.
    pub(super) fn open_by(self, key: &hmac::Key, before: &[u8]) -> Result<T, BadTag> {
        let signed = [before, &self.signed].concat();
        hmac::verify(key, &signed, &self.tag).map_err(|_| BadTag)?;
        Ok(self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", SessionSecret([7; 32])), "SessionSecret(..)");
    }

    #[test]
    fn each_direction_and_each_secret_has_a_key_of_its_own() {
        let tag = |key: &hmac::Key| hmac::sign(key, b"a").as_ref().to_vec();
        let [one, other] = [1, 2].map(|byte| SessionKeys::new(&SessionSecret([byte; 32])));
        let tags = [&one.of_edge, &one.of_hub, &other.of_edge, &other.of_hub].map(tag);
        let different: std::collections::BTreeSet<_> = tags.iter().collect();
        assert_eq!(different.len(), 4);
    }
}
