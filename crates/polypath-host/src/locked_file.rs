//! Files that one process uses at a time.

use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};

/// A file with a lock (flock) on it, which ends with this value, and with the process however that
/// ends.
#[derive(Debug)]
pub struct LockedFile(File);

impl LockedFile {
    /// Locks a file, unless another one does.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] when the file is locked, or what the operating system says.
    pub fn new(file: File) -> Result<Self, TryLockError> {
        file.try_lock().map(|()| Self(file))
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for LockedFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

/// Closing the file is not enough: a process that is just being started has a copy of it.
impl Drop for LockedFile {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::error!("a file stays locked until this process ends: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a child has one between its fork and its exec.
    #[test]
    fn a_copy_of_the_descriptor_does_not_keep_the_lock() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let locked = LockedFile::new(file.reopen().unwrap()).unwrap();
        let copy = locked.try_clone().unwrap();
        let other = LockedFile::new(file.reopen().unwrap());
        assert!(matches!(other, Err(TryLockError::WouldBlock)), "{other:?}");
        drop(locked);
        LockedFile::new(file.reopen().unwrap()).unwrap();
        drop(copy);
    }
}
