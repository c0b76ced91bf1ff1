//! Flags over a configuration file.

use super::{ConfigFile, Fault};
use serde::de::DeserializeOwned;
use std::path::Path;

/// Flags of which each is also a key of the file that one of them names.
pub trait FileBacked: DeserializeOwned {
    /// The file.
    fn file(&self) -> Option<&Path>;

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
                let file = ConfigFile::read(path)?;
                let args: Self = file.parse()?;
                args.check().map_err(|fault| file.locate(fault))?;
                self.over(args)
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
