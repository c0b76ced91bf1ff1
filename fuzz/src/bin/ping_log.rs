//! The output of `ping`. The answers have ascending numbers, at most one a line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_link::trace::PingLog;

fuzz_target!(|text: &str| {
    if let Ok(log) = PingLog::parse(text) {
        assert!((1..=text.split(['\n', '\r']).count()).contains(&log.echoes().len()));
        assert!(log.echoes().windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
        assert!(log.lost().is_none_or(|lost| Some(lost) <= log.sent()));
    }
});
