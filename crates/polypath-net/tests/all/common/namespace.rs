//! Tests that run themselves again under `unshare --net`, so that the host's interfaces stay out of
//! them.

use std::process::Command;

const INSIDE: &str = "POLYPATH_TEST_INSIDE_NAMESPACE";

/// `unshare` with a namespace, as root or through a user namespace; `None` if neither is allowed.
fn unshare() -> Option<Command> {
    for arguments in [&["--net"][..], &["--net", "--map-root-user"]] {
        let tried = Command::new("unshare").args(arguments).arg("true").output();
        if tried.is_ok_and(|output| output.status.success()) {
            let mut command = Command::new("unshare");
            command.args(arguments);
            return Some(command);
        }
    }
    None
}

/// Runs `inside` in a network namespace of its own; `test` is the whole name of the test
/// that calls, with its module.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn in_namespace(test: &str, inside: impl Future<Output = ()>) {
    if std::env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(inside);
    }
    let Some(mut command) = unshare() else {
        eprintln!("skipped: {test}: no permission to unshare");
        return;
    };
    let this = std::env::current_exe().unwrap();
    let output = command.arg(this).args(["--exact", test, "--nocapture"]).env(INSIDE, "1").output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let ran = String::from_utf8_lossy(&output.stdout);
    assert!(ran.contains("1 passed"), "{ran}");
}

pub(crate) fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}
