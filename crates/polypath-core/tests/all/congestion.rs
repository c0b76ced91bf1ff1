//! [`Congestion`] event by event, with packets of 1,000 bytes and a round of 100 ms.

use polypath_core::congestion::{Congestion, CongestionConfig, CongestionKind, InitialWindow};
use polypath_core::estimator::SentPacket;
use polypath_core::slow_start::SlowStartKind;
use polypath_units::{Bandwidth, PathId, Timestamp};
use std::time::Duration;

const MSS: u64 = 1_000;
const RTT: Duration = Duration::from_millis(100);
const A: PathId = PathId::new(0).unwrap();
const B: PathId = PathId::new(7).unwrap();

struct Bench {
    congestion: Congestion,
    now: Timestamp,
}

impl Bench {
    fn new(avoidance: CongestionKind, coupled: bool) -> Self {
        let config = CongestionConfig {
            avoidance: avoidance.into(),
            slow_start: SlowStartKind::Standard.into(),
            coupled,
            ..Default::default()
        };
        let mut congestion = Congestion::new(config);
        congestion.add_subflow(A, MSS, None);
        Self { congestion, now: Timestamp::ZERO }
    }

    fn reno() -> Self {
        Self::new(CongestionKind::Reno, true)
    }

    /// Sends what the window admits.
    fn fill(&mut self, path: PathId) -> Vec<SentPacket> {
        let mut packets = Vec::new();
        while self.congestion.bytes_in_flight(path) + MSS <= self.congestion.window(path) {
            packets.push(self.congestion.on_sent(path, self.now, MSS));
        }
        packets
    }

    fn ack(&mut self, path: PathId, packets: &[SentPacket]) {
        for packet in packets {
            self.congestion.on_packet_acked(path, self.now, packet);
            self.congestion.on_ack_end(path, self.now);
        }
    }

    /// A round in which all that the window admits is sent and acknowledged.
    fn round(&mut self, path: PathId) -> u64 {
        let packets = self.fill(path);
        self.now += RTT;
        self.ack(path, &packets);
        self.congestion.window(path)
    }

    fn lose(&mut self, path: PathId, packets: &[SentPacket]) {
        for packet in packets {
            self.congestion.on_packet_lost(path, self.now, packet);
        }
        let newest = packets.iter().map(|p| p.sent_at).max().unwrap();
        self.congestion.on_loss(path, self.now, newest);
    }

    /// A round whose first packet is lost.
    fn lossy_round(&mut self, path: PathId) {
        let packets = self.fill(path);
        self.now += RTT;
        self.lose(path, &packets[..1]);
        self.ack(path, &packets[1..]);
    }

    fn time_out(&mut self, packets: &[SentPacket]) {
        for packet in packets {
            self.congestion.on_packet_lost(A, self.now, packet);
        }
        self.congestion.on_timeout(A, self.now);
    }

    fn ssthresh(&self) -> f64 {
        self.congestion.subflow(A).unwrap().ssthresh
    }
}

#[test]
fn t_ss_1() {
    let mut bench = Bench::reno();
    assert_eq!(bench.congestion.window(A), 10 * MSS);
    assert_eq!(bench.round(A), 20 * MSS);
    assert_eq!(bench.round(A), 40 * MSS);
}

