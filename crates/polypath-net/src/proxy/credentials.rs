//! User name and password of a proxy.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

/// User name and password that a client has to present (RFC 1929; RFC 7617).
#[derive(Clone)]
pub struct Credentials {
    user: String,
    password: String,
}

/// Credentials that one of the two protocols cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// RFC 1929 has a one-byte length, and an empty name is none.
    #[error("{field} has {length} bytes, allowed are 1 to 255")]
    Length {
        /// Which of the two.
        field: &'static str,
        /// Its length in bytes.
        length: usize,
    },
    /// RFC 7617 separates the two by a colon.
    #[error("the user name contains a colon")]
    Colon,
}

impl Credentials {
    /// Checks that both protocols can carry the two.
    pub fn new(user: &str, password: &str) -> Result<Self, CredentialsError> {
        for (field, text) in [("the user name", user), ("the password", password)] {
            if text.is_empty() || text.len() > 255 {
                return Err(CredentialsError::Length { field, length: text.len() });
            }
        }
        if user.contains(':') {
            return Err(CredentialsError::Colon);
        }
        Ok(Self { user: user.into(), password: password.into() })
    }

    /// Whether these are the ones.
    pub fn accept(&self, user: &[u8], password: &[u8]) -> bool {
        // Both are always compared, and through digests, so that time tells nothing about either.
        let user = same(self.user.as_bytes(), user);
        let password = same(self.password.as_bytes(), password);
        user & password
    }

    /// Whether the value of a `Proxy-Authorization` field is these in the Basic scheme.
    pub(super) fn accept_basic(&self, value: &[u8]) -> bool {
        let Some((scheme, encoded)) = value.split_at_checked(6) else { return false };
        if !scheme.eq_ignore_ascii_case(b"Basic ") {
            return false;
        }
        let Ok(decoded) = STANDARD.decode(encoded.trim_ascii()) else { return false };
        match decoded.iter().position(|&b| b == b':') {
            Some(colon) => self.accept(&decoded[..colon], &decoded[colon + 1..]),
            None => false,
        }
    }
}

/// In a time that tells nothing of either.
impl PartialEq for Credentials {
    fn eq(&self, other: &Self) -> bool {
        self.accept(other.user.as_bytes(), other.password.as_bytes())
    }
}

impl Eq for Credentials {}

fn same(a: &[u8], b: &[u8]) -> bool {
    digest(&SHA256, a).as_ref() == digest(&SHA256, b).as_ref()
}

impl fmt::Debug for Credentials {
    /// Without the password: options are logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_pair_is_accepted() {
        let credentials = Credentials::new("Aladdin", "open sesame").unwrap();
        // The example of RFC 7617, section 2.
        assert!(credentials.accept_basic(b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert!(credentials.accept_basic(b"basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        for wrong in [&b"Basic QWxhZGRpbjpvcGVu"[..], b"Basic !", b"Basic", b"", b"Bearer x"] {
            assert!(!credentials.accept_basic(wrong));
        }
        assert!(credentials.accept(b"Aladdin", b"open sesame"));
        assert!(!credentials.accept(b"Aladdin", b""));
        assert!(!credentials.accept(b"", b"open sesame"));
        assert_eq!(credentials, credentials.clone());
        assert_ne!(credentials, Credentials::new("Aladdin", "open").unwrap());
        assert_ne!(credentials, Credentials::new("Alad", "open sesame").unwrap());
    }

    #[test]
    fn credentials_that_do_not_travel_are_refused_and_passwords_are_not_printed() {
        assert_eq!(Credentials::new("a:b", "c"), Err(CredentialsError::Colon));
        assert!(Credentials::new("", "c").is_err());
        assert!(Credentials::new("a", &"x".repeat(256)).is_err());
        assert!(!format!("{:?}", Credentials::new("a", "secret").unwrap()).contains("secret"));
    }
}
