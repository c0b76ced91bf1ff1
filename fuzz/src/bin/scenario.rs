//! A scenario file; every trace that it names has two opportunities. What is read has links
//! with names of their own that can be used; an error names the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use polypath_sim::PathLinks;
use polypath_sim::scenario::Scenario;
use std::collections::BTreeSet;
use std::path::Path;

fuzz_target!(|text: &str| {
    match Scenario::parse(text, Path::new("fuzz.toml"), &mut |_| Ok(b"1\n12\n".to_vec())) {
        Ok(scenario) => {
            let graph = scenario.network.graph();
            let names: BTreeSet<_> = graph.link_names().collect();
            assert!(!names.is_empty());
            assert_eq!(names.len(), graph.links.len());
            for PathLinks { up, down } in graph.links.iter().map(|link| &link.links) {
                assert_eq!((up.check(), down.check()), (Ok(()), Ok(())));
            }
        }
        Err(error) => assert!(error.to_string().contains("fuzz.toml"), "{error}"),
    }
});
