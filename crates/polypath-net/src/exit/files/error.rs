//! Why a file was not stored.

use std::io;
use std::path::{Path, PathBuf};

use polypath_units::ByteCount;

use crate::tunnel::{FileTransferError, Refusal, RefusalKind};

/// A file that was not stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is another one of that name.
    #[error("a file named {0:?} is there already")]
    Exists(String),
    /// The edge, or all together, would have more in the inbox than they may.
    #[error("the file has {size}; {whose} in the inbox {used} of {allowed}")]
    Quota {
        /// Announced size.
        size: ByteCount,
        /// Whose quota it is, and the verb.
        whose: &'static str,
        /// What counts against it now.
        used: ByteCount,
        /// What is allowed.
        allowed: ByteCount,
    },
    /// The file system failed. The path is for the log: it is no concern of an edge.
    #[error("{what}: {error}")]
    Io {
        /// What was done.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What came of it.
        error: io::Error,
    },
    /// The folder of unfinished files is not one that only this hub can write to.
    #[error("{path} {problem}")]
    Folder {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it, and what is allowed.
        problem: &'static str,
    },
    /// The same edge sends the same file again, by another stream.
    #[error("the edge sends this file again, by another stream")]
    Superseded,
    /// The hub is being stopped.
    #[error("the hub is being stopped")]
    Stopped,
    /// The stream broke; what came before is kept.
    #[error("receiving: {0}")]
    Stream(io::Error),
    /// What came is not what was announced.
    #[error(transparent)]
    Transfer(#[from] FileTransferError),
}

impl StoreError {
    /// Where the file system failed, for the log.
    pub(super) fn path(&self) -> Option<String> {
        match self {
            Self::Io { path, .. } => Some(path.display().to_string()),
            _ => None,
        }
    }

    /// What the edge is told. `None` if there is no way to tell it.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        let kind = match self {
            Self::Exists(_) => RefusalKind::NameTaken,
            Self::Quota { .. } => RefusalKind::Quota,
            Self::Transfer(_) => RefusalKind::BadRequest,
            Self::Io { .. } | Self::Folder { .. } | Self::Superseded => RefusalKind::Storage,
            Self::Stream(_) | Self::Stopped => return None,
        };
        Some(kind.with(self))
    }
}

/// Turns an error of the file system into ours.
pub(super) fn at(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |error| StoreError::Io { what, path, error }
}
