//! What an application tells of a run.

use crate::traffic::Delays;
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// What an application has seen. Bytes and packets are in the
/// [`EndReport`](crate::endpoint::EndReport)s of its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReport {
    /// When it was to begin.
    pub start: Timestamp,
    /// When it ended and everything it had sent was there; `None`: not yet, or it never ends.
    pub finished: Option<Timestamp>,
    /// What its kind measures.
    pub observations: Observations,
}

/// What an application measures, by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Observations {
    /// A transfer: nothing but its end.
    Transfer,
    /// Times of sending and of silence over a byte stream.
    Bursts(BurstReport),
    /// Requests and responses.
    Requests(RequestReport),
    /// Messages of one size at a rate, over a byte stream or as datagrams.
    Messages(MessageReport),
    /// Video.
    Video(VideoReport),
}

/// On-times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstReport {
    /// How many on-times have begun.
    pub bursts: u64,
    /// How long they have lasted together.
    pub on_time: Duration,
}

/// Requests and their responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestReport {
    /// Those with the whole response, in the order of the requests.
    pub completed: Vec<Request>,
    /// Requests made whose response is not complete.
    pub outstanding: u64,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it was made.
    pub start: Timestamp,
    /// When the last byte of the response came.
    pub completed: Timestamp,
    /// The size of the response in bytes.
    pub response: u64,
}

impl Request {
    /// The flow completion time: from the request to the last byte of the response, waiting for
    /// earlier responses included.
    pub fn completion_time(&self) -> Duration {
        self.completed - self.start
    }
}

/// Messages at a rate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageReport {
    /// How many were produced.
    pub produced: u64,
    /// How many came whole: over a stream in order.
    pub delivered: u64,
    /// How many did not come although a later one did. Zero over a stream.
    pub missing: u64,
    /// How many came after a later one. Zero over a stream.
    pub reordered: u64,
    /// From the time when a message is produced to the time when its last byte is delivered.
    pub delays: Delays,
}

/// What a viewer saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VideoReport {
    /// From the start of the flow to the first picture; `None`: not yet.
    pub startup_delay: Option<Duration>,
    /// How often the buffer ran empty after that.
    pub stalls: u32,
    /// How long the picture stood still then, all stalls together.
    pub stall_time: Duration,
    /// How much was played.
    pub played: Duration,
    /// Chunks that came whole.
    pub chunks: u64,
    /// The mean of their bit rates; `None` before the first.
    pub mean_bit_rate: Option<Bandwidth>,
    /// The bit rate of the last of them.
    pub last_bit_rate: Option<Bandwidth>,
    /// How often a chunk had another bit rate than the one before it.
    pub switches: u32,
}
