//! Whether the machine kept up with the emulated links: figures of a run in which it did not are
//! those of the machine.

use std::time::Duration;

use polypath_emulator::realtime::{LatenessSummary, OVERRUN};
use polypath_emulator::relay::RelayPath;
use polypath_units::millis;

use crate::report::RunTiming;

/// How late packets may leave the links in a run whose figures count.
///
/// Rates: 99 of 100 packets at most half of the shortest one-way delay `d` of its links late. A
/// round trip passes two links and becomes up to `d` longer; a link of delay `d` or more has a
/// round trip of `2 d` at least, and the window that fills it and a queue of one bandwidth-delay
/// product bridges a pause of as long as that: half of it remains. The hundredth packet costs about
/// a hundredth of the rate.
///
/// Times: all packets at most `d` late. A gap or a return is then seen up to `2 d` too late, one
/// round trip of the fastest path, and it takes more than that to find out that a path is dead.
///
/// What is late by less than [`OVERRUN`] is so on any machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    most: Duration,
    all: Duration,
}

/// How late packets left the links in a run, over all paths and both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Late {
    p99: Duration,
    max: Duration,
}

impl Bounds {
    /// Those of a run over paths whose shortest delays are these.
    pub(super) fn of(delays: impl IntoIterator<Item = Duration>) -> Self {
        let shortest = delays.into_iter().min().unwrap_or_default();
        Self { most: (shortest / 2).max(OVERRUN), all: shortest.max(OVERRUN) }
    }

    /// Whether the rate of a run counts.
    pub(super) fn admit_rate(&self, late: &Late) -> bool {
        late.p99 <= self.most
    }

    /// Whether times that were measured in a run count.
    pub(super) fn admit_times(&self, late: &Late) -> bool {
        self.admit_rate(late) && late.max <= self.all
    }
}

/// The shorter delay of a path's two directions.
pub(super) fn shortest_delay(path: &RelayPath) -> Duration {
    path.link_up.delay.min(path.link_down.delay)
}

impl Late {
    pub(super) fn of(links: impl IntoIterator<Item = LatenessSummary>) -> Self {
        links.into_iter().fold(Self::default(), |late, link| Self {
            p99: late.p99.max(link.p99),
            max: late.max.max(link.max),
        })
    }

    /// What the report says of a run that was tried so often.
    pub(super) fn report(&self, run: &str, tries: u32, counts: bool) -> RunTiming {
        RunTiming {
            run: run.to_owned(),
            tries,
            late_p99_ms: millis(self.p99),
            late_max_ms: millis(self.max),
            counts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_link::LinkConfig;
    use polypath_units::Bandwidth;

    fn bounds(delays_ms: [u64; 2]) -> Bounds {
        let link =
            |ms| LinkConfig::new(Bandwidth::from_mbit_per_sec(10.0), Duration::from_millis(ms));
        let [link_up, link_down] = delays_ms.map(link);
        let listen = (std::net::Ipv4Addr::LOCALHOST, 0).into();
        Bounds::of([shortest_delay(&RelayPath {
            name: "a".to_owned(),
            link_up,
            link_down,
            listen,
        })])
    }

    fn late(p99_ms: u64, max_ms: u64) -> Late {
        let [p99, max] = [p99_ms, max_ms].map(Duration::from_millis);
        Late::of([LatenessSummary { p99, max, ..Default::default() }, Default::default()])
    }

    #[test]
    fn rates_count_up_to_half_of_the_shortest_delay_and_times_up_to_all_of_it() {
        let bounds = bounds([30, 10]);
        let admits = |late: Late| (bounds.admit_rate(&late), bounds.admit_times(&late));
        assert_eq!(admits(late(5, 10)), (true, true));
        assert_eq!(admits(late(5, 11)), (true, false));
        assert_eq!(admits(late(6, 10)), (false, false));
    }

    #[test]
    fn links_without_delay_may_be_as_late_as_any_machine_is() {
        assert!(bounds([0, 0]).admit_times(&late(1, 1)));
        assert!(!bounds([0, 0]).admit_rate(&late(2, 2)));
    }
}
