use super::*;
use proptest::prelude::*;

fn link(mbit_s: f64, rtt_ms: u64) -> TunnelLink {
    TunnelLink {
        rate: Bandwidth::from_mbit_per_sec(mbit_s),
        rtt: Duration::from_millis(rtt_ms),
        loss: 0.0,
        queue_packets: 100,
    }
}

fn predict(links: &[TunnelLink], transfer: &TunnelTransfer) -> TunnelPrediction {
    tunnel_throughput(links, transfer).unwrap()
}

#[test]
fn one_link_is_filled() {
    let transfer = TunnelTransfer { bytes: 100_000_000, ..TunnelTransfer::default() };
    let one = predict(&[link(10.0, 20)], &transfer);
    // 536 of 608 bytes; the window of 65,535 bytes is more than the BDP of 25,000.
    let payload = 10e6 / 8.0 * 536.0 / 608.0;
    assert!((one.long_run_bytes_per_sec / payload - 1.0).abs() < 1e-3, "{one:?}");
    assert_eq!((one.cuts, one.limit), (0, Limit::Rate));
}

/// Slow start overflows the queue; without SACK each round repairs one of what it has lost.
#[test]
fn an_overflow_that_leaves_links_idle_is_no_limit_of_their_rates() {
    let transfer = TunnelTransfer {
        segment_bytes: 1_460,
        initial_window_segments: 10,
        receive_buffer: 16 << 20,
        bytes: 10_000_000,
        horizon_segments: 10_000,
        ..TunnelTransfer::default()
    };
    let one = predict(&[TunnelLink { queue_packets: 234, ..link(35.9, 80) }], &transfer);
    assert!(one.bytes_per_sec * 8e-6 < 5.0, "{one:?}");
    assert_eq!(one.limit, Limit::StartUp);
}

#[test]
fn the_receive_buffer_limits_a_long_link() {
    let transfer = TunnelTransfer { bytes: 100_000_000, ..TunnelTransfer::default() };
    let one = predict(&[link(100.0, 100)], &transfer);
    // 122 segments in a round trip of 100 ms, and what sending a segment and an ACK takes.
    let window = 122.0 * 536.0 / 0.1;
    assert!((one.long_run_bytes_per_sec / window - 1.0).abs() < 0.05, "{one:?}");
    assert_eq!(one.limit, Limit::ReceiveBuffer);
}

#[test]
fn reordering_makes_two_links_slower_than_one() {
    let transfer = TunnelTransfer::default();
    let one = predict(&[link(10.0, 20)], &transfer);
    let both = predict(&[link(10.0, 20), link(10.0, 70)], &transfer);
    let equal = predict(&[link(10.0, 20), link(10.0, 20)], &transfer);
    assert!(both.bytes_per_sec < 0.5 * one.bytes_per_sec, "{both:?}");
    assert!(equal.bytes_per_sec > 1.5 * one.bytes_per_sec, "{equal:?}");
    assert_eq!(both.limit, Limit::Reordering);
    assert!(both.cuts > 0);
}

#[test]
fn losses_cost_and_are_named() {
    let lossy = TunnelLink { loss: 0.02, ..link(50.0, 40) };
    let transfer = TunnelTransfer::default();
    let (with, without) = (predict(&[lossy], &transfer), predict(&[link(50.0, 40)], &transfer));
    assert!(with.bytes_per_sec < 0.5 * without.bytes_per_sec, "{with:?} {without:?}");
    assert_eq!(with.limit, Limit::Loss);
}

#[test]
fn cubic_is_faster_than_new_reno_where_rounds_are_long_and_losses_few() {
    let lossy = TunnelLink { loss: 0.000_5, queue_packets: 2_000, ..link(100.0, 200) };
    let with = |control| TunnelTransfer {
        control,
        bytes: 100_000_000,
        receive_buffer: 16 << 20,
        horizon_segments: 100_000,
        ..TunnelTransfer::default()
    };
    let rate = |control| predict(&[lossy], &with(control)).long_run_bytes_per_sec;
    assert!(rate(TunnelControl::Cubic) > 1.2 * rate(TunnelControl::NewReno));
}

#[test]
fn what_follows_the_horizon_goes_on_as_before() {
    let links = [link(10.0, 20), link(10.0, 45), link(5.0, 30)];
    let with = |horizon_segments| TunnelTransfer {
        bytes: 5_000_000,
        horizon_segments,
        ..TunnelTransfer::default()
    };
    let (all, part) = (predict(&links, &with(u32::MAX)), predict(&links, &with(2_000)));
    assert!(part.segments < 2_200 && all.segments > 9_300);
    assert!((part.bytes_per_sec / all.bytes_per_sec - 1.0).abs() < 0.25, "{part:?} {all:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let message = |links: &[TunnelLink]| {
        tunnel_throughput(links, &TunnelTransfer::default()).unwrap_err().to_string()
    };
    assert_eq!(message(&[]), "no link; allowed: 1 to 64");
    assert_eq!(message(&[link(1.0, 1); 65]), "65 links; allowed: 1 to 64");
    assert!(message(&[link(0.0, 20)]).contains("rate of a link in bytes/s is 0"));
    let lossy = TunnelLink { loss: 2.0, ..link(1.0, 20) };
    assert_eq!(message(&[lossy]), "the loss is 2; allowed: from 0 to below 1");
    let empty = TunnelTransfer { bytes: 0, ..TunnelTransfer::default() };
    assert!(tunnel_throughput(&[link(1.0, 20)], &empty).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever can be given, the answer is a number, and no more than all links carry at once.
    #[test]
    fn predictions_are_finite_and_below_the_sum_of_the_rates(
        links in prop::collection::vec(
            (1_u64..10_000_000_000, 0_u64..10_000_000, 0.0..0.999_f64, 0_u32..10_000), 1..=64),
        bytes in 1_u64..1_000_000_000_000,
        buffer in 1_u64..100_000_000_000,
        cubic in any::<bool>(),
    ) {
        let link = |&(bits, micros, loss, queue_packets): &(u64, u64, f64, u32)| TunnelLink {
            rate: Bandwidth::from_bits_per_sec(bits),
            rtt: Duration::from_micros(micros),
            loss,
            queue_packets,
        };
        let links: Vec<_> = links.iter().map(link).collect();
        let control = if cubic { TunnelControl::Cubic } else { TunnelControl::NewReno };
        let transfer = TunnelTransfer {
            bytes,
            receive_buffer: buffer,
            control,
            horizon_segments: 200,
            ..TunnelTransfer::default()
        };
        let prediction = predict(&links, &transfer);
        let all: f64 = links.iter().map(|link| link.rate.bytes_per_sec()).sum();
        prop_assert!(prediction.seconds.is_finite() && prediction.seconds > 0.0);
        prop_assert!(prediction.bytes_per_sec > 0.0);
        prop_assert!(prediction.bytes_per_sec <= all * 1.001, "{:?} of {}", prediction, all);
    }

    /// A single link is no slower with a higher rate: segments keep their order.
    #[test]
    fn a_faster_link_is_no_slower(mbit_s in 1.0..100.0_f64, factor in 1.0..4.0_f64, rtt in 1_u64..200) {
        let transfer = TunnelTransfer { receive_buffer: 65_535, ..TunnelTransfer::default() };
        let rate = |mbit_s| predict(&[link(mbit_s, rtt)], &transfer).bytes_per_sec;
        prop_assert!(rate(mbit_s * factor) >= rate(mbit_s) * 0.999);
    }
}
