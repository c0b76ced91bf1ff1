//! Where things lie in an inbox.
//!
//! ```text
//! inbox/report.pdf                     stored files
//! inbox/.polypath/                     the hub's own, mode 0700
//! inbox/.polypath/secret               makes names unguessable, mode 0600
//! inbox/.polypath/ppp1.../HASH.part    what an edge has sent of a file
//! inbox/.polypath/ppp1.../HASH.name    the name of a file that this edge has stored
//! ```
//!
//! No name that an edge may choose leads into the hub's own folder, and no other user can put
//! anything there.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use polypath_bond::identity::PublicKey;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::StoreError;
use super::error::at;
use crate::tunnel::{FileName, RESERVED_NAME};
use polypath_host::LockedFile;

const SECRET_LENGTH: usize = 32;
/// Endings in an edge's folder.
const PART: &str = "part";
const NAME: &str = "name";

/// The paths of one inbox, which no other hub uses.
#[derive(Debug)]
pub(super) struct Places {
    inbox: PathBuf,
    own: PathBuf,
    secret: hmac::Key,
    /// Locked for as long as this hub runs.
    _secret_file: LockedFile,
}

/// What lies in an edge's folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Part,
    Name,
}

impl Places {
    /// Takes the inbox, which must exist.
    pub(super) fn open(inbox: &Path) -> Result<Self, StoreError> {
        let own = inbox.join(RESERVED_NAME);
        private_folder(&own)?;
        let path = own.join("secret");
        let file = open_private(&path).map_err(at("opening", &path))?;
        let mut file = match LockedFile::new(file) {
            Ok(file) => file,
            Err(TryLockError::WouldBlock) => {
                let problem = "is in use by another hub; allowed: an inbox of its own for each";
                return Err(StoreError::Folder { path: own, problem });
            }
            Err(TryLockError::Error(error)) => return Err(at("locking", &path)(error)),
        };
        let secret = secret(&mut file).map_err(at("reading", &path))?;
        Ok(Self { inbox: inbox.to_owned(), own, secret, _secret_file: file })
    }

    pub(super) fn inbox(&self) -> &Path {
        &self.inbox
    }

    /// Where a file goes once it is whole.
    pub(super) fn stored(&self, name: &FileName) -> PathBuf {
        self.inbox.join(name.as_str())
    }

    /// The folder of an edge.
    pub(super) fn edge(&self, edge: PublicKey) -> PathBuf {
        self.own.join(edge.to_string())
    }

    /// The unfinished file of an edge.
    pub(super) fn part(&self, edge: PublicKey, name: &FileName) -> PathBuf {
        self.kept(edge, name).with_extension(PART)
    }

    /// The record that an edge has stored a file.
    pub(super) fn name(&self, edge: PublicKey, name: &FileName) -> PathBuf {
        self.kept(edge, name).with_extension(NAME)
    }

    fn kept(&self, edge: PublicKey, name: &FileName) -> PathBuf {
        let folder = self.edge(edge);
        let tag = hmac::sign(&self.secret, format!("{edge} {name}").as_bytes());
        folder.join(tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    /// The folders of all edges.
    pub(super) fn edges(&self) -> Result<Vec<(PublicKey, PathBuf)>, StoreError> {
        let entries = entries(&self.own)?;
        let known = |path: PathBuf| Some((path.file_name()?.to_str()?.parse().ok()?, path));
        Ok(entries.into_iter().filter_map(known).collect())
    }
}

/// What a file in an edge's folder is; `None` for what this hub has not put there.
pub(super) fn kind(path: &Path) -> Option<Kept> {
    let stem = path.file_stem()?.to_str()?;
    let is_tag = stem.len() == 64 && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
    match path.extension()?.to_str()? {
        PART if is_tag => Some(Kept::Part),
        NAME if is_tag => Some(Kept::Name),
        _ => None,
    }
}

/// What lies in a folder; nothing if it is not there.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at("listing", folder))?,
    };
    let paths = entries.map(|entry| Ok(entry.map_err(at("listing", folder))?.path()));
    paths.collect()
}

/// Makes a folder that only this user can use, or makes sure that it is one.
pub(super) fn private_folder(path: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made.map_err(at("making the folder", path)),
    }
    let metadata = fs::symlink_metadata(path).map_err(at("looking at", path))?;
    let wrong = |problem| Err(StoreError::Folder { path: path.to_owned(), problem });
    if !metadata.is_dir() {
        return wrong("is no folder; allowed: a folder of the hub's user with mode 0700");
    }
    if metadata.uid() != nix::unistd::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
        return wrong("can be used by others; allowed: a folder of the hub's user with mode 0700");
    }
    Ok(())
}

/// Opens a file in a private folder to read and write, makes it if it is missing, and follows no
/// link.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(nix::libc::O_NOFOLLOW);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => options.open(path),
        opened => opened,
    }
}

/// The secret in a file; a new one if there is none yet.
fn secret(file: &mut File) -> io::Result<hmac::Key> {
    let mut bytes = Vec::with_capacity(SECRET_LENGTH);
    file.take(SECRET_LENGTH as u64).read_to_end(&mut bytes)?;
    if bytes.len() != SECRET_LENGTH {
        bytes = vec![0; SECRET_LENGTH];
        SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
        // One that a crash has cut short is none; what was named by it expires.
        file.set_len(0)?;
        io::Seek::rewind(file)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::identity::SecretKey;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn edge(seed: u8) -> PublicKey {
        SecretKey::from_seed([seed; 32]).public()
    }

    #[test]
    fn names_last_and_differ_by_edge_file_and_inbox() {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [a, b] = ["a", "b"].map(|name| FileName::new(name).unwrap());
        let places = Places::open(one.path()).unwrap();
        let part = places.part(edge(1), &a);
        assert_eq!(kind(&part), Some(Kept::Part));
        assert_eq!(kind(&places.name(edge(1), &a)), Some(Kept::Name));
        assert_ne!(part, places.part(edge(1), &b));
        assert_ne!(part, places.part(edge(2), &a));
        let elsewhere = Places::open(other.path()).unwrap().part(edge(1), &a);
        assert_ne!(part.file_name(), elsewhere.file_name());
        drop(places);
        assert_eq!(part, Places::open(one.path()).unwrap().part(edge(1), &a));
    }

    #[test]
    fn a_folder_that_others_can_use_is_refused() {
        let inbox = tempfile::tempdir().unwrap();
        let own = inbox.path().join(RESERVED_NAME);
        fs::create_dir(&own).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(Places::open(inbox.path()), Err(StoreError::Folder { .. })));
        fs::remove_dir(&own).unwrap();
        symlink(inbox.path(), &own).unwrap();
        assert!(matches!(Places::open(inbox.path()), Err(StoreError::Folder { .. })));
    }

    #[test]
    fn no_link_is_followed_and_an_inbox_has_one_hub() {
        let inbox = tempfile::tempdir().unwrap();
        let places = Places::open(inbox.path()).unwrap();
        let second = Places::open(inbox.path()).unwrap_err().to_string();
        assert!(second.contains("in use by another hub"), "{second}");
        let link = places.own.join("link");
        symlink(inbox.path().join("target"), &link).unwrap();
        assert!(open_private(&link).is_err());
        assert!(!inbox.path().join("target").exists());
    }
}
