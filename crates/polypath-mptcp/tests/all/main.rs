//! The path manager on a host of its own: a network namespace, with the kernel's Multipath TCP.
#![cfg(target_os = "linux")]

mod host;
mod joined;
#[path = "../../../polypath-net/tests/all/common/namespace.rs"]
#[allow(dead_code, reason = "tests of other crates need the rest")]
mod namespace;
