//! Data dealt to the send buffers of subflows, ahead of the time at which they may send it, as Linux
//! does (`mptcp_subflow_get_send`, `__mptcp_push_pending`; the only scheduler of its kernel).
//!
//! A subflow takes a burst of 64 KiB when its buffer would be empty the soonest: the one with the
//! least `buffered / pace`, where `pace` is a mean of its pacing rate. A buffer holds twice the
//! largest window so far (`tcp_sndbuf_expand`, by segments instead of kernel memory). What lies in
//! the buffer of a subflow that turns slow arrives late, and holds up all that the others carry:
//! there is neither opportunistic retransmission nor penalisation. What a failed subflow carries is
//! dealt again.

use super::chunks::Chunk;
use super::connection::{Connection, Subflow};
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;

/// Bytes for one subflow before it is asked again which one is next (`MPTCP_SEND_BURST_SIZE`).
const BURST: u64 = 65_428;
/// Windows that a buffer holds.
const WINDOWS: u64 = 2;

/// The send buffer of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffer {
    /// Its size in bytes; it never shrinks.
    size: u64,
    /// The mean pacing rate in bytes/s; zero before the first burst.
    pace: f64,
}

impl Buffer {
    fn grow(&mut self, cwnd: u64) {
        self.size = self.size.max(WINDOWS * cwnd);
    }

    /// Seconds until the buffer is empty.
    fn linger(&self, buffered: u64, rate: f64) -> f64 {
        let pace = if self.pace > 0.0 { self.pace } else { rate };
        buffered as f64 / pace
    }

    /// A burst goes to it: the mean weighs what is there and what comes.
    fn take_burst(&mut self, buffered: u64, rate: f64) {
        let old = if self.pace > 0.0 { self.pace } else { rate };
        let (here, burst) = (buffered as f64, BURST as f64);
        self.pace = (old * here + rate * burst) / (here + burst);
    }
}

impl Connection {
    /// Fills the buffers.
    pub(super) fn fill_buffers(&mut self, now: Timestamp) {
        for subflow in &mut self.subflows {
            let cwnd = self.congestion.view(subflow.path, now).cwnd;
            subflow.buffer.grow(cwnd);
        }
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

    /// A chunk that must travel again, or `Some(None)` for new data that the peer has room for.
    fn next_data(&self) -> Option<Option<Chunk>> {
        let again = self.chunks.next_again();
        let new = self.unsent > 0 && !self.is_window_full();
        (again.is_some() || new).then_some(again)
    }

    /// The subflow whose buffer would be empty the soonest, of those with room; a backup only if
    /// nothing else works.
    fn emptiest(&self) -> Option<usize> {
        let regular = self.subflows.iter().any(|subflow| subflow.works() && !subflow.backup);
        let linger = |index: &usize| {
            let subflow = &self.subflows[*index];
            let buffered = subflow.tcp.buffered();
            let open = subflow.works() && !(subflow.backup && regular);
            let rate = pacing(subflow, &self.congestion)?;
            (open && buffered < subflow.buffer.size)
                .then(|| (subflow.buffer.linger(buffered, rate), *index))
        };
        let lingers = (0..self.subflows.len()).filter_map(|index| linger(&index));
        lingers.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, index)| index)
    }

    /// Deals a burst to a subflow, or what there is.
    fn deal(&mut self, index: usize, now: Timestamp) {
        let subflow = &mut self.subflows[index];
        let Some(rate) = pacing(subflow, &self.congestion) else { return };
        subflow.buffer.take_burst(subflow.tcp.buffered(), rate);
        let (path, size) = (subflow.path, subflow.buffer.size);
        let mut left = BURST;
        while let Some(again) = self.next_data()
            && left > 0
            && self.subflows[index].tcp.buffered() < size
        {
            let mss = self.subflows[index].tcp.mss();
            left = left.saturating_sub(mss.into());
            self.send(path, again, now);
        }
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

    #[test]
    fn a_buffer_holds_two_of_the_largest_windows() {
        let mut buffer = Buffer::default();
        for cwnd in [10_000, 50_000, 20_000] {
            buffer.grow(cwnd);
        }
        assert_eq!(buffer.size, 100_000);
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
