//! A policy file, and traffic described behind its first line that is `---`. An error names the
//! file. What is read decides about any traffic as it explains it, and no rule is unreachable.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_policy::{Judgement, MAX_RULES, Policy, Traffic};
use std::path::Path;

fuzz_target!(|input: &str| {
    let (text, traffic) = input.split_once("\n---\n").unwrap_or((input, "udp 192.0.2.1:53"));
    let policy = match Policy::parse(Path::new("fuzz.toml"), text) {
        Ok(policy) => policy,
        Err(error) => return assert!(error.to_string().starts_with("fuzz.toml:"), "{error}"),
    };
    assert!(policy.rules().len() <= MAX_RULES);
    assert_eq!(Policy::new(policy.rules().to_vec()), Ok(policy.clone()));
    let Ok(traffic) = Traffic::parse(traffic) else { return };
    let decided = policy.decide(&traffic);
    let judgements = policy.explain(&traffic);
    assert_eq!(judgements.iter().position(Judgement::matches), decided);
    assert!(decided.is_none_or(|rule| rule + 1 == judgements.len()));
});
