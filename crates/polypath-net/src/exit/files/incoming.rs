//! A file on its way in.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use polypath_bond::identity::PublicKey;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::error::at;
use super::places::{open_private, private_folder};
use super::taking_over::Tenure;
use super::{EdgeInbox, Store, StoreError, lock, scan};
use crate::tunnel::{
    Digest, FileHasher, FileName, FileOffer, FileReceiver, FileTransferError, Resume,
};

/// Read from the stream and written to the disk in one piece.
const CHUNK: usize = 256 * 1024;
/// Read from the disk and hashed in one piece: so long may others wait for their turn.
const HASHED_AT_ONCE: u64 = 4 << 20;

/// A file whose place is reserved.
#[derive(Debug)]
pub(in crate::exit) struct Incoming {
    inbox: EdgeInbox,
    name: FileName,
    size: u64,
    place: Place,
    resume: Resume,
    file: File,
    hasher: FileHasher,
    tenure: Tenure,
}

/// What the hub has of a file.
#[derive(Debug)]
enum Place {
    /// All of it, under its name: the edge has sent it before and may not know.
    Stored,
    /// A part, which may be empty.
    Part(Part),
}

/// An unfinished file, and the room that is set aside for the whole.
#[derive(Debug)]
struct Part {
    store: Arc<Store>,
    edge: PublicKey,
    path: PathBuf,
    /// Bytes on the disk; `None` once it is gone.
    length: Option<u64>,
}

impl Part {
    fn remove(mut self) -> Result<(), StoreError> {
        scan::remove(&self.path)?;
        self.length = None;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        lock(&self.store.ledger).release(self.edge, &self.path, self.length);
    }
}

impl Store {
    /// Opens what there is of a file, or makes an unfinished file for it.
    fn prepare(
        self: &Arc<Self>,
        edge: PublicKey,
        offer: &FileOffer,
    ) -> Result<(Place, File), StoreError> {
        let stored = self.places.stored(&offer.name);
        match fs::symlink_metadata(&stored) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(at("looking at", &stored)(error)),
            Ok(_) => {
                let record = scan::recorded(&self.places, &self.places.name(edge, &offer.name))?;
                if record.is_none_or(|file| file.len() != offer.size) {
                    return Err(StoreError::Exists(offer.name.to_string()));
                }
                return Ok((Place::Stored, File::open(&stored).map_err(at("opening", &stored))?));
            }
        }
        private_folder(&self.places.edge(edge))?;
        let path = self.places.part(edge, &offer.name);
        self.reserve(edge, &path, offer.size)?;
        let mut part = Part { store: Arc::clone(self), edge, path, length: None };
        let mut file = open_private(&part.path).map_err(at("opening", &part.path))?;
        if file.metadata().map_err(at("looking at", &part.path))?.nlink() > 1 {
            // It is the stored file, too, which must not change any more.
            scan::remove(&part.path)?;
            file = open_private(&part.path).map_err(at("opening", &part.path))?;
        }
        part.length = Some(file.metadata().map_err(at("looking at", &part.path))?.len());
        Ok((Place::Part(part), file))
    }
}

impl EdgeInbox {
    /// Accepts an offer and reserves its place, before any content. Ends an earlier transfer of the
    /// same file.
    pub(in crate::exit) async fn begin(&self, offer: &FileOffer) -> Result<Incoming, StoreError> {
        let part = self.store.places.part(self.edge, &offer.name);
        let taken = self.store.transfers.take(&part).await;
        let tenure = taken.ok_or(StoreError::Superseded)?;
        let (edge, wanted) = (self.edge, offer.clone());
        let (place, file) = self.run(move |store| store.prepare(edge, &wanted)).await?;
        let offset = match &place {
            Place::Stored => offer.size,
            Place::Part(part) => part.length.unwrap_or(0).min(offer.size),
        };
        let (file, hasher) = self.hash(file, offset).await?;
        let resume = Resume { offset, prefix: hasher.digest() };
        let (name, size, inbox) = (offer.name.clone(), offer.size, self.clone());
        Ok(Incoming { inbox, name, size, place, resume, file, hasher, tenure })
    }

    /// Hashes the first `length` bytes of a file and leaves it behind them.
    async fn hash(&self, mut file: File, length: u64) -> Result<(File, FileHasher), StoreError> {
        let (mut hasher, mut left) = (FileHasher::default(), length);
        while left > 0 {
            let count = left.min(HASHED_AT_ONCE);
            (file, hasher) = self
                .run(move |store| {
                    let read = hash_some(&mut file, &mut hasher, count);
                    read.map_err(at("reading", store.places.inbox()))?;
                    Ok((file, hasher))
                })
                .await?;
            left -= count;
        }
        Ok((file, hasher))
    }
}

fn hash_some(file: &mut File, hasher: &mut FileHasher, mut left: u64) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        let count = file.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        hasher.update(&buffer[..count]);
        left -= count as u64;
    }
    Ok(())
}

impl Incoming {
    /// What the hub has of the file, for the edge.
    pub(in crate::exit) fn resume(&self) -> Resume {
        self.resume
    }

