//! Which path manager new connections get (`net.mptcp.path_manager`; `net.mptcp.pm_type` before
//! Linux 6.15).

use std::fs;
use std::io;
use std::path::Path;

/// The setting, and what stands there for user space and for the kernel.
const SETTINGS: [(&str, &str, &str); 2] = [
    ("/proc/sys/net/mptcp/path_manager", "userspace", "kernel"),
    ("/proc/sys/net/mptcp/pm_type", "1", "0"),
];

/// Why it cannot be chosen.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// No Multipath TCP, or an old one.
    #[error(
        "this kernel has no Multipath TCP with a path manager in user space; it takes Linux 5.19 \
         with CONFIG_MPTCP"
    )]
    NoMultipath,
    /// The setting could not be read or written.
    #[error("{path}: {error}")]
    Setting {
        /// The file.
        path: &'static str,
        /// What the operating system said.
        error: io::Error,
    },
}

/// New connections have their path manager in user space; the kernel's again when this is dropped.
#[derive(Debug)]
pub(crate) struct Selected {
    path: &'static str,
    kernel: &'static str,
}

impl Selected {
    /// That of the network namespace of this thread.
    pub(crate) fn user_space() -> Result<Self, SelectError> {
        let there = SETTINGS.into_iter().find(|(path, ..)| Path::new(path).exists());
        let (path, user_space, kernel) = there.ok_or(SelectError::NoMultipath)?;
        fs::write(path, user_space).map_err(|error| SelectError::Setting { path, error })?;
        Ok(Self { path, kernel })
    }
}

impl Drop for Selected {
    fn drop(&mut self) {
        if let Err(error) = fs::write(self.path, self.kernel) {
            tracing::error!("{}: {error}; new connections have no path manager", self.path);
        }
    }
}
