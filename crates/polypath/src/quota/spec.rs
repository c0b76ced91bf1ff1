//! Quotas as the user writes them.

use core::fmt;
use core::str::FromStr;

use polypath_units::ByteCount;

use super::Period;

/// The largest one: sizes up to there are written and read without loss.
const MOST: u64 = 1_000_000_000_000_000;

/// How much a path may carry in each period before it becomes a backup: `10 GB/month`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// In both directions together, as IP packets.
    pub bytes: ByteCount,
    /// In which time.
    pub period: Period,
}

/// A text that is no quota.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a quota; allowed: SIZE/day or SIZE/month, such as 10GB/month, up to 1000000 GB"
)]
pub struct ParseQuotaError(String);

impl FromStr for Quota {
    type Err = ParseQuotaError;

    /// Of a month it is the calendar month.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('/').and_then(|(size, period)| {
            let bytes: ByteCount = size.parse().ok()?;
            let period = match period {
                "day" => Period::Day,
                "month" => Period::Month { reset: 1 },
                _ => return None,
            };
            (1..=MOST).contains(&bytes.get()).then_some(Self { bytes, period })
        });
        parsed.ok_or_else(|| ParseQuotaError(text.to_owned()))
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bytes, self.period.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_have_a_size_and_a_period() {
        let quota = |text: &str| text.parse::<Quota>();
        let month = Period::Month { reset: 1 };
        let bytes = ByteCount::new(10_000_000_000);
        assert_eq!(quota("10GB/month"), Ok(Quota { bytes, period: month }));
        assert_eq!(quota("10 GB/month").unwrap().to_string(), "10 GB/month");
        let day = quota("1.5MB/day").unwrap();
        assert_eq!((day.bytes.get(), day.period), (1_500_000, Period::Day));
        assert!(quota("1000000GB/day").is_ok());
        for bad in
            ["10GB", "10/month", "GB/month", "10GB/week", "0B/day", "1000001GB/day", "-1GB/day"]
        {
            let message = quota(bad).unwrap_err().to_string();
            assert!(message.contains("SIZE/day or SIZE/month"), "{bad}: {message}");
        }
    }
}
