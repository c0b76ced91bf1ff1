//! Which path has the smallest delay, for flows that ask so with each datagram.

use super::{Bond, Transmit};
use crate::codec::{FlowId, Frame};
use crate::path::Payload;
use polypath_core::congestion::Congestion;
use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// While delays are compared, a path whose delay was not measured for so long is measured.
const MEASURE_AFTER: Duration = Duration::from_secs(1);

/// When delays were compared and measured last.
#[derive(Debug, Default)]
pub(super) struct Delays {
    compared: Option<Timestamp>,
    measured: BTreeMap<PathId, Timestamp>,
}

impl Delays {
    pub(super) fn on_compared(&mut self, now: Timestamp) {
        self.compared = Some(now);
    }

    /// The RTT of a path is measured, or is going to be.
    pub(super) fn on_measured(&mut self, path: PathId, now: Timestamp) {
        self.measured.insert(path, now);
    }

    pub(super) fn forget_path(&mut self, path: PathId) {
        self.measured.remove(&path);
    }

    /// When to measure which of these paths next, if delays are compared until then.
    fn next(&self, paths: impl FnOnce() -> PathSet) -> Option<(Timestamp, PathId)> {
        let until = self.compared? + MEASURE_AFTER;
        let due = |path| self.measured.get(&path).map_or(Timestamp::ZERO, |&at| at + MEASURE_AFTER);
        let next = paths().iter().map(|path| (due(path), path)).min()?;
        (next.0 < until).then_some(next)
    }
}

impl Bond {
    /// The path of a `smallest_delay` flow for a datagram that may take one of `usable`, if it may
    /// leave now. The flow stays on its path until another is faster beyond doubt, or until the
    /// peer is asked whether anything arrives there.
    pub(super) fn quickest(
        &mut self,
        id: FlowId,
        usable: PathSet,
        now: Timestamp,
    ) -> Option<PathId> {
        self.delays.on_compared(now);
        let usable = self.sound(usable);
        let fastest = self.paths.fastest_of(usable, &self.congestion)?;
        let flow = self.flows.sender(id)?;
        let stays =
            |path: &PathId| usable.contains(*path) && !is_faster(&self.congestion, fastest, *path);
        let path = flow.current().filter(stays).unwrap_or(fastest);
        let waiting = flow.waiting();
        self.flows.with_sender(id, |flow| flow.stay_on(path));
        self.arriving_first(path, usable, waiting)
    }

    /// This path if it has room now. While it is full, the fastest other one by which a datagram
    /// arrives before it would by waiting for the end of the queue, of `waiting` bytes.
    fn arriving_first(&self, path: PathId, usable: PathSet, waiting: u64) -> Option<PathId> {
        let full = self.selection.view(path)?;
        if full.available {
            return Some(path);
        }
        let arrives = full.srtt_secs() / 2.0 + waiting as f64 / full.rate;
        let others = self.selection.open().filter(|view| usable.contains(view.id));
        let earlier = others.filter(|view| view.srtt_secs() / 2.0 < arrives);
        let first = earlier.min_by(|a, b| a.srtt_secs().total_cmp(&b.srtt_secs()));
        first.map(|view| view.id)
    }

    /// A path that carries nothing while delays are compared is measured now and then.
    pub(super) fn poll_measurement(&mut self, now: Timestamp) -> Option<Transmit> {
        let (at, id) = self.delays.next(|| self.compared_paths())?;
        if at > now {
            return None;
        }
        self.delays.on_measured(id, now);
        let ping = self.paths.get_mut(id)?.probe.take_small();
        Some(self.commit_frame(id, &Frame::Ping { id: ping }, Payload::default(), 0))
    }

    pub(super) fn next_measurement(&self) -> Option<Timestamp> {
        self.delays.next(|| self.compared_paths()).map(|(at, _)| at)
    }

    /// The paths whose delays are compared: that of one alone is not.
    fn compared_paths(&self) -> PathSet {
        let active = self.paths.active();
        if active.len() > 1 { active } else { PathSet::EMPTY }
    }
}

