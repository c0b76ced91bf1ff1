//! A gateway on hosts of its own: network namespaces, with the kernel's traffic.

#[cfg(target_os = "linux")]
mod device;
#[path = "../../../polypath-sim/tests/all/common/golden.rs"]
#[allow(dead_code, reason = "the tests of the simulator use all of it")]
mod golden;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
#[path = "../../../polypath/tests/all/namespace.rs"]
#[allow(dead_code, reason = "the tests of the product use all of it")]
mod namespace;
#[cfg(target_os = "linux")]
mod packet;
mod plan;
#[cfg(target_os = "linux")]
#[path = "../../../polypath/tests/all/process.rs"]
#[allow(dead_code, reason = "the tests of the product use all of it")]
mod process;
#[cfg(target_os = "linux")]
mod runtime;

/// The program that is tested: this one.
#[cfg(target_os = "linux")]
fn program() -> std::path::PathBuf {
    std::env::current_exe().expect("a running program has a file")
}
