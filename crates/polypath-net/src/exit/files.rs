//! Where the hub stores received files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use crate::tunnel::{Digest, FileOffer, FileReceiver, FileTransferError};

const CHUNK: usize = 64 * 1024;

/// A folder for received files. A file appears under its name only once it is whole and its digest
/// right; an existing file is never replaced.
#[derive(Debug)]
pub struct FileStore {
    folder: PathBuf,
    max_size: u64,
    next: AtomicU64,
}

/// A file that was not stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is larger than allowed.
    #[error("file has {size} bytes, allowed are {allowed}")]
    TooLarge {
        /// Announced size in bytes.
        size: u64,
        /// Limit in bytes.
        allowed: u64,
    },
    /// There is one of that name.
    #[error("a file named {0:?} is there already")]
    Exists(String),
    /// The folder or the file system failed.
    #[error("{path}: {error}")]
    Io {
        /// Where.
        path: PathBuf,
        /// What.
        error: io::Error,
    },
    /// The stream broke.
    #[error("receiving: {0}")]
    Stream(io::Error),
    /// What came is not what was announced.
    #[error(transparent)]
    Transfer(#[from] FileTransferError),
}

impl FileStore {
    /// Stores files of at most `max_size` bytes in `folder`, which must exist.
    pub fn new(folder: impl Into<PathBuf>, max_size: u64) -> Self {
        Self { folder: folder.into(), max_size, next: AtomicU64::new(0) }
    }

    /// Accepts an offer and reserves its place, before any content.
    pub(super) async fn begin(&self, offer: &FileOffer) -> Result<Incoming, StoreError> {
        if offer.size > self.max_size {
            return Err(StoreError::TooLarge { size: offer.size, allowed: self.max_size });
        }
        let path = self.folder.join(offer.name.as_str());
        if fs::try_exists(&path).await.map_err(at(&path))? {
            return Err(StoreError::Exists(offer.name.to_string()));
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let part = self.folder.join(format!(".polypath-{}-{number}.part", std::process::id()));
        let open = OpenOptions::new().write(true).create_new(true).open(&part).await;
        let file = open.map_err(at(&part))?;
        let receiver = FileReceiver::new(offer.size);
        Ok(Incoming { file, part: Part(part), path, receiver })
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |error| StoreError::Io { path, error }
}

/// A temporary file, removed unless it is whole.
#[derive(Debug)]
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        // After success the name is a second link to the stored file, and removing it is the last
        // step.
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "temporary file not removed");
        }
    }
}

/// A file on its way in.
pub(super) struct Incoming {
    file: File,
    part: Part,
    path: PathBuf,
    receiver: FileReceiver,
}

impl Incoming {
    /// Receives content and trailer up to the end of the stream, and gives the file its name.
    pub(super) async fn receive<S: AsyncRead + Unpin>(
        mut self,
        stream: &mut S,
    ) -> Result<Digest, StoreError> {
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = stream.read(&mut buffer).await.map_err(StoreError::Stream)?;
            if count == 0 {
                break;
            }
            let content = self.receiver.push(&buffer[..count])?;
            self.file.write_all(content).await.map_err(at(&self.part.0))?;
        }
        let digest = self.receiver.finish()?;
        self.file.flush().await.map_err(at(&self.part.0))?;
        self.file.sync_all().await.map_err(at(&self.part.0))?;
        // A hard link fails if the name is taken, where a rename would replace what is there.
        match fs::hard_link(&self.part.0, &self.path).await {
            Ok(()) => Ok(digest),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(StoreError::Exists(self.path.display().to_string()))
            }
            Err(error) => Err(at(&self.path)(error)),
        }
    }
}
