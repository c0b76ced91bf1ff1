//! What can go wrong with namespaces.

use super::CLEAN_COMMAND;
use crate::plan::Prefix;
use std::io;
use std::path::PathBuf;

/// A command of iproute2 that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IpError {
    /// The program is not installed.
    #[error("the program `ip` is not there: install the package iproute2")]
    Missing,
    /// It could not be run.
    #[error("cannot run `{command}`: {error}")]
    Run {
        /// The command.
        command: String,
        /// What the operating system said.
        error: io::Error,
    },
    /// It reported an error.
    #[error("`{command}`: {message}")]
    Failed {
        /// The command.
        command: String,
        /// What `ip` said.
        message: String,
    },
}

/// A state file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The operating system's word.
    #[error("{path}: {error}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
    /// It holds something else.
    #[error("{path}: not the state of an emulator: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// Why there are no namespaces for a network, or something cannot be done with them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetnsError {
    /// No right to make namespaces.
    #[error("network namespaces need root (CAP_SYS_ADMIN and CAP_NET_ADMIN); this is user {user}")]
    NotRoot {
        /// The user's number.
        user: u32,
    },
    /// Another emulator has the prefix.
    #[error("the prefix {prefix} is in use by the emulator with process number {pid}")]
    InUse {
        /// The prefix.
        prefix: Prefix,
        /// The other emulator.
        pid: u32,
    },
    /// An emulator with this prefix was ended before it could clean up.
    #[error(
        "an emulator with the prefix {prefix} ended without cleaning up (it was process {pid}); `{CLEAN_COMMAND} {prefix}` does"
    )]
    Stale {
        /// The prefix.
        prefix: Prefix,
        /// The emulator that was.
        pid: u32,
    },
    /// A namespace of this name is there and is no emulator's.
    #[error(
        "the network namespace {namespace} is there already, and no emulator's: choose another prefix, or delete it (`ip netns delete {namespace}`)"
    )]
    Exists {
        /// The namespace.
        namespace: String,
    },
    /// A node that the network does not have.
    #[error("the network has no node {node:?}; it has {}", nodes.join(", "))]
    UnknownNode {
        /// The node.
        node: String,
        /// Those that there are.
        nodes: Vec<String>,
    },
    /// A kernel parameter that could not be set.
    #[error("{namespace}: cannot set the kernel parameter {key} to {value:?}: {error}")]
    Sysctl {
        /// The namespace.
        namespace: String,
        /// The parameter.
        key: String,
        /// The value.
        value: String,
        /// What the operating system said.
        error: io::Error,
    },
    /// A namespace could not be entered.
    #[error("cannot enter the network namespace {namespace}: {error}")]
    Enter {
        /// The namespace.
        namespace: String,
        /// What the operating system said.
        error: io::Error,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {error}")]
    Spawn {
        /// The program, as it was to be run.
        program: String,
        /// What the operating system said.
        error: io::Error,
    },
    /// A process could not be looked at.
    #[error("process {pid}: {error}")]
    Process {
        /// The process.
        pid: u32,
        /// What the operating system said.
        error: io::Error,
    },
    /// A command of iproute2 failed.
    #[error("{namespace}: {error}")]
    Ip {
        /// The namespace.
        namespace: String,
        /// What failed.
        error: IpError,
    },
    /// The state file.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why namespaces could not be removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CleanError {
    /// No right to remove namespaces.
    #[error("removing network namespaces needs root (CAP_SYS_ADMIN); this is user {user}")]
    NotRoot {
        /// The user's number.
        user: u32,
    },
    /// A process stayed.
    #[error("{namespace}: process {pid} did not end")]
    Process {
        /// The namespace.
        namespace: String,
        /// The process.
        pid: u32,
    },
    /// A process could not be looked at or ended.
    #[error("process {pid}: {error}")]
    Signal {
        /// The process.
        pid: u32,
        /// What the operating system said.
        error: io::Error,
    },
    /// A command of iproute2 failed.
    #[error("{namespace}: {error}")]
    Ip {
        /// The namespace.
        namespace: String,
        /// What failed.
        error: IpError,
    },
    /// The state file.
    #[error(transparent)]
    State(#[from] StateError),
}
