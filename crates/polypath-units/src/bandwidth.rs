//! A data rate.

use crate::parse::{ParseUnitError, split_unit};
use core::fmt;
use core::str::FromStr;
use std::time::Duration;

/// A data rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bandwidth(u64);

impl Bandwidth {
    /// No data at all.
    pub const ZERO: Self = Self(0);

    /// A rate of `bits` bit/s.
    pub const fn from_bits_per_sec(bits: u64) -> Self {
        Self(bits)
    }

    /// A rate of `mbit` Mbit/s (10^6 bit/s).
    pub fn from_mbit_per_sec(mbit: f64) -> Self {
        Self((mbit * 1e6).round() as u64)
    }

    /// A rate of `bytes` bytes/s, rounded to a whole bit; not-a-number and negatives become zero.
    pub fn from_bytes_per_sec(bytes: f64) -> Self {
        Self((bytes * 8.0).round() as u64)
    }

    /// The rate at which `bytes` pass in `interval`; `None` for an empty interval.
    pub fn from_transfer(bytes: u64, interval: Duration) -> Option<Self> {
        let nanos = interval.as_nanos();
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        (nanos > 0).then(|| Self(u64::try_from(bits / nanos).unwrap_or(u64::MAX)))
    }

    /// Bits per second.
    pub const fn bits_per_sec(self) -> u64 {
        self.0
    }

    /// Bytes per second: the unit of all arithmetic in the algorithms.
    pub fn bytes_per_sec(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// Mbit/s (10^6 bit/s).
    pub fn mbit_per_sec(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// How long `bytes` take at this rate, rounded up to a nanosecond; `None` at rate zero.
    pub fn time_to_send(self, bytes: u64) -> Option<Duration> {
        let nano_bits = u128::from(bytes) * 8 * 1_000_000_000;
        (self.0 > 0).then(|| {
            let nanos = nano_bits.div_ceil(u128::from(self.0));
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        })
    }

    /// Whole bytes that pass in `interval`.
    pub fn bytes_in(self, interval: Duration) -> u64 {
        let bits = u128::from(self.0) * interval.as_nanos() / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }
}

impl FromStr for Bandwidth {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        const ALLOWED: &str = "a rate such as \"500 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s)";
        let (number, unit) = split_unit(text, ALLOWED)?;
        let factor = match unit {
            "bit/s" => 1.0,
            "kbit/s" => 1e3,
            "Mbit/s" => 1e6,
            "Gbit/s" => 1e9,
            _ => return Err(ParseUnitError::new(text, ALLOWED)),
        };
        Ok(Self((number * factor).round() as u64))
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1_000 => write!(f, "{} bit/s", self.0),
            1_000..1_000_000 => write!(f, "{} kbit/s", self.0 as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{} Mbit/s", self.0 as f64 / 1e6),
            _ => write!(f, "{} Gbit/s", self.0 as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["7 bit/s", "1.5 kbit/s", "500 Mbit/s", "2.5 Gbit/s"] {
            assert_eq!(text.parse::<Bandwidth>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_rate_needs_its_unit() {
        for bad in ["500", "500 MB/s", "-1 Mbit/s", "fast", "", "1e400 bit/s", "NaN Mbit/s"] {
            let error = bad.parse::<Bandwidth>().unwrap_err();
            assert!(error.to_string().contains("Mbit/s"), "{error}");
        }
    }

    #[test]
    fn sending_time_and_bytes_are_inverse() {
        let rate = Bandwidth::from_mbit_per_sec(100.0);
        assert_eq!(rate.time_to_send(1_500), Some(Duration::from_micros(120)));
        assert_eq!(rate.bytes_in(Duration::from_micros(120)), 1_500);
        assert_eq!(Bandwidth::from_transfer(1_500, Duration::from_micros(120)), Some(rate));
        assert_eq!(Bandwidth::ZERO.time_to_send(1), None);
        assert_eq!(Bandwidth::from_transfer(1, Duration::ZERO), None);
    }
}
