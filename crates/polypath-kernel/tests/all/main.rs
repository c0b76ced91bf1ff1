//! The C of the kernel world against polypath-core: the same events, and what comes out of them.
//!
//! The C is compiled with the system's C compiler and run as programs of user space, in which
//! undefined behaviour ends the program (`-fsanitize=undefined`).

#![allow(clippy::print_stdout, reason = "tests tell figures that a page has")]

mod arithmetic;
mod differential;
mod event;
mod link;
#[cfg(feature = "load")]
mod loaded;
#[cfg(feature = "load")]
#[path = "../../../polypath/tests/all/namespace.rs"]
#[allow(dead_code, reason = "tests of other crates need the rest")]
mod namespace;
#[cfg(feature = "load")]
mod network;
#[cfg(feature = "load")]
#[path = "../../../polypath/tests/all/own_bpffs.rs"]
mod own_bpffs;
mod pages;
#[cfg(feature = "load")]
mod pinned;
#[cfg(feature = "load")]
#[path = "../../../polypath/tests/all/process.rs"]
#[allow(dead_code, reason = "tests of other crates need the rest")]
mod process;
mod program;
mod table;
mod tap;
mod trace;

/// What `process` runs in other crates: here there is no program.
#[cfg(feature = "load")]
fn program() -> &'static str {
    ""
}
