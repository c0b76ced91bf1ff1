//! The values that parameters had before, in a file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::HostError;

/// The file of a network namespace.
#[derive(Clone, Debug)]
pub(super) struct Record {
    path: PathBuf,
}

/// A parameter and the value that it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Earlier {
    pub(super) path: String,
    pub(super) value: String,
}

impl Record {
    /// That of the network namespace of this thread.
    pub(super) fn of_namespace(directory: &Path) -> Result<Self, HostError> {
        let link = Path::new("/proc/thread-self/ns/net");
        let failed = |error| HostError::Record { path: link.to_owned(), error };
        // `net:[4026531840]`
        let namespace = fs::read_link(link).map_err(failed)?;
        let digits = |c: &char| c.is_ascii_digit();
        let number: String = namespace.to_string_lossy().chars().filter(digits).collect();
        Ok(Self { path: directory.join(format!("gateway-{number}.parameters")) })
    }

    /// What is written there; nothing if there is no file.
    pub(super) fn read(&self) -> Result<Vec<Earlier>, HostError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => text.lines().map(|line| self.line(line)).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Replaces the file: a reader sees the old or the new, never a part.
    pub(super) fn write(&self, values: &[Earlier]) -> Result<(), HostError> {
        let line = |Earlier { path, value }: &Earlier| format!("{path}={value}\n");
        let text: String = values.iter().map(line).collect();
        let new = self.path.with_extension("new");
        let write = || {
            self.path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.path)
        };
        write().map_err(|error| self.failed(error))
    }

    /// Removes the file, if it is there.
    pub(super) fn remove(&self) -> Result<(), HostError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    /// Nothing but a number is written below `/proc/sys/net`, whatever the file says.
    fn line(&self, line: &str) -> Result<Earlier, HostError> {
        let wrong = || {
            let allowed = format!("{line:?}; allowed: net/PATH=NUMBER");
            self.failed(io::Error::new(io::ErrorKind::InvalidData, allowed))
        };
        let (path, value) = line.split_once('=').ok_or_else(wrong)?;
        let plain = |part: &str| !matches!(part, "" | "." | "..");
        let is_path = path.starts_with("net/") && path.split('/').all(plain);
        let is_number = value.parse::<i64>().is_ok();
        if !is_path || !is_number {
            return Err(wrong());
        }
        Ok(Earlier { path: path.to_owned(), value: value.to_owned() })
    }

    fn failed(&self, error: io::Error) -> HostError {
        HostError::Record { path: self.path.clone(), error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(path: &str, value: &str) -> Earlier {
        Earlier { path: path.into(), value: value.into() }
    }

    #[test]
    fn what_was_written_is_read_until_it_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let record = Record::of_namespace(&directory.path().join("new")).unwrap();
        assert_eq!(record.read().unwrap(), []);
        let values = [earlier("net/ipv4/ip_forward", "0"), earlier("net/ipv4/conf/a.b/x", "-1")];
        record.write(&values).unwrap();
        assert_eq!(record.read().unwrap(), values);
        record.remove().unwrap();
        record.remove().unwrap();
        assert_eq!(record.read().unwrap(), []);
    }

    #[test]
    fn what_is_no_parameter_of_networks_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let record = Record::of_namespace(directory.path()).unwrap();
        let wrong = ["", "net/a", "kernel/panic=1", "net/../kernel/panic=1", "net/a=x", "net//a=1"];
        for line in wrong {
            fs::write(&record.path, format!("{line}\n")).unwrap();
            let error = record.read().unwrap_err().to_string();
            assert!(error.ends_with("allowed: net/PATH=NUMBER"), "{line}: {error}");
        }
    }
}
