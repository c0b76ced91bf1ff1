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
        let there = |&(token, id): &Place| {
            all.iter().any(|one| one.token == token) && paths.iter().any(|path| path.id == id)
        };
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
