//! Where traffic comes from on a host, and whose it is.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// What the host itself is called where an interface stands.
const HOST: &str = "host";

/// Where traffic comes from on a host: `host`, or the name of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A program of the host itself.
    Host,
    /// Another host, behind this interface.
    Interface(String),
}

impl Origin {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Host => HOST,
            Self::Interface(name) => name,
        }
    }

    /// Whether it is called so.
    pub fn is_of(&self, name: &str) -> bool {
        self.name() == name
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Text that is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no interface; allowed: its name of 1 to 15 letters, or \"host\" for this host")]
pub struct ParseOriginError(String);

impl FromStr for Origin {
    type Err = ParseOriginError;

    /// Linux: IFNAMSIZ is 16 with the closing zero; see dev_valid_name() in net/core/dev.c.
    fn from_str(text: &str) -> Result<Self, ParseOriginError> {
        let fits = (1..=15).contains(&text.len()) && text != "." && text != "..";
        if !fits || text.contains(|c: char| c.is_whitespace() || c == '/' || c == ':') {
            return Err(ParseOriginError(text.to_owned()));
        }
        Ok(if text == HOST { Self::Host } else { Self::Interface(text.to_owned()) })
    }
}

/// The user whose program sends something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User<'a> {
    /// The number, if it is known.
    pub uid: Option<u32>,
    /// The name, if the system knows one.
    pub name: Option<&'a str>,
}

impl fmt::Display for User<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name, self.uid) {
            (Some(name), Some(uid)) => write!(f, "{name} ({uid})"),
            (Some(name), None) => f.write_str(name),
            (None, Some(uid)) => uid.fmt(f),
            (None, None) => f.write_str("unknown"),
        }
    }
}

/// A user, by number or by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserPattern {
    /// The one of this number.
    Uid(u32),
    /// The one of this name.
    Name(String),
}

impl UserPattern {
    /// Whether this user is meant.
    pub fn matches(&self, user: User<'_>) -> bool {
        match self {
            Self::Uid(uid) => user.uid == Some(*uid),
            Self::Name(name) => user.name == Some(name),
        }
    }
}

impl fmt::Display for UserPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uid(uid) => uid.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl FromStr for UserPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Uid))
    }
}
