//! Compiles C of the kernel world for user space and runs it.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of the C.
pub(crate) fn bpf() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf")
}

/// Clang, which also finds integers without sign that wrap, or else the system's compiler.
fn compiler() -> Command {
    let has_clang = Command::new("clang").arg("--version").output().is_ok();
    // What is found ends the program; the two compilers say that differently.
    let (name, checks) = if has_clang {
        let checks = "-fsanitize=undefined,unsigned-integer-overflow,unsigned-shift-base";
        ("clang", [checks, "-fsanitize-trap=all"])
    } else {
        ("cc", ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"])
    };
    let mut command = Command::new(name);
    command.args(checks);
    command
}

/// A compiled program, removed with its folder.
pub(crate) struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    /// Compiles one file.
    pub(crate) fn of(source: &Path) -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let output = compiler()
            .args(["-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"])
            .arg("-I")
            .arg(bpf().join("include"))
            .args(["-x", "c"])
            .arg(source)
            .arg("-o")
            .arg(folder.path().join("program"))
            .output()
            .expect("a C compiler runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", source.display());
        Self { folder }
    }

    /// Its output for this input and these arguments.
    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let path = self.folder.path().join("input");
        let mut file = File::create_new(&path).expect("the folder can be written");
        file.write_all(input).expect("the folder can be written");
        let output = Command::new(self.folder.path().join("program"))
            .args(arguments)
            .stdin(Stdio::from(File::open(&path).expect("the file was written")))
            .output()
            .expect("the program runs");
        std::fs::remove_file(&path).expect("the file was written");
        assert!(output.status.success(), "the program ended with {}", output.status);
        output.stdout
    }
}
