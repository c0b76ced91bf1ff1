//! Files with secrets.

use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

/// Why a file with a secret is not used.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// The operating system refuses.
    #[error("cannot read the {what} {}: {error}", file.display())]
    Read {
        /// What kind of file it is.
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
    /// Others can read the file, so the secret may be known to them.
    #[error("{}: others may read this {what} (mode {mode:03o}); allowed: `chmod 600`", file.display())]
    Exposed {
        /// What kind of file it is.
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
}

/// The text of a file that only its owner can read. `what` is what errors call it.
///
/// # Errors
/// When it cannot be read, and when others may read it too.
pub(super) fn read_private_file(
    path: &Path,
    what: &'static str,
) -> Result<Zeroizing<String>, PrivateFileError> {
    let read = |error| PrivateFileError::Read { what, file: path.to_owned(), error };
    let file = File::open(path).map_err(read)?;
    let mode = file.metadata().map_err(read)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(PrivateFileError::Exposed { what, file: path.to_owned(), mode });
    }
    Ok(Zeroizing::new(io::read_to_string(file).map_err(read)?))
}
