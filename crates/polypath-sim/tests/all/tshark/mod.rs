//! tshark, as far as the tests need it.

use std::path::Path;
use std::process::Command;

/// Whether tshark is there; says that `test` is skipped if not.
#[expect(clippy::print_stdout, reason = "a test that was skipped says so")]
pub(crate) fn is_there(test: &str) -> bool {
    let is_there = Command::new("tshark").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: {test}: tshark is not installed");
    }
    is_there
}

/// The fields of every packet of a capture; what a packet has more than once has commas between.
/// All checksums are verified, and the mappings of Multipath TCP are.
///
/// # Panics
/// If tshark cannot read the capture.
pub(crate) fn fields<const N: usize>(capture: &Path, names: [&str; N]) -> Vec<[String; N]> {
    let mut command = Command::new("tshark");
    command.args(["-2", "-n", "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]);
    for preference in [
        "ip.check_checksum:TRUE",
        "tcp.check_checksum:TRUE",
        "udp.check_checksum:TRUE",
        "mptcp.analyze_mappings:TRUE",
        "mptcp.relative_sequence_numbers:TRUE",
    ] {
        command.args(["-o", preference]);
    }
    for name in names {
        command.args(["-e", name]);
    }
    let output = command.arg("-r").arg(capture).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", capture.display());
    let row = |line: &str| {
        let fields: Vec<_> = line.split('\t').map(str::to_owned).collect();
        fields.try_into().unwrap_or_else(|_| panic!("{names:?}: {line}"))
    };
    String::from_utf8(output.stdout).unwrap().lines().map(row).collect()
}
