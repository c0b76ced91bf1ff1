//! A path manager for Linux's Multipath TCP (RFC 8684) that ends subflows on dead paths and makes
//! them again when the paths work.
//!
//! [`watch`] and [`joins`] decide, without I/O and without a clock; [`kernel`] is what the kernel
//! tells and is told; [`Agent`] puts them together.
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
mod agent;
mod choice;
#[cfg(target_os = "linux")]
mod host;
pub mod joins;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
mod managed;
mod path;
#[cfg(target_os = "linux")]
mod path_manager_setting;
pub mod state;
mod status;
pub mod watch;

#[cfg(target_os = "linux")]
pub use agent::{Agent, AgentError};
pub use choice::{Choice, ChoiceError};
#[cfg(target_os = "linux")]
pub use host::HostError;
pub use path::Path;
#[cfg(target_os = "linux")]
pub use path_manager_setting::SelectError;
pub use status::{ConnectionStatus, PathStatus, Status, SubflowStatus};
