//! What can go wrong with pinned congestion controls.

use super::Pinned;
use crate::{KernelCongestion, LoadError};
use std::io;
use std::path::PathBuf;

/// Why something was not loaded, unloaded or read.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// It could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Only root may.
    #[error("the kernel's congestion controls are for root alone")]
    Permission,
    /// There is no place for a bpffs.
    #[error("there is no folder {}: this kernel has no BPF, or /sys is not mounted", at.display())]
    NoBpffs {
        /// Where it would be mounted.
        at: PathBuf,
    },
    /// The bpffs cannot be mounted.
    #[error("a bpffs cannot be mounted at {}: {error}", at.display())]
    Mount {
        /// Where.
        at: PathBuf,
        /// What the kernel says.
        error: io::Error,
    },
    /// The folder of what is pinned cannot be used.
    #[error("{}: {error}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// What the kernel says.
        error: io::Error,
    },
    /// A map that is pinned cannot be read.
    #[error("map {map} of {name} cannot be read: {error}")]
    Map {
        /// The congestion control in the kernel.
        name: &'static str,
        /// Which map.
        map: &'static str,
        /// What the kernel says.
        error: String,
    },
    /// A folder is none of a cgroup.
    #[error(
        "{} is not a folder of cgroup2, such as /sys/fs/cgroup/system.slice/NAME.service",
        path.display()
    )]
    NoCgroup {
        /// Which.
        path: PathBuf,
    },
    /// A cgroup cannot have a congestion control.
    #[error("{}: {error}", path.display())]
    Cgroup {
        /// Which.
        path: PathBuf,
        /// What the kernel says.
        error: io::Error,
    },
    /// A build of the program has loaded it whose settings this one cannot read.
    #[error(
        "{} was loaded by another version of polypath: unload it first (`polypath kernel unload \
         {}`; connections that use it keep it)",
        .0.kernel_name, .0.kind,
    )]
    OtherBuild(&'static KernelCongestion),
    /// It is loaded in another way.
    #[error(
        "{name} is loaded already with slow start {slow_start}, {coupled}: unload it first \
         (`polypath kernel unload {registry}`; connections that use it keep it)",
        name = .0.row.kernel_name,
        registry = .0.row.kind,
        slow_start = .0.settings.slow_start,
        coupled = if .0.settings.coupled { "coupled" } else { "uncoupled" },
    )]
    OtherSettings(Pinned),
    /// A program is run by it.
    #[error(
        "a program that `polypath kernel run` has started uses {name}, and its new connections \
         would be without it: end that first"
    )]
    InUse {
        /// The congestion control in the kernel.
        name: &'static str,
    },
}

impl PinsError {
    pub(crate) fn map(row: &KernelCongestion, map: &'static str, error: &libbpf_rs::Error) -> Self {
        Self::Map { name: row.kernel_name, map, error: format!("{error:#}") }
    }
}
