//! Loads algorithms into the kernel at hand.

use crate::settings::{self, SETTINGS};
use crate::{CONGESTION, KernelCongestion};
use libbpf_rs::{ErrorKind, Link, MapCore, MapFlags, Object, ObjectBuilder};
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;
use std::path::Path;

/// The map of the callbacks in every program (`bpf/include/kernel.h`).
const CALLBACKS: &str = "pp_ops";
/// The map of the state of connections in every program.
pub(crate) const CONNECTIONS: &str = "connections";
/// Under which name the link is pinned that keeps an algorithm registered.
pub(crate) const LINK: &str = "link";

/// How an algorithm is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelConfig {
    /// The congestion control, one of [`CONGESTION`].
    pub congestion: CongestionKind,
    /// The slow start, one of [`SLOW_STARTS`](crate::SLOW_STARTS).
    pub slow_start: SlowStartKind,
    /// Whether the subflows of a connection see each other.
    pub coupled: bool,
}

/// Why an algorithm was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such congestion control for the kernel.
    #[error(
        "congestion control {0} is not one of those for the kernel: see polypath_kernel::CONGESTION"
    )]
    Congestion(CongestionKind),
    /// There is no such slow start for the kernel.
    #[error("slow start {0} is not one of those for the kernel: see polypath_kernel::SLOW_STARTS")]
    SlowStart(SlowStartKind),
    /// Only root may load programs into the kernel.
    #[error("to load {name} into the kernel needs root")]
    Permission {
        /// Its name in the kernel.
        name: &'static str,
    },
    /// A congestion control of that name is registered by somebody else.
    #[error(
        "the kernel has a {name} already, which is not pinned here: it belongs to a process that \
         runs, or is pinned where this mount namespace does not see it (`ip netns exec` makes \
         one: use `nsenter --net=/run/netns/NAME`)"
    )]
    Foreign {
        /// Its name in the kernel.
        name: &'static str,
    },
    /// The kernel refused it, or has no BTF or no struct_ops (6.6 and newer are supported).
    #[error("the kernel did not take {name}: {error}")]
    Kernel {
        /// Its name in the kernel.
        name: &'static str,
        /// What libbpf says.
        error: String,
    },
    /// A program lacks a map that all have.
    #[error("{name} has no map {map}: it was built from other sources")]
    Map {
        /// Its name in the kernel.
        name: &'static str,
        /// The map.
        map: &'static str,
    },
}

/// A congestion control that sockets can choose by its name until this is dropped. Sockets that use
/// it keep it.
#[derive(Debug)]
pub struct Loaded {
    row: &'static KernelCongestion,
    object: Object,
    link: Link,
}

impl Loaded {
    /// Loads and registers an algorithm. Needs root.
    ///
    /// # Errors
    /// When there is none like that, or the kernel does not take it.
    pub fn new(config: KernelConfig) -> Result<Self, LoadError> {
        let row = KernelCongestion::of(config.congestion)?;
        let settings = settings::encode(row, config)?;
        let kernel = |error: libbpf_rs::Error| row.refused(&error);
        let opened = ObjectBuilder::default().open_memory(row.object).map_err(kernel)?;
        let mut object = opened.load().map_err(kernel)?;
        let map = object.maps().find(|map| map.name() == SETTINGS).ok_or(row.lacks(SETTINGS))?;
        map.update(&settings::KEY, &settings, MapFlags::ANY).map_err(kernel)?;
        let mut maps = object.maps_mut();
        let callbacks = maps.find(|map| map.name() == CALLBACKS);
        let mut callbacks = callbacks.ok_or(row.lacks(CALLBACKS))?;
        let link = callbacks.attach_struct_ops().map_err(kernel)?;
        drop(maps);
        Ok(Self { row, object, link })
    }

    /// The name by which sockets choose it.
    pub const fn kernel_name(&self) -> &'static str {
        self.row.kernel_name
    }

    /// How many connections it has state of.
    pub fn connections(&self) -> usize {
        let map = self.object.maps().find(|map| map.name() == CONNECTIONS);
        map.map_or(0, |map| map.keys().count())
    }

    /// Its callbacks, each of which is a program.
    pub(crate) fn programs(&self) -> impl Iterator<Item = libbpf_rs::Program<'_>> {
        self.object.progs()
    }

    /// Pins it in a folder of a bpffs, the link last: it stands for all.
    pub(crate) fn pin(&mut self, folder: &Path) -> Result<(), LoadError> {
        let row = self.row;
        let kernel = |error: libbpf_rs::Error| row.refused(&error);
        for name in [CONNECTIONS, SETTINGS] {
            let map = self.object.maps_mut().find(|map| map.name() == name);
            map.ok_or(row.lacks(name))?.pin(folder.join(name)).map_err(kernel)?;
        }
        self.link.pin(folder.join(LINK)).map_err(kernel)
    }
}

impl KernelCongestion {
    /// The row of a congestion control.
    pub(crate) fn of(kind: CongestionKind) -> Result<&'static Self, LoadError> {
        CONGESTION.iter().find(|row| row.kind == kind).ok_or(LoadError::Congestion(kind))
    }

    const fn lacks(&self, map: &'static str) -> LoadError {
        LoadError::Map { name: self.kernel_name, map }
    }

    /// What an error of libbpf is one of.
    fn refused(&self, error: &libbpf_rs::Error) -> LoadError {
        let name = self.kernel_name;
        match error.kind() {
            ErrorKind::PermissionDenied => LoadError::Permission { name },
            ErrorKind::AlreadyExists => LoadError::Foreign { name },
            _ => LoadError::Kernel { name, error: format!("{error:#}") },
        }
    }
}
