//! The real binary of the laboratory, as a user runs it.

mod advise;
mod command_line;
mod compare;
mod emulate;
#[path = "../../../polypath-sim/tests/all/common/golden.rs"]
mod golden;
#[path = "../../../polypath/tests/all/http.rs"]
#[allow(dead_code, reason = "only its content is of use here")]
mod http;
mod models;
#[path = "../../../polypath/tests/all/name_server.rs"]
mod name_server;
#[cfg(target_os = "linux")]
mod netns;
mod pages;
#[path = "../../../polypath-sim/tests/all/common/parallel.rs"]
mod parallel;
#[path = "../../../polypath/tests/all/process.rs"]
#[allow(dead_code, reason = "the tests of the product use all of it")]
mod process;
mod reproduce;
mod sim;
mod trace;
#[path = "../../../polypath/tests/all/world.rs"]
#[allow(dead_code, reason = "the tests of the product use all of it")]
mod world;

use std::path::PathBuf;

/// The program that is tested: `polypath`, which runs the laboratory for these commands, as users
/// call it.
fn program() -> PathBuf {
    let program = laboratory().with_file_name("polypath");
    assert!(program.exists(), "cargo build -p polypath makes {}", program.display());
    program
}

/// The program of the laboratory itself.
fn laboratory() -> PathBuf {
    env!("CARGO_BIN_EXE_polypath-lab").into()
}
