//! The sending half at the data level: streams, the DSN space, reinjection.

mod chunks;
mod stream;
mod streams;

pub(crate) use chunks::{ChunkRef, Chunks, Content, SegmentInfo, SentChunk};
pub(crate) use streams::SendStreams;
