//! A plan on the host: set, changed, removed.
//!
//! A [`Gateway`] is what was set, and removes it. If the process is killed before it could, all is
//! still known as ours: the tables of nftables and routes by their names and numbers, rules and
//! routes by their protocol number. [`clean`] removes it, and so does the next [`Gateway`]. Only
//! parameters of the kernel do not tell what they were before: that is in a file in a directory of
//! the caller's, and holds as long as there is a table of ours in the network namespace.
//!
//! All of this is about the network namespace of the calling thread, in which there is one gateway
//! at a time.

mod error;
#[cfg(target_os = "linux")]
mod family;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod lock;
#[cfg(target_os = "linux")]
mod nft;
#[cfg(target_os = "linux")]
mod parameters;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod routes;
#[cfg(target_os = "linux")]
mod rules;
#[cfg(not(target_os = "linux"))]
mod unsupported;

pub use error::{HostError, NftError};
#[cfg(target_os = "linux")]
pub use gateway::{Gateway, clean};
#[cfg(not(target_os = "linux"))]
pub use unsupported::{Gateway, clean};

/// What [`clean`] has removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Tables of nftables, by their names.
    pub tables: Vec<&'static str>,
    /// Rules of policy routing.
    pub rules: usize,
    /// Routes.
    pub routes: usize,
    /// Parameters of the kernel that have their earlier values again.
    pub parameters: usize,
}

impl Cleaned {
    /// Whether there was anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
