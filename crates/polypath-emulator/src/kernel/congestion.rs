//! Congestion controls of connections: the kernel's own, and Polypath's in eBPF.

use super::{KernelConnection, KernelError};
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_kernel::{CONGESTION, RunTime, SLOW_STARTS};
use std::io;

/// The congestion control of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelCongestion {
    /// The kernel's own, by its name.
    Own(String),
    /// One of Polypath's, which is loaded as long as connections run.
    Loaded(LoadedCongestion),
}

/// A congestion control that the kernel is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedCongestion {
    /// Its name in the kernel.
    pub kernel_name: &'static str,
    /// Which one.
    pub congestion: CongestionKind,
    /// The slow start before it.
    pub slow_start: SlowStartKind,
    /// Whether the subflows of a connection see each other.
    pub coupled: bool,
}

impl KernelCongestion {
    /// The name by which sockets choose it.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(name) => name,
            Self::Loaded(loaded) => loaded.kernel_name,
        }
    }
}

impl LoadedCongestion {
    /// A congestion control with a slow start, if the kernel can be given it.
    ///
    /// # Errors
    /// For a slow start that does not go with it there, with those that do.
    pub(super) fn new(
        congestion: CongestionKind,
        slow_start: SlowStartKind,
        coupled: bool,
    ) -> Result<Option<Self>, String> {
        let Some(row) = CONGESTION.iter().find(|row| row.kind == congestion) else {
            return Ok(None);
        };
        if !SLOW_STARTS.iter().any(|(kind, _)| *kind == slow_start) {
            let allowed: Vec<_> = SLOW_STARTS.iter().map(|(kind, _)| kind.name()).collect();
            return Err(format!(
                "`slow_start`: {} does not go with {} in the kernel; allowed: {}",
                slow_start.name(),
                congestion.name(),
                allowed.join(", ")
            ));
        }
        Ok(Some(Self { kernel_name: row.kernel_name, congestion, slow_start, coupled }))
    }
}

/// What is loaded for connections, as long as this lives.
#[derive(Debug)]
pub struct Loading {
    #[cfg(feature = "kernel")]
    loaded: Vec<polypath_kernel::Loaded>,
}

impl Loading {
    /// Loads what connections need.
    ///
    /// # Errors
    /// If the kernel does not take it, or two connections want one congestion control differently.
    pub fn of(connections: &[KernelConnection]) -> Result<Self, KernelError> {
        let mut wanted: Vec<(&KernelConnection, LoadedCongestion)> = Vec::new();
        for connection in connections {
            let KernelCongestion::Loaded(loaded) = connection.congestion else { continue };
            match wanted.iter().find(|(_, other)| other.kernel_name == loaded.kernel_name) {
                None => wanted.push((connection, loaded)),
                Some((_, other)) if *other == loaded => {}
                Some((other, _)) => {
                    let problem = format!(
                        "the kernel has {} once, with the slow start and the coupling of {:?}",
                        loaded.kernel_name, other.name
                    );
                    return Err(connection.failed(problem));
                }
            }
        }
        Self::load(&wanted)
    }

    #[cfg(feature = "kernel")]
    fn load(wanted: &[(&KernelConnection, LoadedCongestion)]) -> Result<Self, KernelError> {
        let load = |(connection, loaded): &(&KernelConnection, LoadedCongestion)| {
            let &LoadedCongestion { congestion, slow_start, coupled, .. } = loaded;
            let config = polypath_kernel::KernelConfig { congestion, slow_start, coupled };
            polypath_kernel::Loaded::new(config).map_err(|error| connection.failed(error))
        };
        Ok(Self { loaded: wanted.iter().map(load).collect::<Result<_, _>>()? })
    }

    /// Runs something and counts what is loaded here takes meanwhile. Each call of a program takes
    /// a little longer for that.
    ///
    /// # Errors
    /// What the kernel says when it is to count, and then those of what runs.
    #[cfg(feature = "kernel")]
    pub fn counted<T, E: From<io::Error>>(
        &self,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, RunTime), E> {
        let _count = polypath_kernel::RunTimeCount::start()?;
        let before = self.run_time()?;
        let done = run()?;
        Ok((done, self.run_time()? - before))
    }

    /// Since it was loaded, while it was counted.
    #[cfg(feature = "kernel")]
    fn run_time(&self) -> io::Result<RunTime> {
        self.loaded.iter().map(polypath_kernel::Loaded::run_time).sum()
    }

    /// Nothing is loaded in a build without the feature `kernel`, and takes nothing.
    #[cfg(not(feature = "kernel"))]
    #[expect(clippy::missing_errors_doc, reason = "they are those of the other one")]
    pub fn counted<T, E: From<io::Error>>(
        &self,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, RunTime), E> {
        Ok((run()?, RunTime::default()))
    }

    #[cfg(not(feature = "kernel"))]
    fn load(wanted: &[(&KernelConnection, LoadedCongestion)]) -> Result<Self, KernelError> {
        match wanted.first() {
            None => Ok(Self {}),
            Some((connection, loaded)) => Err(connection.failed(format!(
                "{} is loaded into the kernel by a build with the feature `kernel`, which takes \
                 clang, and libelf and zlib with headers",
                loaded.kernel_name
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_starts_that_the_kernel_does_not_have_are_refused() {
        let new = |congestion, slow_start| LoadedCongestion::new(congestion, slow_start, true);
        let error = new(CongestionKind::Lia, SlowStartKind::Hystart).unwrap_err();
        let expected = "`slow_start`: hystart does not go with lia in the kernel; allowed: ";
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(new(CongestionKind::Cubic, SlowStartKind::Hystart), Ok(None));
        let loaded = new(CongestionKind::Lia, SlowStartKind::Css).unwrap().unwrap();
        assert_eq!((loaded.kernel_name, loaded.coupled), ("pp_lia", true));
    }
}
