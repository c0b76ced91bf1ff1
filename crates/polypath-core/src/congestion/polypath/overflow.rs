//! How much of the room above a bandwidth-delay product the queue of the link can hold.
//!
//! A window of one BDP and some send quanta overflows the queue of a slow, near link in every
//! round: 4 packets of 25 ms at 1.8 Mbit/s, behind a queue of as many. A sixth of what is sent is
//! lost then, the bandwidth is the same, and nothing else reacts to losses. Ours.

use crate::congestion::Ack;

/// The share of losses is judged over this many segments: a single loss among fewer would already
/// be a large share.
const LEAST_SEGMENTS: u64 = 50;

/// What is left of the room when the queue does not hold it, as other controllers leave 0.7 of a
/// window.
const CUT: f64 = 0.7;

/// What the room grows by in a round without such losses, as a share of all of it: slow enough that
/// a queue that stays short seldom overflows, and all of it is back after twenty rounds.
const RETURN: f64 = 0.05;

/// One of the three quanta is left, however short the queue: without any, what is measured falls
/// with the window. 10 Mbit/s, 2 ms one way, with a queue of two packets would be 6 Mbit/s.
const LEAST_ROOM: f64 = 1.0 / 3.0;

/// The share of the room that is used, by what was lost while a queue stood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Overflow {
    room: f64,
    acked: u64,
    lost: u64,
    /// What is lost next was sent before the room was cut.
    cut: bool,
}

impl Default for Overflow {
    fn default() -> Self {
        Self { room: 1.0, acked: 0, lost: 0, cut: false }
    }
}

impl Overflow {
    /// The share of the room above a BDP that the window may have.
    pub(super) const fn room(&self) -> f64 {
        self.room
    }

    /// Takes an ACK. `queued`: its RTT shows a queue; what is lost without one says nothing of its
    /// length. At the end of a round the room is cut if a larger share than `threshold` was lost.
    pub(super) fn on_ack(&mut self, ack: &Ack, queued: bool, threshold: f64) {
        self.acked += ack.acked_bytes;
        self.lost += if queued { ack.lost_bytes } else { 0 };
        if ack.round_start && self.acked + self.lost >= LEAST_SEGMENTS * ack.mss {
            self.judge(threshold);
        }
    }

    fn judge(&mut self, threshold: f64) {
        let share = self.lost as f64 / (self.acked + self.lost) as f64;
        let overflows = share > threshold;
        let room = match overflows {
            true if self.cut => self.room,
            true => (self.room * CUT).max(LEAST_ROOM),
            false => (self.room + RETURN).min(1.0),
        };
        *self = Self { room, cut: overflows && !self.cut, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::PolypathParameters;
    use crate::congestion::testing::ack;

    /// A round with this many segments, and this many of them lost.
    fn round(overflow: &mut Overflow, segments: u64, lost: u64, queued: bool) -> f64 {
        let acked = (segments - lost) * 1_000;
        let ack = Ack { lost_bytes: lost * 1_000, round_start: true, ..ack(acked, 1_000) };
        overflow.on_ack(&ack, queued, PolypathParameters::DEFAULT.overflow_loss);
        (overflow.room() * 1e9).round() / 1e9
    }

    #[test]
    fn what_overflows_is_cut_once_for_what_was_sent_before() {
        let mut overflow = Overflow::default();
        let mut lossy = |lost| round(&mut overflow, 100, lost, true);
        assert_eq!([lossy(5), lossy(6), lossy(6), lossy(6)], [1.0, 0.7, 0.7, 0.49]);
        assert_eq!([lossy(5), lossy(6)], [0.54, 0.378], "the losses had ended");
    }

    #[test]
    fn one_of_three_quanta_is_left() {
        let mut overflow = Overflow::default();
        for _ in 0..20 {
            round(&mut overflow, 100, 50, true);
        }
        assert_eq!(overflow.room(), LEAST_ROOM);
    }

    #[test]
    fn it_grows_again_up_to_all() {
        let mut overflow = Overflow { room: 0.92, ..Overflow::default() };
        assert_eq!([0; 2].map(|lost| round(&mut overflow, 100, lost, true)), [0.97, 1.0]);
    }

    #[test]
    fn losses_without_a_queue_cut_nothing() {
        let mut overflow = Overflow::default();
        assert_eq!([50; 3].map(|lost| round(&mut overflow, 100, lost, false)), [1.0; 3]);
    }

    /// One of 20 segments is 5 %, and three of 49 are 6 %.
    #[test]
    fn rounds_of_few_segments_are_judged_together() {
        let mut overflow = Overflow::default();
        let mut lossy = |segments| round(&mut overflow, segments, 3, true);
        assert_eq!([lossy(20), lossy(20), lossy(20)], [1.0, 1.0, 0.7]);
    }
}
