//! A scenario file; every trace that it names has two opportunities. What is read has a path with a
//! name of its own for each link; an error names the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_sim::scenario::Scenario;
use std::collections::BTreeSet;
use std::path::Path;

fuzz_target!(|text: &str| {
    match Scenario::parse(text, Path::new("fuzz.toml"), &mut |_| Ok("1\n12\n".to_owned())) {
        Ok(scenario) => {
            let names: BTreeSet<_> = scenario.paths.iter().map(|path| &path.name).collect();
            assert!(!names.is_empty());
            assert_eq!(names.len(), scenario.paths.len());
            assert_eq!(scenario.links().count(), names.len());
        }
        Err(error) => assert!(error.to_string().contains("fuzz.toml"), "{error}"),
    }
});
