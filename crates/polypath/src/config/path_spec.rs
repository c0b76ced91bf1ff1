//! The paths of an edge, as the user names them.

use core::fmt;
use core::str::FromStr;
use std::net::IpAddr;

use polypath_bond::identity::{HubAddress, ParseHubAddressError};

/// One path: `NAME=LOCAL[,REMOTE][,backup]`, for example `wifi=wlan0`, `lte=wwan0,backup` or
/// `lte=10.0.0.2,hub.example.org:443`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSpec {
    name: String,
    local: LocalEnd,
    remote: Option<HubAddress>,
    backup: bool,
}

/// The local end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalEnd {
    /// A network interface, whatever addresses it has at the time.
    Interface(String),
    /// A local address.
    Address(IpAddr),
}

/// A text that is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a path: {reason}; allowed: NAME=LOCAL[,REMOTE][,backup], such as \
         wifi=wlan0, lte=10.0.0.2,backup or lte=wwan0,hub.example.org:4433"
)]
pub struct ParsePathSpecError {
    given: String,
    reason: String,
}

impl PathSpec {
    /// The name that is shown for the path: 1 to 32 letters, digits, `-`, `_` or `.`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The local end.
    pub const fn local(&self) -> &LocalEnd {
        &self.local
    }

    /// The hub's address for this path; `None` for those of the join string.
    pub const fn remote(&self) -> Option<&HubAddress> {
        self.remote.as_ref()
    }

    /// Whether the path is used only while no other works.
    pub const fn is_backup(&self) -> bool {
        self.backup
    }
}

impl fmt::Display for LocalEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interface(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for PathSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.local)?;
        self.remote.as_ref().map_or(Ok(()), |remote| write!(f, ",{remote}"))?;
        f.write_str(if self.backup { ",backup" } else { "" })
    }
}

impl FromStr for PathSpec {
    type Err = ParsePathSpecError;

    fn from_str(text: &str) -> Result<Self, ParsePathSpecError> {
        parse(text).map_err(|reason| ParsePathSpecError { given: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> Result<PathSpec, String> {
    let (name, ends) = text.split_once('=').ok_or("the NAME= is missing")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 32 || !name.chars().all(allowed) {
        return Err("its name is not 1 to 32 letters, digits, '-', '_' or '.'".to_owned());
    }
    let (ends, backup) = match ends.strip_suffix(",backup") {
        Some(ends) => (ends, true),
        None => (ends, false),
    };
    let (local, remote) = match ends.split_once(',') {
        Some((local, remote)) => (local, Some(remote)),
        None => (ends, None),
    };
    let remote =
        remote.map(str::parse).transpose().map_err(|e: ParseHubAddressError| e.to_string());
    Ok(PathSpec { name: name.to_owned(), local: parse_local(local)?, remote: remote?, backup })
}

fn parse_local(text: &str) -> Result<LocalEnd, String> {
    if let Ok(address) = text.parse() {
        return Ok(LocalEnd::Address(address));
    }
    // Linux: IFNAMSIZ is 16 with the closing zero; see dev_valid_name() in net/core/dev.c.
    let fits = (1..=15).contains(&text.len()) && text != "." && text != "..";
    if !fits || text.contains(|c: char| c.is_whitespace() || c == '/' || c == ':') {
        return Err(format!("{text:?} is neither a local address nor the name of an interface"));
    }
    Ok(LocalEnd::Interface(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_round_trip() {
        for text in
            ["wifi=wlan0", "lte-2=10.0.0.2", "a=fe80::1,[2001:db8::1]:4433", "b=wwan0,hub.org:1"]
        {
            assert_eq!(text.parse::<PathSpec>().unwrap().to_string(), text);
        }
        for text in ["a=wlan0,backup", "b=10.0.0.2,hub.org:1,backup"] {
            let path = text.parse::<PathSpec>().unwrap();
            assert!(path.is_backup());
            assert_eq!(path.to_string(), text);
        }
        let path = "lte=10.0.0.2,hub.org:1".parse::<PathSpec>().unwrap();
        assert_eq!(path.local(), &LocalEnd::Address([10, 0, 0, 2].into()));
        assert_eq!(path.remote(), Some(&"hub.org:1".parse().unwrap()));
    }

    #[test]
    fn errors_name_the_fault_and_what_is_allowed() {
        for (bad, reason) in [
            ("wlan0", "NAME= is missing"),
            ("=wlan0", "its name"),
            ("wi fi=wlan0", "its name"),
            ("wifi=", "neither a local address nor"),
            ("wifi=an-interface-name-too-long", "neither a local address nor"),
            ("wifi=10.0.0.2:80", "neither a local address nor"),
            ("wifi=wlan0,hub", "port is missing"),
            ("wifi=wlan0,backup,hub:1", "\"backup,hub:1\" is not a hub address"),
            ("wifi=wlan0,backup,backup", "port is missing"),
        ] {
            let message = bad.parse::<PathSpec>().unwrap_err().to_string();
            assert!(message.contains(reason), "{bad}: {message}");
            assert!(message.contains("NAME=LOCAL[,REMOTE][,backup]"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_parses_to_what_it_prints_or_fails(text in "\\PC{0,40}") {
            if let Ok(path) = text.parse::<PathSpec>() {
                prop_assert_eq!(path.to_string().parse(), Ok(path));
            }
        }
    }
}
