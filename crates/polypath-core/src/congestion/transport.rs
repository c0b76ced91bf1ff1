//! What a TCP needs of [`Congestion`] beside what QUIC needs: episodes that end by sequence
//! number, losses that are taken back, windows that a recovery algorithm limits.

use super::Congestion;
use crate::estimator::{RtoBounds, SentPacket};
use polypath_units::{Bandwidth, PathId, PathSet, Timestamp};
use std::time::Duration;

impl Congestion {
    /// Limits of the retransmission timeout of a subflow.
    pub fn set_rto_bounds(&mut self, id: PathId, bounds: RtoBounds) {
        if let Some((flow, _)) = self.parts(id) {
            flow.rtt.set_bounds(bounds);
        }
    }

    /// Whether the window of a subflow restarts after it idled for longer than one RTO (RFC 5681
    /// section 4.1); it does unless switched off.
    pub fn set_restart_after_idle(&mut self, id: PathId, on: bool) {
        if let Some((flow, _)) = self.parts(id) {
            flow.set_restart_after_idle(on);
        }
    }

    /// Whether the sender paces a subflow whose controller has no rate of its own; it does unless
    /// told.
    pub fn set_paced(&mut self, id: PathId, paced: bool) {
        if let Some(subflow) = self.subflow_mut(id) {
            subflow.paced = paced;
        }
    }

    /// Whether what a subflow sends next counts as on its way already where its controller probes
    /// for bandwidth, as with Linux; it does not unless told.
    pub fn set_departs_ahead(&mut self, id: PathId, ahead: bool) {
        if let Some(subflow) = self.subflow_mut(id) {
            subflow.departs_ahead = ahead;
        }
    }

    /// A round trip was measured on something else than a packet of [`Congestion::on_sent`]: the
    /// handshake.
    pub fn on_rtt_sample(&mut self, id: PathId, sample: Duration) {
        let Some((flow, group)) = self.parts(id) else { return };
        if let Some(subflow) = group.subflows.get_mut(id) {
            flow.on_rtt_sample(sample, subflow);
        }
    }

    /// The recovery episode under way lasts until [`Congestion::end_recovery`], whatever is
    /// acknowledged: TCP ends it by sequence number (RFC 6675 section 5).
    pub fn hold_recovery(&mut self, id: PathId) {
        if let Some((flow, _)) = self.parts(id) {
            flow.recovery.hold();
        }
    }

    /// The next ACK event ends the recovery episode.
    pub fn end_recovery(&mut self, id: PathId) {
        if let Some((flow, _)) = self.parts(id) {
            flow.recovery.release();
        }
    }

    /// The ACK event under way must not grow the window: it reports data that arrived out of order
    /// (RFC 5681 section 3.2; RFC 3042).
    pub fn hold_growth(&mut self, id: PathId) {
        if let Some((flow, _)) = self.parts(id) {
            flow.hold_growth();
        }
    }

    /// `packet` was declared lost but is in flight, and may now be acknowledged or lost like any
    /// other. What the loss did to the window stays: see [`Congestion::on_spurious_loss`].
    pub fn on_loss_reverted(&mut self, id: PathId, packet: &SentPacket) {
        if let Some((flow, subflow)) = self.sender_of(id, packet) {
            flow.on_loss_reverted(packet, subflow);
        }
    }

    /// These bytes in flight do not count for the batch of losses under way: without SACK, those
    /// that limited transmit sent (RFC 5681 section 3.2, step 2).
    pub fn exclude_from_flight(&mut self, id: PathId, bytes: u64) {
        if let Some((flow, _)) = self.parts(id) {
            flow.exclude_from_flight(bytes);
        }
    }

    /// Lowers the window to `bytes` if it is larger, at least to one segment: the end of a
    /// recovery without SACK (RFC 6582 section 3.2), or a handshake that was lost (RFC 5681
    /// section 3.1).
    pub fn limit_window(&mut self, id: PathId, bytes: u64) {
        if let Some(subflow) = self.subflow_mut(id) {
            subflow.cwnd = subflow.cwnd.min(bytes as f64).max(subflow.mss as f64);
        }
    }

    /// The receive window blocks `fast`, which has room, and `holders` carry the oldest data: slows
    /// the first of them down that has a larger RTT and is not in recovery, but each at most once
    /// in an RTT of `fast`. Returns which one (Raiciu et al., NSDI 2012, section 4.2;
    /// `docs/algorithms/opportunistic_retransmission.md`, step 1).
    pub fn penalise_slower(
        &mut self,
        fast: PathId,
        holders: PathSet,
        now: Timestamp,
    ) -> Option<PathId> {
        let rtt = self.subflow(fast)?.srtt?;
        let slower = |id: &PathId| {
            let holder = self.subflow(*id);
            holder.is_some_and(|s| s.srtt.is_some_and(|srtt| srtt > rtt) && !s.in_recovery)
        };
        let slow = holders.iter().filter(|&id| id != fast).find(slower)?;
        let due = self.parts(slow)?.0.may_be_penalised(now, rtt);
        due.then(|| {
            self.penalise(slow);
            slow
        })
    }

