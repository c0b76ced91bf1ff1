//! Sockets, interfaces, timers, proxies: the user-space crate that touches the OS.
#![deny(unsafe_code)]

mod accept;
mod attempts;
mod blocking_pool;
pub mod conversations;
pub mod driver;
pub mod edge;
pub mod exit;
pub mod gateway;
pub mod hub;
pub mod interfaces;
pub mod limit;
mod locked_file;
mod memory;
pub mod mptcp;
mod origin;
pub mod proxy;
pub mod socket;
pub mod tunnel;

pub use accept::accept;
pub use locked_file::LockedFile;
pub use memory::give_back_free_memory;
