//! Sockets, interfaces, timers, proxies: the user-space crate that touches the OS.
#![deny(unsafe_code)]

mod blocking_pool;
pub mod driver;
pub mod edge;
pub mod exit;
pub mod hub;
pub mod interfaces;
pub mod limit;
pub mod proxy;
pub mod socket;
pub mod tunnel;
