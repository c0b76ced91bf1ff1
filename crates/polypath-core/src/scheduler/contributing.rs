//! Highest rate first.
//!
//! Source: (paper and equation). Rule: `argmax rate` over the paths that have room.

use super::candidates::Candidates;
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values};
use polypath_units::Timestamp;

/// Highest rate first. Stateless.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastestRate;

impl FastestRate {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "fastest_rate",
        purpose: "the path with room that has the highest delivery rate",
        source: "an example",
        parameters: &[],
    };

    /// A scheduler with these values of its parameters, of which it has none.
    pub fn build(_values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self)
    }
}

impl Scheduler for FastestRate {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let fastest = candidates.available().max_by(|a, b| a.rate.total_cmp(&b.rate));
        fastest.map_or_else(|| candidates.wait(now), |path| Pick::Send(path.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, id, path};

    #[test]
    fn the_fastest_path_with_room_is_taken() {
        let [slow, fast] = [path(0, 10, 10), PathView { rate: 1e6, ..path(1, 40, 10) }];
        let pick = |paths: &[PathView]| FastestRate.pick(paths, &bulk(), Timestamp::ZERO);
        assert_eq!(pick(&[slow, fast]), Pick::Send(id(1)));
        assert_eq!(pick(&[slow, full(fast)]), Pick::Send(id(0)));
    }
}
