//! What a host has, as the operating system tells: [`interfaces`] with their addresses, routes and
//! rules ([`netlink`]), and files that one process uses at a time ([`LockedFile`]).
#![deny(unsafe_code)]

pub mod interfaces;
mod locked_file;
#[cfg(target_os = "linux")]
pub mod netlink;

pub use locked_file::LockedFile;
