//! How much of the room above a bandwidth-delay product the queue of the link can hold.
//!
//! A window of one BDP and some send quanta overflows the queue of a slow, near link in every
//! round: at 1.8 Mbit/s and 25 ms a BDP is 4 packets, and the queue holds as many. A sixth of what
//! is sent is then lost without any gain in bandwidth, and nothing else reacts to losses. This rule
//! is Polypath's own.

use super::steady::Steady;
use crate::congestion::Ack;

/// The share of losses is judged over this many segments: a single loss among fewer would already
/// be a large share.
const LEAST_SEGMENTS: u64 = 50;

/// One of the three quanta is left, however short the queue is. Without any, the measured bandwidth
/// falls with the window: 10 Mbit/s, 2 ms one way, with a queue of two packets would give 6 Mbit/s.
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

    /// `queued`: the RTT shows a queue. What is lost without a queue says nothing about its length.
    pub(super) fn on_ack(&mut self, ack: &Ack, queued: bool, steady: &Steady) {
        self.acked += ack.acked_bytes;
        self.lost += if queued { ack.lost_bytes } else { 0 };
        if ack.round_start && self.acked + self.lost >= LEAST_SEGMENTS * ack.mss {
            self.judge(steady);
        }
    }

    fn judge(&mut self, steady: &Steady) {
        let share = self.lost as f64 / (self.acked + self.lost) as f64;
        let overflows = share > steady.overflow_loss;
        let room = match overflows {
            true if self.cut => self.room,
            true => (self.room * steady.overflow_cut).max(LEAST_ROOM),
            false => (self.room + steady.overflow_growth).min(1.0),
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
        overflow.on_ack(&ack, queued, &PolypathParameters::DEFAULT.steady());
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
