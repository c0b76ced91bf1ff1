//! One gateway for each network namespace.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;

use polypath_host::LockedFile;

use super::HostError;

/// The network namespace of this thread.
const NAMESPACE: &str = "/proc/thread-self/ns/net";

/// The right to be the gateway of the network namespace: a lock on the file that the kernel has for
/// it.
pub(super) fn claim() -> Result<LockedFile, HostError> {
    let namespace = File::open(NAMESPACE).map_err(HostError::Claim)?;
    LockedFile::new(namespace).map_err(|error| match error {
        TryLockError::WouldBlock => HostError::Occupied { process: holder() },
        TryLockError::Error(error) => HostError::Claim(error),
    })
}

/// The process that has the lock, from proc_locks(5).
fn holder() -> Option<u32> {
    let inode = fs::metadata(NAMESPACE).ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| process(line, &inode))
}

/// The process of a line such as `1: FLOCK  ADVISORY  WRITE 1234 00:04:4026531840 0 EOF`, if it is
/// about this inode.
fn process(line: &str, inode: &str) -> Option<u32> {
    let mut fields = line.split_whitespace().skip(1);
    let (kind, process, file) = (fields.next()?, fields.nth(2)?, fields.next()?);
    let is_it = kind == "FLOCK" && file.rsplit(':').next() == Some(inode);
    is_it.then(|| process.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_that_has_a_lock_is_found_in_its_line() {
        let line = "7: FLOCK  ADVISORY  WRITE 1234 00:04:4026531840 0 EOF";
        assert_eq!(process(line, "4026531840"), Some(1234));
        assert_eq!(process(line, "1840"), None);
        // One that waits for it, and one of another kind.
        let waiting = "7: -> FLOCK  ADVISORY  WRITE 77 00:04:4026531840 0 EOF";
        assert_eq!(process(waiting, "4026531840"), None);
        let of_range = "8: POSIX  ADVISORY  WRITE 99 00:04:4026531840 0 EOF";
        assert_eq!(process(of_range, "4026531840"), None);
        assert_eq!(process("", "4026531840"), None);
    }
}
