//! An outage, and what a transfer made of it.

use crate::kernel::Timeline;
use polypath_link::Rate;
use polypath_model::metrics::interruption;
use polypath_sim::Direction;
use polypath_sim::run::Plan;
use polypath_units::{Bandwidth, Timestamp, millis};
use serde::Serialize;
use std::time::Duration;

/// Packets that show that a path is used again: more than probes and single repetitions.
const IN_USE: u64 = 20;

/// What counts as having recovered: this share of what the other paths carry, for so long.
const RECOVERED: f64 = 0.8;
const FOR: Duration = Duration::from_millis(500);

/// A path that dies and comes back, beside others that do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// The path.
    pub path: String,
    /// The direction of the data.
    pub direction: Direction,
    /// When it dies.
    pub dies: Timestamp,
    /// When it is back.
    pub returns: Timestamp,
    /// The rate of the other paths together.
    pub surviving: Bandwidth,
}

/// The scenario has no such outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the scenario needs a flow, an event that takes a path down, and a later one that ends that"
)]
pub struct NoOutage;

/// What an outage did to a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The longest gap between deliveries to the application around the death, less the usual one
    /// ([`interruption`]); `None` if nothing came after it.
    pub stall_ms: Option<f64>,
    /// From the death until half a second begins in which 80 % of what the other paths carry comes;
    /// `None` if none does before the path is back.
    pub recovery_ms: Option<f64>,
    /// What came while the path was dead, as a share of what the others carry in that time, headers
    /// included.
    pub goodput_share: f64,
    /// From the return of the path until it carried data; `None` if it never did.
    pub reuse_ms: Option<f64>,
}

impl Outage {
    /// The first outage of a plan.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(plan: &Plan) -> Result<Self, NoOutage> {
        let scenario = plan.scenario();
        let direction = scenario.flows.first().ok_or(NoOutage)?.direction;
        let mut events = scenario.events.iter();
        let dies = events.clone().find(|event| event.change.down == Some(true)).ok_or(NoOutage)?;
        let ends = |link: &str, down, at| link == dies.link && down == Some(false) && at > dies.at;
        let returns = events.find(|event| ends(&event.link, event.change.down, event.at));
        let others = plan.topology().edges().iter();
        let others = others.filter(|edge| edge.direction == direction && edge.name != dies.link);
        let rate = |rate: &Rate| match rate {
            Rate::Constant(rate) => rate.bits_per_sec(),
            Rate::Schedule { .. } | Rate::Trace { .. } => 0,
        };
        Ok(Self {
            path: dies.link.clone(),
            direction,
            dies: dies.at,
            returns: returns.ok_or(NoOutage)?.at,
            surviving: Bandwidth::from_bits_per_sec(
                others.map(|edge| rate(&edge.config.rate)).sum(),
            ),
        })
    }

    /// What became of a transfer that received this, and used the path again at `reused`.
    pub fn outcome(&self, received: &Timeline, reused: Option<Timestamp>) -> Outcome {
        let deliveries: Vec<_> = received.times().collect();
        let share = |from, to| received.mbit_s(from, to) / self.surviving.mbit_per_sec();
        let recovered = |at: &Timestamp| share(*at, *at + FOR) >= RECOVERED;
        let dead = deliveries.iter().copied().filter(|&at| at > self.dies);
        let starts = std::iter::once(self.dies).chain(dead);
        let recovery = starts.take_while(|&at| at + FOR <= self.returns).find(recovered);
        Outcome {
            stall_ms: interruption(&deliveries, self.dies).map(millis),
            recovery_ms: recovery.map(|at| millis(at.since(self.dies))),
            goodput_share: share(self.dies, self.returns),
            reuse_ms: reused.map(|at| millis(at.since(self.returns))),
        }
    }
}

/// Watches how many packets come out of a link that was dead, for when it carries data again.
#[derive(Debug)]
pub(super) struct Reuse {
    returns: Timestamp,
    /// The packets until its return, or until it was looked at first.
    before: Option<u64>,
    at: Option<Timestamp>,
}

impl Reuse {
    pub(super) fn of(outage: &Outage) -> Self {
        Self { returns: outage.returns, before: None, at: None }
    }