    /// Halves the window of a subflow that blocks the receive window of others, and the threshold
    /// with it if the window had reached it (ibid.).
    fn penalise(&mut self, id: PathId) {
        if let Some(subflow) = self.subflow_mut(id) {
            let mss = subflow.mss as f64;
            if subflow.cwnd >= subflow.ssthresh {
                subflow.ssthresh = (subflow.ssthresh / 2.0).max(2.0 * mss);
            }
            subflow.cwnd = (subflow.cwnd / 2.0).max(mss);
        }
    }

    /// The rate that the controller itself demands; `None` where it leaves pacing to window over
    /// RTT (see [`Congestion::pacing_rate`]).
    pub fn controller_rate(&self, id: PathId) -> Option<Bandwidth> {
        self.group(id)?.controller_rate(id)
    }

    /// Whether the controller also decides what leaves in recovery, so that there is no
    /// proportional rate reduction: it models the path (BBR), or demands a rate that losses do not
    /// change (BRF while the network tells it one).
    pub fn models_path(&self, id: PathId) -> bool {
        self.group(id)
            .is_some_and(|group| group.owns_start_up() || group.controller_rate(id).is_some())
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::{Congestion, CongestionConfig, CongestionKind};
    use crate::estimator::SentPacket;
    use crate::slow_start::SlowStartKind;
    use polypath_units::{PathId, PathSet, Timestamp};
    use std::time::Duration;

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn reno() -> (Congestion, PathId) {
        let path = PathId::default();
        let mut congestion = Congestion::new(CongestionConfig {
            avoidance: CongestionKind::Reno.into(),
            slow_start: SlowStartKind::Standard.into(),
            ..CongestionConfig::default()
        });
        congestion.add_subflow(path, 1_000, None);
        (congestion, path)
    }

    fn ack(congestion: &mut Congestion, path: PathId, at: Timestamp, packet: &SentPacket) {
        congestion.on_packet_acked(path, at, packet);
        congestion.on_ack_end(path, at);
    }

    #[test]
    fn a_held_episode_outlasts_new_packets_and_ends_with_the_ack_after_its_release() {
        let (mut congestion, path) = reno();
        let packets = [0, 1, 20, 21].map(|at| congestion.on_sent(path, ms(at), 1_000));
        congestion.on_packet_lost(path, ms(10), &packets[0]);
        congestion.on_loss(path, ms(10), Timestamp::MAX);
        congestion.hold_recovery(path);
        ack(&mut congestion, path, ms(30), &packets[2]);
        assert!(congestion.subflow(path).unwrap().in_recovery, "held");
        congestion.end_recovery(path);
        ack(&mut congestion, path, ms(31), &packets[1]);
        assert!(!congestion.subflow(path).unwrap().in_recovery);
    }

    #[test]
    fn a_reverted_loss_is_in_flight_again_and_counts_when_acknowledged() {
        let (mut congestion, path) = reno();
        let packet = congestion.on_sent(path, ms(0), 1_000);
        congestion.on_packet_lost(path, ms(10), &packet);
        congestion.on_loss(path, ms(10), ms(0));
        assert_eq!(congestion.bytes_in_flight(path), 0);
        congestion.on_loss_reverted(path, &packet);
        assert_eq!(congestion.bytes_in_flight(path), 1_000);
        ack(&mut congestion, path, ms(20), &packet);
        assert_eq!(congestion.bytes_in_flight(path), 0);
    }

    #[test]
    fn what_is_excluded_from_the_flight_does_not_count_once() {
        let (mut congestion, path) = reno();
        let packets = [0, 20].map(|at| congestion.on_sent(path, ms(at), 6_000));
        congestion.on_packet_lost(path, ms(10), &packets[0]);
        congestion.exclude_from_flight(path, 2_000);
        congestion.on_loss(path, ms(10), ms(0));
        assert_eq!(congestion.window(path), 5_000, "half of 10000 of 12000");
        congestion.on_packet_lost(path, ms(30), &packets[1]);
        congestion.on_loss(path, ms(30), ms(20));
        assert_eq!(congestion.window(path), 3_000, "half of 6000");
    }

    #[test]
    fn the_undo_of_repeated_timeouts_gives_back_what_was_before_the_first() {
        let (mut congestion, path) = reno();
        let packet = congestion.on_sent(path, ms(0), 8_000);
        congestion.on_packet_lost(path, ms(1_000), &packet);
        congestion.on_timeout(path, ms(1_000));
        congestion.on_timeout(path, ms(3_000));
        assert_eq!(congestion.window(path), 1_000);
        congestion.on_spurious_loss(path);
        assert_eq!(congestion.window(path), 10_000);
    }

    #[test]
    fn an_ack_whose_growth_is_held_leaves_the_window() {
        let (mut congestion, path) = reno();
        let packets = [0, 1].map(|at| congestion.on_sent(path, ms(at), 5_000));
        congestion.hold_growth(path);
        ack(&mut congestion, path, ms(10), &packets[0]);
        assert_eq!(congestion.window(path), 10_000);
        ack(&mut congestion, path, ms(11), &packets[1]);
        assert_eq!(congestion.window(path), 15_000, "the next one is free");
    }

    #[test]
    fn a_limit_lowers_the_window_and_never_below_a_segment() {
        let (mut congestion, path) = reno();
        congestion.limit_window(path, 1 << 30);
        assert_eq!(congestion.window(path), 10_000);
        congestion.limit_window(path, 3_000);
        assert_eq!(congestion.window(path), 3_000);
        congestion.limit_window(path, 0);
        assert_eq!(congestion.window(path), 1_000);
    }

    #[test]
    fn a_handshake_gives_the_first_round_trip() {
        let (mut congestion, path) = reno();
        assert_eq!(congestion.pacing_rate(path), None);
        congestion.on_rtt_sample(path, Duration::from_millis(100));
        assert_eq!(congestion.subflow(path).unwrap().srtt, Some(Duration::from_millis(100)));
        // Twice 10 segments in 100 ms.
        assert_eq!(congestion.pacing_rate(path).unwrap().bytes_per_sec(), 200_000.0);
        assert_eq!(congestion.controller_rate(path), None);
        assert!(!congestion.models_path(path));
    }

    #[test]
    fn the_restart_after_idling_can_be_switched_off() {
        let (mut congestion, path) = reno();
        let packet = congestion.on_sent(path, ms(0), 10_000);
        ack(&mut congestion, path, ms(10), &packet);
        let grown = congestion.window(path);
        assert!(grown > 10_000);
        congestion.set_restart_after_idle(path, false);
        congestion.on_sent(path, ms(5_000), 1_000);
        assert_eq!(congestion.window(path), grown);
    }

    /// Subflows of so many milliseconds, with the window and threshold of the example.
    fn unequal(rtts_ms: &[u64]) -> (Congestion, Vec<PathId>) {
        let (mut congestion, _) = reno();
        let paths: Vec<_> = (0..).map_while(PathId::new).take(rtts_ms.len()).collect();
        for (&path, &rtt_ms) in paths.iter().zip(rtts_ms) {
            congestion.add_subflow(path, 1_000, None);
            congestion.on_rtt_sample(path, Duration::from_millis(rtt_ms));
            let subflow = congestion.subflow_mut(path).unwrap();
            (subflow.cwnd, subflow.ssthresh) = (40_000.0, 20_000.0);
        }
        (congestion, paths)
    }

    #[test]
    fn the_first_slower_holder_is_penalised_once_in_an_rtt_of_the_fast_one() {
        let (mut congestion, paths) = unequal(&[10, 5, 100, 200]);
        let holders: PathSet = paths.iter().copied().collect();
        let mut at = |now| congestion.penalise_slower(paths[0], holders, ms(now));
        assert_eq!(at(50), Some(paths[2]), "not itself, and not the one that is faster");
        assert_eq!((at(59), at(60)), (None, Some(paths[2])));
        assert_eq!(congestion.window(paths[2]), 10_000);
        assert_eq!(congestion.window(paths[3]), 40_000);
    }

    #[test]
    fn nobody_is_penalised_in_recovery_or_by_a_subflow_without_rtt() {
        let (mut congestion, paths) = unequal(&[10, 100]);
        let holders = PathSet::only(paths[1]);
        congestion.subflow_mut(paths[1]).unwrap().in_recovery = true;
        assert_eq!(congestion.penalise_slower(paths[0], holders, ms(50)), None);
        congestion.subflow_mut(paths[1]).unwrap().in_recovery = false;
        let unknown = PathId::new(2).unwrap();
        congestion.add_subflow(unknown, 1_000, None);
        assert_eq!(congestion.penalise_slower(unknown, holders, ms(50)), None);
        assert_eq!(congestion.penalise_slower(paths[0], PathSet::only(unknown), ms(50)), None);
        assert_eq!(congestion.penalise_slower(paths[0], holders, ms(50)), Some(paths[1]));
    }

    /// The part about windows; sending again is tested with the scheduler of each world.
    #[test]
    fn t_orp_1() {
        let (mut congestion, paths) = unequal(&[10, 100]);
        let slow = congestion.penalise_slower(paths[0], PathSet::only(paths[1]), ms(50));
        assert_eq!(slow, Some(paths[1]));
        let subflow = congestion.subflow(paths[1]).unwrap();
        assert_eq!((subflow.cwnd, subflow.ssthresh), (20_000.0, 10_000.0));
    }

    #[test]
    fn a_penalty_leaves_a_segment_at_least() {
        let (mut congestion, path) = reno();
        let set = |congestion: &mut Congestion, cwnd, ssthresh| {
            let subflow = congestion.subflow_mut(path).unwrap();
            (subflow.cwnd, subflow.ssthresh) = (cwnd, ssthresh);
        };
        let get = |congestion: &Congestion| {
            let subflow = congestion.subflow(path).unwrap();
            (subflow.cwnd, subflow.ssthresh)
        };
        set(&mut congestion, 1_000.0, 2_000.0);
        congestion.penalise(path);
        assert_eq!(get(&congestion), (1_000.0, 2_000.0));
    }
}