#[test]
fn slow_start_stops_at_the_threshold_and_avoidance_takes_the_rest() {
    let mut bench = Bench::reno();
    (0..3).for_each(|_| assert!(bench.round(A) > 0));
    let packets = bench.fill(A);
    assert_eq!(packets.len(), 80);
    bench.now += RTT;
    bench.lose(A, &packets[..10]);
    bench.time_out(&packets[10..]);
    // Half of the flight of 80, then half of the 70 that remained; slow start from one segment.
    assert_eq!((bench.ssthresh(), bench.congestion.window(A)), (35.0 * 1_000.0, MSS));
    assert!(bench.congestion.in_slow_start(A));
    let windows: Vec<_> = (0..5).map(|_| bench.round(A) / MSS).collect();
    assert_eq!(windows, [2, 4, 8, 16, 32]);
    let packets = bench.fill(A);
    bench.now += RTT;
    packets.iter().for_each(|packet| bench.congestion.on_packet_acked(A, bench.now, packet));
    bench.congestion.on_ack_end(A, bench.now);
    // One ACK of 32 packets: 3 carry slow start to 35, 29 are left for avoidance.
    let cwnd = bench.congestion.subflow(A).unwrap().cwnd;
    assert!((cwnd - (35_000.0 + 1_000.0 * 29.0 / 35.0)).abs() < 0.1, "{cwnd}");
    assert!(!bench.congestion.in_slow_start(A));
}

#[test]
fn losses_of_one_flight_are_one_episode() {
    let mut bench = Bench::reno();
    bench.round(A);
    let packets = bench.fill(A);
    bench.now += RTT;
    bench.ack(A, &packets[3..4]);
    bench.lose(A, &packets[..1]);
    // What the ACK that revealed the loss took from the flight counts as in flight.
    assert_eq!(bench.congestion.window(A), (packets.len() as u64) * MSS / 2);
    let after_first = bench.congestion.window(A);
    bench.now += Duration::from_millis(5);
    bench.lose(A, &packets[1..3]);
    assert_eq!(bench.congestion.window(A), after_first);
    bench.ack(A, &packets[4..]);
    assert_eq!(bench.congestion.window(A), after_first, "nothing grows in recovery");
    assert!(bench.congestion.subflow(A).unwrap().in_recovery);
    let next = bench.fill(A);
    bench.now += RTT;
    bench.ack(A, &next[..1]);
    assert!(!bench.congestion.subflow(A).unwrap().in_recovery);
    bench.lose(A, &next[1..2]);
    assert!(bench.congestion.window(A) < after_first, "a packet sent after it is a new one");
}

#[test]
fn marks_reduce_the_window_once_in_a_round() {
    let mut bench = Bench::reno();
    bench.round(A);
    let packets = bench.fill(A);
    bench.now += RTT;
    bench.ack(A, &packets[..1]);
    bench.congestion.on_ecn(A, bench.now, packets[0].sent_at);
    assert_eq!(bench.congestion.window(A), packets.len() as u64 * MSS / 2);
    bench.ack(A, &packets[1..2]);
    bench.congestion.on_ecn(A, bench.now, packets[1].sent_at);
    assert_eq!(bench.congestion.window(A), packets.len() as u64 * MSS / 2);
}

#[test]
fn a_second_expiry_of_the_timer_keeps_the_threshold() {
    let mut bench = Bench::reno();
    bench.round(A);
    let packets = bench.fill(A);
    bench.now += Duration::from_secs(1);
    bench.time_out(&packets);
    let ssthresh = bench.ssthresh();
    assert_eq!(ssthresh, packets.len() as f64 / 2.0 * 1_000.0);
    let retransmission = bench.fill(A);
    assert_eq!(retransmission.len(), 1);
    bench.now += Duration::from_secs(2);
    bench.time_out(&retransmission);
    assert_eq!((bench.ssthresh(), bench.congestion.window(A)), (ssthresh, MSS));
    assert_eq!(bench.congestion.rtt(A).unwrap().back_off_count(), 2);
    bench.round(A);
    assert_eq!(bench.congestion.rtt(A).unwrap().back_off_count(), 0);
}

#[test]
fn a_spurious_loss_gives_everything_back_once() {
    for &kind in CongestionKind::ALL {
        let mut bench = Bench::new(kind, true);
        bench.round(A);
        let before = (bench.congestion.window(A), bench.ssthresh());
        let packets = bench.fill(A);
        bench.now += RTT;
        bench.lose(A, &packets[..1]);
        bench.congestion.on_spurious_loss(A);
        assert_eq!((bench.congestion.window(A), bench.ssthresh()), before, "{kind}");
        bench.time_out(&packets[1..]);
        bench.congestion.on_spurious_loss(A);
        bench.congestion.on_spurious_loss(A);
        assert_eq!((bench.congestion.window(A), bench.ssthresh()), before, "{kind}");
    }
}