    /// So many packets have come out until `now`.
    pub(super) fn look(&mut self, now: Timestamp, packets: u64) {
        if now <= self.returns || self.before.is_none() {
            self.before = Some(packets);
        }
        let used = self.before.is_some_and(|before| packets >= before + IN_USE);
        if used && self.at.is_none() {
            self.at = Some(now);
        }
    }

    pub(super) const fn at(&self) -> Option<Timestamp> {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::death::CONTESTANTS;

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// 10 kB every 10 ms until the death at 1 s, then a stall, then 6 kB every 10 ms, 4.8 Mbit/s.
    fn stalled(from_ms: u64, until_ms: u64) -> Timeline {
        let mut timeline = Timeline::default();
        for at in (10..=from_ms).step_by(10) {
            timeline.add(ms(at), 10_000);
        }
        for at in (until_ms..=3_000).step_by(10) {
            timeline.add(ms(at), 6_000);
        }
        timeline
    }

    fn outage() -> Outage {
        Outage {
            path: "fast".to_owned(),
            direction: Direction::Down,
            dies: ms(1_000),
            returns: ms(2_000),
            surviving: Bandwidth::from_mbit_per_sec(5.0),
        }
    }

    /// The gap is 400 ms, 390 more than usual. Until 2000 ms 61 times 6 kB come: 2.928 of 5 Mbit/s.
    #[test]
    fn deliveries_give_stall_recovery_and_goodput() {
        let outcome = outage().outcome(&stalled(1_000, 1_400), Some(ms(2_125)));
        assert_eq!(outcome.stall_ms, Some(390.0));
        assert_eq!(outcome.recovery_ms, Some(400.0));
        assert!((outcome.goodput_share - 0.5856).abs() < 1e-9, "{outcome:?}");
        assert_eq!(outcome.reuse_ms, Some(125.0));
    }

    #[test]
    fn what_never_comes_has_no_time() {
        let outcome = outage().outcome(&stalled(1_000, 3_001), None);
        assert_eq!((outcome.stall_ms, outcome.reuse_ms), (None, None));
        assert_eq!((outcome.recovery_ms, outcome.goodput_share), (None, 0.0));
    }

    /// Without a stall there is nothing to recover from; what comes late comes too late.
    #[test]
    fn recovery_is_within_the_outage() {
        assert_eq!(outage().outcome(&stalled(1_000, 1_010), None).recovery_ms, Some(0.0));
        assert_eq!(outage().outcome(&stalled(1_000, 1_600), None).recovery_ms, None);
    }

    #[test]
    fn a_path_is_used_again_when_more_than_probes_come() {
        let mut reuse = Reuse::of(&outage());
        for (at, packets) in [(900, 80), (1_500, 90), (2_000, 100), (2_010, 119)] {
            reuse.look(ms(at), packets);
            assert_eq!(reuse.at(), None);
        }
        reuse.look(ms(2_020), 120);
        reuse.look(ms(2_030), 500);
        assert_eq!(reuse.at(), Some(ms(2_020)));
    }

    #[test]
    fn what_a_path_carried_before_a_late_first_look_does_not_count() {
        let mut reuse = Reuse::of(&outage());
        for (at, packets) in [(2_003, 500), (2_005, 519)] {
            reuse.look(ms(at), packets);
            assert_eq!(reuse.at(), None);
        }
        reuse.look(ms(2_007), 520);
        assert_eq!(reuse.at(), Some(ms(2_007)));
    }

    #[test]
    fn the_outage_of_the_scenario_is_found() {
        let plan = CONTESTANTS[0].plan(&[]).unwrap();
        let outage = Outage::of(&plan).unwrap();
        assert_eq!((&*outage.path, outage.direction), ("fast", Direction::Down));
        assert_eq!((outage.dies, outage.returns), (ms(8_000), ms(14_000)));
        assert_eq!(outage.surviving, Bandwidth::from_mbit_per_sec(20.0));
        let endless = CONTESTANTS[0].plan(&["event.1.path=slow".to_owned()]).unwrap();
        assert_eq!(Outage::of(&endless), Err(NoOutage));
    }
}
