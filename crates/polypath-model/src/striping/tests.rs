use super::*;

const MS: Duration = Duration::from_millis(1);

fn link(kbit: u64, ms: f64) -> StripedLink {
    StripedLink { rate: Bandwidth::from_bits_per_sec(kbit * 1_000), delay: MS.mul_f64(ms) }
}

fn kbit(links: &[StripedLink], bytes: u64, options: &StripingOptions) -> f64 {
    let transfer = StripedTransfer { bytes, ..StripedTransfer::default() };
    striped_throughput(links, &transfer, options).unwrap().bytes_per_sec * 8e-3
}

fn real() -> StripingOptions {
    StripingOptions { rounding: Rounding::Real, ..StripingOptions::default() }
}

/// Links of 100 kbit/s whose delays are evenly spaced from `least` ms, with this mean difference.
fn spaced(n: usize, least: f64, difference: f64) -> Vec<StripedLink> {
    let step = difference * 3.0 / (n as f64 + 1.0);
    (0..n).map(|i| link(100, least + step * i as f64)).collect()
}

/// Two segments a round, or three in slow start, each round taking a mean delay
/// (`docs/algorithms/models.md`).
#[test]
fn throughput_is_two_to_three_segments_for_each_mean_delay() {
    let pair = [link(1_000_000, 20.0), link(1_000_000, 40.0)];
    for options in [StripingOptions::default(), real()] {
        let a_segment = 536.0 * 8.0 / 30.0;
        let rate = kbit(&pair, 1_000_000, &options);
        assert!((2.0 * a_segment..3.0 * a_segment).contains(&rate), "{rate}");
        // Slow start ends: 2 segments a round.
        let long = kbit(&pair, 100_000_000, &options);
        assert!((long / a_segment - 2.0).abs() < 0.05, "{}", long / a_segment);
    }
}

/// In slow start three segments stay three: two are acknowledged in the mean, and the window has
/// grown by one. Their mean of 2.9999999 in binary numbers is two of them if its floor is taken.
#[test]
fn the_floor_of_binary_numbers_leaves_two_segments_where_three_are_meant() {
    let pair = [link(1_000_000, 20.0), link(1_000_000, 40.0)];
    let binary = StripingOptions { rounding: Rounding::BinaryFloor, ..StripingOptions::default() };
    // 36 kB are 67 segments, all in slow start, which ends at 65,535 B.
    let [meant, floor] = [StripingOptions::default(), binary].map(|o| kbit(&pair, 36_000, &o));
    assert!((floor / meant - 2.0 / 3.0).abs() < 0.02, "{floor} {meant}");
}

/// With two segments for each ACK only two of the links' delays matter.
#[test]
fn more_than_two_equal_links_bring_nothing() {
    let rates = [2, 3, 4, 8].map(|n| kbit(&vec![link(100, 30.0); n], 540_000, &real()));
    for rate in rates {
        assert!((rate - rates[0]).abs() < 1e-9 * rate, "{rates:?}");
    }
}

/// Why a single link has a rule of its own. In slow start the model counts three segments in the
/// time of two, so without one.
#[test]
fn a_single_link_is_not_faster_than_it_is() {
    let (single, in_order) = ([link(100, 5.0)], StripingOptions::default());
    let permuted = StripingOptions { single_link: SingleLink::Permutation, ..real() };
    assert!((kbit(&single, 1_000_000, &permuted) - 136.6).abs() < 0.05);
    let transfer = StripedTransfer { threshold_bytes: 0, ..StripedTransfer::default() };
    let rate = striped_throughput(&single, &transfer, &in_order).unwrap().bytes_per_sec * 8e-3;
    // Two segments in 2 * 42.88 + 5 ms.
    assert!((rate - 2.0 * 4.288 / 0.090_76).abs() < 0.1, "{rate}");
}