#[test]
fn the_window_does_not_grow_while_it_does_not_limit() {
    let mut bench = Bench::reno();
    for _ in 0..10 {
        let packet = bench.congestion.on_sent(A, bench.now, MSS);
        bench.congestion.set_app_limited(A);
        bench.now += RTT;
        bench.ack(A, &[packet]);
    }
    assert_eq!(bench.congestion.window(A), 10 * MSS);
}

#[test]
fn avoidance_grows_only_a_window_that_is_used() {
    let mut bench = Bench::reno();
    bench.round(A);
    bench.lossy_round(A);
    assert!(bench.round(A) >= 10 * MSS);
    for used in [5, 5, 5] {
        let before = bench.congestion.subflow(A).unwrap().cwnd;
        let packets: Vec<_> =
            (0..used).map(|_| bench.congestion.on_sent(A, bench.now, MSS)).collect();
        bench.now += RTT;
        // The round before still counts for the first ACK of this one.
        bench.ack(A, &packets[..1]);
        let after_first = bench.congestion.subflow(A).unwrap().cwnd;
        bench.ack(A, &packets[1..]);
        let after = bench.congestion.subflow(A).unwrap().cwnd;
        assert!(after_first - before <= 1_000.0 / 10.0);
        assert_eq!(after, after_first, "five of ten segments were in flight");
    }
}

#[test]
fn idling_shrinks_the_window_but_is_remembered() {
    let mut bench = Bench::reno();
    (0..3).for_each(|_| assert!(bench.round(A) > 0));
    bench.lossy_round(A);
    assert_eq!(bench.congestion.window(A), 40 * MSS);
    // The last packet was sent a round ago; the RTO is the least, 200 ms.
    bench.now += Duration::from_millis(90);
    bench.round(A);
    assert!(bench.congestion.window(A) >= 40 * MSS, "within an RTO nothing happens");
    bench.now += Duration::from_secs(10);
    bench.congestion.on_sent(A, bench.now, MSS);
    assert_eq!(bench.congestion.window(A), 10 * MSS);
    assert!(bench.congestion.in_slow_start(A) && bench.ssthresh() >= 40_000.0);
}

#[test]
fn bbr_keeps_its_window_when_it_idles() {
    let mut bench = Bench::new(CongestionKind::Bbr, true);
    (0..4).for_each(|_| assert!(bench.round(A) > 0));
    let before = bench.congestion.window(A);
    bench.now += Duration::from_secs(5);
    bench.congestion.on_sent(A, bench.now, MSS);
    assert_eq!(bench.congestion.window(A), before);
}

#[test]
fn pacing_spreads_the_window_over_the_rtt() {
    let mut bench = Bench::reno();
    assert_eq!(bench.congestion.pacing_rate(A), None);
    bench.round(A);
    // Slow start: 2 * 20,000 bytes / 100 ms.
    assert_eq!(bench.congestion.pacing_rate(A), Some(Bandwidth::from_bits_per_sec(3_200_000)));
    let packets = bench.fill(A);
    bench.now += RTT;
    bench.lose(A, &packets[..1]);
    // Avoidance: 1.25 * 10,000 bytes / 100 ms.
    assert_eq!(bench.congestion.pacing_rate(A), Some(Bandwidth::from_bits_per_sec(1_000_000)));
}

#[test]
fn an_ambiguous_packet_gives_no_rtt_sample() {
    let mut bench = Bench::reno();
    let mut packet = bench.congestion.on_sent(A, bench.now, MSS);
    packet.ambiguous = true;
    bench.now += RTT;
    bench.ack(A, &[packet]);
    assert_eq!(bench.congestion.rtt(A).unwrap().srtt(), None);
    assert_eq!(bench.congestion.bytes_in_flight(A), 0);
}

