//! What lies on the disk of an inbox, and what of it is of no more use.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use polypath_bond::identity::PublicKey;

use super::StoreError;
use super::error::at;
use super::ledger::counted;
use super::places::{Kept, Places, entries, kind};
use crate::tunnel::{FileName, RESERVED_NAME};

/// What an edge has on the disk.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The sum of what its stored files count.
    pub(super) stored: u64,
    /// Its unfinished files, the one that was written last at the end.
    pub(super) parts: Vec<Unfinished>,
}

/// An unfinished file.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    modified: SystemTime,
    /// It has its final name, too: a hub was killed just before it removed this one.
    pub(super) stored: bool,
}

impl Unfinished {
    /// Whether nobody has gone on with it for so long.
    pub(super) fn is_older_than(&self, age: Duration) -> bool {
        // One from the future, after a clock was set back, is as good as new.
        now().duration_since(self.modified).is_ok_and(|old| old > age)
    }
}

#[expect(clippy::disallowed_methods, reason = "files have the time of the system's clock")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Looks through an edge's folder. Removes records of stored files that have been taken away, and
/// what is none of this hub's.
pub(super) fn scan(places: &Places, edge: PublicKey) -> Result<Found, StoreError> {
    let mut found = Found::default();
    for path in entries(&places.edge(edge))? {
        match kind(&path) {
            Some(Kept::Part) => found.parts.extend(unfinished(path)?),
            Some(Kept::Name) => match recorded(places, &path)? {
                Some(metadata) => {
                    found.stored = found.stored.saturating_add(counted(metadata.len()));
                }
                None => remove(&path)?,
            },
            None => remove(&path)?,
        }
    }
    found.parts.sort_by_key(|part| part.modified);
    Ok(found)
}

fn unfinished(path: PathBuf) -> Result<Option<Unfinished>, StoreError> {
    let metadata = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(at("looking at", &path))?,
    };
    let modified = metadata.modified().map_err(at("looking at", &path))?;
    let (size, stored) = (metadata.len(), metadata.nlink() > 1);
    Ok(Some(Unfinished { path, size, modified, stored }))
}

/// The text of a record: which file has which name.
pub(super) fn record_of(file: &Metadata, name: &FileName) -> String {
    format!("{} {} {name}", file.dev(), file.ino())
}

/// The stored file that a record tells of, if it is still there.
pub(super) fn recorded(places: &Places, record: &Path) -> Result<Option<Metadata>, StoreError> {
    let text = match fs::read_to_string(record) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
            return Ok(None);
        }
        text => text.map_err(at("reading", record))?,
    };
    let name = text.splitn(3, ' ').nth(2).and_then(|name| FileName::new(name).ok());
    let Some(name) = name else { return Ok(None) };
    let file = fs::symlink_metadata(places.stored(&name)).ok();
    Ok(file.filter(|file| file.is_file() && record_of(file, &name) == text))
}

/// Removes a file that may be gone already.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(at("removing", path)),
    }
}

/// Removes unfinished files that lie beside the stored ones: no edge can name one so, and this hub
/// keeps its own elsewhere.
pub(super) fn remove_strays(places: &Places) -> Result<(), StoreError> {
    for path in entries(places.inbox())? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let rest = name.strip_prefix(RESERVED_NAME).unwrap_or_default();
        if rest.starts_with('-') && rest.ends_with(".part") {
            remove(&path)?;
        }
    }
    Ok(())
}