/// The values of `docs/algorithms/models.md` for figure 9 with the mean rate fixed.
#[test]
fn delays_cost_more_than_rates() {
    let rate = [[730; 4], [100, 520, 940, 1_360]];
    let delay = [[5.0; 4], [5.0, 26.0, 47.0, 68.0]];
    let at = |r: usize, d: usize| {
        let links: Vec<_> = (0..4).map(|i| link(rate[r][i], delay[d][i])).collect();
        kbit(&links, 1_000_000, &real())
    };
    for (r, d, expected) in [(0, 0, 843.7), (1, 0, 465.5), (0, 1, 216.5), (1, 1, 179.2)] {
        let given = at(r, d);
        assert!((given - expected).abs() < 0.06, "{r} {d}: {given}, not {expected}");
    }
}

/// S1's criterion, section 6.2, by the corrected model: rounds last a mean delay, so that two links
/// are slower than one where half the difference is above the time of a segment, 42.88 ms.
#[test]
fn two_links_are_best_unless_delays_differ_by_86_ms() {
    let best = |least, difference| {
        let rate = |n: &usize| kbit(&spaced(*n, least, difference), 540_000, &<_>::default());
        (1..=4).max_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap()
    };
    for least in [5.0, 20.0, 35.0, 50.0] {
        for difference in [10.0, 20.0, 30.0, 40.0, 50.0, 85.0] {
            assert_eq!(best(least, difference), 2, "from {least} ms, {difference} ms");
        }
        for difference in [86.5, 90.0] {
            assert_eq!(best(least, difference), 1, "from {least} ms, {difference} ms");
        }
    }
}

/// Figure 10: four links fall below one where 0.9 of the difference is the time of a segment, for
/// every least delay (0.3 ms less by the first round, of one segment). S1 has 35.6 ms for 5 ms and
/// 30.6 ms for 50 ms: that is what comes out if slow start sends two segments a round instead of
/// three (`docs/models.md`).
#[test]
fn four_links_fall_below_one_at_48_ms() {
    let above = |least: f64, difference: f64| {
        kbit(&spaced(4, least, difference), 540_000, &<_>::default())
            > kbit(&spaced(1, least, 0.0), 540_000, &<_>::default())
    };
    for least in [5.0, 20.0, 35.0, 50.0] {
        assert!(above(least, 42.88 / 0.9 - 0.3), "{least}");
        assert!(!above(least, 42.88 / 0.9), "{least}");
    }
}

/// Equal rounds are calculated at once; with the exact phase each is calculated. With equal links
/// both are one.
#[test]
fn equal_rounds_at_once_are_the_same_as_one_by_one() {
    for (n, bytes) in [(2, 30_000), (3, 400_000), (5, 3_000_000)] {
        let links = vec![link(3_000, 25.0); n];
        let transfer = StripedTransfer { bytes, ..StripedTransfer::default() };
        let exact = StripingOptions { phase: Phase::Exact, ..StripingOptions::default() };
        let [at_once, one_by_one] = [StripingOptions::default(), exact]
            .map(|options| striped_throughput(&links, &transfer, &options).unwrap());
        assert_eq!(at_once.rounds, one_by_one.rounds);
        assert!((at_once.seconds / one_by_one.seconds - 1.0).abs() < 1e-9);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = |links: &[StripedLink], transfer: StripedTransfer| {
        striped_throughput(links, &transfer, &<_>::default()).unwrap_err().to_string()
    };
    let transfer = StripedTransfer::default();
    assert_eq!(problem(&[], transfer), "no link; allowed: 1 to 64");
    assert_eq!(problem(&vec![link(1, 1.0); 65], transfer), "65 links; allowed: 1 to 64");
    let problem_of = |transfer| problem(&[link(1, 1.0)], transfer);
    assert!(problem(&[link(0, 1.0)], transfer).contains("rate of a link in bytes/s is 0"));
    assert!(
        problem_of(StripedTransfer { bytes: 0, ..transfer }).contains("transfer in bytes is 0")
    );
    assert!(problem_of(StripedTransfer { segment_bytes: 0, ..transfer }).contains("segment"));
}
