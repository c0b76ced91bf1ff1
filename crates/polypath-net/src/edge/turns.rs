//! Which of the hub's addresses each path tries, and when names are looked up again. Sans-I/O.

use polypath_bond::NodeEvent;
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// How the attempts of a path have gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) joined: bool,
    /// Connections that were lost, or never came about.
    losses: u64,
}

/// How the attempts of all paths have gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Fates(BTreeMap<PathId, Fate>);

impl Fates {
    pub(super) fn record(&mut self, event: &NodeEvent) {
        match event {
            NodeEvent::PathJoined { path, .. } => self.0.entry(*path).or_default().joined = true,
            NodeEvent::PathLost { path, .. } => {
                let fate = self.0.entry(*path).or_default();
                *fate = Fate { joined: false, losses: fate.losses + 1 };
            }
            NodeEvent::PathRefused { .. }
            | NodeEvent::BondOpened(_)
            | NodeEvent::SameKey { .. } => {}
        }
    }

    /// The path is being opened anew: what it had is gone.
    pub(super) fn begin_anew(&mut self, path: PathId) {
        self.0.entry(path).or_default().joined = false;
    }

    pub(super) fn of(&self, path: PathId) -> Fate {
        self.0.get(&path).copied().unwrap_or_default()
    }
}

/// The time for an address of which nothing is heard, while others wait: three packets on a path
/// with an RTT of 100 ms. It doubles with each round, for paths that are slower.
const FIRST_TURN: Duration = Duration::from_secs(1);
/// From here on the end of the attempt itself comes first.
const LONGEST_TURN: Duration = Duration::from_secs(8);

/// How far a path has come in the hub's addresses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    number: usize,
    fate: Fate,
    /// Where it has joined last: that address is tried first.
    kept: Option<SocketAddr>,
}

impl Turn {
    pub(super) fn is_joined(&self) -> bool {
        self.fate.joined
    }

    /// Takes up how the attempt at `remote` went; whether it failed.
    pub(super) fn learn(&mut self, fate: Fate, remote: SocketAddr) -> bool {
        let failed = fate.losses != self.fate.losses;
        if fate.joined {
            (self.number, self.kept) = (0, Some(remote));
        } else if failed && !self.fate.joined {
            self.number += 1;
        }
        self.fate = fate;
        failed
    }

    /// The next address, because this one keeps silent.
    pub(super) fn pass(&mut self) {
        self.number += 1;
    }

    /// The path begins anew, maybe elsewhere.
    pub(super) fn begin_anew(&mut self) {
        self.fate.joined = false;
    }

    /// `addresses` with the one to try now in front.
    pub(super) fn order(&self, mut addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
        if let Some(kept) = addresses.iter().position(|address| Some(*address) == self.kept) {
            let kept = addresses.remove(kept);
            addresses.insert(0, kept);
        }
        if !addresses.is_empty() {
            let turn = self.number % addresses.len();
            addresses.rotate_left(turn);
        }
        addresses
    }

    /// When the address that was begun at `since` has had its time. The last one of a round is left
    /// to fail by itself, so that whoever waits for the join is told.
    pub(super) fn deadline(&self, since: Timestamp, addresses: usize) -> Option<Timestamp> {
        let round = self.number.checked_div(addresses)?;
        let is_last = self.number % addresses == addresses - 1;
        if self.fate.joined || is_last {
            return None;
        }
        let time = FIRST_TURN * (1 << round.min(3));
        Some(since + time.min(LONGEST_TURN))
    }
}

/// When names are looked up again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pause: Duration,
    not_before: Timestamp,
    wanted: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { pause: Self::FIRST, not_before: Timestamp::ZERO, wanted: false }
    }
}

impl Pace {
    const FIRST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(60);

    /// An attempt failed, or a name has no address yet.
    pub(super) fn want(&mut self) {
        self.wanted = true;
    }

    /// A path has joined.
    pub(super) fn relax(&mut self) {
        (self.pause, self.wanted) = (Self::FIRST, false);
    }

    /// A lookup has come to its end; the next one waits longer.
    pub(super) fn done(&mut self, now: Timestamp) {
        self.wanted = false;
        self.not_before = now + self.pause;
        self.pause = (self.pause * 2).min(Self::LONGEST);
    }

    /// When to look up again.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.wanted.then_some(self.not_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> Vec<SocketAddr> {
        ["[::1]:1", "10.0.0.1:1", "10.0.0.2:1"].map(|text| text.parse().unwrap()).to_vec()
    }

    fn lost(losses: u64) -> Fate {
        Fate { joined: false, losses }
    }

    #[test]
    fn each_address_has_its_turn_and_the_one_that_worked_is_tried_first() {
        let (all, mut turn) = (addresses(), Turn::default());
        assert_eq!(turn.order(all.clone())[0], all[0]);
        assert!(turn.learn(lost(1), all[0]));
        assert_eq!(turn.order(all.clone())[0], all[1]);
        turn.pass();
        assert_eq!(turn.order(all.clone())[0], all[2]);
        turn.learn(Fate { joined: true, losses: 1 }, all[2]);
        assert!(turn.is_joined());
        // What worked is given one more attempt before the others.
        assert!(turn.learn(lost(2), all[2]));
        assert_eq!(turn.order(all.clone())[0], all[2]);
        turn.learn(lost(3), all[2]);
        assert_eq!(turn.order(all.clone())[0], all[0]);
        assert_eq!(turn.order(all[..1].to_vec()), all[..1], "the names have changed");
        assert!(turn.order(Vec::new()).is_empty());
    }

    #[test]
    fn silence_takes_longer_with_each_round_and_the_last_address_ends_by_itself() {
        let mut turn = Turn::default();
        let times: Vec<_> = (0..8)
            .map(|_| {
                let deadline = turn.deadline(Timestamp::ZERO, 2);
                turn.pass();
                deadline.map(|at| at.since(Timestamp::ZERO).as_secs())
            })
            .collect();
        assert_eq!(times, [Some(1), None, Some(2), None, Some(4), None, Some(8), None]);
        assert_eq!(Turn::default().deadline(Timestamp::ZERO, 1), None);
        assert_eq!(Turn::default().deadline(Timestamp::ZERO, 0), None);
    }

    #[test]
    fn lookups_become_rarer_until_a_path_joins() {
        let (mut pace, mut now) = (Pace::default(), Timestamp::ZERO);
        assert_eq!(pace.due(), None);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            pace.want();
            let due = pace.due().unwrap();
            pauses.push(due.since(now).as_secs());
            now = due;
            pace.done(now);
        }
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 32, 60]);
        pace.relax();
        pace.done(now);
        pace.want();
        assert_eq!(pace.due(), Some(now + Pace::FIRST));
    }
}
