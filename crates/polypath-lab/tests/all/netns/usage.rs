//! What the user wrote wrong, and who may not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::lab::{TWO_LINKS, polypath};
use crate::process::stderr;

fn run(args: &[&str]) -> Output {
    polypath(&[&["emulate"], args].concat()).output().unwrap()
}

#[test]
fn what_the_user_wrote_wrong_ends_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (scenario, missing, small) = (path("two.toml"), path("missing.toml"), path("small.toml"));
    fs::write(&scenario, TWO_LINKS).unwrap();
    fs::write(&small, TWO_LINKS.replace("queue = \"1 bdp\"", "speed = 1")).unwrap();
    for (args, expected) in [
        ([&*scenario, "--netns", "a-b"].as_slice(), "\"a-b\" is no prefix of namespaces"),
        (&[&scenario, "--netns", ""], "is no prefix of namespaces"),
        (&["--netns", "lab"], "<SCENARIO>"),
        (&[&missing, "--netns", "lab"], "missing.toml"),
        (
            &[&small, "--netns", "lab"],
            "small.toml:6: unknown key `speed` in [[path]]; allowed are ",
        ),
        (&[&scenario], "<--hub <HOST:PORT>|--netns <PREFIX>|--clean [<PREFIX>]>"),
        (&[&scenario, "--netns", "lab", "--hub", "127.0.0.1:1"], "cannot be used with"),
        (&[&scenario, "--clean"], "cannot be used with"),
        (&[&scenario, "--clean", "lab"], "cannot be used with"),
        (&["--clean", &scenario], "is no prefix of namespaces"),
        (&["--clean", "lab", "--", "true"], "cannot be used with"),
        (&[&scenario, "--netns", "lab", "--node", "client"], "COMMAND"),
        (
            &[&scenario, "--netns", "lab", "--node", "nobody", "--", "true"],
            "no node \"nobody\"; there are client, server",
        ),
        (&[&scenario, "--netns", "lab", "--for", "long"], "--for"),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
}

/// What user 65534 (nobody) gets, or this user if that is not root; nothing where the binary is out
/// of their reach.
fn run_as_nobody(args: &[&str]) -> Option<Output> {
    let binary = crate::program();
    let command = |program: &Path, args: &[&str]| match rustix::process::geteuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(program)
                .args(args);
            command.output()
        }
        false => Command::new(program).args(args).output(),
    };
    let reached = command(Path::new("test"), &["-x", binary.to_str().unwrap()])
        .is_ok_and(|output| output.status.success());
    reached.then(|| command(&binary, args).unwrap())
}

#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn who_is_not_root_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let scenario = folder.path().join("two.toml");
    fs::write(&scenario, TWO_LINKS).unwrap();
    let program = crate::program();
    let emulate = ["emulate", scenario.to_str().unwrap(), "--netns", "emulate_nobody"];
    let live = ["reproduce", "R1-1", "--live", "--program", program.to_str().unwrap()];
    for (args, what) in [(&emulate[..], "error: cannot emulate the network: "), (&live, "error: ")]
    {
        let Some(output) = run_as_nobody(args) else {
            println!("skipped: who_is_not_root_is_told: no setpriv, or not for others to run");
            return;
        };
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let expected = format!(
            "{what}network namespaces need root (CAP_SYS_ADMIN and CAP_NET_ADMIN); this is user "
        );
        assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    }
}
