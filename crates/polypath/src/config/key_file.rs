//! The file that holds a node's secret key.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use polypath_bond::identity::{ParseKeyError, SecretKey};

use super::private_file::{PrivateFileError, read_private_file};

/// Why a key file cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// Something is there already; a key is never overwritten.
    #[error(
        "{} exists already and is not overwritten; `polypath key --show {}` prints its public key",
        .0.display(), .0.display()
    )]
    Exists(PathBuf),
    /// It cannot be read, or not by its owner alone.
    #[error(transparent)]
    Private(#[from] PrivateFileError),
    /// The operating system refuses.
    #[error("cannot {action} the key file {}: {error}", file.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
    /// The file holds no key or more than one.
    #[error("{}: {count} keys; allowed: one secret key (ppk1...) and lines that begin with #", file.display())]
    Count {
        /// The file.
        file: PathBuf,
        /// How many lines stand where one key should.
        count: usize,
    },
    /// The file holds a malformed key.
    #[error("{}: {error}", file.display())]
    Parse {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        error: ParseKeyError,
    },
}

/// Writes `secret` to the new file `path`, readable by its owner alone; missing directories are
/// made.
///
/// # Errors
/// When anything exists at `path`, and when the operating system refuses.
pub(crate) fn create_key_file(path: &Path, secret: &SecretKey) -> Result<(), KeyFileError> {
    let io = |action| move |error| KeyFileError::Io { action, file: path.to_owned(), error };
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(io("make the directory of"))?;
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => KeyFileError::Exists(path.to_owned()),
        _ => io("make")(error),
    })?;
    write_key(file, secret).map_err(|error| {
        // Half a key is worse than none; the error that is reported is the first one.
        let _ = fs::remove_file(path);
        io("write")(error)
    })
}

fn write_key(mut file: File, secret: &SecretKey) -> io::Result<()> {
    let text = secret.to_text();
    writeln!(file, "# Polypath secret key. Its public half: {}", secret.public())?;
    writeln!(file, "{}", text.as_str())?;
    file.sync_all()
}

/// Reads the secret key in the file `path`.
///
/// # Errors
/// When the file cannot be read, can be read by others, or does not hold exactly one key.
pub(crate) fn load_key_file(path: &Path) -> Result<SecretKey, KeyFileError> {
    let text = read_private_file(path, "key file")?;
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    match (lines.next(), lines.count()) {
        (Some(key), 0) => {
            key.parse().map_err(|error| KeyFileError::Parse { file: path.to_owned(), error })
        }
        (first, more) => Err(KeyFileError::Count {
            file: path.to_owned(),
            count: usize::from(first.is_some()) + more,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn secret() -> SecretKey {
        SecretKey::from_seed([7; 32])
    }

    #[test]
    fn a_key_file_is_private_and_never_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/key");
        create_key_file(&path, &secret()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(load_key_file(&path).unwrap().public(), secret().public());

        let other = SecretKey::from_seed([8; 32]);
        let error = create_key_file(&path, &other).unwrap_err();
        assert!(matches!(error, KeyFileError::Exists(_)), "{error}");
        assert_eq!(load_key_file(&path).unwrap().public(), secret().public());
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        create_key_file(&path, &secret()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = load_key_file(&path).unwrap_err().to_string();
        assert!(error.contains("mode 640") && error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_file_holds_exactly_one_secret_key() {
        let directory = tempfile::tempdir().unwrap();
        let load = |text: &str| {
            let path = directory.path().join("key");
            let _ = fs::remove_file(&path);
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            load_key_file(&path).map(|key| key.public()).map_err(|error| error.to_string())
        };
        let key = secret().to_text();
        assert_eq!(load(&key), Ok(secret().public()));
        assert!(load("# only a comment\n").unwrap_err().contains(": 0 keys; allowed: one"));
        assert!(load(&format!("{0}\n{0}\n", *key)).unwrap_err().contains(": 2 keys"));
        assert!(load(&secret().public().to_string()).unwrap_err().contains("public key (ppp1"));
    }
}
