//! The file that keeps what paths have carried.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use polypath_host::LockedFile;

/// The first line, by which a file is told from an empty one that a full disk has left.
const HEADING: &str = "# Polypath: NAME DATE BYTES, what each path has carried since then";
/// Lines of paths at most. An edge has 64 paths; others may have had quotas before.
const MOST_LINES: usize = 1_000;

/// Since when, and how many bytes, by the name of the path.
pub(super) type Counts = BTreeMap<String, (NaiveDate, u64)>;

/// Why what paths have carried cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum QuotaFileError {
    /// The operating system refuses.
    #[error(
        "cannot {action} {}, which keeps what paths have used of their quotas: {error}; allowed: \
         --quota-file FILE",
        file.display()
    )]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
    /// Another edge counts there.
    #[error(
        "another edge keeps in {} what its paths have used of their quotas; allowed: \
         --quota-file FILE, another one for each edge",
        .0.display()
    )]
    InUse(PathBuf),
    /// The first line is missing.
    #[error(
        "{}, line 1: {text:?} is not {HEADING:?}; allowed: a file that an edge has written; \
         without the file counts begin at zero",
        file.display()
    )]
    Heading {
        /// The file.
        file: PathBuf,
        /// What stands there.
        text: String,
    },
    /// A line is no count.
    #[error(
        "{}, line {line}: {text:?} is not what a path has carried; allowed: NAME DATE BYTES, such \
         as \"lte 2026-11-01 1200000\", each name once, and a line break; without the line the \
         path begins at zero",
        file.display()
    )]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
}

/// The file, of this edge alone while it runs.
#[derive(Debug)]
pub(super) struct QuotaFile {
    path: PathBuf,
    /// Locked; the file itself is another one after each write.
    _lock: LockedFile,
}

impl QuotaFile {
    /// Opens the file, which need not exist, and reads what it keeps.
    ///
    /// # Errors
    /// When it cannot be read, makes no sense, or is another edge's.
    pub(super) fn open(path: &Path) -> Result<(Self, Counts), QuotaFileError> {
        let lock = lock(path)?;
        let counts = match fs::read_to_string(path) {
            Ok(text) => parse(path, &text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => Counts::new(),
            Err(error) => return Err(io_error("read", path)(error)),
        };
        Ok((Self { path: path.to_owned(), _lock: lock }, counts))
    }

    /// Replaces what the file keeps. Whatever happens meanwhile, it is there as before or as now.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub(super) fn write(&self, counts: &Counts) -> Result<(), QuotaFileError> {
        let new = beside(&self.path, ".new");
        let replace = || {
            let mut file = create(&new)?;
            file.set_len(0)?;
            file.write_all(text(counts).as_bytes())?;
            file.sync_data()?;
            fs::rename(&new, &self.path)
        };
        replace().map_err(io_error("write", &self.path))
    }
}

fn io_error<'a>(action: &'static str, file: &'a Path) -> impl Fn(io::Error) -> QuotaFileError + 'a {
    move |error| QuotaFileError::Io { action, file: file.to_owned(), error }
}

/// The file of this name with something behind it.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A file that its owner alone can read; one that is there stays as it is.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Locks what lies beside the file, until it is closed. Missing directories are made.
fn lock(path: &Path) -> Result<LockedFile, QuotaFileError> {
    let make = io_error("make", path);
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(&make)?;
    }
    let lock = create(&beside(path, ".lock")).map_err(&make)?;
    match LockedFile::new(lock) {
        Ok(lock) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(QuotaFileError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(io_error("lock", path)(error)),
    }
}

fn text(counts: &Counts) -> String {
    let mut text = format!("{HEADING}\n");
    for (path, (since, bytes)) in counts {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{path} {since} {bytes}");
    }
    text
}

