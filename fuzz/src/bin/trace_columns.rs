//! What a user says of the columns of a trace. It writes as text that parses to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_link::trace::{RateChoice, TimeChoice};

fuzz_target!(|text: &str| {
    if let Ok(time) = text.parse::<TimeChoice>() {
        assert_eq!(time.to_string().parse(), Ok(time));
    }
    if let Ok(rate) = text.parse::<RateChoice>() {
        assert_eq!(rate.to_string().parse(), Ok(rate));
    }
});
