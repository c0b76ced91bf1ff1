//! Sockets, timers, proxies: edge and hub in user space.
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
pub mod limit;
mod memory;
pub mod mptcp;
mod origin;
pub mod proxy;
pub mod socket;
pub mod tunnel;

pub use accept::accept;
pub use memory::give_back_free_memory;
