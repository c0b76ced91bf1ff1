//! Congestion controls for all TCP sockets of a cgroup.

use super::PinsError;
use crate::KernelCongestion;
use libbpf_rs::{ObjectBuilder, OpenObject};
use rustix::fs::{FsWord, fstatfs};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// `bpf/cgroup/choose.bpf.c`: the program, and the section of the name that it chooses.
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/choose.bpf.o"));
const PROGRAM: &str = "pp_choose";
const CHOSEN: &str = ".rodata";
/// `CGROUP2_SUPER_MAGIC` (linux/magic.h).
const MAGIC: FsWord = 0x6367_7270;
/// What the pins of links to cgroups begin with, before the number of the cgroup.
const PREFIX: &str = "cgroup_";

/// A folder of cgroup2.
#[derive(Debug)]
pub(super) struct Cgroup {
    path: PathBuf,
    folder: File,
    number: u64,
}

impl Cgroup {
    pub(super) fn open(path: &Path) -> Result<Self, PinsError> {
        let failed = |error| PinsError::Cgroup { path: path.to_owned(), error };
        let folder = File::open(path).map_err(failed)?;
        if fstatfs(&folder).map_err(|errno| failed(errno.into()))?.f_type != MAGIC {
            return Err(PinsError::NoCgroup { path: path.to_owned() });
        }
        let number = folder.metadata().map_err(failed)?.st_ino();
        Ok(Self { path: path.to_owned(), folder, number })
    }

    /// Lets its sockets have a congestion control from now on, for as long as what is pinned in
    /// `pins` is there.
    pub(super) fn choose(&self, row: &KernelCongestion, pins: &Path) -> Result<(), PinsError> {
        let pin = pins.join(format!("{PREFIX}{}", self.number));
        if pin.exists() {
            return Ok(());
        }
        let failed = |error: libbpf_rs::Error| {
            let error = io::Error::other(format!("{error:#}"));
            PinsError::Cgroup { path: self.path.clone(), error }
        };
        let opened = ObjectBuilder::default().open_memory(OBJECT).map_err(failed)?;
        let object = named(opened, row).map_err(failed)?.load().map_err(failed)?;
        let program = object.progs_mut().find(|program| program.name() == PROGRAM);
        let program = program.ok_or_else(|| failed(libbpf_rs::Error::from_raw_os_error(2)))?;
        let mut link = program.attach_cgroup(self.folder.as_raw_fd()).map_err(failed)?;
        link.pin(pin).map_err(failed)
    }
}

/// Writes the name that the program chooses.
fn named(mut object: OpenObject, row: &KernelCongestion) -> libbpf_rs::Result<OpenObject> {
    let chosen = object.maps_mut().find(|map| map.name().to_string_lossy().ends_with(CHOSEN));
    let mut chosen = chosen.ok_or_else(|| libbpf_rs::Error::from_raw_os_error(2))?;
    if let Some(name) = chosen.initial_value_mut() {
        // There is room for a zero behind the longest.
        name[..row.kernel_name.len()].copy_from_slice(row.kernel_name.as_bytes());
    }
    Ok(object)
}

/// For how many cgroups a congestion control is chosen.
pub(super) fn count(pins: &Path) -> io::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(pins)? {
        count += usize::from(entry?.file_name().to_string_lossy().starts_with(PREFIX));
    }
    Ok(count)
}
