//! The bytes of a file, with and without something said of its columns. Rates that are read write
//! as a table that reads the same; as opportunities they carry their bytes to less than a packet.
//! A refusal says something, on one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_link::trace::{Columns, MAX_DURATION, MAX_RATE, RateSeries, Recording};
use std::time::Duration;

const SAID: [(Option<&str>, Option<&str>); 5] = [
    (None, None),
    (None, Some("in kbit/s")),
    (Some("in ms"), Some("2 in B")),
    (Some("every 1 s"), Some("1 in Mbit/s")),
    (Some("time"), Some("rate in B/s")),
];

fuzz_target!(|bytes: &[u8]| {
    for (time, rate) in SAID {
        let time = time.map(|time| time.parse().expect("a column"));
        let rate = rate.map(|rate| rate.parse().expect("a column"));
        match Recording::read(bytes, &Columns { time, rate }) {
            Ok(Recording::Rates(series)) => check(&series),
            Ok(Recording::Trace(trace)) => assert!(!trace.period().is_zero()),
            Ok(Recording::Pings(log)) => assert!(!log.echoes().is_empty()),
            Err(error) => {
                let message = error.to_string();
                assert!(!message.is_empty() && !message.contains('\n'), "{message}");
            }
        }
    }
});

fn check(series: &RateSeries) {
    assert!(!series.duration().is_zero() && series.duration() <= MAX_DURATION);
    assert!(series.mean_rate() <= MAX_RATE);
    let written = Recording::read(series.to_csv().to_string().as_bytes(), &Columns::default());
    assert_eq!(written, Ok(Recording::Rates(series.clone())));
    if let Ok(binned) = series.rebinned(Duration::from_secs(1)) {
        assert_eq!(binned.duration(), series.duration());
        // Each bin is rounded to bit/s, and so are the two means.
        let off = binned.mean_rate().bits_per_sec().abs_diff(series.mean_rate().bits_per_sec());
        assert!(off <= 1);
    }
    // More would only take longer.
    if series.packets() < 10_000 {
        match series.to_trace() {
            Ok(trace) => assert_eq!(trace.opportunities() as u128, series.packets()),
            Err(_) => assert_eq!(series.packets(), 0),
        }
    }
}
