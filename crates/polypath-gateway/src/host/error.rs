//! What can go wrong with a host.

use std::io;
use std::path::PathBuf;

use crate::InterfaceName;

/// Why a plan could not be set or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// There is a gateway already.
    #[error(
        "another gateway runs in this network namespace{}; allowed: one",
        .process.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    Occupied {
        /// Its process, if it could be told.
        process: Option<u32>,
    },
    /// Whether there is one could not be told.
    #[error("claiming this network namespace: {0}")]
    Claim(io::Error),
    /// Something is wrong with nftables.
    #[error("nftables: {0}")]
    Nft(NftError),
    /// The kernel refused a route, a rule or a query about them.
    #[error("{what}: {error}")]
    Netlink {
        /// What was to be done.
        what: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// The device that packets are to be routed to is not there.
    #[error("there is no interface {name}; allowed: a device that is there and up")]
    NoDevice {
        /// Its name.
        name: InterfaceName,
    },
    /// A parameter of the kernel cannot be read or written.
    #[error("the kernel's parameter {path}: {error}")]
    Parameter {
        /// Its path below `/proc/sys`.
        path: String,
        /// What the operating system said.
        error: io::Error,
    },
    /// No parameter of the kernel can be read or written.
    #[error(
        "the kernel's parameters are not to be seen in /proc/sys/net; a service needs ProcSubset=all"
    )]
    ParametersHidden,
    /// The file with the values that parameters had cannot be read or written.
    #[error("{path}: {error}")]
    Record {
        /// The file.
        path: PathBuf,
        /// What the operating system said, or what is wrong in it.
        error: io::Error,
    },
    /// This operating system has no implementation.
    #[error("gateways are not supported on {0}; they are on linux")]
    Unsupported(&'static str),
}

/// What is wrong with nftables.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NftError {
    /// The program is not installed.
    #[error("the program `nft` is not there: install the package nftables")]
    Missing,
    /// It could not be run.
    #[error("cannot run `nft`: {0}")]
    Run(io::Error),
    /// It, or the kernel, did not take what it was given. Nothing has changed then.
    #[error("`nft {command}`: {message}")]
    Refused {
        /// Its arguments.
        command: String,
        /// What it said.
        message: String,
    },
}
