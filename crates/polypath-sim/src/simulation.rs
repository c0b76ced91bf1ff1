//! The clock and its events.

use crate::event_queue::EventQueue;
use polypath_units::Timestamp;
use std::time::Duration;

/// Virtual time: a clock that jumps from event to event.
///
/// The caller owns the world and the loop:
///
/// ```
/// use polypath_sim::Simulation;
/// use polypath_units::Timestamp;
/// use std::time::Duration;
///
/// let mut simulation = Simulation::new();
/// simulation.schedule_in(Duration::from_millis(5), "tick");
/// let mut ticks = 0;
/// while let Some(_event) = simulation.next_until(Timestamp::from_millis(100)) {
///     ticks += 1;
///     simulation.schedule_in(Duration::from_millis(5), "tick");
/// }
/// assert_eq!(ticks, 20);
/// assert_eq!(simulation.now(), Timestamp::from_millis(100));
/// ```
#[derive(Clone, Debug)]
pub struct Simulation<E> {
    now: Timestamp,
    events: EventQueue<E>,
}

impl<E> Simulation<E> {
    /// A simulation at time zero, without events.
    pub fn new() -> Self {
        Self { now: Timestamp::ZERO, events: EventQueue::new() }
    }

    /// The time: that of the latest event taken.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Plans an event; one in the past happens now, after all that was planned for now before.
    pub fn schedule(&mut self, at: Timestamp, event: E) {
        self.events.push(at.max(self.now), event);
    }

    /// Plans an event `delay` from now.
    pub fn schedule_in(&mut self, delay: Duration, event: E) {
        self.events.push(self.now + delay, event);
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<Timestamp> {
        self.events.next_time()
    }

    /// Takes the next event at or before `limit` and moves the clock to it. Without one the
    /// clock moves to `limit`.
    pub fn next_until(&mut self, limit: Timestamp) -> Option<E> {
        if self.events.next_time().is_some_and(|at| at <= limit)
            && let Some((at, event)) = self.events.pop()
        {
            self.now = at;
            return Some(event);
        }
        self.now = self.now.max(limit);
        None
    }

    /// Takes the next event and moves the clock to it; `None` at the end of all events, where
    /// the clock stays.
    pub fn next_event(&mut self) -> Option<E> {
        let (at, event) = self.events.pop()?;
        self.now = at;
        Some(event)
    }
}

impl<E> Default for Simulation<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn the_clock_follows_the_events() {
        let mut simulation = Simulation::new();
        simulation.schedule(ms(9), 'c');
        simulation.schedule(ms(3), 'a');
        assert_eq!((simulation.next_event(), simulation.now()), (Some('a'), ms(3)));
        simulation.schedule_in(Duration::from_millis(2), 'b');
        assert_eq!(simulation.next_time(), Some(ms(5)));
        assert_eq!((simulation.next_until(ms(5)), simulation.now()), (Some('b'), ms(5)));
        assert_eq!((simulation.next_until(ms(8)), simulation.now()), (None, ms(8)));
        assert_eq!((simulation.next_event(), simulation.now()), (Some('c'), ms(9)));
        assert_eq!((simulation.next_event(), simulation.now()), (None, ms(9)));
    }

    #[test]
    fn the_past_happens_now_and_last() {
        let mut simulation = Simulation::new();
        simulation.next_until(ms(5));
        simulation.schedule(ms(5), "planned");
        simulation.schedule(ms(1), "late");
        let order: Vec<_> = std::iter::from_fn(|| simulation.next_event()).collect();
        assert_eq!((order, simulation.now()), (vec!["planned", "late"], ms(5)));
    }
}
