//! The paths of an edge, as the user names them.

use core::fmt;
use core::str::FromStr;
use std::net::IpAddr;

use polypath_bond::identity::{HubAddress, ParseHubAddressError};

use crate::quota::{ParseQuotaError, Period, Quota};

/// How a path is written.
pub(crate) const PATH_FORM: &str = "NAME=LOCAL[,REMOTE][,backup][,quota=SIZE/PERIOD[,reset=DAY]]";

/// One path: `NAME=LOCAL[,REMOTE][,backup][,quota=SIZE/PERIOD[,reset=DAY]]`, for example
/// `wifi=wlan0`, `lte=wwan0,quota=10GB/month` or `lte=10.0.0.2,hub.example.org:443,backup`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSpec {
    name: String,
    local: LocalEnd,
    remote: Option<HubAddress>,
    backup: bool,
    quota: Option<Quota>,
}

/// What stands behind a path.
#[derive(Clone, Copy, Debug, Default)]
struct Extras {
    backup: bool,
    quota: Option<Quota>,
    reset: Option<u8>,
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
    "{given:?} is not a path: {reason}; allowed: {PATH_FORM}, such as wifi=wlan0, \
         lte=10.0.0.2,backup, lte=wwan0,hub.example.org:4433 or lte=wwan0,quota=10GB/month,reset=15"
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

    /// What the path may carry before it becomes a backup.
    pub const fn quota(&self) -> Option<Quota> {
        self.quota
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
        f.write_str(if self.backup { ",backup" } else { "" })?;
        let Some(quota) = self.quota else { return Ok(()) };
        write!(f, ",quota={quota}")?;
        match quota.period {
            Period::Month { reset: 1 } | Period::Day => Ok(()),
            Period::Month { reset } => write!(f, ",reset={reset}"),
        }
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
    let mut parts = ends.split(',').peekable();
    let local = parse_local(parts.next().unwrap_or_default())?;
    let remote = parts.next_if(|part| !Extras::is_one(part)).map(str::parse).transpose();
    let remote = remote.map_err(|error: ParseHubAddressError| error.to_string())?;
    let mut extras = Extras::default();
    for part in parts {
        extras.take(part)?;
    }
    let quota = extras.quota()?;
    Ok(PathSpec { name: name.to_owned(), local, remote, backup: extras.backup, quota })
}

impl Extras {
    /// Whether a part is none of an address.
    fn is_one(part: &str) -> bool {
        part == "backup" || part.starts_with("quota=") || part.starts_with("reset=")
    }

    fn take(&mut self, part: &str) -> Result<(), String> {
        let is_new = match part.split_once('=') {
            None if part == "backup" => !std::mem::replace(&mut self.backup, true),
            Some(("quota", quota)) => {
                let quota = quota.parse().map_err(|error: ParseQuotaError| error.to_string())?;
                self.quota.replace(quota).is_none()
            }
            Some(("reset", day)) => {
                let day = day.parse().ok().filter(|day| (1..=31).contains(day));
                let day = day.ok_or_else(|| format!("{part:?} is no day of a month, 1 to 31"))?;
                self.reset.replace(day).is_none()
            }
            _ => return Err(format!("{part:?} is none of backup, quota= and reset=")),
        };
        if is_new { Ok(()) } else { Err(format!("{part:?} is there twice")) }
    }

    /// The quota with the day on which its months begin.
    fn quota(self) -> Result<Option<Quota>, String> {
        let Some(reset) = self.reset else { return Ok(self.quota) };
        match self.quota {
            Some(quota @ Quota { period: Period::Month { .. }, .. }) => {
                Ok(Some(Quota { period: Period::Month { reset }, ..quota }))
            }
            _ => Err(format!("reset={reset} is for a quota in a month")),
        }
    }
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
        for text in [
            "a=wwan0,quota=10 GB/month",
            "a=wwan0,hub.org:1,backup,quota=1.5 MB/day",
            "a=wwan0,quota=10 GB/month,reset=31",
        ] {
            assert_eq!(text.parse::<PathSpec>().unwrap().to_string(), text);
        }
        let path = "a=wwan0,reset=31,quota=10GB/month,backup".parse::<PathSpec>().unwrap();
        assert!(path.is_backup(), "in any order");
        assert_eq!(path.quota().unwrap().period, Period::Month { reset: 31 });
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
            ("wifi=wlan0,backup,hub:1", "\"hub:1\" is none of backup, quota= and reset="),
            ("wifi=wlan0,backup,backup", "\"backup\" is there twice"),
            ("a=wwan0,quota=10GB", "\"10GB\" is not a quota; allowed: SIZE/day or SIZE/month"),
            ("a=wwan0,quota=1GB/day,quota=1GB/day", "is there twice"),
            ("a=wwan0,quota=1GB/month,reset=32", "\"reset=32\" is no day of a month, 1 to 31"),
            ("a=wwan0,quota=1GB/month,reset=0", "is no day of a month"),
            ("a=wwan0,quota=1GB/day,reset=3", "reset=3 is for a quota in a month"),
            ("a=wwan0,reset=3", "reset=3 is for a quota in a month"),
        ] {
            let message = bad.parse::<PathSpec>().unwrap_err().to_string();
            assert!(message.contains(reason), "{bad}: {message}");
            assert!(message.contains(PATH_FORM), "{message}");
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
