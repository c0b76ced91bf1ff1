//! Compiles the algorithms for the kernel, where the feature `load` asks for it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_LOAD").is_some() {
        compile();
    }
}

/// Compiles each `bpf/congestion/NAME.bpf.c`, and what chooses them for a cgroup, to
/// `OUT_DIR/NAME.bpf.o`.
fn compile() {
    let bpf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    println!("cargo::rerun-if-changed={}", bpf.display());
    println!("cargo::rerun-if-env-changed=CLANG");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    for folder in ["congestion", "cgroup"] {
        let folder = std::fs::read_dir(bpf.join(folder)).expect("the repository has it");
        for entry in folder {
            let source = entry.expect("the repository can be read").path();
            let name = source.file_name().expect("it is a file").to_string_lossy();
            let object = out.join(name.replace(".bpf.c", ".bpf.o"));
            clang(&bpf, &source, &object);
        }
    }
}

fn clang(bpf: &Path, source: &Path, object: &Path) {
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let status = Command::new(&clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror"])
        .args(["-Wno-unused-parameter", "-c", "-I"])
        .arg(bpf.join("include"))
        .arg(source)
        .arg("-o")
        .arg(object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile {}: {status}", source.display()),
        Err(error) => panic!(
            "the feature `load` of polypath-kernel needs clang, and `{clang}` cannot be run: \
             {error}; install it (Debian, Ubuntu: apt-get install clang libelf-dev zlib1g-dev)"
        ),
    }
}
