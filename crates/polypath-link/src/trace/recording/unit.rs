//! Units of times and rates, as headers and users write them.

use core::fmt;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeUnit {
    /// Nanoseconds.
    Nanos,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
}

/// Each unit of time with its microseconds and its names in small letters, the usual one first.
const TIMES: [(TimeUnit, f64, &[&str]); 6] = [
    (TimeUnit::Nanos, 1e-3, &["ns", "nsec", "nanos", "nanosecond", "nanoseconds"]),
    (TimeUnit::Micros, 1.0, &["us", "µs", "μs", "usec", "micros", "microsecond", "microseconds"]),
    (TimeUnit::Millis, 1e3, &["ms", "msec", "millis", "millisecond", "milliseconds"]),
    (TimeUnit::Seconds, 1e6, &["s", "sec", "secs", "second", "seconds"]),
    (TimeUnit::Minutes, 60e6, &["min", "mins", "minute", "minutes"]),
    (TimeUnit::Hours, 3_600e6, &["h", "hr", "hour", "hours"]),
];

impl TimeUnit {
    /// What errors say of the names.
    pub(super) const ALLOWED: &str = "ns, us, ms, s, min, h";

    /// The unit of this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase();
        let row = TIMES.iter().find(|(.., names)| names.contains(&name.as_str()));
        row.map(|&(unit, ..)| unit)
    }

    /// How many microseconds it has.
    pub(super) fn micros(self) -> f64 {
        self.row().1
    }

    fn row(self) -> (Self, f64, &'static [&'static str]) {
        TIMES[self as usize]
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().2[0])
    }
}

/// A unit of rates, or of what has passed since the line before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateUnit {
    prefix: Prefix,
    bytes: bool,
    per_second: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Prefix {
    One,
    Kilo,
    Mega,
    Giga,
    Kibi,
    Mebi,
    Gibi,
}

/// Each prefix with its factor and its names, the usual one first.
const PREFIXES: [(Prefix, f64, &[&str]); 7] = [
    (Prefix::One, 1.0, &[""]),
    (Prefix::Kilo, 1e3, &["k", "kilo", "K"]),
    (Prefix::Mega, 1e6, &["M", "mega", "m"]),
    (Prefix::Giga, 1e9, &["G", "giga", "g"]),
    (Prefix::Kibi, 1024.0, &["Ki", "kibi"]),
    (Prefix::Mebi, 1_048_576.0, &["Mi", "mebi"]),
    (Prefix::Gibi, 1_073_741_824.0, &["Gi", "gibi"]),
];

/// How names say "in a second".
const PER_SECOND: [&str; 13] = [
    "/second",
    "/sec",
    "/s",
    " per second",
    " per sec",
    "_per_second",
    "_per_sec",
    "_per_s",
    "_second",
    "_sec",
    "_s",
    "ps",
    "/seconds",
];

impl RateUnit {
    /// Mbit/s.
    pub(super) const MBIT_S: Self = Self { prefix: Prefix::Mega, bytes: false, per_second: true };
    /// What errors say of the names.
    pub(super) const ALLOWED: &str = "bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, or B, kB, MB \
         for what has passed since the line before";

    /// The unit of this name. `b` are bits and `B` bytes; words are the same in capitals.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let name = name.trim();
        let ended = PER_SECOND.iter().find_map(|end| name.strip_suffix(end));
        let amount = ended.unwrap_or(name).trim();
        PREFIXES.iter().find_map(|&(prefix, _, names)| {
            let rest = |start: &&str| amount.strip_prefix(*start).and_then(is_bytes);
            let bytes = names.iter().find_map(rest)?;
            Some(Self { prefix, bytes, per_second: ended.is_some() })
        })
    }

    /// The rate of this name, if it is not an amount.
    pub(super) fn parse_rate(name: &str) -> Option<Self> {
        Self::parse(name).filter(|unit| unit.per_second)
    }

    /// How many bits it has.
    pub(super) fn bits(self) -> f64 {
        self.row().1 * if self.bytes { 8.0 } else { 1.0 }
    }

    /// Whether it counts what has passed since the line before.
    pub(super) fn is_amount(self) -> bool {
        !self.per_second
    }

    fn row(self) -> (Prefix, f64, &'static [&'static str]) {
        PREFIXES[self.prefix as usize]
    }
}

/// Whether what a prefix stands before are bytes; `None` if they are not bits either.
fn is_bytes(symbol: &str) -> Option<bool> {
    match symbol {
        "b" => Some(false),
        "B" => Some(true),
        word => match word.to_lowercase().trim_end_matches('s') {
            "bit" => Some(false),
            "byte" => Some(true),
            _ => None,
        },
    }
}

impl fmt::Display for RateUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbol = if self.bytes { "B" } else { "bit" };
        let second = if self.per_second { "/s" } else { "" };
        write!(f, "{}{symbol}{second}", self.row().2[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known_by_their_usual_names() {
        for (names, shown, bits) in [
            ("bit/s bps b/s bits/sec bits_per_second bit_s", "bit/s", 1.0),
            ("kbit/s kbps Kbps Kbits/sec kb/s kbit_s kilobits_per_second", "kbit/s", 1e3),
            ("Mbit/s Mbps mbps Mbits/sec Mb/s mbit_s", "Mbit/s", 1e6),
            ("Gbit/s Gbps gbps Gbits/sec", "Gbit/s", 1e9),
            ("B/s Bps bytes/s bytes_sec bytes_per_second", "B/s", 8.0),
            ("kB/s KB/s KBytes/sec", "kB/s", 8e3),
            ("MB/s MBps MBytes/sec", "MB/s", 8e6),
            ("KiB/s", "KiB/s", 8192.0),
            ("B bytes", "B", 8.0),
        ] {
            for name in names.split(' ') {
                let unit = RateUnit::parse(name).unwrap_or_else(|| panic!("{name}"));
                assert_eq!((unit.to_string().as_str(), unit.bits()), (shown, bits), "{name}");
                assert_eq!(RateUnit::parse(shown), Some(unit));
            }
        }
        for (names, shown) in [
            ("s S sec seconds", "s"),
            ("ms msec milliseconds", "ms"),
            ("us µs μs", "us"),
            ("ns", "ns"),
            ("min", "min"),
            ("h hours", "h"),
        ] {
            for name in names.split(' ') {
                assert_eq!(TimeUnit::parse(name).unwrap().to_string(), shown, "{name}");
            }
        }
    }

    #[test]
    fn other_names_are_no_units() {
        // MBPS may be bits or bytes.
        for name in ["", "s", "ps", "/s", "MBPS", "Mbit/min", "packets/s", "xbit/s", "km/h"] {
            assert_eq!(RateUnit::parse(name), None, "{name}");
        }
        for name in ["", "m", "GMT", "days"] {
            assert_eq!(TimeUnit::parse(name), None, "{name}");
        }
    }
}
