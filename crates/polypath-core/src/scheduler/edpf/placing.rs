//! Which segment a slower path sends, if any.
//!
//! Until a segment that is sent on it now arrives, faster paths deliver `lead = sum of (L + B_f
//! (d_slow - d_f - repair_f))` bytes, with time to repair what they are likely to lose. The segment
//! that follows these bytes is in order when it arrives.
//!
//! If the receive window ends before, the segment is taken from its end, and all that the path sent
//! earlier waits for the gap to close. That does little harm now and then; a path that would always
//! have to do so waits until the window has room, unless it loses a segment in every window, so
//! that the window stops anyway.

use super::{Edpf, Forecast, QueueView, SLIGHT, seconds};

/// How many times the room in the window a slower path may have to leave to others.
const REACH: f64 = 1.6;
/// From this many losses in a window on, a path need not wait for room.
const LOSSES: f64 = 1.0;

/// How much of the receive window a hole may let fill, in bytes, and the shortest round trip in
/// seconds: over that path, used or not, returns the acknowledgement that closes the hole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) window: f64,
    pub(super) shortest: f64,
}

impl Edpf {
    /// Bytes to leave to `faster`, the paths that deliver before `slow`; `None` to wait for them.
    /// What is sent again closes a hole for which all data behind it waits: it is sent where all of
    /// it arrives first.
    pub(super) fn skip(
        &self,
        slow: &Forecast,
        faster: &[Forecast],
        queue: &QueueView,
        room: Room,
    ) -> Option<u64> {
        if faster.is_empty() {
            return Some(0);
        }
        let lead = lead(slow, faster, queue);
        if self.is_tail(lead, queue) {
            return None;
        }
        if queue.reinjection {
            return Some(0);
        }
        let ahead = self.sends_ahead(faster);
        let skip = if ahead { within_reach(lead, queue) } else { 0 };
        // Acknowledgements return over the fastest path, but the data may wait for this path.
        let room = if ahead { room } else { Room { shortest: slow.srtt, ..room } };
        let guarded = self.parameters.window_share > 0.0;
        let short = ahead && falls_short(lead, slow, queue);
        let waits = guarded && (short || self.exhausts_window(slow, faster, skip, queue, room));
        (!waits).then_some(skip)
    }

    /// Whether slower paths send ahead of these. A path in slow start is soon faster than now, so
    /// that how far to send ahead of it cannot be foretold, unless it carries little beside the
    /// others.
    fn sends_ahead(&self, of: &[Forecast]) -> bool {
        let all: f64 = of.iter().map(|f| f.rate).sum();
        let young: f64 = of.iter().filter(|f| f.path.in_slow_start).map(|f| f.rate).sum();
        self.parameters.ahead && young <= SLIGHT * all
    }

    /// Tail rule: the faster paths deliver all that waits before `slow` delivers this segment. For
    /// a reinjection only what is to be sent again counts.
    fn is_tail(&self, lead: f64, queue: &QueueView) -> bool {
        let waiting = if queue.reinjection { queue.to_reinject } else { queue.unsent };
        lead >= (waiting as f64 * self.parameters.tail_share).max(queue.segment as f64)
    }

    /// Window rule: until the acknowledgement of this segment is back, what faster paths send
    /// behind it and what `slow` carries already (some of which lies behind it at the end of the
    /// window) must fit into the receive window. What has arrived by now leaves the window as soon
    /// as that is known.
    fn exhausts_window(
        &self,
        slow: &Forecast,
        faster: &[Forecast],
        skip: u64,
        queue: &QueueView,
        Room { window, shortest }: Room,
    ) -> bool {
        let told = slow.delivery + shortest / 2.0;
        let sent: f64 = faster.iter().map(|f| self.sent_before(f, told)).sum();
        let rest = queue.unsent.saturating_sub(queue.segment + skip) as f64;
        let behind = (sent - skip as f64).clamp(0.0, rest);
        let untold = self.arrivals.untold(slow.path.id, seconds(shortest / 2.0), slow.now);
        let own = (untold.min(slow.path.in_flight) + queue.segment) as f64;
        behind + own > window
    }

    /// Bytes that a path sends in the next `secs` seconds.
    fn sent_before(&self, f: &Forecast, secs: f64) -> f64 {
        let growth = if f.path.in_slow_start { self.growth() } else { 1.0 };
        f.rate * growth * (secs - f.start).max(0.0)
    }
}

/// Bytes that the faster paths surely deliver before `slow` delivers a segment.
fn lead(slow: &Forecast, faster: &[Forecast], queue: &QueueView) -> f64 {
    let segment = queue.segment as f64;
    let surely =
        |f: &Forecast| (slow.delivery - f.delivery - repair_time(f, slow, segment)).max(0.0);
    faster.iter().map(|f| segment + f.rate * surely(f)).sum()
}

/// Time to leave to `f` for a repair: a round trip, times the losses to expect until `slow`
/// delivers, if those are less than one. Without it each loss on a fast path stops a large slow one
/// whose next segments have arrived.
fn repair_time(f: &Forecast, slow: &Forecast, segment: f64) -> f64 {
    let losses = f.path.loss * f.rate * slow.delivery / segment;
    f.srtt * losses.min(1.0)
}

/// Whether `lead` exceeds the room in the window by so much that `slow` had better wait.
fn falls_short(lead: f64, slow: &Forecast, queue: &QueueView) -> bool {
    let segment = queue.segment as f64;
    let losses = slow.path.loss * queue.window as f64 / segment;
    losses <= LOSSES && lead > REACH * (queue.send_window as f64 - segment)
}

/// The whole segments of `lead` that leave room for one more in the window and in the unsent data.
fn within_reach(lead: f64, queue: &QueueView) -> u64 {
    let segment = queue.segment.max(1);
    let room = queue.send_window.min(queue.unsent).saturating_sub(segment);
    (lead as u64).min(room) / segment * segment
}
