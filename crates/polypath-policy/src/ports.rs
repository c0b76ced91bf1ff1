//! Ports and ranges of ports.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Ports from 1 to 65535 that follow each other, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRange(RangeInclusive<u16>);

/// Text that is no range of ports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither a port from 1 to 65535 nor FIRST-LAST")]
pub struct ParsePortRangeError(String);

impl PortRange {
    /// Whether the port is one of them.
    pub fn contains(&self, port: u16) -> bool {
        self.0.contains(&port)
    }

    /// Whether all of `other` are among them.
    pub fn covers(&self, other: &Self) -> bool {
        self.contains(*other.0.start()) && self.contains(*other.0.end())
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.0.start(), self.0.end());
        write!(f, "{first}")?;
        if first != last {
            write!(f, "-{last}")?;
        }
        Ok(())
    }
}

impl FromStr for PortRange {
    type Err = ParsePortRangeError;

    fn from_str(text: &str) -> Result<Self, ParsePortRangeError> {
        let number = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|port: &u16| digits && *port > 0)
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = number(first).zip(number(last)).map(|(first, last)| first..=last);
        let range = range.filter(|range| !range.is_empty());
        range.map(Self).ok_or_else(|| ParsePortRangeError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_round_trip_and_know_what_is_in_them() {
        let range = |text: &str| text.parse::<PortRange>().unwrap();
        for text in ["1", "53", "50-60", "1-65535"] {
            assert_eq!(range(text).to_string(), text);
        }
        assert_eq!(range("53-53"), range("53"));
        let contained = [49, 50, 60, 61].map(|port| range("50-60").contains(port));
        assert_eq!(contained, [false, true, true, false]);
        for (other, covered) in [("50-60", true), ("53", true), ("49-50", false), ("60-61", false)]
        {
            assert_eq!(range("50-60").covers(&range(other)), covered, "{other}");
        }
        for bad in ["", "0", "65536", "+1", "9-1", "1-", "-1", "1-2-3", "1,", " 1"] {
            let error = bad.parse::<PortRange>().unwrap_err().to_string();
            assert!(error.contains("neither a port from 1 to 65535"), "{bad}: {error}");
        }
    }
}
