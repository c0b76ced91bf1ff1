//! Congestion controls that stay loaded without a process: pinned in a bpffs.
//!
//! Each has a folder `polypath/NAME` there, with its maps and, pinned last, its link: a folder
//! without a link is what a loader has left that was killed, or an unloader. Whoever changes
//! anything has a lock on `polypath`. Whoever runs programs by a congestion control has a shared
//! lock on its folder, which ends with the process. A control that was loaded for such a program
//! alone is marked, and unloaded once nobody has that lock: by the program's own end or, if that
//! was killed, by the next call.

mod bpffs;
mod cgroup;
mod error;
mod locked;

pub use error::PinsError;

use crate::settings::Settings;
use crate::{CONGESTION, KernelConfig, KernelCongestion, coupling};
use cgroup::Cgroup;
use libbpf_rs::MapHandle;
use locked::{Locked, Stay};
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Where systems have a bpffs.
const BPFFS: &str = "/sys/fs/bpf";
/// The folder of all that is pinned.
const FOLDER: &str = "polypath";
/// The mark of what was loaded for a program: an empty folder in that of the congestion control.
const MARK: &str = "while_used";

/// A place where congestion controls are pinned.
#[derive(Clone, Debug)]
pub struct Pins {
    bpffs: PathBuf,
}

impl Default for Pins {
    /// That of the system, `/sys/fs/bpf`.
    fn default() -> Self {
        Self::at(BPFFS)
    }
}

/// A congestion control that is loaded, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// Which one.
    pub row: &'static KernelCongestion,
    /// How it runs.
    pub settings: Settings,
    /// How many cgroups have it for their TCP sockets.
    pub cgroups: usize,
}

/// What is asked of a congestion control; what is `None` may be anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which one.
    pub congestion: CongestionKind,
    /// With which slow start; `standard` if it has to be loaded.
    pub slow_start: Option<SlowStartKind>,
    /// Whether subflows see each other; they do if it has to be loaded.
    pub coupled: Option<bool>,
}

impl From<KernelConfig> for Wanted {
    fn from(config: KernelConfig) -> Self {
        let KernelConfig { congestion, slow_start, coupled } = config;
        Self { congestion, slow_start: Some(slow_start), coupled: Some(coupled) }
    }
}

impl Wanted {
    fn config(self) -> KernelConfig {
        KernelConfig {
            congestion: self.congestion,
            slow_start: self.slow_start.unwrap_or(SlowStartKind::Standard),
            coupled: self.coupled.unwrap_or(true),
        }
    }

    fn is_met_by(self, settings: Settings) -> bool {
        self.slow_start.is_none_or(|wanted| wanted == settings.slow_start)
            && self.coupled.is_none_or(|wanted| wanted == settings.coupled)
    }
}

/// What a call to load something has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not loaded, and is now.
    Loaded,
    /// It was loaded, with these settings.
    WasLoaded,
}

/// What is left of a congestion control that was unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unloaded {
    /// Subflows and TCP connections that go on with it until they end, in all network namespaces:
    /// those that have had an acknowledgement.
    pub still_use_it: usize,
}

/// Keeps a congestion control loaded while a program runs by it.
#[derive(Debug)]
pub struct InUse {
    pins: Pins,
    /// How it runs.
    pub pinned: Pinned,
    folder: File,
}

impl Pins {
    /// Those in the bpffs at this folder, which is mounted there when something is loaded.
    pub fn at(bpffs: impl Into<PathBuf>) -> Self {
        Self { bpffs: bpffs.into() }
    }

    /// Loads a congestion control, which then stays until it is unloaded.
    ///
    /// # Errors
    /// When it is loaded with other settings, or cannot be loaded.
    pub fn load(&self, config: KernelConfig) -> Result<(Outcome, Pinned), PinsError> {
        self.load_to_stay(config, None)
    }

    /// The same, and gives it to TCP sockets of processes in a cgroup, and in those below, when
    /// they connect or are accepted, until it is unloaded: connections of TCP, and each subflow of
    /// Multipath TCP.
    ///
    /// # Errors
    /// The same, or when there is no such cgroup.
    pub fn load_for_cgroup(
        &self,
        config: KernelConfig,
        cgroup: &Path,
    ) -> Result<(Outcome, Pinned), PinsError> {
        self.load_to_stay(config, Some(&Cgroup::open(cgroup)?))
    }

    fn load_to_stay(
        &self,
        config: KernelConfig,
        cgroup: Option<&Cgroup>,
    ) -> Result<(Outcome, Pinned), PinsError> {
        let locked = self.make_and_lock()?;
        let (outcome, mut pinned) = locked.ensure(config.into(), Stay::UntilUnloaded)?;
        let folder = self.folder(pinned.row);
        let io = |error| self.failed(error);
        fs::remove_dir(folder.join(MARK)).or_else(none_is_fine).map_err(io)?;
        if let Some(cgroup) = cgroup {
            cgroup.choose(pinned.row, &folder)?;
            pinned.cgroups = cgroup::count(&folder).map_err(io)?;
        }
        Ok((outcome, pinned))
    }

