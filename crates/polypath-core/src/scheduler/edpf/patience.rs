//! For how long a segment is held back for a faster path.

use crate::scheduler::QueueView;
use polypath_units::Timestamp;

/// A segment that is held back.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// When it would have arrived on the slower path: the end of patience with a faster path that
    /// does not open after all.
    ends: Timestamp,
    /// When it was last asked for.
    asked: Timestamp,
}

/// What is held back: new data, and what is sent again, beside which new data may be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    new: Option<Held>,
    again: Option<Held>,
}

impl Patience {
    fn of(&mut self, queue: &QueueView) -> &mut Option<Held> {
        if queue.reinjection { &mut self.again } else { &mut self.new }
    }

    /// Something is asked for. New data comes last: if nothing that must be sent again was asked for
    /// at this time, none is left.
    pub(super) fn ask(&mut self, queue: &QueueView, now: Timestamp) {
        if !queue.reinjection {
            self.again = self.again.filter(|again| again.asked == now);
        }
    }

    /// Holds the segment back, which would arrive at `arrival` on the slower path; or for so long as
    /// it was to be when this began. Returns until when.
    pub(super) fn hold(
        &mut self,
        queue: &QueueView,
        arrival: Timestamp,
        now: Timestamp,
    ) -> Timestamp {
        let held = self.of(queue).get_or_insert(Held { ends: arrival, asked: now });
        held.asked = now;
        held.ends
    }

    /// The segment is sent.
    pub(super) fn end(&mut self, queue: &QueueView) {
        *self.of(queue) = None;
    }
}
