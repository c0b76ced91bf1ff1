//! Rates over time as CSV. What parses writes as text that parses to the same; as opportunities
//! it carries its bytes to less than a packet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_link::trace::{MAX_DURATION, MAX_RATE, RateSeries};
use std::time::Duration;

fuzz_target!(|text: &str| {
    if let Ok(series) = RateSeries::parse_csv(text) {
        assert!(!series.duration().is_zero() && series.duration() <= MAX_DURATION);
        assert!(series.mean_rate() <= MAX_RATE);
        assert_eq!(RateSeries::parse_csv(&series.to_csv().to_string()), Ok(series.clone()));
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
});