    /// Loads a congestion control unless it is loaded, for as long as what is returned is kept.
    ///
    /// # Errors
    /// When it is loaded with other settings than are wanted, or cannot be loaded.
    pub fn hold(&self, wanted: Wanted) -> Result<InUse, PinsError> {
        let locked = self.make_and_lock()?;
        let (_, pinned) = locked.ensure(wanted, Stay::WhileUsed)?;
        let io = |error| self.failed(error);
        let folder = File::open(self.folder(pinned.row)).map_err(io)?;
        folder.lock_shared().map_err(io)?;
        drop(locked);
        Ok(InUse { pins: self.clone(), pinned, folder })
    }

    /// Unloads a congestion control: no socket can choose it any more. `None` if it is not loaded.
    ///
    /// # Errors
    /// When a program is run by it, or what is pinned cannot be removed.
    pub fn unload(&self, congestion: CongestionKind) -> Result<Option<Unloaded>, PinsError> {
        let row = KernelCongestion::of(congestion)?;
        let Some(locked) = self.lock()? else { return Ok(None) };
        let folder = self.folder(row);
        if !folder.exists() {
            return Ok(None);
        }
        if locked.is_in_use(&folder)? {
            return Err(PinsError::InUse { name: row.kernel_name });
        }
        let still_use_it = coupling::count(row, &locked.connections(row)?)?;
        bpffs::remove(&folder).map_err(|error| self.failed(error))?;
        Ok(Some(Unloaded { still_use_it }))
    }

    /// What is loaded, in the order of [`CONGESTION`].
    ///
    /// # Errors
    /// When what is pinned cannot be read.
    pub fn loaded(&self) -> Result<Vec<Pinned>, PinsError> {
        let Some(locked) = self.lock()? else { return Ok(Vec::new()) };
        CONGESTION.iter().filter_map(|row| locked.pinned(row).transpose()).collect()
    }

    /// What is loaded, with its map of connections.
    pub(crate) fn connections(&self) -> Result<Vec<(Pinned, MapHandle)>, PinsError> {
        let Some(locked) = self.lock()? else { return Ok(Vec::new()) };
        let pinned = CONGESTION.iter().filter_map(|row| locked.pinned(row).transpose());
        let with_map = |pinned: Pinned| Ok((pinned, locked.connections(pinned.row)?));
        pinned.map(|pinned| pinned.and_then(with_map)).collect()
    }

    fn base(&self) -> PathBuf {
        self.bpffs.join(FOLDER)
    }

    fn folder(&self, row: &KernelCongestion) -> PathBuf {
        self.base().join(row.kernel_name)
    }

    fn failed(&self, error: io::Error) -> PinsError {
        match error.kind() {
            ErrorKind::PermissionDenied => PinsError::Permission,
            _ => PinsError::Folder { folder: self.base(), error },
        }
    }

    /// The folder of a congestion control.
    fn make(&self, folder: &Path, stay: Stay) -> Result<(), PinsError> {
        let mark = folder.join(MARK);
        let folders = match stay {
            Stay::UntilUnloaded => &[folder][..],
            Stay::WhileUsed => &[folder, &mark],
        };
        folders.iter().try_for_each(fs::create_dir).map_err(|error| self.failed(error))
    }

    /// Locks what is pinned, and first makes the place for it.
    fn make_and_lock(&self) -> Result<Locked<'_>, PinsError> {
        bpffs::ensure(&self.bpffs)?;
        match fs::create_dir(self.base()) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(self.failed(error)),
            _ => self.lock()?.ok_or_else(|| self.failed(ErrorKind::NotFound.into())),
        }
    }

    /// Locks what is pinned, and removes what calls that were killed have left; `None` if nothing
    /// was ever pinned.
    fn lock(&self) -> Result<Option<Locked<'_>>, PinsError> {
        let io = |error| self.failed(error);
        let lock = match File::open(self.base()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(io)?,
        };
        lock.lock().map_err(io)?;
        let locked = Locked::new(self, lock);
        CONGESTION.iter().try_for_each(|row| locked.clean(row))?;
        Ok(Some(locked))
    }
}

impl InUse {
    /// Lets go of it: what was loaded for programs is unloaded with the last of them. Whether that
    /// was this one.
    ///
    /// # Errors
    /// When what is pinned cannot be removed.
    pub fn release(self) -> Result<bool, PinsError> {
        let Self { pins, pinned, folder } = self;
        drop(folder);
        // Whoever locks, cleans.
        let Some(locked) = pins.lock()? else { return Ok(false) };
        Ok(!locked.pins.folder(pinned.row).exists())
    }
}

fn none_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
