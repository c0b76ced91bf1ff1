//! The units of systemd that the package has.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::process::{are_there, stderr, stdout};

const UNITS: [&str; 2] = ["polypath-hub.service", "polypath-edge@.service"];

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/debian"))
}

/// What systemd-analyze says; `None` where it is not installed, which is told.
fn analyze(test: &str, args: &[&str]) -> Option<Output> {
    let program = "systemd-analyze";
    are_there(test, &[program]).then(|| Command::new(program).args(args).output().unwrap())
}

/// A root that has the two units, what they run, and the targets of every system; with what makes
/// gateways of them, if asked for.
fn root(with_gateway: bool) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let units = root.path().join("usr/lib/systemd/system");
    fs::create_dir_all(&units).unwrap();
    for unit in UNITS {
        fs::copy(folder().join(unit), units.join(unit)).unwrap();
    }
    if with_gateway {
        let more = root.path().join("etc/systemd/system/polypath-.service.d");
        fs::create_dir_all(&more).unwrap();
        fs::copy(folder().join("gateway.conf"), more.join("gateway.conf")).unwrap();
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
    root
}

/// What systemd-analyze says of the units in such a root.
fn analyze_units(test: &str, args: &[&str], with_gateway: bool) -> Option<Output> {
    let root = root(with_gateway);
    let root = format!("--root={}", root.path().display());
    let instances = ["polypath-hub.service", "polypath-edge@edge.service"];
    analyze(test, &[args, &[&root], &instances].concat())
}

#[test]
fn systemd_finds_no_fault_with_the_units() {
    let test = "systemd_finds_no_fault_with_the_units";
    for with_gateway in [false, true] {
        let found = analyze_units(test, &["verify", "--man=no"], with_gateway);
        let Some(output) = found else { return };
        assert!(output.status.success() && output.stderr.is_empty(), "{}", stderr(&output));
    }
}

/// 2.5 of 10 is what services that are reached from the Internet should stay below.
#[test]
fn the_units_expose_little() {
    for with_gateway in [false, true] {
        let args = ["security", "--offline=true", "--threshold=25"];
        let found = analyze_units("the_units_expose_little", &args, with_gateway);
        let Some(output) = found else { return };
        assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    }
}
