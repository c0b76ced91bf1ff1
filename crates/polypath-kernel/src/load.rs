//! Loads algorithms into the kernel at hand.

use crate::{CONGESTION, KernelCongestion, SLOW_STARTS};
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder};
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;

/// The name of the map with what the loader has chosen, and of that with the callbacks, in every
/// program (`bpf/include/kernel.h`).
const SETTINGS: &str = "settings";
const CALLBACKS: &str = "pp_ops";

/// How an algorithm is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelConfig {
    /// The congestion control, one of [`CONGESTION`].
    pub congestion: CongestionKind,
    /// The slow start, one of [`SLOW_STARTS`].
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
    /// The kernel refused it, or has no BTF or no struct_ops (6.6 and newer are supported).
    #[error("the kernel did not take {name}: {source}")]
    Kernel {
        /// Its name in the kernel.
        name: &'static str,
        /// What libbpf says.
        source: libbpf_rs::Error,
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
    _link: Link,
}

impl Loaded {
    /// Loads and registers an algorithm. Needs root.
    pub fn new(config: KernelConfig) -> Result<Self, LoadError> {
        let row = CONGESTION.iter().find(|row| row.kind == config.congestion);
        let row = row.ok_or(LoadError::Congestion(config.congestion))?;
        let slow_start = SLOW_STARTS.iter().find(|(kind, _)| *kind == config.slow_start);
        let (_, slow_start) = slow_start.ok_or(LoadError::SlowStart(config.slow_start))?;
        let kernel = |source| LoadError::Kernel { name: row.kernel_name, source };
        let opened = ObjectBuilder::default().open_memory(row.object).map_err(kernel)?;
        let mut object = opened.load().map_err(kernel)?;
        choose(row, &object, *slow_start, config.coupled)?;
        let mut maps = object.maps_mut();
        let callbacks = maps.find(|map| map.name() == CALLBACKS);
        let mut callbacks = callbacks.ok_or(row.lacks(CALLBACKS))?;
        let link = callbacks.attach_struct_ops().map_err(kernel)?;
        drop(maps);
        Ok(Self { row, object, _link: link })
    }

    /// The name by which sockets choose it.
    pub const fn kernel_name(&self) -> &'static str {
        self.row.kernel_name
    }

    /// How many connections it has state of.
    pub fn connections(&self) -> usize {
        let map = self.object.maps().find(|map| map.name() == "connections");
        map.map_or(0, |map| map.keys().count())
    }
}

impl KernelCongestion {
    const fn lacks(&self, map: &'static str) -> LoadError {
        LoadError::Map { name: self.kernel_name, map }
    }
}

/// Writes `struct pp_settings`.
fn choose(
    row: &KernelCongestion,
    object: &Object,
    slow_start: u32,
    coupled: bool,
) -> Result<(), LoadError> {
    let settings = object.maps().find(|map| map.name() == SETTINGS).ok_or(row.lacks(SETTINGS))?;
    let value = [slow_start, u32::from(!coupled)].map(u32::to_ne_bytes).concat();
    let written = settings.update(&0_u32.to_ne_bytes(), &value, MapFlags::ANY);
    written.map_err(|source| LoadError::Kernel { name: row.kernel_name, source })
}
