//! Data dealt to the send buffers of subflows, ahead of the time at which they may send it, as
//! Linux does (`mptcp_subflow_get_send`, `__mptcp_push_pending`; the only scheduler of its kernel).
//!
//! The next burst of 64 KiB is for the subflow whose buffer would be empty the soonest: the one
//! with the least `buffered / pace`, where `pace` is a mean of its pacing rate. If that buffer is
//! full, nobody gets anything: a slow subflow cannot hold more, in time, than the buffer of the
//! fastest one, and may starve. What lies in the buffer of a subflow that turns slow arrives late,
//! and holds up all that the others carry: there is neither opportunistic retransmission nor
//! penalisation. What a failed subflow carries is dealt again.
//!
//! The end of a burst seldom fills a segment. As TCP keeps such a one back while an earlier one is
//! not acknowledged (Minshall), it may wait in a subflow until more is dealt there.
//!
//! Buffers are counted in kernel memory, as Linux does, where a segment takes more than its
//! payload. The connection as a whole takes from the application what all those buffers together
//! could hold, counted from the oldest byte that the peer lacks, and takes more only when a third
//! of that is free (`sk_stream_is_writeable`): a hole that one subflow is slow to fill holds up the
//! others here.

use super::chunks::Chunk;
use super::connection::{Connection, Subflow};
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;

/// Bytes for one subflow before it is asked again which one is next (`MPTCP_SEND_BURST_SIZE`).
const BURST: u64 = 65_428;
/// Payload of one fragment of the connection's send queue (a page fragment of 32 KiB less its
/// header): room in a buffer, and the end of a burst, are looked at between fragments.
const FRAGMENT: u64 = 32_728;
/// Memory that a segment takes beside its payload (`skb->truesize`).
const SEGMENT_OVERHEAD: u64 = 832;
/// Memory that a buffer provides for a segment (`tcp_sndbuf_expand`, for up to 1,728 bytes).
const SEGMENT_ROOM: u64 = 2_304;
/// Windows that a buffer provides for.
const WINDOWS: u64 = 2;
/// Segments that it provides for at least: the initial window.
const LEAST_SEGMENTS: u64 = 10;

/// The send buffer of a subflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    /// Its size in bytes of memory; it never shrinks.
    size: u64,
    /// The mean pacing rate in bytes/s; zero before the first burst.
    pace: f64,
}

impl Default for Buffer {
    fn default() -> Self {
        Self { size: room(LEAST_SEGMENTS), pace: 0.0 }
    }
}

/// The size of a buffer for a window of so many segments.
const fn room(segments: u64) -> u64 {
    WINDOWS * SEGMENT_ROOM * segments
}

/// The memory that unacknowledged and unsent data of a subflow takes.
fn memory(subflow: &Subflow) -> u64 {
    let mss = u64::from(subflow.tcp.mss());
    let buffered = subflow.tcp.buffered();
    buffered + buffered.div_ceil(mss) * SEGMENT_OVERHEAD
}

impl Buffer {
    /// Seconds until the buffer is empty, in terms of memory.
    fn linger(&self, memory: u64, rate: f64) -> f64 {
        let pace = if self.pace > 0.0 { self.pace } else { rate };
        memory as f64 / pace
    }

    /// A burst goes to it: the mean weighs what is there and what comes.
    fn take_burst(&mut self, memory: u64, rate: f64) {
        let old = if self.pace > 0.0 { self.pace } else { rate };
        let (here, burst) = (memory as f64, BURST as f64);
        self.pace = (old * here + rate * burst) / (here + burst);
    }
}

impl Connection {
    /// Fills the buffers.
    pub(super) fn fill_buffers(&mut self, now: Timestamp) {
        self.admit();
        while self.next_data().is_some()
            && let Some(index) = self.emptiest()
        {
            self.deal(index, now);
        }
        for subflow in self.subflows.iter().filter(|subflow| subflow.works()) {
            if subflow.tcp.can_send(now, &self.congestion) {
                self.congestion.set_app_limited(subflow.path);
            }
        }
    }

    /// Enlarges the buffers of subflows that have sent all they hold and could send more
    /// (`tcp_should_expand_sndbuf`).
    pub(super) fn grow_buffers(&mut self) {
        for subflow in &mut self.subflows {
            let Some(state) = self.congestion.subflow(subflow.path) else { continue };
            if (state.in_flight as f64) < state.cwnd {
                let window = (state.cwnd / f64::from(subflow.tcp.mss())) as u64;
                subflow.buffer.size = subflow.buffer.size.max(room(window));
            }
        }
    }

