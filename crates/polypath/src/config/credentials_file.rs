//! The file that holds user name and password of the proxies.

use std::path::{Path, PathBuf};

use polypath_net::proxy::{Credentials, CredentialsError};

use super::private_file::{PrivateFileError, read_private_file};

/// Why a file with user name and password cannot be used. No message shows what is in it.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsFileError {
    /// It cannot be read, or not by its owner alone.
    #[error(transparent)]
    Private(#[from] PrivateFileError),
    /// The file is empty or has more than one line.
    #[error("{}: {count} lines; allowed: one line USER:PASSWORD", file.display())]
    Count {
        /// The file.
        file: PathBuf,
        /// How many lines it has.
        count: usize,
    },
    /// Nothing separates the two.
    #[error("{}: there is no colon; allowed: one line USER:PASSWORD", file.display())]
    NoColon {
        /// The file.
        file: PathBuf,
    },
    /// A proxy cannot ask for these.
    #[error("{}: {error}", file.display())]
    Credentials {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        error: CredentialsError,
    },
}

/// Reads user name and password from the one line `USER:PASSWORD` of the file `path`. The first
/// colon separates the two, and a space belongs to what it stands in.
///
/// # Errors
/// When the file cannot be read, can be read by others, or does not hold one such line.
pub(crate) fn load_credentials_file(path: &Path) -> Result<Credentials, CredentialsFileError> {
    let file = || path.to_owned();
    let text = read_private_file(path, "file with the password of the proxies")?;
    let mut lines = text.lines();
    let (Some(line), 0) = (lines.next(), lines.clone().count()) else {
        return Err(CredentialsFileError::Count { file: file(), count: text.lines().count() });
    };
    let (user, password) =
        line.split_once(':').ok_or_else(|| CredentialsFileError::NoColon { file: file() })?;
    Credentials::new(user, password)
        .map_err(|error| CredentialsFileError::Credentials { file: file(), error })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn load(text: &str, mode: u32) -> Result<Credentials, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
        load_credentials_file(file.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_holds_one_user_and_password() {
        for text in ["me:a: b#c ", "me:a: b#c \n", "me:a: b#c \r\n"] {
            assert_eq!(
                load(text, 0o600),
                Ok(Credentials::new("me", "a: b#c ").unwrap()),
                "{text:?}"
            );
        }
        for (text, expected) in [
            ("", ": 0 lines; allowed: one line USER:PASSWORD"),
            ("me:secret\nme:secret\n", ": 2 lines; allowed: "),
            ("secret\n", ": there is no colon; allowed: "),
            (":secret\n", ": the user name has 0 bytes, allowed are 1 to 255"),
            ("me:\n", ": the password has 0 bytes, "),
        ] {
            let error = load(text, 0o600).unwrap_err();
            assert!(error.contains(expected) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_password_that_others_can_read_is_refused() {
        let error = load("me:secret\n", 0o640).unwrap_err();
        assert!(error.contains("others may read this file with the password"), "{error}");
        assert!(error.contains("mode 640") && error.contains("chmod 600"), "{error}");
    }
}