#[test]
fn several_packets_in_one_ack_are_sampled_by_the_newest() {
    let mut bench = Bench::reno();
    let first = bench.congestion.on_sent(A, bench.now, MSS);
    bench.now += Duration::from_millis(30);
    let second = bench.congestion.on_sent(A, bench.now, MSS);
    bench.now += RTT;
    bench.congestion.on_packet_acked(A, bench.now, &second);
    bench.congestion.on_packet_acked(A, bench.now, &first);
    bench.congestion.on_ack_end(A, bench.now);
    assert_eq!(bench.congestion.rtt(A).unwrap().latest(), Some(RTT));
    assert_eq!(bench.congestion.window(A), 10 * MSS, "two of ten did not use the window");
}

/// What a path itself loses, as schedulers are told.
fn loss(bench: &Bench) -> f64 {
    bench.congestion.steady_loss_rate(A, bench.now)
}

/// A path that was left out for its losses is to be tried again, also if probes go over it
/// meanwhile; what was forgotten does not come back with the first segment.
#[test]
fn what_is_known_of_losses_fades_while_no_data_is_sent() {
    let mut bench = Bench::reno();
    bench.round(A);
    bench.lossy_round(A);
    let known = loss(&bench);
    assert!(known > 0.003, "{known}");
    let secs = Duration::from_secs(1);
    for n in 1..=6 {
        bench.now += secs - RTT;
        let probe = bench.congestion.on_sent(A, bench.now, 30);
        bench.now += RTT;
        bench.ack(A, &[probe]);
        let expected = known * 0.5f64.powi((n * 10 + 1) / 20);
        assert!((loss(&bench) / expected - 1.0).abs() < 0.03, "after {n} s: {}", loss(&bench));
    }
    let faded = loss(&bench);
    bench.congestion.on_sent(A, bench.now, MSS);
    assert_eq!(loss(&bench), faded);
}

#[test]
fn rates_of_delivery_and_loss_are_measured() {
    let mut bench = Bench::reno();
    assert_eq!((bench.congestion.delivery_rate(A), bench.congestion.loss_rate(A)), (0.0, 0.0));
    bench.round(A);
    bench.round(A);
    // 20 packets in one round.
    assert!((bench.congestion.delivery_rate(A) - 200_000.0).abs() < 1e-6);
    for _ in 0..2_000 {
        bench.lossy_round(A);
    }
    // The window rests at two or three segments: a third to a half is lost.
    let loss = bench.congestion.loss_rate(A);
    assert!((0.3..=0.55).contains(&loss), "{loss}");
}

#[test]
fn packets_of_a_removed_subflow_do_not_touch_its_successor() {
    let mut bench = Bench::reno();
    let old = bench.fill(A);
    bench.congestion.remove_subflow(A);
    assert_eq!(bench.congestion.window(A), 0);
    bench.congestion.add_subflow(A, MSS, None);
    let new = bench.fill(A);
    bench.now += RTT;
    bench.ack(A, &old);
    bench.congestion.on_packet_discarded(A, &old[0]);
    assert_eq!(bench.congestion.bytes_in_flight(A), new.len() as u64 * MSS);
    bench.congestion.on_packet_discarded(A, &new[0]);
    assert_eq!(bench.congestion.bytes_in_flight(A), (new.len() as u64 - 1) * MSS);
}

/// Bytes that the window of path A grows in a round of avoidance beside an equal path B.
fn growth_beside_a_twin(kind: CongestionKind, coupled: bool, usable: bool) -> f64 {
    let mut bench = Bench::new(kind, coupled);
    bench.congestion.add_subflow(B, MSS, None);
    for path in [A, B] {
        bench.round(path);
        let packets = bench.fill(path);
        bench.now += RTT;
        bench.lose(path, &packets[..1]);
        bench.ack(path, &packets[1..]);
        bench.round(path);
    }
    bench.congestion.set_usable(B, usable);
    let before = bench.congestion.subflow(A).unwrap().cwnd;
    bench.round(A);
    bench.congestion.subflow(A).unwrap().cwnd - before
}

