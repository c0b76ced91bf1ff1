//! Names of interfaces.

use std::fmt;
use std::str::FromStr;

/// The longest name of an interface, in bytes: IFNAMSIZ of Linux without its final zero.
const MAX_LENGTH: usize = 15;

/// The name of a network interface, such as `eth0`. It can stand in rules of nftables as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceName(String);

/// Text that cannot be the name of an interface.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot be the name of an interface; allowed: 1 to {MAX_LENGTH} letters and digits of \
     ASCII, '.', '_' and '-', not beginning with '.' or '-'"
)]
pub struct InterfaceNameError(String);

impl InterfaceName {
    /// That of the loopback interface.
    pub fn loopback() -> Self {
        Self("lo".into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for InterfaceName {
    type Err = InterfaceNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let fits = (1..=MAX_LENGTH).contains(&text.len()) && text.chars().all(plain);
        if fits && !text.starts_with(['.', '-']) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InterfaceNameError(text.to_owned()))
        }
    }
}

impl fmt::Display for InterfaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_interfaces_are_taken_and_nothing_that_ends_a_string_of_nft() {
        for name in ["eth0", "eth0.10", "wwan0_1", "br-lan", "abcdefghijklmno"] {
            assert_eq!(name.parse::<InterfaceName>().unwrap().as_str(), name);
        }
        let wrong =
            ["", "abcdefghijklmnop", ".", "..", "-x", "a b", "a\"", "e*", "a/b", "a\n", "é"];
        for name in wrong {
            assert_eq!(name.parse::<InterfaceName>(), Err(InterfaceNameError(name.into())));
        }
    }
}