    /// Receives where the content begins, the content and the trailer, up to the end of the stream,
    /// and gives the file its name. What has come of a file that is cut off is kept.
    pub(in crate::exit) async fn receive<S: AsyncRead + Unpin>(
        mut self,
        stream: &mut S,
    ) -> Result<Digest, StoreError> {
        let received = self.take_in(stream).await;
        let useless = match &received {
            Ok(_) | Err(StoreError::Transfer(FileTransferError::Truncated { .. })) => false,
            Err(StoreError::Transfer(_)) => true,
            Err(_) => self.is_empty(),
        };
        if useless && let Place::Part(part) = self.place {
            self.inbox.run(move |_| part.remove()).await?;
        }
        received
    }

    fn is_empty(&self) -> bool {
        matches!(&self.place, Place::Part(Part { length: Some(0), .. }))
    }

    async fn take_in<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
    ) -> Result<Digest, StoreError> {
        let start = tokio::select! {
            start = stream.read_u64() => start.map_err(StoreError::Stream)?,
            () = self.tenure.superseded() => return Err(StoreError::Superseded),
        };
        let mut receiver = self.begin_at(start).await?;
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = tokio::select! {
                count = stream.read(&mut buffer) => count.map_err(StoreError::Stream)?,
                () = self.tenure.superseded() => return Err(StoreError::Superseded),
            };
            if count == 0 {
                break;
            }
            (receiver, buffer) = self.write(receiver, buffer, count).await?;
        }
        let digest = receiver.finish()?;
        self.store().await?;
        Ok(digest)
    }

    /// Goes to where the edge begins.
    async fn begin_at(&mut self, start: u64) -> Result<FileReceiver, StoreError> {
        let offset = self.resume.offset;
        if start != offset && start != 0 {
            return Err(FileTransferError::BadStart { start, offset }.into());
        }
        let Place::Part(part) = &mut self.place else {
            let same = start == offset;
            let receiver = FileReceiver::resumed(self.size, start, self.hasher.clone());
            return same
                .then_some(receiver)
                .ok_or_else(|| StoreError::Exists(self.name.to_string()));
        };
        let (mut file, path) = (clone(&self.file, part)?, part.path.clone());
        self.inbox
            .run(move |_| {
                let cut = file.set_len(start).and_then(|()| file.seek(io::SeekFrom::Start(start)));
                cut.map(drop).map_err(at("shortening", &path))
            })
            .await?;
        part.length = Some(start);
        let hasher = if start == 0 { FileHasher::default() } else { self.hasher.clone() };
        Ok(FileReceiver::resumed(self.size, start, hasher))
    }

    /// Checks and writes what was read.
    async fn write(
        &mut self,
        mut receiver: FileReceiver,
        buffer: Vec<u8>,
        count: usize,
    ) -> Result<(FileReceiver, Vec<u8>), StoreError> {
        let Place::Part(part) = &mut self.place else {
            receiver.push(&buffer[..count])?;
            return Ok((receiver, buffer));
        };
        let (mut file, path) = (clone(&self.file, part)?, part.path.clone());
        let written = self.inbox.run(move |_| {
            let content = receiver.push(&buffer[..count])?;
            file.write_all(content).map_err(at("writing the file", &path))?;
            let written = content.len() as u64;
            Ok((receiver, buffer, written))
        });
        let (receiver, buffer, written) = written.await?;
        part.length = part.length.map(|length| length + written);
        Ok((receiver, buffer))
    }

    /// Gives a whole file its name: content and name are on the disk when this returns.
    async fn store(&mut self) -> Result<(), StoreError> {
        let Place::Part(part) = &self.place else { return Ok(()) };
        let (file, path) = (clone(&self.file, part)?, part.path.clone());
        let (edge, name) = (self.inbox.edge, self.name.clone());
        self.inbox.run(move |store| store.name(edge, &name, &file, &path)).await
    }
}

/// A handle of the same open file for the pool; the position is shared.
fn clone(file: &File, part: &Part) -> Result<File, StoreError> {
    file.try_clone().map_err(at("writing the file", &part.path))
}

impl Store {
    fn name(
        &self,
        edge: PublicKey,
        name: &FileName,
        file: &File,
        part: &PathBuf,
    ) -> Result<(), StoreError> {
        file.sync_all().map_err(at("writing the file", part))?;
        let (stored, record) = (self.places.stored(name), self.places.name(edge, name));
        let metadata = file.metadata().map_err(at("looking at", part))?;
        // First, so that no stored file is without an owner; it says which file it means.
        let mut written = open_private(&record).map_err(at("opening", &record))?;
        let text = scan::record_of(&metadata, name);
        let recorded = written.set_len(0).and_then(|()| written.write_all(text.as_bytes()));
        recorded.map_err(at("writing", &record))?;
        // A hard link fails if the name is taken, where a rename would replace what is there.
        match fs::hard_link(part, &stored) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                scan::remove(&record)?;
                return Err(StoreError::Exists(name.to_string()));
            }
            linked => linked.map_err(at("naming the file", &stored))?,
        }
        let inbox = self.places.inbox();
        File::open(inbox).and_then(|folder| folder.sync_all()).map_err(at("writing", inbox))?;
        scan::remove(part)
    }
}
