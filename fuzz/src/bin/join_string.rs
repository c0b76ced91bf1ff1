//! The join string that a user pastes. What parses prints as text that parses to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_bond::identity::JoinString;

fuzz_target!(|text: &str| {
    if let Ok(join) = text.parse::<JoinString>() {
        assert!((1..=JoinString::MAX_ADDRESSES).contains(&join.addresses().len()));
        assert_eq!(join.to_string().parse(), Ok(join));
    }
});
