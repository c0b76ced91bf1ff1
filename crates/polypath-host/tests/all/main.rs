//! What is told of a host, in a network namespace of its own.
#![cfg(target_os = "linux")]

mod interface_watcher;
#[path = "../../../polypath-net/tests/all/common/namespace.rs"]
#[allow(dead_code, reason = "tests of other crates need the rest")]
mod namespace;
