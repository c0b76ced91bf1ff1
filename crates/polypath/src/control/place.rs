//! Where the control socket lies when nobody says.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::config::absolute;

/// The folder of Polypath among those of other programs.
const FOLDER: &str = "polypath";

/// A folder that may hold the control socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    folder: PathBuf,
    /// Everybody can make something of this name there, so that whose it is must be checked.
    shared: bool,
}

/// Why a folder that others could have made is not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ForeignFolder {
    /// It belongs to somebody else.
    #[error("it belongs to user {owner}; allowed: a folder of user {user}")]
    Owner {
        /// Whose it is.
        owner: u32,
        /// Who this is.
        user: u32,
    },
    /// Others may look into it or change it.
    #[error("its mode is {0:o}; allowed: 700")]
    Mode(u32),
    /// Not a folder, but a link or a file.
    #[error("it is not a folder")]
    NotAFolder,
}

impl Place {
    /// A folder that only we, or whoever manages the system, can have made.
    pub(super) const fn ours(folder: PathBuf) -> Self {
        Self { folder, shared: false }
    }

    /// A folder among those of others.
    pub(super) const fn shared(folder: PathBuf) -> Self {
        Self { folder, shared: true }
    }

    /// The socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("control.sock")
    }

    /// Makes the folder if it is missing, but not the one that it lies in.
    pub(super) fn prepare(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => self.check(),
        }
    }

    /// Whether what is there can be trusted.
    pub(super) fn check(&self) -> io::Result<()> {
        if !self.shared {
            return Ok(());
        }
        // A folder of ours cannot be exchanged by others later: the folder above is sticky.
        let found = fs::symlink_metadata(&self.folder)?;
        let user = nix::unistd::geteuid().as_raw();
        let foreign = match (found.is_dir(), found.uid(), found.mode() & 0o777) {
            (false, ..) => ForeignFolder::NotAFolder,
            (true, owner, _) if owner != user => ForeignFolder::Owner { owner, user },
            (true, _, mode) if mode & 0o077 != 0 => ForeignFolder::Mode(mode),
            _ => return Ok(()),
        };
        Err(io::Error::new(ErrorKind::PermissionDenied, foreign))
    }
}

/// The places in the order in which they are tried: that of the session, that of the service (which
/// systemd sets as it makes it), that of the system, and one among temporary files.
pub(super) fn places() -> Vec<Place> {
    let user = nix::unistd::geteuid().as_raw();
    places_of(|name| env::var_os(name), Path::new("/run"), &env::temp_dir(), user)
}

/// Where a node may be found: those places, then the folders that services of the package have in
/// that of the system.
pub(super) fn all_places() -> Vec<Place> {
    places().into_iter().chain(services(&Path::new("/run").join(FOLDER))).collect()
}

/// The folders in `folder`, by name: none, if there is none.
fn services(folder: &Path) -> Vec<Place> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.into_iter().map(Place::ours).collect()
}

fn places_of(
    variable: impl Fn(&str) -> Option<OsString>,
    run: &Path,
    temporary: &Path,
    user: u32,
) -> Vec<Place> {
    let session = variable("XDG_RUNTIME_DIR").and_then(absolute);
    let session = session.map(|base| Place::ours(base.join(FOLDER)));
    let folders = variable("RUNTIME_DIRECTORY").unwrap_or_default();
    let service = env::split_paths(&folders).find(|path| path.is_absolute()).map(Place::ours);
    let system = Place::ours(run.join(FOLDER));
    let last = Place::shared(temporary.join(format!("polypath-{user}")));
    let mut places: Vec<_> = session.into_iter().chain(service).chain([system, last]).collect();
    // The service's is often the system's.
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn sockets(variables: &[(&str, &str)]) -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let places = places_of(variable, Path::new("/run"), Path::new("/tmp"), 1000);
        places.iter().map(|place| place.socket().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn session_service_system_and_temporary_files_are_tried_in_this_order() {
        let [system, last] =
            ["/run/polypath/control.sock", "/tmp/polypath-1000/control.sock"].map(str::to_owned);
        assert_eq!(sockets(&[]), [system.clone(), last.clone()]);
        let session = ("XDG_RUNTIME_DIR", "/run/user/1000");
        let both = [session, ("RUNTIME_DIRECTORY", "/run/hub:/run/more")];
        let [one, two] = ["/run/user/1000/polypath/control.sock", "/run/hub/control.sock"];
        assert_eq!(sockets(&both), [one, two, &system, &last]);
        let same = ("RUNTIME_DIRECTORY", "/run/polypath");
        assert_eq!(sockets(&[same]), [system.clone(), last.clone()], "once each");
        let relative = [("XDG_RUNTIME_DIR", "run"), ("RUNTIME_DIRECTORY", "")];
        assert_eq!(sockets(&relative), [system, last]);
    }

    #[test]
    fn services_are_found_by_the_folders_that_they_have() {
        let run = tempfile::tempdir().unwrap();
        for folder in ["hub", "edge-lte"] {
            fs::create_dir(run.path().join(folder)).unwrap();
        }
        fs::write(run.path().join("control.sock"), "").unwrap();
        let expected = ["edge-lte", "hub"].map(|name| Place::ours(run.path().join(name)));
        assert_eq!(services(run.path()), expected);
        assert_eq!(services(&run.path().join("none")), []);
    }

    #[test]
    fn a_folder_is_made_for_us_alone_and_no_folder_above_it() {
        let temporary = tempfile::tempdir().unwrap();
        let place = Place::shared(temporary.path().join("polypath-1"));
        place.prepare().unwrap();
        place.prepare().unwrap();
        let mode = fs::metadata(&place.folder).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        let missing = Place::ours(temporary.path().join("no/polypath"));
        assert_eq!(missing.prepare().unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn among_temporary_files_only_a_folder_that_nobody_else_can_use_is_taken() {
        let temporary = tempfile::tempdir().unwrap();
        let place = Place::shared(temporary.path().join("polypath-1"));
        place.prepare().unwrap();
        fs::set_permissions(&place.folder, Permissions::from_mode(0o755)).unwrap();
        let open = place.prepare().unwrap_err();
        assert_eq!(open.to_string(), "its mode is 755; allowed: 700");

        // What somebody else may have put there, to have us write into a folder of his choice.
        let link = Place::shared(temporary.path().join("link"));
        fs::set_permissions(&place.folder, Permissions::from_mode(0o700)).unwrap();
        symlink(&place.folder, &link.folder).unwrap();
        assert_eq!(link.prepare().unwrap_err().to_string(), "it is not a folder");
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused() {
        // The root folder is root's; root itself gives one away.
        let temporary = tempfile::tempdir().unwrap();
        let user = nix::unistd::geteuid();
        let place = if user.is_root() {
            std::os::unix::fs::chown(temporary.path(), Some(1), None).unwrap();
            Place::shared(temporary.path().to_owned())
        } else {
            Place::shared(PathBuf::from("/"))
        };
        let message = place.prepare().unwrap_err().to_string();
        assert!(message.starts_with("it belongs to user "), "{message}");
        assert!(message.ends_with(&format!("a folder of user {}", user.as_raw())), "{message}");
    }
}
