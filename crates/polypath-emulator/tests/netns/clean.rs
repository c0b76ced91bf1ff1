//! What is left of an emulator that was killed, and what is done about it.

use crate::network::{is_permitted, plan, two_path};
use polypath_emulator::netns::{Cleaned, Namespaces, NetnsError, StateDirectory};
use std::path::Path;

#[test]
fn a_prefix_belongs_to_one_emulator_at_a_time() {
    if !is_permitted("a_prefix_belongs_to_one_emulator_at_a_time") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let directory = StateDirectory::at(folder.path());
    let plan = plan("once", &two_path());
    let prefix = plan.prefix.clone();
    let first = Namespaces::build_in(&directory, plan.clone()).unwrap();
    let second = Namespaces::build_in(&directory, plan.clone()).unwrap_err();
    assert!(matches!(&second, NetnsError::InUse { pid, .. } if *pid == std::process::id()));
    let pid = std::process::id();
    let running = Cleaned::Running { prefix: prefix.clone(), pid };
    assert_eq!(directory.clean(None).unwrap(), [running]);
    assert!(plan.namespaces().all(|name| Path::new("/run/netns").join(name).exists()));
    first.remove().unwrap();
    assert!(!plan.namespaces().any(|name| Path::new("/run/netns").join(name).exists()));
    assert_eq!(directory.clean(Some(&prefix)).unwrap(), []);
    // And then it is free.
    Namespaces::build_in(&directory, plan).unwrap().remove().unwrap();
}
