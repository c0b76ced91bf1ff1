//! Which of the hub's addresses each path tries first, and when names are looked up again.
//! Sans-I/O.

use polypath_bond::NodeEvent;
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// How the attempts of a path have gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// The hub's address with which it is joined now.
    pub(super) joined: Option<SocketAddr>,
    /// Connections that were lost, and rounds of attempts in which none came about.
    losses: u64,
}

/// How the attempts of all paths have gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Fates(BTreeMap<PathId, Fate>);

impl Fates {
    pub(super) fn record(&mut self, event: &NodeEvent) {
        match event {
            NodeEvent::PathJoined { path, remote, .. } => {
                self.0.entry(*path).or_default().joined = Some(*remote);
            }
            NodeEvent::PathLost { path, .. } => {
                let fate = self.0.entry(*path).or_default();
                *fate = Fate { joined: None, losses: fate.losses + 1 };
            }
            NodeEvent::PathRefused { .. }
            | NodeEvent::BondOpened(_)
            | NodeEvent::SameKey { .. } => {}
        }
    }

    /// The path is being opened anew: what it had is gone.
    pub(super) fn begin_anew(&mut self, path: PathId) {
        self.0.entry(path).or_default().joined = None;
    }

    pub(super) fn of(&self, path: PathId) -> Fate {
        self.0.get(&path).copied().unwrap_or_default()
    }
}

/// Which of the hub's addresses a path prefers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Preference {
    fate: Fate,
    /// Where it has joined last: that address is tried first.
    kept: Option<SocketAddr>,
}

impl Preference {
    /// The address with which the path is joined.
    pub(super) fn joined(&self) -> Option<SocketAddr> {
        self.fate.joined
    }

    /// Takes up how the attempts went; whether they failed.
    pub(super) fn learn(&mut self, fate: Fate) -> bool {
        let failed = fate.losses != self.fate.losses;
        self.kept = fate.joined.or(self.kept);
        self.fate = fate;
        failed
    }

    /// The path begins anew, maybe elsewhere.
    pub(super) fn begin_anew(&mut self) {
        self.fate.joined = None;
    }

    /// `addresses` with the one to try first in front.
    pub(super) fn order(&self, mut addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
        addresses.sort_by_key(|address| Some(*address) != self.kept);
        addresses
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
    use polypath_bond::{BondKey, LossReason};

    #[test]
    fn the_address_that_worked_is_tried_first_and_the_others_keep_their_order() {
        let all = ["[::1]:1", "10.0.0.1:1", "10.0.0.2:1"].map(|text| text.parse().unwrap());
        let (mut preference, path, bond) = (Preference::default(), PathId::default(), BondKey(0));
        let mut fates = Fates::default();
        assert_eq!(preference.order(all.to_vec()), all);
        fates.record(&NodeEvent::PathJoined { bond, path, remote: all[2] });
        assert!(!preference.learn(fates.of(path)));
        assert_eq!(preference.joined(), Some(all[2]));
        let reason = LossReason::Connection("timed out".to_owned());
        fates.record(&NodeEvent::PathLost { bond, path, reason });
        assert!(preference.learn(fates.of(path)));
        assert_eq!(preference.joined(), None);
        assert!(!preference.learn(fates.of(path)), "it is told once");
        assert_eq!(preference.order(all.to_vec()), [all[2], all[0], all[1]]);
        assert_eq!(preference.order(all[..1].to_vec()), all[..1], "the names have changed");
        assert!(preference.order(Vec::new()).is_empty());
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
