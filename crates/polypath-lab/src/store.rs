//! Results on disk: one line of JSON for each run, written as soon as it is over.

use polypath_host::LockedFile;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file in the folder of a comparison or a reproduction.
const FILE: &str = "results.jsonl";

/// The results of runs, in a file that grows. Lines of runs that nobody asks for, of older programs
/// or of scenarios that were changed, stay in it.
#[derive(Debug)]
pub struct Store<M> {
    path: PathBuf,
    file: LockedFile,
    known: BTreeMap<String, M>,
}

/// What tells the results of a run from those of every other one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// A digest of everything that the results depend on.
    pub key: String,
    /// The scenario or experiment, for readers.
    pub scenario: String,
    /// Who sends, for readers.
    pub sender: String,
    /// The seed, for readers.
    pub seed: u32,
}

/// A store, and what was found when it was opened.
#[derive(Debug)]
pub struct Opened<M> {
    /// The store.
    pub store: Store<M>,
    /// The last line was not whole, because the program that wrote it was killed: it is gone, and
    /// its run is to be done again.
    pub torn: bool,
}

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Two programs at a time.
    #[error("{}: another program writes to it", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A line that is not one of results.
    #[error("{}:{line}: not a line of results ({error}); allowed: what `polypath compare` or `polypath reproduce` has written", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong.
        error: serde_json::Error,
    },
}

/// A line.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    label: Label,
    /// As it stands: lines of other versions have other fields.
    measured: serde_json::Value,
}

impl<M: Clone + Serialize + DeserializeOwned> Store<M> {
    /// Opens the results in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(folder: &Path) -> Result<Opened<M>, StoreError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| StoreError::Io { path, error }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let path = folder.join(FILE);
        let mut options = OpenOptions::new();
        let file =
            options.read(true).append(true).create(true).open(&path).map_err(failed(&path))?;
        let mut file = match LockedFile::new(file) {
            Ok(file) => file,
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { path }),
            Err(TryLockError::Error(error)) => return Err(StoreError::Io { path, error }),
        };
        let torn = drop_torn(&mut file).map_err(failed(&path))?;
        let mut text = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut text)).map_err(failed(&path))?;
        let known = read(&text).map_err(|(line, error)| StoreError::Line {
            path: path.clone(),
            line,
            error,
        })?;
        Ok(Opened { store: Self { path, file, known }, torn })
    }

    /// What a run has measured, if it is there.
    pub fn get(&self, key: &str) -> Option<M> {
        self.known.get(key).cloned()
    }

    /// Keeps what a run has measured; it is on its way to the disk when this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, label: Label, measured: M) -> Result<(), StoreError> {
        let line = Line { label, measured: serde_json::json!(measured) };
        let text = serde_json::json!(line).to_string() + "\n";
        // In one piece: a program that is killed leaves a torn line at the end at most.
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| StoreError::Io { path: self.path.clone(), error })?;
        self.known.insert(line.label.key, measured);
        Ok(())
    }
}

/// A digest of these parts, for [`Label::key`].
pub(crate) fn digest(parts: &[String]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Takes away what stands behind the last whole line. Returns whether there was anything.
fn drop_torn(file: &mut File) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    if whole < bytes.len() {
        file.set_len(whole as u64)?;
    }
    Ok(whole < bytes.len())
}

/// The results by key. Of lines whose results have another form only the key is looked at: nobody
/// asks for it.
fn read<M: DeserializeOwned>(
    text: &str,
) -> Result<BTreeMap<String, M>, (usize, serde_json::Error)> {
    let mut known = BTreeMap::new();
    for (text, number) in text.lines().zip(1..) {
        let line: Line = serde_json::from_str(text).map_err(|error| (number, error))?;
        if let Ok(measured) = serde_json::from_value(line.measured) {
            known.insert(line.label.key, measured);
        }
    }
    Ok(known)
}
