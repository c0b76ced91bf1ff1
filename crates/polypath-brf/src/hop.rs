//! What a switch does with the code of a passing acknowledgement.
//!
//! Source: S4 section 3.2, equation (7) with the index of its last term corrected. Rates in
//! bytes/s. The sender sees the smallest rate of the switches on the way, because each writes its
//! own where none is written or the one written is not smaller.
//!
//! S4 writes once in an RTT to save work. Two additions keep the minimum true all the same:
//!
//! - an acknowledgement that carries a rate is always checked. Otherwise what an earlier switch
//!   wrote between two turns of a later one would pass, and so would what a receiver forges;
//! - where nothing is carried, a switch does not write more than what it saw carried lately.
//!   Otherwise a switch whose turn comes with an acknowledgement that the narrower one left out
//!   would tell the sender too much.

use super::Code;
use polypath_units::Timestamp;
use std::time::Duration;

/// The code that leaves a switch which allots `own` bytes/s, where `carried` arrived.
pub fn hop(carried: Code, own: f64) -> Code {
    match carried.bytes_per_sec() {
        Some(rate) if rate < own => carried,
        _ => or_unchanged(Code::encode(own), carried),
    }
}

/// A switch without an allocation leaves the field alone.
fn or_unchanged(code: Code, carried: Code) -> Code {
    if code == Code::UNASSIGNED { carried } else { code }
}

/// Writes the rates of one flow into its acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Writer {
    written_at: Option<Timestamp>,
    /// The rate that arrived last, and when.
    carried: Option<(f64, Timestamp)>,
}

/// How often a rate is written, and how long a carried one is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turns {
    pub(super) interval: Duration,
    pub(super) memory: Duration,
}

impl Writer {
    /// The code that leaves with an acknowledgement which carried `carried`.
    pub(super) fn write(&mut self, now: Timestamp, carried: Code, own: f64, turns: Turns) -> Code {
        if let Some(rate) = carried.bytes_per_sec() {
            self.carried = Some((rate, now));
            self.written_at = Some(now);
            return hop(carried, own);
        }
        if self.written_at.is_some_and(|last| now - last < turns.interval) {
            return carried;
        }
        self.written_at = Some(now);
        let elsewhere = self.carried.filter(|&(_, at)| now - at <= turns.memory);
        hop(carried, elsewhere.map_or(own, |(rate, _)| own.min(rate)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TURNS: Turns =
        Turns { interval: Duration::from_millis(20), memory: Duration::from_secs(1) };

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn t_hop_1() {
        assert_eq!(hop(Code::new(12_005), 12.5e6).get(), 12_504);
        assert_eq!(hop(Code::new(12_005), 200e6).get(), 12_005);
        assert_eq!(hop(Code::new(65_520), 120e6).get(), 65_520, "6552 bytes/s are less");
        assert_eq!(hop(Code::UNASSIGNED, 12.5e6).get(), 12_504);
        assert_eq!(hop(Code::new(12_504), 12.5e6).get(), 12_504, "equal");
    }

    #[test]
    fn a_switch_without_an_allocation_changes_nothing() {
        for code in [0, 7, 12_005] {
            assert_eq!(hop(Code::new(code), 0.0), Code::new(code));
            assert_eq!(hop(Code::new(code), f64::NAN), Code::new(code));
        }
    }

    #[test]
    fn a_rate_is_written_once_in_an_interval_and_first_at_once() {
        let mut writer = Writer::default();
        let mut written = |at| writer.write(ms(at), Code::UNASSIGNED, 1e6, TURNS).get();
        assert_eq!([0, 1, 19, 20, 39, 40].map(&mut written), [10_003, 0, 0, 10_003, 0, 10_003]);
    }

    #[test]
    fn a_forged_rate_is_lowered_in_every_acknowledgement() {
        let mut writer = Writer::default();
        for at in 0..10 {
            let code = writer.write(ms(at), Code::new(u16::MAX), 1e6, TURNS);
            assert_eq!(code.get(), 10_003);
        }
        // A field without a value cannot be used to keep the switch from writing.
        assert_eq!(writer.write(ms(30), Code::new(5), 1e6, TURNS).get(), 10_003);
    }

    #[test]
    fn a_narrower_switch_is_remembered_for_a_while() {
        let mut writer = Writer::default();
        assert_eq!(writer.write(ms(0), Code::encode(4e5), 1e6, TURNS), Code::encode(4e5));
        assert_eq!(writer.write(ms(30), Code::UNASSIGNED, 1e6, TURNS), Code::encode(4e5));
        assert_eq!(writer.write(ms(1_100), Code::UNASSIGNED, 1e6, TURNS), Code::encode(1e6));
    }

    proptest! {
        /// Equation (7), for any order of switches and whatever the receiver wrote.
        #[test]
        fn the_sender_sees_the_smallest_rate(
            forged: u16,
            switches in prop::collection::vec(1.0f64..1e12, 1..8),
        ) {
            let seen = switches.iter().fold(Code::new(forged), |code, &own| hop(code, own));
            let own = switches.iter().copied().fold(f64::INFINITY, f64::min);
            let least = Code::new(forged).bytes_per_sec().unwrap_or(own).min(own);
            prop_assert_eq!(seen.bytes_per_sec(), Code::encode(least).bytes_per_sec());
        }

        /// Several switches that write in their own turns: no acknowledgement tells the
        /// sender more than the narrowest switch allots, once that one has written.
        #[test]
        fn turns_of_several_switches_never_exceed_the_narrowest(
            switches in prop::collection::vec((1e3f64..1e9, 1u64..80), 2..6),
            gaps in prop::collection::vec(0u64..30, 1..200),
        ) {
            let least = switches.iter().map(|&(own, _)| own).fold(f64::INFINITY, f64::min);
            let mut writers = vec![Writer::default(); switches.len()];
            let mut now = Timestamp::ZERO;
            for gap in gaps {
                now += Duration::from_millis(gap);
                let code = writers.iter_mut().zip(&switches).fold(
                    Code::UNASSIGNED,
                    |code, (writer, &(own, interval))| {
                        let interval = Duration::from_millis(interval);
                        writer.write(now, code, own, Turns { interval, ..TURNS })
                    },
                );
                prop_assert!(code.bytes_per_sec().is_none_or(|rate| rate <= least));
            }
        }
    }
}
