//! Times of silence, in whole seconds within bounds.

use core::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

/// A time of whole seconds from `LEAST` to `GREATEST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "u64")]
pub struct Seconds<const LEAST: u64, const GREATEST: u64>(Duration);

/// The time after which a bond ends on which nothing arrives. At least what a join may take
/// (docs/protocol.md, 10): a shorter time would end bonds whose only path is being replaced. At
/// most a week, the greatest that the protocol has (docs/protocol.md, 2.3).
pub type IdleTimeout = Seconds<JOIN_TIME, { 7 * 24 * 3600 }>;
/// The time after which a path is given up on which nothing arrives. At least what a join may take,
/// too; at most an hour, for which hardly any NAT remembers a path that nobody uses.
pub type PathTimeout = Seconds<JOIN_TIME, 3600>;
/// The time after which a path is used on which nothing arrives. At most a third of the greatest
/// time after which it is given up.
pub type KeepAlive = Seconds<1, 1200>;

const JOIN_TIME: u64 = 5;

/// Text or number that is no such time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no such time; allowed: whole seconds from {least} to {greatest}")]
pub struct SecondsError {
    given: String,
    least: u64,
    greatest: u64,
}

impl<const LEAST: u64, const GREATEST: u64> Seconds<LEAST, GREATEST> {
    /// The time.
    pub const fn get(self) -> Duration {
        self.0
    }

    fn error(given: &impl ToString) -> SecondsError {
        SecondsError { given: given.to_string(), least: LEAST, greatest: GREATEST }
    }
}

impl<const LEAST: u64, const GREATEST: u64> TryFrom<u64> for Seconds<LEAST, GREATEST> {
    type Error = SecondsError;

    fn try_from(seconds: u64) -> Result<Self, SecondsError> {
        let allowed = (LEAST..=GREATEST).contains(&seconds);
        allowed.then(|| Self(Duration::from_secs(seconds))).ok_or_else(|| Self::error(&seconds))
    }
}

impl<const LEAST: u64, const GREATEST: u64> FromStr for Seconds<LEAST, GREATEST> {
    type Err = SecondsError;

    fn from_str(text: &str) -> Result<Self, SecondsError> {
        let seconds: u64 = text.parse().map_err(|_| Self::error(&text))?;
        seconds.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_taken_within_their_bounds() {
        assert_eq!("5".parse::<IdleTimeout>().unwrap().get(), Duration::from_secs(5));
        assert_eq!("604800".parse::<IdleTimeout>().unwrap().get(), Duration::from_secs(604_800));
        for bad in ["0", "4", "604801", "99999999999999999999", "1 h", "-1", ""] {
            let error = bad.parse::<IdleTimeout>().unwrap_err().to_string();
            assert!(error.contains("whole seconds from 5 to 604800"), "{bad}: {error}");
        }
    }
}
