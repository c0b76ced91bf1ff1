//! What the names of columns say.

use super::unit::{RateUnit, TimeUnit};

/// What a column has, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Time(Option<TimeUnit>),
    Rate(Option<RateUnit>),
    Other,
}

/// Names of times have one of these words,
const TIMES: [&str; 10] =
    ["time", "timestamp", "timestamps", "date", "datetime", "dtime", "t", "ts", "epoch", "elapsed"];
/// and besides them only these.
const OF_TIMES: [&str; 8] = ["unix", "utc", "gmt", "local", "since", "start", "in", "stamp"];

/// Names of rates have one of these words,
const RATES: [&str; 9] =
    ["rate", "bitrate", "datarate", "throughput", "bandwidth", "goodput", "capacity", "tput", "bw"];
/// and besides them only these.
const OF_RATES: [&str; 16] = [
    "dl", "ul", "downlink", "uplink", "download", "upload", "bit", "data", "delivery", "link",
    "mean", "avg", "average", "tcp", "udp", "in",
];

/// What the name of a column says: `time (s)`, `DL [kbit/s]`, `rate_mbit_s`, `Throughput`, `ms`.
pub(super) fn meaning(name: &str) -> Meaning {
    match bracketed(name) {
        Some((stem, unit)) => in_brackets(stem, unit),
        None => in_words(name),
    }
}

/// The parts of `stem (unit)` or `stem [unit]`.
fn bracketed(name: &str) -> Option<(&str, &str)> {
    let inner = name.strip_suffix(')').or_else(|| name.strip_suffix(']'))?;
    let (stem, unit) = inner.rsplit_once(['(', '['])?;
    Some((stem.trim(), unit.trim()))
}

fn in_brackets(stem: &str, unit: &str) -> Meaning {
    if let Some(unit) = RateUnit::parse_rate(unit) {
        return Meaning::Rate(Some(unit));
    }
    // `ns GMT`: what follows the unit is from when the times count.
    let first = unit.split_whitespace().next().unwrap_or("");
    match of_stem(stem) {
        Meaning::Time(_) => Meaning::Time(TimeUnit::parse(first)),
        other => other,
    }
}

/// The longest end of the name that is a unit, after what it is of; or no unit.
fn in_words(name: &str) -> Meaning {
    match TimeUnit::parse(name) {
        // As names of columns these are a minimum and anything.
        Some(TimeUnit::Minutes | TimeUnit::Hours) | None => {}
        unit => return Meaning::Time(unit),
    }
    let starts = name.char_indices().filter(|&(_, c)| is_separator(c));
    let starts = starts.map(|(at, c)| (at, at + c.len_utf8()));
    for (stem, start) in core::iter::once((0, 0)).chain(starts) {
        let (stem, unit) = (&name[..stem], &name[start..]);
        if let Some(unit) = RateUnit::parse_rate(unit) {
            return Meaning::Rate(Some(unit));
        }
        if let (Meaning::Time(_), Some(unit)) = (of_stem(stem), TimeUnit::parse(unit)) {
            return Meaning::Time(Some(unit));
        }
    }
    of_stem(name)
}

fn of_stem(stem: &str) -> Meaning {
    let stem = stem.to_lowercase();
    let words = || stem.split(is_separator).filter(|word| !word.is_empty());
    let all = |of: &[&str], with: &[&str]| {
        words().any(|word| of.contains(&word))
            && words().all(|word| of.contains(&word) || with.contains(&word))
    };
    match () {
        () if all(&TIMES, &OF_TIMES) => Meaning::Time(None),
        () if all(&RATES, &OF_RATES) => Meaning::Rate(None),
        () => Meaning::Other,
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '_' | '-' | '/' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_columns_have() {
        let rate = |unit: &str| Meaning::Rate(RateUnit::parse(unit));
        let time = |unit: &str| Meaning::Time(TimeUnit::parse(unit));
        for (names, expected) in [
            ("time_s|time (s)|Time [sec]|time s|t_s|seconds|time in s|elapsed/s", time("s")),
            ("time_ms|timestamp (ms)|ms|Timestamp ms", time("ms")),
            ("time (ns GMT)|ts_ns", time("ns")),
            ("time|Timestamp|timestamp (UTC)|Date Time|unix_time|time_since_start", time("")),
            (
                "rate_mbit_s|Throughput (Mbps)|downlink_mbps|DL [Mbit/s]|Mbps|rate in Mbps",
                rate("Mbit/s"),
            ),
            ("DL_bitrate [kbit/s]|bandwidth_kbps|rate_kbit_s", rate("kbit/s")),
            ("bits_per_second|rate_bit_s|bps", rate("bit/s")),
            ("bytes_sec|Speed [B/s]|bytes/s", rate("B/s")),
            ("throughput|DL_bitrate|UL bitrate|delivery_rate|Bandwidth|rate|tput (MBPS)", rate("")),
            (
                "|min|h|speed|rtt_ms|rtt (ms)|fetch_time|bytes_total|bytes_sec_interval|cell",
                Meaning::Other,
            ),
            ("frame_rate|RSRP [dBm]|Speed (km/h)|latitude|start|s/n", Meaning::Other),
        ] {
            for name in names.split('|') {
                assert_eq!(meaning(name), expected, "{name}");
            }
        }
    }
}
