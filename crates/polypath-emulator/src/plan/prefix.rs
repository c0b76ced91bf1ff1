//! What the names of all namespaces of one network begin with.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most characters of a prefix.
const LONGEST: usize = 32;

/// What the names of all namespaces of one network begin with: 1 to 32 ASCII letters, digits and
/// `_`. A `-` follows it, which it cannot contain: no namespace belongs to two prefixes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix(String);

/// A text that is no prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no prefix of namespaces: use 1 to 32 letters (a to z, A to Z), digits and '_'")]
pub struct PrefixError(String);

impl Prefix {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a namespace has a name with this prefix.
    pub fn owns(&self, namespace: &str) -> bool {
        namespace.strip_prefix(&self.0).is_some_and(|rest| rest.starts_with('-'))
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let allowed = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if text.is_empty() || text.len() > LONGEST || !allowed {
            return Err(PrefixError(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for Prefix {
    type Error = PrefixError;

    fn try_from(text: String) -> Result<Self, PrefixError> {
        text.parse()
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> Self {
        prefix.0
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_part_of_a_file_name_and_ends_at_the_first_hyphen() {
        for text in ["a", "lab_2", &"x".repeat(32)] {
            assert_eq!(text.parse::<Prefix>().unwrap().as_str(), text);
        }
        for text in ["", "a-b", "../a", "a b", "ü", &"x".repeat(33)] {
            assert_eq!(text.parse::<Prefix>(), Err(PrefixError(text.to_owned())));
        }
        let lab: Prefix = "lab".parse().unwrap();
        assert!(lab.owns("lab-client"));
        assert!(!lab.owns("lab2-client") && !lab.owns("lab"));
    }
}