fn parse(path: &Path, text: &str) -> Result<Counts, QuotaFileError> {
    let file = || path.to_owned();
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.strip_suffix('\n') != Some(HEADING) {
        return Err(QuotaFileError::Heading { file: file(), text: first.trim_end().to_owned() });
    }
    let mut counts = Counts::new();
    for (index, line) in lines.enumerate() {
        let known = (counts.len() < MOST_LINES).then(|| count(line)).flatten();
        let new = known.filter(|(name, _)| !counts.contains_key(name));
        let (name, count) = new.ok_or_else(|| QuotaFileError::Line {
            file: file(),
            line: index + 2,
            text: line.trim_end_matches('\n').to_owned(),
        })?;
        counts.insert(name, count);
    }
    Ok(counts)
}

/// A line, which ends as a line does: a number of which the end is missing is another number.
fn count(line: &str) -> Option<(String, (NaiveDate, u64))> {
    let mut words = line.strip_suffix('\n')?.split(' ');
    let (name, since, bytes) = (words.next()?, words.next()?, words.next()?);
    let count = (since.parse().ok()?, bytes.parse().ok()?);
    (!name.is_empty() && words.next().is_none()).then(|| (name.to_owned(), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> Counts {
        let since = NaiveDate::from_ymd_opt(2026, 11, 1).unwrap();
        [("lte", 1_200_000), ("sat", 0)].map(|(name, n)| (name.to_owned(), (since, n))).into()
    }

    #[test]
    fn what_is_kept_is_there_again_and_nobody_else_writes_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/quotas");
        let (file, kept) = QuotaFile::open(&path).unwrap();
        assert_eq!(kept, Counts::new());
        file.write(&Counts::new()).unwrap();
        file.write(&counts()).unwrap();
        let other = QuotaFile::open(&path).unwrap_err().to_string();
        assert!(other.contains("another edge") && other.contains("--quota-file"), "{other}");
        drop(file);
        assert_eq!(QuotaFile::open(&path).unwrap().1, counts());
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{HEADING}\nlte 2026-11-01 1200000\nsat 2026-11-01 0\n"));
    }

    /// As a process leaves them that is killed while it writes.
    #[test]
    fn what_was_half_written_beside_it_is_of_no_account() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quotas");
        QuotaFile::open(&path).unwrap().0.write(&counts()).unwrap();
        fs::write(beside(&path, ".new"), [b'x'; 10_000]).unwrap();
        let (file, kept) = QuotaFile::open(&path).unwrap();
        assert_eq!(kept, counts());
        file.write(&counts()).unwrap();
        drop(file);
        assert_eq!(QuotaFile::open(&path).unwrap().1, counts());
    }

    #[test]
    fn a_damaged_file_is_told_with_its_line_and_never_taken_for_zero() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quotas");
        let whole = text(&counts());
        for (damaged, line) in [
            (String::new(), 1),
            (whole[..20].to_owned(), 1),
            (whole[1..].to_owned(), 1),
            (whole[..whole.len() - 1].to_owned(), 3),
            (whole.replace("1200000", "12x"), 2),
            (whole.replace("1200000", "-1"), 2),
            (whole.replace("2026-11-01 0", "2026-11-31 0"), 3),
            (whole.replace("sat", "lte"), 3),
            (whole.replace(" 0\n", " 0 0\n"), 3),
            (format!("{whole}\n"), 4),
        ] {
            fs::write(&path, &damaged).unwrap();
            let error = QuotaFile::open(&path).unwrap_err().to_string();
            let place = format!("{}, line {line}: ", path.display());
            assert!(error.starts_with(&place), "{damaged:?}: {error}");
            assert!(error.contains("; allowed: "), "{error}");
        }
        let line = |n: usize| format!("p{n} 2026-11-01 0\n");
        let many: String = (0..=MOST_LINES).map(line).collect();
        fs::write(&path, format!("{HEADING}\n{many}")).unwrap();
        let error = QuotaFile::open(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("line {}: ", MOST_LINES + 2)), "{error}");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quotas");
        let (file, _) = QuotaFile::open(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = file.write(&counts()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write {}", path.display())), "{error}");
    }
}
