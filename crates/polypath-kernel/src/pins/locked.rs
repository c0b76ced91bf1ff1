//! What is pinned, while nobody else changes it.

use super::{MARK, Outcome, Pinned, Pins, PinsError, Wanted, bpffs, cgroup};
use crate::load::{CONNECTIONS, LINK};
use crate::settings::{self, SETTINGS, Settings};
use crate::{KernelConfig, KernelCongestion, Loaded};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::fs::{File, TryLockError};
use std::path::Path;

/// For how long something is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stay {
    UntilUnloaded,
    WhileUsed,
}

/// What is pinned, while nobody changes it.
#[derive(Debug)]
pub(super) struct Locked<'a> {
    pub(super) pins: &'a Pins,
    _lock: File,
}

impl<'a> Locked<'a> {
    pub(super) const fn new(pins: &'a Pins, lock: File) -> Self {
        Self { pins, _lock: lock }
    }

    /// Removes what is left of a loader, of an unloader or of a run that was killed.
    pub(super) fn clean(&self, row: &KernelCongestion) -> Result<(), PinsError> {
        let folder = self.pins.folder(row);
        if !folder.exists() {
            return Ok(());
        }
        let is_whole = folder.join(LINK).exists();
        if is_whole && (!folder.join(MARK).exists() || self.is_in_use(&folder)?) {
            return Ok(());
        }
        bpffs::remove(&folder).map_err(|error| self.pins.failed(error))
    }

    /// Whether a program is run by what is pinned in a folder.
    pub(super) fn is_in_use(&self, folder: &Path) -> Result<bool, PinsError> {
        let opened = File::open(folder).map_err(|error| self.pins.failed(error))?;
        match opened.try_lock() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(self.pins.failed(error)),
        }
    }

    /// Loads what is wanted, unless it is there.
    pub(super) fn ensure(
        &self,
        wanted: Wanted,
        stay: Stay,
    ) -> Result<(Outcome, Pinned), PinsError> {
        let row = KernelCongestion::of(wanted.congestion)?;
        if let Some(pinned) = self.pinned(row)? {
            return match wanted.is_met_by(pinned.settings) {
                true => Ok((Outcome::WasLoaded, pinned)),
                false => Err(PinsError::OtherSettings(pinned)),
            };
        }
        let config = wanted.config();
        let folder = self.pins.folder(row);
        let mut loaded = Loaded::new(config)?;
        let made = self.pins.make(&folder, stay).and_then(|()| Ok(loaded.pin(&folder)?));
        if let Err(error) = made {
            // Otherwise the next call does.
            let _ = bpffs::remove(&folder);
            return Err(error);
        }
        let KernelConfig { slow_start, coupled, .. } = config;
        let settings = Settings { slow_start, coupled, of_this_build: true };
        Ok((Outcome::Loaded, Pinned { row, settings, cgroups: 0 }))
    }

    /// How a congestion control is loaded, if it is.
    pub(super) fn pinned(
        &self,
        row: &'static KernelCongestion,
    ) -> Result<Option<Pinned>, PinsError> {
        if !self.pins.folder(row).join(LINK).exists() {
            return Ok(None);
        }
        let value = self.map(row, SETTINGS)?.lookup(&settings::KEY, MapFlags::ANY);
        let value = value.map_err(|error| PinsError::map(row, SETTINGS, &error))?;
        let settings = value.and_then(|value| settings::decode(row, &value));
        let settings = settings.ok_or(PinsError::OtherBuild(row))?;
        let cgroups = cgroup::count(&self.pins.folder(row));
        let cgroups = cgroups.map_err(|error| self.pins.failed(error))?;
        Ok(Some(Pinned { row, settings, cgroups }))
    }

    pub(super) fn connections(&self, row: &KernelCongestion) -> Result<MapHandle, PinsError> {
        self.map(row, CONNECTIONS)
    }

    fn map(&self, row: &KernelCongestion, map: &'static str) -> Result<MapHandle, PinsError> {
        let opened = MapHandle::from_pinned_path(self.pins.folder(row).join(map));
        opened.map_err(|error| PinsError::map(row, map, &error))
    }
}
