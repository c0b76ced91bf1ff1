//! On which paths a connection is to have new subflows, and when it is tried.
//!
//! A dead path is watched by trying: the SYN of a subflow (MP_JOIN, RFC 8684 section 3.2) goes
//! where its data would go, through the same address translators, to a port that answers. It is
//! tried at once, and then every half second; every eighth try has 4 s, in which the kernel repeats
//! the SYN each second, so that a path is found that answers later than half a second. A path that
//! works again so has a subflow within a second and a round trip. Where there never was one, or
//! the peer refuses, tries become rare.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use polypath_units::Timestamp;

use crate::path::Path;
use crate::state::{Ends, NewSubflow, Stage, Subflow};

/// The time of a try, and of every eighth.
const TRY: Duration = Duration::from_millis(500);
const LONG_TRY: Duration = Duration::from_secs(4);
const LONG_EVERY: u32 = 8;
/// Tries of what was refused, or never worked, become as rare as this.
const RAREST: Duration = Duration::from_secs(60);
/// The third packet of a handshake is in the first data, or just behind it.
const TOO_EARLY: Duration = Duration::from_millis(20);
/// So many SYNs at most at a time; the others are sent at the next.
const MOST_AT_ONCE: usize = 64;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Make a subflow.
    Create(NewSubflow),
    /// End one that was not answered.
    Abandon {
        /// The token of its connection.
        token: u32,
        /// The subflow.
        ends: Ends,
    },
}

/// A connection that is to have subflows.
#[derive(Clone, Copy, Debug)]
pub struct Wanting<'a> {
    /// Its token.
    pub token: u32,
    /// Its subflows.
    pub subflows: &'a [Subflow],
    /// Those of them that are silent and of which another is wanted on the same path.
    pub silent: &'a [Ends],
}

/// A connection and an address identifier.
type Place = (u32, u8);

#[derive(Clone, Copy, Debug)]
struct Attempt {
    tries: u32,
    /// Until when the present try lasts.
    until: Timestamp,
    /// Whether there was a subflow before, so that the path is known to work for the connection.
    known: bool,
    /// Tries in a row that were refused.
    refused: u32,
}

/// All tries of all connections.
#[derive(Debug, Default)]
pub struct Joins {
    attempts: BTreeMap<Place, Attempt>,
    /// Where there has been a subflow.
    known: BTreeSet<Place>,
}

