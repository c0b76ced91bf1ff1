//! The file system of pinned objects.

use super::PinsError;
use crate::load::LINK;
use libbpf_rs::Link;
use rustix::fs::{FsWord, statfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use std::fs;
use std::io;
use std::path::Path;

/// `BPF_FS_MAGIC` (linux/magic.h).
const MAGIC: FsWord = 0xcafe_4a11;

/// Mounts a bpffs at a folder that has none.
pub(super) fn ensure(at: &Path) -> Result<(), PinsError> {
    let failed = |errno: Errno| match errno {
        Errno::PERM | Errno::ACCESS => PinsError::Permission,
        Errno::NOENT => PinsError::NoBpffs { at: at.to_owned() },
        errno => PinsError::Mount { at: at.to_owned(), error: errno.into() },
    };
    if is_mounted(at).map_err(failed)? {
        return Ok(());
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("bpf", at, "bpf", flags, Some(c"mode=0700")).map_err(failed)
}

fn is_mounted(at: &Path) -> rustix::io::Result<bool> {
    statfs(at).map(|of| of.f_type == MAGIC)
}

/// Removes a folder with what is pinned in it, the link first, if it is there.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let link = folder.join(LINK);
    if link.exists() {
        // Without its pin the link would go, and give the name back, a while later. Kernels that
        // cannot detach it (before 6.11) leave it at that.
        let _ = Link::open(&link).and_then(|link| link.detach());
        fs::remove_file(link)?;
    }
    // Of folders there are marks alone, which are empty.
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    fs::remove_dir(folder)
}
