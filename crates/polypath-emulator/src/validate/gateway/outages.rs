//! Paths that die without a word, one after the other, and come back.

use super::error::GatewayError;
use super::settings::GatewaySettings;
use super::site::Site;
use polypath_sim::Direction;
use polypath_units::Timestamp;
use std::time::Duration;

/// All paths are alive for so long before each death, and after the last return.
const ALIVE: Duration = Duration::from_secs(2);
/// How long a path is dead: longer than it takes to find that out.
const DEAD: Duration = Duration::from_secs(3);
/// Within this time a path that has come back carries data again.
const PATIENCE: Duration = Duration::from_millis(500);

/// When each path dies: all in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outages {
    begin: Timestamp,
    paths: usize,
}

impl Outages {
    /// Those of so many paths, from a time on.
    pub(super) const fn after(begin: Timestamp, paths: usize) -> Self {
        Self { begin, paths }
    }

    /// When the first life begins.
    pub(super) const fn begin(&self) -> Timestamp {
        self.begin
    }

    /// When the last life ends.
    pub(super) fn end(&self) -> Timestamp {
        self.begin + (ALIVE + DEAD) * self.paths as u32 + ALIVE
    }

    /// When a path dies, and when it is back.
    pub(super) fn of(&self, path: usize) -> (Timestamp, Timestamp) {
        let dies = self.begin + (ALIVE + DEAD) * path as u32 + ALIVE;
        (dies, dies + DEAD)
    }

    /// Whether what a path is given at this time does not get through, its delay being that, or it
    /// need not be known that it would.
    pub(super) fn is_dead(&self, path: usize, at: Timestamp, delay: Duration) -> bool {
        let (dies, returns) = self.of(path);
        at + delay >= dies && at < returns + PATIENCE
    }

    /// Lets them happen until the end; does something when a path has come back, and the time that
    /// it may take is until all that follows is due.
    pub(super) fn play(
        &self,
        site: &Site,
        settings: &GatewaySettings,
        mut returned: impl FnMut(usize),
    ) -> Result<(), GatewayError> {
        let (clock, interrupt) = (site.clock(), &settings.interrupt);
        for path in 0..self.paths {
            let (dies, returns) = self.of(path);
            interrupt.wait(clock, dies)?;
            site.set_down(path, true);
            interrupt.wait(clock, returns)?;
            site.set_down(path, false);
            returned(path);
        }
        interrupt.wait(clock, self.end())
    }
}

impl Site {
    /// Switches a path off, silently and in both directions, or on again.
    fn set_down(&self, path: usize, down: bool) {
        for direction in [Direction::Up, Direction::Down] {
            self.network().wires()[path].set_down(direction, down);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_die_in_turn() {
        let ms = Timestamp::from_millis;
        let outages = Outages::after(ms(1_000), 2);
        assert_eq!(outages.of(0), (ms(3_000), ms(6_000)));
        assert_eq!(outages.of(1), (ms(8_000), ms(11_000)));
        assert_eq!(outages.end(), ms(13_000));
        let dead = |at| outages.is_dead(0, ms(at), Duration::from_millis(10));
        assert_eq!([2_989, 2_990, 6_499, 6_500].map(dead), [false, true, true, false]);
        assert!(!outages.is_dead(1, ms(3_000), Duration::ZERO));
    }
}
