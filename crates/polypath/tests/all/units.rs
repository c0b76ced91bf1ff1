//! The units of systemd that the package has.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::process::{stderr, stdout};

const UNITS: [&str; 2] = ["polypath-hub.service", "polypath-edge@.service"];

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/debian"))
}

/// What systemd-analyze says; `None` where it is not installed, which is told.
#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
fn analyze(test: &str, args: &[&str]) -> Option<Output> {
    let output = Command::new("systemd-analyze").args(args).output().ok();
    if output.is_none() {
        println!("skipped: {test}: systemd-analyze is not installed");
    }
    output
}

/// In a root that has the two units, what they run, and the targets of every system.
#[test]
fn systemd_finds_no_fault_with_the_units() {
    let root = tempfile::tempdir().unwrap();
    let units = root.path().join("usr/lib/systemd/system");
    fs::create_dir_all(&units).unwrap();
    for unit in UNITS {
        fs::copy(folder().join(unit), units.join(unit)).unwrap();
    }
    for target in ["basic", "multi-user", "network-online", "shutdown", "sysinit"] {
        fs::write(units.join(format!("{target}.target")), "[Unit]\nDescription=x\n").unwrap();
    }
    for program in ["usr/bin/polypath", "bin/kill"] {
        let file = root.path().join(program);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let root = format!("--root={}", root.path().display());
    let instances = ["polypath-hub.service", "polypath-edge@edge.service"];
    let args = [&["verify", "--man=no", &root][..], &instances].concat();
    let Some(output) = analyze("systemd_finds_no_fault_with_the_units", &args) else { return };
    assert!(output.status.success() && output.stderr.is_empty(), "{}", stderr(&output));
}

/// 2.5 of 10 is what services that are reached from the Internet should stay below.
#[test]
fn the_units_expose_little() {
    for unit in UNITS {
        let file = folder().join(unit);
        let args = ["security", "--offline=true", "--threshold=25", file.to_str().unwrap()];
        let Some(output) = analyze("the_units_expose_little", &args) else { return };
        assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    }
}
