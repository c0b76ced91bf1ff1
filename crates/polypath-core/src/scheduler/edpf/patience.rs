//! For how long a segment is held back for a faster path.

use crate::scheduler::QueueView;
use polypath_units::Timestamp;

/// A segment that is held back.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// When it would have arrived on the slower path: until then a faster path that does not open
    /// is waited for.
    ends: Timestamp,
    /// When it was last asked for.
    asked: Timestamp,
}

/// What is held back: new data and, independently of it, what is sent again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    new: Option<Held>,
    again: Option<Held>,
}

impl Patience {
    fn of(&mut self, queue: &QueueView) -> &mut Option<Held> {
        if queue.reinjection { &mut self.again } else { &mut self.new }
    }

    /// The world asks where to send something. It asks for new data last: if it has not asked at
    /// this time for anything to be sent again, nothing of that kind is left.
    pub(super) fn ask(&mut self, queue: &QueueView, now: Timestamp) {
        if !queue.reinjection {
            self.again = self.again.filter(|again| again.asked == now);
        }
    }

    /// Holds the segment back until `arrival`, when it would arrive on the slower path, or until
    /// the time that was set when it was first held back. Returns that time.
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
