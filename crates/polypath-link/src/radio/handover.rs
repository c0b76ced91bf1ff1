//! From one cell to the next.

use super::error::{Model, RadioError};
use polypath_units::Timestamp;
use std::time::Duration;

/// When a user is handed over to another cell, and what it costs: event A3 of TS 38.331 section
/// 5.5.4.4. The event is entered when a neighbour is received better than the serving cell by
/// `offset + hysteresis`, and left when it is better by less than `offset - hysteresis`; if it
/// lasts for the time to trigger, the user is handed over to the best of such neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandoverRule {
    /// In dB, -15 to 15.
    pub offset_db: f64,
    /// In dB, 0 to 15.
    pub hysteresis_db: f64,
    /// How long the event must last, as far as the steps of the walk show.
    pub time_to_trigger: Duration,
    /// How long nothing is sent: 20 to 60 ms \[A\].
    pub interruption: Duration,
    /// What becomes of the packets on their way.
    pub packets: PacketsInHandover,
}

/// What a handover does to the packets inside the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketsInHandover {
    /// The old cell forwards what waits to the new one (TS 38.300 section 9.2.3.2): a rate of
    /// zero, then everything is sent. A burst follows what looks like a standstill.
    Forwarded,
    /// They are gone, with what is sent meanwhile: a [`Blackout`](crate::Blackout). This happens
    /// when a link fails before the handover is prepared.
    Lost,
}

impl Default for HandoverRule {
    /// \[A\]: 3 dB, hysteresis 1 dB, 320 ms, 40 ms, packets forwarded.
    fn default() -> Self {
        Self {
            offset_db: 3.0,
            hysteresis_db: 1.0,
            time_to_trigger: Duration::from_millis(320),
            interruption: Duration::from_millis(40),
            packets: PacketsInHandover::Forwarded,
        }
    }
}

impl HandoverRule {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first parameter outside its range.
    pub fn check(&self) -> Result<(), RadioError> {
        let model = Model("handover");
        let fits = (-15.0..=15.0).contains(&self.offset_db);
        model.require(fits, "offset_db", &self.offset_db, "-15 to 15 dB is allowed")?;
        let fits = (0.0..=15.0).contains(&self.hysteresis_db);
        model.require(fits, "hysteresis_db", &self.hysteresis_db, "0 to 15 dB is allowed")
    }
}

/// A handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// When the old cell stops.
    pub at: Timestamp,
    /// When the new one begins.
    pub resumes: Timestamp,
    /// The index of the old base station.
    pub source: usize,
    /// The index of the new one.
    pub target: usize,
}

/// The cell that serves a user, and those that might.
#[derive(Clone, Debug)]
pub(super) struct Serving {
    cell: usize,
    /// Since when each cell has been better.
    better_since: Vec<Option<Timestamp>>,
    /// The end of the latest handover.
    resumes: Timestamp,
}

impl Serving {
    /// The best cell serves first.
    pub(super) fn new(received_dbm: &[f64]) -> Self {
        let cell = best(received_dbm, |_| true).unwrap_or(0);
        let better_since = vec![None; received_dbm.len()];
        Self { cell, better_since, resumes: Timestamp::ZERO }
    }

    pub(super) fn cell(&self) -> usize {
        self.cell
    }

    /// Takes what is received from each cell now. Nothing happens during a handover.
    pub(super) fn measure(
        &mut self,
        rule: &HandoverRule,
        now: Timestamp,
        received_dbm: &[f64],
    ) -> Option<Handover> {
        if now < self.resumes {
            return None;
        }
        self.update_events(rule, now, received_dbm);
        let lasts = |since: Timestamp| now.since(since) >= rule.time_to_trigger;
        let ready = |cell: usize| self.better_since[cell].is_some_and(lasts);
        let target = best(received_dbm, ready)?;
        let source = core::mem::replace(&mut self.cell, target);
        self.better_since.fill(None);
        self.resumes = now + rule.interruption;
        Some(Handover { at: now, resumes: self.resumes, source, target })
    }

    fn update_events(&mut self, rule: &HandoverRule, now: Timestamp, received_dbm: &[f64]) {
        let serving_dbm = received_dbm[self.cell];
        for (cell, since) in self.better_since.iter_mut().enumerate() {
            let lead_db = received_dbm[cell] - serving_dbm;
            if cell == self.cell || lead_db < rule.offset_db - rule.hysteresis_db {
                *since = None;
            } else if lead_db > rule.offset_db + rule.hysteresis_db {
                since.get_or_insert(now);
            }
        }
    }
}

/// The best of the cells that are `eligible`; the first of equals.
fn best(received_dbm: &[f64], eligible: impl Fn(usize) -> bool) -> Option<usize> {
    let cells = (0..received_dbm.len()).filter(|&cell| eligible(cell));
    cells.reduce(|best, cell| if received_dbm[cell] > received_dbm[best] { cell } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// Enters at more than 4 dB, leaves below 2 dB, lasts 320 ms.
    #[test]
    fn the_event_has_hysteresis_and_must_last() {
        let rule = HandoverRule::default();
        let mut serving = Serving::new(&[-80.0, -90.0]);
        let mut at =
            |millis, lead_db| serving.measure(&rule, ms(millis), &[-80.0, -80.0 + lead_db]);
        assert_eq!([at(0, 4.0), at(320, 3.9)], [None; 2], "not entered");
        assert_eq!([at(400, 4.1), at(600, 1.9), at(720, 4.1)], [None; 3], "left at 600 ms");
        assert_eq!([at(900, 2.0), at(1000, 3.0)], [None; 2], "280 ms");
        let handover = Handover { at: ms(1040), resumes: ms(1080), source: 0, target: 1 };
        assert_eq!(at(1040, 2.0), Some(handover));
    }

    #[test]
    fn the_best_of_those_that_last_is_taken_and_not_during_a_handover() {
        let rule =
            HandoverRule { interruption: Duration::from_millis(300), ..HandoverRule::default() };
        let mut serving = Serving::new(&[-80.0, -90.0, -90.0, -90.0]);
        assert_eq!(serving.measure(&rule, ms(0), &[-80.0, -75.0, -75.0, -90.0]), None);
        // The best one has not lasted.
        let handover = serving.measure(&rule, ms(320), &[-80.0, -75.0, -74.0, -60.0]).unwrap();
        assert_eq!((handover.source, handover.target), (0, 2));
        assert_eq!(serving.cell(), 2);
        let now = |serving: &mut Serving, millis| {
            serving.measure(&rule, ms(millis), &[-80.0, -75.0, -74.0, -60.0])
        };
        // During the handover nothing is measured: the event begins at 620 ms.
        assert_eq!([330, 619, 620, 939].map(|millis| now(&mut serving, millis)), [None; 4]);
        assert_eq!(now(&mut serving, 940).map(|handover| handover.target), Some(3));
    }
}