/// Whether a path is faster than another by more than the RTTs of both vary, so that equal paths
/// with jitter are not taken in turn.
fn is_faster(congestion: &Congestion, path: PathId, than: PathId) -> bool {
    let measured = |path| {
        let rtt = congestion.rtt(path)?;
        Some((rtt.srtt()?, rtt.rttvar()))
    };
    match (measured(path), measured(than)) {
        (Some((srtt, var)), Some((than, than_var))) => srtt + var + than_var < than,
        (known, than) => known.is_some() && than.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{OVERHEAD, hub, settings};
    use crate::codec::FlowConfig;
    use crate::codec::FlowMode;
    use crate::config::BondConfig;
    use bytes::Bytes;

    fn path(number: u8) -> PathId {
        PathId::new(number).unwrap()
    }

    /// A bond with two paths and a flow, whose packets are acknowledged after a time.
    struct Sender {
        bond: Bond,
        flow: FlowId,
        now: Timestamp,
        sent: u64,
        acks: BTreeMap<(Timestamp, u64), PathId>,
        /// Packets with neither datagrams nor control messages, by path.
        pings: [u64; 2],
    }

    impl Sender {
        fn new(mode: FlowMode) -> Self {
            Self::of(FlowConfig::of(mode))
        }

        fn of(config: FlowConfig) -> Self {
            let mut bond = hub(BondConfig::default(), Some(Duration::from_millis(20)));
            let second = settings("b", Some(Duration::from_millis(25)));
            bond.add_path(path(1), second, Timestamp::ZERO);
            let flow = bond.open_flow(config).unwrap();
            let (now, acks) = (Timestamp::ZERO, BTreeMap::new());
            Self { bond, flow, now, sent: 0, acks, pings: [0; 2] }
        }

        /// Sends a datagram of so many bytes each 10 ms, for so many seconds, over paths of these
        /// RTTs in microseconds. Returns which path took each.
        fn run(
            &mut self,
            bytes: usize,
            seconds: u64,
            mut rtt: impl FnMut(PathId) -> u64,
        ) -> Vec<u8> {
            let mut taken = Vec::new();
            for ms in 0..1_000 * seconds {
                self.now += Duration::from_millis(1);
                self.acknowledge();
                if ms % 10 == 0 && bytes > 0 {
                    let data = Bytes::from(vec![1; bytes]);
                    self.bond.send_datagram(self.flow, &data, self.now).unwrap();
                }
                self.bond.handle_timeout(self.now);
                while let Some(Transmit { path, payload, .. }) = self.bond.poll_transmit(self.now) {
                    if payload.datagram {
                        taken.push(path.get());
                    } else if payload.control.is_empty() {
                        self.pings[usize::from(path.get())] += 1;
                    }
                    let at = self.now + Duration::from_micros(rtt(path));
                    self.acks.insert((at, self.sent), path);
                    let bytes = payload.len + OVERHEAD;
                    self.bond.on_packet_sent(path, self.sent, bytes, payload, self.now);
                    self.sent += 1;
                }
            }
            taken
        }

        fn acknowledge(&mut self) {
            while let Some(first) = self.acks.first_entry().filter(|ack| ack.key().0 <= self.now) {
                let ((_, number), path) = first.remove_entry();
                self.bond.on_packet_acked(path, number, self.now);
                self.bond.on_acks_end(path, self.now);
            }
        }
    }

    fn changes(taken: &[u8]) -> usize {
        taken.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// Path a has 20 ms, then 80; path b 40 ms, measured once a second.
    #[test]
    fn a_flow_moves_once_to_a_path_that_has_become_faster() {
        let mut sender = Sender::new(FlowMode::SmallestDelay);
        let before = sender.run(100, 10, |path| [20_000, 40_000][usize::from(path.get())]);
        assert!(before.iter().all(|&path| path == 0));
        let after = sender.run(100, 10, |path| [80_000, 40_000][usize::from(path.get())]);
        assert_eq!(changes(&after), 1);
        // An average over eight samples follows eight of 80 ms, and their variance as many.
        let late = after.iter().filter(|&&path| path == 0).count();
        assert!(late <= 50, "{late} of a hundred a second");
    }

    /// From 20 to 40 ms on both paths.
    #[test]
    fn equal_paths_with_jitter_are_not_taken_in_turn() {
        let mut sender = Sender::new(FlowMode::SmallestDelay);
        let mut random = 1_u64;
        let taken = sender.run(100, 120, |_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            20_000 + (random >> 33) % 20_000
        });
        assert_eq!(taken.len(), 12_000);
        assert!(changes(&taken) <= 1, "{}", changes(&taken));
    }

    #[test]
    fn the_other_path_is_measured_once_a_second_while_delays_are_compared() {
        let rtt = |path: PathId| [20_000, 40_000][usize::from(path.get())];
        let mut sender = Sender::new(FlowMode::SmallestDelay);
        sender.run(100, 20, rtt);
        let [_, pings] = sender.pings;
        assert!((19..=21).contains(&pings), "{pings}");
        sender.run(0, 2, rtt);
        let quiet = sender.pings;
        sender.run(0, 20, rtt);
        assert_eq!(sender.pings, quiet);
        let mut best = Sender::new(FlowMode::Best);
        best.run(100, 20, rtt);
        assert_eq!(best.pings[1], 0);
    }

    /// A path that takes 10 packets in 100 ms gets 10 a second of them too many: the others would
    /// wait for longer than the other path is slower.
    #[test]
    fn what_would_wait_for_longer_takes_the_other_path() {
        let mut sender = Sender::new(FlowMode::SmallestDelay);
        sender.run(100, 2, |path| [20_000, 40_000][usize::from(path.get())]);
        for _ in 0..500 {
            let data = Bytes::from(vec![1; 1_000]);
            sender.bond.send_datagram(sender.flow, &data, sender.now).unwrap();
        }
        let taken = sender.run(100, 1, |path| [20_000, 40_000][usize::from(path.get())]);
        let by_other = taken.iter().filter(|&&path| path == 1).count();
        assert!((50..300).contains(&by_other), "{by_other} of {}", taken.len());
        let last = &taken[taken.len() - 50..];
        assert!(last.iter().all(|&path| path == 0), "{last:?}");
    }

    /// The flow's path answers nothing any more, the other one does.
    #[test]
    fn a_flow_leaves_its_path_when_the_peer_is_asked_about_it() {
        let mut sender = Sender::new(FlowMode::SmallestDelay);
        let taken = sender.run(100, 2, |path| [20_000, 40_000][usize::from(path.get())]);
        assert!(taken.iter().all(|&path| path == 0));
        let silent = |path: PathId| [60_000_000, 40_000][usize::from(path.get())];
        sender.run(0, 1, silent);
        sender.bond.paths.suspect(PathSet::only(path(0)));
        let taken = sender.run(100, 1, silent);
        assert!(taken.iter().all(|&path| path == 1), "{taken:?}");
    }

    /// How many of 1,000 datagrams left on each path.
    fn copied(copy_share: u32) -> [usize; 2] {
        let config = FlowConfig { copy_share, ..FlowConfig::of(FlowMode::SmallestDelay) };
        let mut sender = Sender::of(config);
        let taken = sender.run(100, 10, |path| [20_000, 40_000][usize::from(path.get())]);
        [0, 1].map(|number| taken.iter().filter(|&&path| path == number).count())
    }

    /// A millionth of what a window of 10 MB in 20 ms carries is 500 bytes a second, 5,000 in all.
    #[test]
    fn a_datagram_has_a_copy_on_the_other_path_while_copies_have_not_had_their_share() {
        assert_eq!(copied(0), [1_000, 0]);
        assert_eq!(copied(1_000_000), [1_000, 1_000]);
        let [first, second] = copied(1);
        let burst = 1_500 / (100 + OVERHEAD as usize);
        assert_eq!(first, 1_000);
        assert!((burst..=burst + 5_000 / 100).contains(&second), "{second}");
    }

    /// The flow's own path is silent: nothing is missing at the receiver meanwhile.
    #[test]
    fn what_a_silent_path_loses_has_been_copied() {
        let config =
            FlowConfig { copy_share: 1_000_000, ..FlowConfig::of(FlowMode::SmallestDelay) };
        let mut sender = Sender::of(config);
        sender.run(100, 2, |path| [20_000, 40_000][usize::from(path.get())]);
        let silent = |path: PathId| [60_000_000, 40_000][usize::from(path.get())];
        let taken = sender.run(100, 1, silent);
        assert_eq!(taken.iter().filter(|&&path| path == 1).count(), 100);
    }
}
