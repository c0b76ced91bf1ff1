//! How long a bond outlives its last path.

use core::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

/// The time after which a bond ends on which nothing arrives, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub struct IdleTimeout(Duration);

/// A number of seconds that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not an idle time-out; allowed: whole seconds from {least} to {greatest}",
    least = IdleTimeout::LEAST,
    greatest = IdleTimeout::GREATEST
)]
pub struct IdleTimeoutError(String);

impl IdleTimeout {
    /// What a join may take (docs/protocol.md, 10): a shorter time would end bonds whose only
    /// path is being replaced.
    const LEAST: u64 = 5;
    /// The greatest that the protocol has (docs/protocol.md, 2.3): a week.
    const GREATEST: u64 = 7 * 24 * 3600;

    /// The time.
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl TryFrom<u64> for IdleTimeout {
    type Error = IdleTimeoutError;

    fn try_from(seconds: u64) -> Result<Self, IdleTimeoutError> {
        let allowed = (Self::LEAST..=Self::GREATEST).contains(&seconds);
        let error = || IdleTimeoutError(seconds.to_string());
        allowed.then(|| Self(Duration::from_secs(seconds))).ok_or_else(error)
    }
}

impl FromStr for IdleTimeout {
    type Err = IdleTimeoutError;

    fn from_str(text: &str) -> Result<Self, IdleTimeoutError> {
        let seconds: u64 = text.parse().map_err(|_| IdleTimeoutError(text.to_owned()))?;
        seconds.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_taken_within_the_protocols_bounds() {
        assert_eq!("5".parse::<IdleTimeout>().unwrap().get(), Duration::from_secs(5));
        assert_eq!("604800".parse::<IdleTimeout>().unwrap().get(), Duration::from_secs(604_800));
        for bad in ["0", "4", "604801", "99999999999999999999", "1 h", "-1", ""] {
            let error = bad.parse::<IdleTimeout>().unwrap_err().to_string();
            assert!(error.contains("whole seconds from 5 to 604800"), "{bad}: {error}");
        }
    }
}
