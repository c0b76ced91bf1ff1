//! Emulated networks with real programs and the kernel. They need root; without it they are
//! skipped.
#![cfg(target_os = "linux")]

mod alone;
mod common;
#[cfg(feature = "kernel")]
mod cost;
mod death;
mod fidelity;
mod netns;
mod recorded;
mod windows;
mod wire;
