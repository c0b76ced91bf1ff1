//! How much each stream may hold in order, and all of them.

use super::held::Held;
use super::live::Live;
use super::stream::RecvStream;
use crate::config::BondConfig;

/// As many receive buffers are for data that waits for readers, and more only where the least
/// windows of all streams are more.
const UNREAD_BUFFERS: u64 = 2;

/// The first windows of streams, until their readers have taken them, come from one receive buffer.
/// Each is this part of what is left of it: after a hundred a fifth is left, and a web page of so
/// many objects at once finds room for each.
const FIRST_WINDOW_PART: u64 = 64;
/// The same for a stream that is alone.
const LONE_FIRST_WINDOW_PART: u64 = 4;
/// A stream that its sender opens may begin with this part of the receive buffer without having
/// heard of its reader, up to the largest first window.
const PROMISED_PART: u64 = 16;
/// So many streams are told of it that they could take this part of what first windows leave.
const PROMISES_PART: u64 = 4;
/// A first window is no larger: what a path of 100 Mbit/s carries in 80 ms.
const LARGEST_FIRST_WINDOW: u64 = 1 << 20;

/// What a stream may hold in order is so many times what its reader takes in a period: in slow
/// start twice as much comes in the next one.
const GROWTH: u64 = 2;

/// This part of a stream's share more than the peer knows is worth telling. What is free and not
/// told is room that a sender cannot use: where the receive buffer is the limit, so much goodput.
const WORTH_TELLING: u64 = 16;
/// And at least so many bytes, or half of a share that is smaller than two of this.
const LEAST_WORTH_TELLING: u64 = 8 << 10;

/// How many streams there are, what all of them hold, and what those that are being read may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    pub(super) streams: usize,
    pub(super) held: Held,
    pub(super) live: Live,
    /// What streams that the peer has not opened yet may send at first.
    pub(super) promised: u64,
}

impl Crowd {
    fn is_one(self) -> bool {
        self.streams <= 1
    }
}

/// The bounds of a bond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    pub(super) receive_buffer: u64,
    /// What one stream may hold at most.
    lone: u64,
    /// What each may hold whatever its reader does, and without being told.
    pub(super) initial: u64,
}

impl Windows {
    pub(super) fn new(config: &BondConfig) -> Self {
        Self {
            receive_buffer: config.receive_buffer,
            lone: config.lone_stream_window(),
            initial: config.stream_window,
        }
    }

    /// The most that is held in all: what waits for missing data, and what waits for readers.
    pub(super) fn most_held(&self, crowd: Crowd) -> u64 {
        self.receive_buffer + self.for_readers(crowd)
    }

    /// What is for data that waits for readers.
    fn for_readers(&self, crowd: Crowd) -> u64 {
        let least_windows = crowd.streams as u64 * self.initial;
        least_windows.max(UNREAD_BUFFERS * self.receive_buffer)
    }

    /// A new limit for `stream` of the crowd, if it is worth telling.
    pub(super) fn worth_telling(&self, stream: &RecvStream, crowd: Crowd) -> Option<u64> {
        if stream.final_size().is_some() {
            return None;
        }
        let window = self.window(stream, crowd);
        let limit = stream.read_offset() + window;
        let least = (window / WORTH_TELLING).max(LEAST_WORTH_TELLING.min(window / 2));
        (limit >= stream.max_offset() + least).then_some(limit)
    }

    /// What the stream may hold: what waits for missing data, which the receive buffer bounds, and
    /// beside it its share of what waits for readers.
    fn window(&self, stream: &RecvStream, crowd: Crowd) -> u64 {
        let window = stream.held().waiting() + self.share(stream, crowd);
        window.min(self.lone).max(self.initial)
    }

    /// What the stream may hold in order: what follows from its reader, or nearly the whole receive
    /// buffer while it is alone and read. It is no more than half of what is left, so that much is
    /// left to others (dynamic threshold, Choudhury and Hahne 1998).
    fn share(&self, stream: &RecvStream, crowd: Crowd) -> u64 {
        let left = self.left(stream, crowd);
        let share = match stream.read_rate.per_period() {
            0 => self.first(crowd).min(left / 2),
            _ if crowd.is_one() => self.lone,
            taken => (GROWTH * taken).min(left / 2),
        };
        share.max(self.initial)
    }

    /// What the windows of other streams leave to a stream: of what is for readers in all, or,
    /// where readers that have stopped hold that, of a receive buffer that those at work have for
    /// themselves. As long as all are at work, and stop at once, no more is held than may.
    fn left(&self, stream: &RecvStream, crowd: Crowd) -> u64 {
        let own = stream.held().admitted;
        let others = crowd.held.admitted - own;
        let live = crowd.live.admitted().saturating_sub(own);
        let left = self.for_readers(crowd).saturating_sub(others + crowd.promised);
        left.max(self.receive_buffer.saturating_sub(live))
    }

    /// The window of a stream whose reader has taken nothing yet.
    fn first(&self, crowd: Crowd) -> u64 {
        let left = self.left_of_first_windows(crowd).saturating_sub(crowd.promised);
        let part = if crowd.is_one() { LONE_FIRST_WINDOW_PART } else { FIRST_WINDOW_PART };
        (left / part).min(LARGEST_FIRST_WINDOW)
    }

    fn left_of_first_windows(&self, crowd: Crowd) -> u64 {
        self.receive_buffer.saturating_sub(crowd.held.first_windows)
    }

    /// The first window of a stream that the peer opens after it has heard of it.
    pub(super) fn promised(&self) -> u64 {
        (self.receive_buffer / PROMISED_PART).min(LARGEST_FIRST_WINDOW)
    }

    /// How many such streams the peer may be told of beside this crowd.
    pub(super) fn promises(&self, crowd: Crowd) -> u64 {
        let each = self.promised();
        if each <= self.initial {
            return 0;
        }
        self.left_of_first_windows(crowd) / PROMISES_PART / each
    }
}
