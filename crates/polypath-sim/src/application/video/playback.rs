//! What the viewer sees: the buffer, and where it runs empty.

use polypath_units::Timestamp;
use std::time::Duration;

/// A player's buffer in playing time. It plays as soon as a chunk is there, at first and after a
/// stall [A]: with chunks of seconds players wait for no more.
#[derive(Clone, Debug)]
pub(super) struct Playback {
    /// What was left at `at`.
    level: Duration,
    at: Timestamp,
    state: State,
    played: Duration,
    stalls: u32,
    /// Of stalls that are over.
    stalled: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Playing,
    Stalled { since: Timestamp },
}

impl Playback {
    /// Nothing is there yet.
    pub(super) fn new(start: Timestamp) -> Self {
        Self {
            level: Duration::ZERO,
            at: start,
            state: State::Waiting,
            played: Duration::ZERO,
            stalls: 0,
            stalled: Duration::ZERO,
        }
    }

    /// Plays on until `now`.
    pub(super) fn advance(&mut self, now: Timestamp) {
        let elapsed = now.since(self.at);
        if self.state == State::Playing {
            let played = elapsed.min(self.level);
            if elapsed > self.level {
                self.state = State::Stalled { since: self.at + self.level };
                self.stalls += 1;
            }
            self.played += played;
            self.level -= played;
        }
        self.at = now;
    }

    /// A chunk has come. Returns whether it was the first.
    pub(super) fn add(&mut self, chunk: Duration, now: Timestamp) -> bool {
        self.advance(now);
        self.level += chunk;
        if let State::Stalled { since } = self.state {
            self.stalled += now.since(since);
        }
        std::mem::replace(&mut self.state, State::Playing) == State::Waiting
    }

    /// What is left to play, as of the last [`Playback::advance`].
    pub(super) fn level(&self) -> Duration {
        self.level
    }

    /// What was played.
    pub(super) fn played(&self) -> Duration {
        self.played
    }

    /// How many stalls there were, and how long they lasted, the present one included.
    pub(super) fn stalls(&self) -> (u32, Duration) {
        let present = match self.state {
            State::Stalled { since } => self.at.since(since),
            _ => Duration::ZERO,
        };
        (self.stalls, self.stalled + present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stalls_when_it_has_played_everything() {
        let (s, at) = (Duration::from_secs, |s: u64| Timestamp::from_millis(1_000 * s));
        let mut playback = Playback::new(at(1));
        assert!(playback.add(s(2), at(4)), "the first");
        assert!(!playback.add(s(2), at(5)));
        playback.advance(at(8));
        assert_eq!((playback.level(), playback.stalls()), (s(0), (0, s(0))), "played, on time");
        playback.advance(at(9));
        assert_eq!((playback.played(), playback.stalls()), (s(4), (1, s(1))));
        playback.add(s(2), at(11));
        playback.advance(at(12));
        assert_eq!((playback.level(), playback.stalls()), (s(1), (1, s(3))));
    }
}