impl Joins {
    /// What is to be done now for these connections, which are all.
    pub fn due(&mut self, all: &[Wanting<'_>], paths: &[Path], now: Timestamp) -> Vec<Join> {
        let tokens: BTreeSet<u32> = all.iter().map(|one| one.token).collect();
        let there =
            |(token, id): &Place| tokens.contains(token) && paths.iter().any(|path| path.id == *id);
        self.attempts.retain(|place, _| there(place));
        self.known.retain(there);
        let mut joins = Vec::new();
        for (wanting, path) in all.iter().flat_map(|one| paths.iter().map(move |path| (one, path)))
        {
            if joins.len() < MOST_AT_ONCE {
                self.consider(wanting, path, now, &mut joins);
            }
        }
        joins
    }

    /// The connection was not ready for a subflow that was to be made now: it soon is.
    pub fn too_early(&mut self, new: &NewSubflow, now: Timestamp) {
        if let Some(attempt) = self.attempts.get_mut(&(new.token, new.local_id)) {
            (attempt.tries, attempt.until) = (0, now + TOO_EARLY);
        }
    }

    /// When something is due next.
    pub fn next(&self) -> Option<Timestamp> {
        self.attempts.values().map(|attempt| attempt.until).min()
    }

    fn consider(&mut self, one: &Wanting<'_>, path: &Path, now: Timestamp, joins: &mut Vec<Join>) {
        let Some(remote) = one.subflows.iter().find(|subflow| subflow.opened_here) else { return };
        let remote = remote.ends.remote;
        if remote.is_ipv4() != path.address.is_ipv4() {
            return;
        }
        let here = |subflow: &&Subflow| subflow.ends.local.ip() == path.address;
        let mut here = one.subflows.iter().filter(here);
        let place = (one.token, path.id);
        let works =
            |subflow: &Subflow| subflow.stage == Stage::Open && !one.silent.contains(&subflow.ends);
        if here.clone().any(works) {
            self.attempts.remove(&place);
            self.known.insert(place);
            return;
        }
        let opening = here.find(|subflow| subflow.stage == Stage::Opening);
        let known = self.known.contains(&place);
        let first = Attempt { tries: 0, until: now, known, refused: 0 };
        let attempt = self.attempts.entry(place).or_insert(first);
        if attempt.until > now {
            // What is gone before its time was refused.
            return;
        }
        match opening {
            Some(opening) => {
                attempt.refused = 0;
                joins.push(Join::Abandon { token: one.token, ends: opening.ends });
            }
            None if attempt.tries > 0 => attempt.refused = attempt.refused.saturating_add(1),
            None => {}
        }
        attempt.until = now + attempt.time();
        attempt.tries = attempt.tries.saturating_add(1);
        let Path { address, id, index, backup, .. } = *path;
        joins.push(Join::Create(NewSubflow {
            token: one.token,
            local: address,
            local_id: id,
            interface: index,
            remote,
            backup,
        }));
    }
}

impl Attempt {
    /// How long the next try lasts.
    fn time(&self) -> Duration {
        let doublings = if self.known { self.refused } else { self.refused.max(self.tries / 2) };
        if doublings > 0 {
            return TRY.saturating_mul(1 << doublings.min(16)).min(RAREST);
        }
        if self.tries % LONG_EVERY == LONG_EVERY - 1 { LONG_TRY } else { TRY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::TcpState;

    const AT: fn(u64) -> Timestamp = Timestamp::from_millis;

    fn path(id: u8) -> Path {
        let address = [10, 0, id, 1].into();
        Path { interface: format!("eth{id}"), index: 1, address, id, backup: false, priority: 0 }
    }

    fn subflow(id: u8, stage: Stage) -> Subflow {
        let ends =
            Ends { local: ([10, 0, id, 1], 4_000).into(), remote: ([10, 9, 9, 9], 443).into() };
        let tcp = TcpState::default();
        Subflow {
            token: 5,
            ends,
            bound_to: 0,
            local_id: id,
            remote_id: 0,
            opened_here: true,
            backup: false,
            stage,
            tcp,
        }
    }

    /// A world in which what is asked for on path 2 becomes `answer` at once.
    struct World {
        joins: Joins,
        subflows: Vec<Subflow>,
        answer: Option<Stage>,
    }

    impl World {
        fn new(subflows: Vec<Subflow>, answer: Option<Stage>) -> Self {
            Self { joins: Joins::default(), subflows, answer }
        }

        /// When a subflow over path 2 was asked for, until a time.
        fn asked(&mut self, from: u64, until: u64) -> Vec<u64> {
            let mut asked = Vec::new();
            for now in from..until {
                let wanting = Wanting { token: 5, subflows: &self.subflows, silent: &[] };
                for join in self.joins.due(&[wanting], &[path(1), path(2)], AT(now)) {
                    match join {
                        Join::Create(new) => {
                            assert_eq!(new.local_id, 2, "there is one over path 1");
                            asked.push(now);
                            let answer = self.answer.map(|stage| subflow(2, stage));
                            self.subflows.extend(answer);
                        }
                        Join::Abandon { ends, .. } => {
                            self.subflows.retain(|subflow| subflow.ends != ends);
                        }
                    }
                }
            }
            asked
        }
    }

    #[test]
    fn a_subflow_over_each_path_is_asked_for_once() {
        let mut world = World::new(vec![subflow(1, Stage::Open)], Some(Stage::Open));
        assert_eq!(world.asked(0, 5_000), [0]);
    }

    /// A path that returns at any time has a SYN within a second: tries are half a second apart,
    /// and in the eighth, which has four, the kernel sends one each second.
    #[test]
    fn a_dead_path_is_tried_twice_a_second_for_as_long_as_it_takes() {
        let both = vec![subflow(1, Stage::Open), subflow(2, Stage::Open)];
        let mut world = World::new(both, Some(Stage::Opening));
        assert_eq!(world.asked(0, 1_000), []);
        world.subflows.pop();
        let asked = world.asked(1_000, 16_000);
        assert_eq!(asked[..8], [1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000, 4_500]);
        assert_eq!(asked[8..10], [8_500, 9_000]);
        let longest = asked.windows(2).map(|two| two[1] - two[0]).max();
        assert_eq!(longest, Some(LONG_TRY.as_millis() as u64));
    }

    #[test]
    fn what_never_worked_or_is_refused_is_tried_ever_more_rarely() {
        let never =
            World::new(vec![subflow(1, Stage::Open)], Some(Stage::Opening)).asked(0, 600_000);
        let both = vec![subflow(1, Stage::Open), subflow(2, Stage::Open)];
        let mut refusing = World::new(both, None);
        refusing.asked(0, 1);
        refusing.subflows.pop();
        let refused = refusing.asked(1, 600_000);
        for asked in [never, refused] {
            let gaps: Vec<_> = asked.windows(2).map(|two| two[1] - two[0]).collect();
            assert!(gaps.is_sorted(), "{gaps:?}");
            assert_eq!(gaps.last(), Some(&(RAREST.as_millis() as u64)), "{gaps:?}");
        }
    }

    #[test]
    fn a_connection_that_is_not_ready_is_asked_again_soon() {
        let only = [subflow(1, Stage::Open)];
        let wanting = Wanting { token: 5, subflows: &only, silent: &[] };
        let mut joins = Joins::default();
        let asked = joins.due(&[wanting], &[path(2)], AT(0));
        let [Join::Create(new)] = asked[..] else { panic!("{asked:?}") };
        joins.too_early(&new, AT(0));
        assert_eq!(joins.due(&[wanting], &[path(2)], AT(19)), []);
        assert_eq!(joins.due(&[wanting], &[path(2)], AT(20)), asked);
    }

    #[test]
    fn connections_that_the_peer_has_opened_are_left_to_it() {
        let theirs = Subflow { opened_here: false, ..subflow(1, Stage::Open) };
        assert_eq!(World::new(vec![theirs], Some(Stage::Open)).asked(0, 100), []);
    }

    #[test]
    fn a_silent_subflow_does_not_count() {
        let mut joins = Joins::default();
        let only = [subflow(1, Stage::Open)];
        let wanting = |silent| Wanting { token: 5, subflows: &only, silent };
        assert_eq!(joins.due(&[wanting(&[])], &[path(1)], AT(0)), []);
        let silent = [only[0].ends];
        let due = joins.due(&[wanting(&silent)], &[path(1)], AT(1));
        assert!(matches!(due[..], [Join::Create(_)]), "{due:?}");
    }

    #[test]
    fn there_are_never_more_tries_at_once_than_allowed() {
        let all: Vec<_> = (0..500).map(|token| (token, [subflow(1, Stage::Open)])).collect();
        let wanting: Vec<_> = all
            .iter()
            .map(|(token, subflows)| Wanting { token: *token, subflows, silent: &[] })
            .collect();
        let mut joins = Joins::default();
        let paths = [path(1), path(2)];
        let mut asked = 0;
        for now in 0..8 {
            let due = joins.due(&wanting, &paths, AT(now)).len();
            assert!(due <= MOST_AT_ONCE);
            asked += due;
        }
        assert_eq!(asked, 500, "all have had their turn");
    }
}
