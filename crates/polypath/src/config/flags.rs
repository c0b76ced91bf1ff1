//! Flags over a configuration file.

use super::{ConfigFile, Fault};
use clap::Args;
use polypath_config::{DocumentError, Table};
use std::path::Path;

/// The flag that names the file.
const FILE: &str = "config";

/// Flags of which each is also a key of the file that the flag `--config` names.
pub trait FileBacked: Args {
    /// The file.
    fn file(&self) -> Option<&Path>;

    /// The keys that the file may have: the names of the flags, with `_` for `-`.
    fn keys() -> Vec<String> {
        let command = Self::augment_args(clap::Command::new(""));
        let flags = command.get_arguments().map(|flag| flag.get_id().to_string());
        flags.filter(|flag| flag != FILE).collect()
    }

    /// What the file says.
    ///
    /// # Errors
    /// At the first value that is not allowed.
    fn of_table(table: &Table<'_>) -> Result<Self, DocumentError>;

    /// These flags, and those of the file where there is none.
    #[must_use]
    fn over(self, file: Self) -> Self;

    /// What no single value shows.
    ///
    /// # Errors
    /// The key at fault, and what is allowed.
    fn check(&self) -> Result<(), Fault>;

    /// These flags over the file that they name, checked.
    ///
    /// # Errors
    /// When the file cannot be read, or a key or flag is wrong.
    fn resolve(self) -> anyhow::Result<Self> {
        let merged = match self.file() {
            None => self,
            Some(path) => {
                let file = ConfigFile::read(path)?.options()?;
                self.over(file)
            }
        };
        merged.check().map_err(Fault::on_command_line)?;
        Ok(merged)
    }
}

/// `flags` if any were given, otherwise what the file says.
pub fn given<T>(flags: Vec<T>, file: Vec<T>) -> Vec<T> {
    if flags.is_empty() { file } else { flags }
}
