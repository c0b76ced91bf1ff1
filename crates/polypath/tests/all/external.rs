//! Commands that other programs bring.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::process::{stderr, stdout};

/// A laboratory with one command.
const LABORATORY: &str = "#!/bin/sh
case \"$1\" in
list-commands) printf 'weigh\\tWeigh a link\\n' ;;
*) echo \"laboratory for $POLYPATH_RUN_BY:\" \"$@\"; exit 7 ;;
esac
";

/// `polypath` alone in a folder, and a folder of `PATH` beside it.
struct Installed {
    folder: tempfile::TempDir,
}

/// Another process writes the file: a program cannot be started while it is open for writing, which
/// it would be in a child of another test between fork and exec, too.
fn install(from: &Path, to: &Path) {
    let installed = Command::new("install").args(["-m", "755"]).args([from, to]).status();
    assert!(installed.unwrap().success(), "{}", to.display());
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["own", "path"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let installed = Self { folder };
        install(Path::new(crate::program()), &installed.file("own", "polypath"));
        installed
    }

    fn file(&self, folder: &str, name: &str) -> PathBuf {
        self.folder.path().join(folder).join(name)
    }

    fn program(&self, folder: &str, name: &str, text: &str) {
        let source = self.folder.path().join("source");
        fs::write(&source, text).unwrap();
        install(&source, &self.file(folder, name));
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(self.file("own", "polypath"));
        let path = [&self.file("path", ""), Path::new("/usr/bin"), Path::new("/bin")];
        command.args(args).env_clear().env("PATH", std::env::join_paths(path).unwrap());
        command.output().unwrap()
    }
}

#[test]
fn a_program_of_the_name_is_run_in_place_of_polypath() {
    for folder in ["own", "path"] {
        let installed = Installed::new();
        installed.program(folder, "polypath-greet", "#!/bin/sh\necho hello \"$@\"; exit 3\n");
        let greeted = installed.run(&["greet", "a b", "--help"]);
        assert_eq!((greeted.status.code(), stdout(&greeted)), (Some(3), "hello a b --help\n"));
    }
}

#[test]
fn the_laboratory_is_run_for_its_commands_and_help_lists_them() {
    let installed = Installed::new();
    installed.program("path", "polypath-lab", LABORATORY);
    let weighed = installed.run(&["weigh", "--json"]);
    let expected = "laboratory for polypath: weigh --json\n";
    assert_eq!((weighed.status.code(), stdout(&weighed)), (Some(7), expected));
    for args in [&["--help"][..], &["help"]] {
        let help = installed.run(args);
        assert_eq!(help.status.code(), Some(0));
        assert!(stdout(&help).contains("  weigh  Weigh a link\n"), "{}", stdout(&help));
    }
}

#[test]
fn without_the_laboratory_it_is_said_how_to_install_it() {
    let installed = Installed::new();
    let install = "cargo install --path crates/polypath-lab";
    let help = installed.run(&["--help"]);
    assert!(stdout(&help).contains(install), "{}", stdout(&help));
    let refused = installed.run(&["sim", "a.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = stderr(&refused);
    let expected = "error: unknown command `sim`; there are hub, edge, send, status, key, \
                    policy, gateway, kernel, algorithms; ";
    assert!(message.starts_with(expected) && message.contains(install), "{message}");
}

#[test]
fn a_command_that_nobody_has_is_refused_with_those_that_are_there() {
    let installed = Installed::new();
    installed.program("path", "polypath-lab", LABORATORY);
    let refused = installed.run(&["wiegh"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = stderr(&refused);
    assert!(
        message.contains("unknown command `wiegh`") && message.ends_with("weigh\n"),
        "{message}"
    );
    let outside = installed.run(&["../path/polypath-lab"]);
    assert_eq!(outside.status.code(), Some(2), "no path is a command");
}
