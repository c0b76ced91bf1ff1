//! Copies of what a suspected path carries.
//!
//! Until the peer has answered whether anything arrives on a path, the receiver waits for what it
//! may have lost. The other paths bring the oldest of that meanwhile, in every second packet: if
//! the path is dead the receiver has it a round trip earlier, and if only its acknowledgements are
//! late, no more than half of a round trip of the others is spent on copies.

use super::late::DEPTH;
use super::{Bond, Transmit};
use crate::send::SentChunk;
use polypath_units::Timestamp;

impl Bond {
    /// A copy of the oldest data that a suspected path alone carries, or new data: by turns, as
    /// long as there are both.
    pub(super) fn poll_suspected_or_data(&mut self, now: Timestamp) -> Option<Transmit> {
        if std::mem::take(&mut self.copied_suspected) {
            return self.poll_data(now).or_else(|| self.copy_suspected(now));
        }
        self.copy_suspected(now).or_else(|| self.poll_data(now))
    }

    fn copy_suspected(&mut self, now: Timestamp) -> Option<Transmit> {
        let suspected = self.paths.suspected();
        if suspected.is_empty() {
            return None;
        }
        let others = self.paths.active().minus(suspected);
        let path = self.fastest_idle(others)?.id;
        let due = |chunk: &SentChunk| {
            let (last, _) = chunk.last_sent?;
            (suspected.contains(last) && !chunk.sent_on.contains(path)).then_some(now)
        };
        let dsn = self.chunks.find_late(DEPTH, now, due).ok()?;
        let copy = self.build_copy(path, dsn, now)?;
        self.copied_suspected = true;
        Some(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{hub, send_all, settings};
    use crate::config::BondConfig;
    use bytes::Bytes;
    use polypath_units::PathId;
    use std::collections::VecDeque;
    use std::time::Duration;

    const SILENT: PathId = PathId::new(0).unwrap();
    const STABLE: PathId = PathId::new(1).unwrap();

    const RTT: Duration = Duration::from_millis(20);

    /// A bond with more to send than it can, over two paths of 20 ms. What the stable one carries
    /// is acknowledged a round trip later, of what the silent one carries only the first packet.
    struct Silence {
        bond: Bond,
        now: Timestamp,
        number: u64,
        /// What to acknowledge, and when.
        under_way: VecDeque<(Timestamp, PathId, u64)>,
        /// Packets of the silent path that are not acknowledged, and the DSNs in them.
        silent: Vec<u64>,
        held: Vec<u64>,
    }

    impl Silence {
        /// Until the peer is asked. The DSNs that have left on the stable path since.
        fn suspected() -> (Self, Vec<u64>) {
            let mut bond = hub(BondConfig::default(), Some(RTT));
            bond.add_path(STABLE, settings("b", Some(RTT)), Timestamp::ZERO);
            let id = bond.open_stream().unwrap();
            bond.write(id, &Bytes::from(vec![0; 1 << 20])).unwrap();
            let (now, under_way) = (Timestamp::ZERO, VecDeque::new());
            let (silent, held) = (Vec::new(), Vec::new());
            let mut silence = Self { bond, now, number: 0, under_way, silent, held };
            loop {
                let sent = silence.after_a_millisecond();
                if !silence.bond.paths.suspected().is_empty() {
                    return (silence, sent);
                }
                assert!(!silence.copies(&sent).contains(&true), "{:?}", silence.now);
                assert!(silence.now < Timestamp::from_millis(200));
            }
        }

        /// The DSNs that leave on the stable path.
        fn after_a_millisecond(&mut self) -> Vec<u64> {
            self.now += Duration::from_millis(1);
            while let Some((_, path, number)) =
                self.under_way.pop_front_if(|(at, ..)| *at <= self.now)
            {
                self.bond.on_packet_acked(path, number, self.now);
                self.bond.on_acks_end(path, self.now);
            }
            self.bond.handle_timeout(self.now);
            let mut numbers = self.number..;
            let sent = send_all(&mut self.bond, &mut self.number, self.now);
            let mut on_stable = Vec::new();
            for ((path, dsn), number) in sent.into_iter().zip(&mut numbers) {
                if path == STABLE || number == 0 {
                    self.under_way.push_back((self.now + RTT, path, number));
                } else {
                    self.silent.push(number);
                    self.held.extend(dsn);
                }
                on_stable.extend(dsn.filter(|_| path == STABLE));
            }
            on_stable
        }

        fn copies(&self, sent: &[u64]) -> Vec<bool> {
            sent.iter().map(|dsn| self.held.contains(dsn)).collect()
        }
    }

    /// The peer answers nothing.
    #[test]
    fn while_a_path_is_suspected_every_second_packet_brings_the_oldest_of_what_it_carries() {
        let (mut silence, mut sent) = Silence::suspected();
        while sent.len() < 4 {
            sent.extend(silence.after_a_millisecond());
        }
        let copies = silence.copies(&sent);
        assert!(copies.windows(2).all(|two| two[0] != two[1]), "{copies:?}");
        let first = sent.iter().find(|dsn| silence.held.contains(dsn));
        assert_eq!(first, silence.held.first());
    }

    #[test]
    fn a_path_that_answers_is_not_copied() {
        let (mut silence, _) = Silence::suspected();
        silence.bond.on_packet_acked(SILENT, silence.silent[0], silence.now);
        silence.bond.on_acks_end(SILENT, silence.now);
        let mut sent = Vec::new();
        while sent.len() < 4 {
            sent.extend(silence.after_a_millisecond());
        }
        assert!(!silence.copies(&sent).contains(&true));
    }
}
