//! Recordings as Parquet files.

use super::key::Key;
use super::recording::{Recording, Table};
use crate::record::parquet::{self, WriteError};
use polypath_units::Timestamp;
use std::path::{Path, PathBuf};

impl Recording {
    /// Writes `paths.parquet`, `connections.parquet` and `links.parquet`, those of which something
    /// was asked for, into the [`run_directory`](crate::record::run_directory). Files that are
    /// there are replaced. The seed is in the metadata of the files. Returns what was written.
    ///
    /// # Errors
    /// If the directory or a file cannot be written.
    pub fn write(&self, directory: &Path, seed: u64) -> Result<Vec<PathBuf>, WriteError> {
        let written = [
            self.paths.write(&self.times, directory, seed)?,
            self.connections.write(&self.times, directory, seed)?,
            self.links.write(&self.times, directory, seed)?,
        ];
        Ok(written.into_iter().flatten().collect())
    }
}

impl<K: Key> Table<K> {
    fn write(
        &self,
        times: &[Timestamp],
        directory: &Path,
        seed: u64,
    ) -> Result<Option<PathBuf>, WriteError> {
        if self.quantities.is_empty() {
            return Ok(None);
        }
        parquet::write(directory, seed, K::TABLE, self.schema(), self.batches(times)).map(Some)
    }
}
