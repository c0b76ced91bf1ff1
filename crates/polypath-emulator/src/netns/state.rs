//! What an emulator has made, in a file, for whoever cleans up after it.

use super::error::StateError;
use super::process::Process;
use crate::plan::Prefix;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where emulators keep their state if nothing else is said.
const DIRECTORY: &str = "/run/polypath";

/// The directory in which each emulator has a file, `PREFIX.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDirectory(PathBuf);

/// `/run/polypath`.
impl Default for StateDirectory {
    fn default() -> Self {
        Self(DIRECTORY.into())
    }
}

/// What an emulator has made, or was about to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    pub(super) prefix: Prefix,
    /// The emulator.
    pub(super) owner: Process,
    pub(super) namespaces: Vec<String>,
    /// What it has started in the namespaces.
    pub(super) children: Vec<Process>,
}

/// The directory while nobody else changes what is in it, or makes or removes namespaces.
pub(super) struct Locked<'a> {
    directory: &'a StateDirectory,
    lock: File,
}

impl StateDirectory {
    /// Another directory. It is made when it is needed.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Waits until no other has the directory.
    pub(super) fn lock(&self) -> Result<Locked<'_>, StateError> {
        let open = || {
            fs::create_dir_all(&self.0)?;
            let lock = File::open(&self.0)?;
            lock.lock()?;
            Ok(lock)
        };
        open().map(|lock| Locked { directory: self, lock }).map_err(|e| failed(&self.0, e))
    }

    fn file(&self, prefix: &Prefix) -> PathBuf {
        self.0.join(format!("{prefix}.json"))
    }
}

impl Locked<'_> {
    /// The lock, for children that must have ended before another gets it.
    pub(super) fn lock(&self) -> &File {
        &self.lock
    }

    /// The state of the emulator with this prefix, if there is or was one.
    pub(super) fn read(&self, prefix: &Prefix) -> Result<Option<State>, StateError> {
        let path = self.directory.file(prefix);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&path, error)),
        };
        let format = |reason: String| StateError::Format { path: path.clone(), reason };
        let state: State = serde_json::from_str(&text).map_err(|e| format(e.to_string()))?;
        // Names are removed as root: they are those of this prefix or none.
        let other = state.namespaces.iter().find(|name| !prefix.owns(name) || name.contains('/'));
        match other {
            _ if state.prefix != *prefix => Err(format(format!("of the prefix {}", state.prefix))),
            Some(name) => Err(format(format!("the namespace {name:?} is not of this prefix"))),
            None => Ok(Some(state)),
        }
    }

    /// Replaces the state of an emulator: readers see the old or the new, never a part.
    pub(super) fn write(&self, state: &State) -> Result<(), StateError> {
        let path = self.directory.file(&state.prefix);
        let next = path.with_extension("new");
        let write = || {
            let mut file = File::create(&next)?;
            serde_json::to_writer_pretty(&mut file, state)?;
            file.write_all(b"\n")?;
            fs::rename(&next, &path)
        };
        write().map_err(|error| failed(&path, error))
    }

    /// Removes the state of an emulator, also one that was being written.
    pub(super) fn remove(&self, prefix: &Prefix) -> Result<(), StateError> {
        let path = self.directory.file(prefix);
        for path in [path.with_extension("new"), path] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(&path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The prefixes of which there is a file, in order.
    pub(super) fn prefixes(&self) -> Result<Vec<Prefix>, StateError> {
        let path = &self.directory.0;
        let list =
            || -> io::Result<Vec<_>> { fs::read_dir(path)?.map(|e| Ok(e?.path())).collect() };
        let files = list().map_err(|error| failed(path, error))?;
        let ours =
            files.iter().filter(|p| p.extension().is_some_and(|e| e == "json" || e == "new"));
        let mut prefixes: Vec<Prefix> =
            ours.filter_map(|p| p.file_stem()?.to_str()?.parse().ok()).collect();
        prefixes.sort();
        prefixes.dedup();
        Ok(prefixes)
    }
}

fn failed(path: &Path, error: io::Error) -> StateError {
    StateError::Io { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(prefix: &str, namespaces: &[&str]) -> State {
        let owner = Process::current().unwrap();
        let namespaces = namespaces.iter().map(|&name| name.to_owned()).collect();
        State { prefix: prefix.parse().unwrap(), owner, namespaces, children: vec![owner] }
    }

    #[test]
    fn a_state_is_read_as_it_was_written_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let directory = StateDirectory::at(folder.path().join("polypath"));
        let locked = directory.lock().unwrap();
        let lab = state("lab", &["lab-wire", "lab-client"]);
        assert_eq!(locked.read(&lab.prefix).unwrap(), None);
        locked.write(&lab).unwrap();
        locked.write(&state("a", &[])).unwrap();
        assert_eq!(locked.read(&lab.prefix).unwrap(), Some(lab.clone()));
        assert_eq!(locked.prefixes().unwrap().len(), 2);
        locked.remove(&lab.prefix).unwrap();
        locked.remove(&lab.prefix).unwrap();
        assert_eq!(locked.read(&lab.prefix).unwrap(), None);
        assert_eq!(locked.prefixes().unwrap(), ["a".parse().unwrap()]);
    }

    #[test]
    fn a_file_of_something_else_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let directory = StateDirectory::at(folder.path());
        let locked = directory.lock().unwrap();
        let lab: Prefix = "lab".parse().unwrap();
        locked.write(&state("lab", &["lab-client", "other-client"])).unwrap();
        let error = locked.read(&lab).unwrap_err().to_string();
        assert!(error.ends_with("the namespace \"other-client\" is not of this prefix"), "{error}");
        locked.write(&state("lab", &["lab-/../x"])).unwrap();
        assert!(locked.read(&lab).is_err());
        fs::write(folder.path().join("lab.json"), "{}").unwrap();
        let error = locked.read(&lab).unwrap_err().to_string();
        assert!(error.contains("missing field"), "{error}");
    }
}
