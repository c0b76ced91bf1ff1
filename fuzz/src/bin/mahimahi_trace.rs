//! A Mahimahi trace. What parses writes as text that parses to the same, one line an opportunity.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_link::Trace;
use polypath_units::Bandwidth;

fuzz_target!(|text: &str| {
    if let Ok(trace) = Trace::parse(text) {
        assert!(!trace.period().is_zero());
        let most = Bandwidth::from_bytes_per_sec(text.len() as f64 * 1_500.0 * 1_000.0);
        assert!(trace.mean_rate() <= most, "{}", trace.mean_rate());
        let written = trace.to_string();
        assert_eq!(written.lines().count(), trace.opportunities());
        assert_eq!(Trace::parse(&written), Ok(trace));
    }
});