/// Two equal paths coupled grow a quarter of a segment each (RFC 6356: a = 1/2, of the total
/// window); alone each grows one.
#[test]
fn coupling_sees_the_usable_subflows_of_the_connection() {
    let near = |growth: f64, segments: f64| (growth / 1_000.0 - segments).abs() < 0.1;
    let [together, apart, alone] = [(true, true), (false, true), (true, false)]
        .map(|(coupled, usable)| growth_beside_a_twin(CongestionKind::Lia, coupled, usable));
    assert!(near(together, 0.25), "{together}");
    assert!(near(apart, 1.0), "{apart}");
    assert!(near(alone, 1.0), "{alone}");
}

/// Where the windows of others change the growth, worlds must let the controller see them.
#[test]
fn who_grows_with_regard_to_others_says_that_it_couples() {
    for &kind in CongestionKind::ALL {
        let [together, alone] =
            [true, false].map(|usable| growth_beside_a_twin(kind, true, usable));
        assert!(together == alone || kind.is_coupled(), "{kind:?}: {together} and {alone} alone");
    }
}

#[test]
fn the_initial_window_is_that_of_rfc_6928() {
    for (mss, window) in [(536, 5_360), (1_460, 14_600), (1_500, 14_600), (9_000, 18_000)] {
        let mut congestion = Congestion::new(CongestionConfig::default());
        congestion.add_subflow(A, mss, None);
        assert_eq!(congestion.window(A), window);
    }
}

#[test]
fn the_initial_window_can_be_given_in_segments() {
    for kind in CongestionKind::ALL {
        let config = CongestionConfig {
            avoidance: (*kind).into(),
            initial_window: InitialWindow::Segments(3),
            ..CongestionConfig::default()
        };
        let mut congestion = Congestion::new(config);
        congestion.add_subflow(A, 1_460, None);
        assert_eq!(congestion.window(A), 4_380, "{kind}");
    }
}

/// 10 Mbit/s are 50,000 bytes in 40 ms, of which 32 segments are 32,000. Standard slow start sends
/// two windows in a round.
#[test]
fn what_an_initial_window_by_rate_may_send_is_spread_over_the_rtt_of_the_set_up() {
    let config = CongestionConfig {
        avoidance: CongestionKind::Cubic.into(),
        slow_start: SlowStartKind::Standard.into(),
        initial_window: InitialWindow::Rate { rate: Bandwidth::from_mbit_per_sec(10.0), most: 32 },
        ..CongestionConfig::default()
    };
    let mut congestion = Congestion::new(config);
    congestion.add_subflow(A, MSS, Some(Duration::from_millis(40)));
    congestion.add_subflow(B, MSS, None);
    assert_eq!([A, B].map(|id| congestion.window(id)), [32_000, 10_000]);
    let rate = congestion.pacing_rate(A).map(Bandwidth::bytes_per_sec);
    assert_eq!(rate, Some(2.0 * 32_000.0 / 0.04));
    assert_eq!(congestion.pacing_rate(B), None, "the window leaves at once");
}

#[test]
fn every_name_in_the_registry_chooses_its_algorithm() {
    for &kind in CongestionKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    for &kind in SlowStartKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    let unknown = "vegas".parse::<CongestionKind>().unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "unknown congestion control \"vegas\"; allowed: balia, bbr, bbr3, brf, cabe, cubic, lia, olia, polypath, reno, tustin, westwood, westwood_plus, wvegas"
    );
    let rows = polypath_core::registry::all();
    let names: Vec<_> = rows.iter().map(|row| (row.kind, row.name)).collect();
    let mut unique = names.clone();
    unique.dedup();
    assert_eq!(names, unique);
    assert!(rows.iter().flat_map(|row| row.parameters).all(|p| p.default.is_finite()));
}
