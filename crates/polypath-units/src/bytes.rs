//! An amount of data.

use crate::parse::{ParseUnitError, split_unit};
use core::fmt;
use core::str::FromStr;

/// An amount of data in bytes, as written by people: `"4 MB"`, `"64 KiB"`.
///
/// Algorithms use plain byte counts; this type stands where text is read or shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(u64);

impl ByteCount {
    /// An amount of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteCount {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        const ALLOWED: &str = "a size such as \"4 MB\" (B, kB, MB, GB, KiB, MiB, GiB)";
        let (number, unit) = split_unit(text, ALLOWED)?;
        let factor = match unit {
            "B" => 1.0,
            "kB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "KiB" => 1024.0,
            "MiB" => 1024.0 * 1024.0,
            "GiB" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(ParseUnitError::new(text, ALLOWED)),
        };
        Ok(Self((number * factor).round() as u64))
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1_000 => write!(f, "{} B", self.0),
            1_000..1_000_000 => write!(f, "{} kB", self.0 as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{} MB", self.0 as f64 / 1e6),
            _ => write!(f, "{} GB", self.0 as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_needs_a_unit() {
        for text in ["12 B", "1.5 kB", "4 MB", "2 GB"] {
            assert_eq!(text.parse::<ByteCount>().unwrap().to_string(), text);
        }
        assert_eq!("64 KiB".parse::<ByteCount>().unwrap().get(), 65_536);
        for bad in ["4", "4 Mbit", "-4 MB", "MB", "4 mb"] {
            assert!(bad.parse::<ByteCount>().is_err(), "{bad}");
        }
    }
}