    /// Lets the application write, if there is room enough to wake it.
    fn admit(&mut self) {
        let room: u64 = self.subflows.iter().filter(|s| s.established).map(|s| s.buffer.size).sum();
        let held = self.admitted.saturating_sub(self.chunks.una());
        if 3 * held <= 2 * room {
            self.admitted = self.chunks.una() + room;
        }
    }

    /// A chunk that must travel again, or `Some(None)` for new data that the peer has room for.
    fn next_data(&self) -> Option<Option<Chunk>> {
        let again = self.chunks.next_again();
        let written = self.unsent > 0 && self.chunks.next() < self.admitted;
        let new = written && !self.is_window_full();
        (again.is_some() || new).then_some(again)
    }

    /// The subflow whose buffer would be empty the soonest, a backup only if nothing else works;
    /// none if that buffer is full.
    fn emptiest(&self) -> Option<usize> {
        let regular = self.subflows.iter().any(|subflow| subflow.works() && !subflow.backup);
        let linger = |index: &usize| {
            let subflow = &self.subflows[*index];
            let open = subflow.works() && !(subflow.backup && regular);
            let rate = pacing(subflow, &self.congestion)?;
            open.then(|| (subflow.buffer.linger(memory(subflow), rate), *index))
        };
        let lingers = (0..self.subflows.len()).filter_map(|index| linger(&index));
        let (_, index) = lingers.min_by(|a, b| a.0.total_cmp(&b.0))?;
        self.has_room(index).then_some(index)
    }

    fn has_room(&self, index: usize) -> bool {
        memory(&self.subflows[index]) < self.subflows[index].buffer.size
    }

    /// Deals a burst to a subflow in whole fragments, or what there is.
    fn deal(&mut self, index: usize, now: Timestamp) {
        let subflow = &mut self.subflows[index];
        let Some(rate) = pacing(subflow, &self.congestion) else { return };
        subflow.buffer.take_burst(memory(subflow), rate);
        let mut left = BURST;
        loop {
            let dealt = self.deal_fragment(index, now);
            left = left.saturating_sub(dealt);
            if dealt < FRAGMENT || left == 0 || !self.has_room(index) {
                return;
            }
        }
    }

    /// Deals a fragment, or what there is; returns how many bytes.
    fn deal_fragment(&mut self, index: usize, now: Timestamp) -> u64 {
        let mut left = FRAGMENT;
        while let Some(again) = self.next_data()
            && left > 0
        {
            let dealt = match again {
                Some(chunk) => {
                    self.send(self.subflows[index].path, again, now);
                    chunk.len
                }
                None => self.deal_new(index, left as u32, now),
            };
            left = left.saturating_sub(dealt.into());
        }
        FRAGMENT - left
    }

    /// Puts up to `most` bytes of new data into the last segment that waits, or into one more;
    /// returns how many.
    fn deal_new(&mut self, index: usize, most: u32, now: Timestamp) -> u32 {
        let room = self.new_data().min(most.into());
        let joined = self.subflows[index].tcp.lengthen_last(room as u32, self.chunks.next());
        if joined == 0 {
            return self.put_new(index, room, now);
        }
        self.chunks.lengthen_last(joined);
        self.unsent -= u64::from(joined);
        joined
    }
}

/// In bytes/s; none before the round-trip time is known.
fn pacing(subflow: &Subflow, congestion: &Congestion) -> Option<f64> {
    let rate = congestion.pacing_rate(subflow.path)?.bytes_per_sec();
    (rate > 0.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured on Linux 6.18: `tb46080` of a fresh subflow, `tb811008` for a window of 176.
    #[test]
    fn a_buffer_holds_two_windows_of_kernel_memory() {
        assert_eq!(Buffer::default().size, 46_080);
        assert_eq!(room(176), 811_008);
    }

    #[test]
    fn the_pace_is_a_mean_over_what_is_buffered() {
        let mut buffer = Buffer::default();
        assert_eq!(buffer.linger(50_000, 1e6), 0.05);
        buffer.take_burst(0, 1e6);
        assert_eq!(buffer.pace, 1e6);
        buffer.take_burst(BURST, 2e6);
        assert_eq!(buffer.pace, 1.5e6);
        assert_eq!(buffer.linger(150_000, 9e9), 0.1);
    }
}
