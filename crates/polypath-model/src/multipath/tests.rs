use super::*;
use proptest::prelude::*;

const OPTIONS: MultipathOptions = MultipathOptions {
    control: PathControl::Cubic,
    segment_bytes: 1_400,
    header_bytes: 100,
    receive_buffer: 16_000_000,
};

fn path(mbit_s: f64, rtt_ms: u64) -> ModelPath {
    ModelPath {
        rate: Bandwidth::from_mbit_per_sec(mbit_s),
        rtt: Duration::from_millis(rtt_ms),
        loss: 0.0,
        queue_bytes: f64::INFINITY,
    }
}

fn mbit(paths: &[ModelPath], options: &MultipathOptions, family: SchedulerFamily) -> f64 {
    multipath_rate(paths, options, family).unwrap().bytes_per_sec * 8e-6
}

#[test]
fn clean_paths_add_up_but_for_headers() {
    let both = [path(90.0, 20), path(30.0, 60)];
    for family in [SchedulerFamily::Ahead, SchedulerFamily::Selective, SchedulerFamily::Greedy] {
        assert!((mbit(&both, &OPTIONS, family) - 120.0 * 14.0 / 15.0).abs() < 1e-6);
    }
    let copies = multipath_rate(&both, &OPTIONS, SchedulerFamily::Redundant).unwrap();
    assert_eq!((copies.paths, copies.limit), (vec![0], Limit::Rate));
}

#[test]
fn a_small_buffer_makes_the_slow_path_a_burden_that_selective_schedulers_leave_out() {
    let options = MultipathOptions { receive_buffer: 300_000, ..OPTIONS };
    let paths = [path(90.0, 20), path(30.0, 200)];
    let of = |family| multipath_rate(&paths, &options, family).unwrap();
    let (greedy, selective) = (of(SchedulerFamily::Greedy), of(SchedulerFamily::Selective));
    // 300 kB in 200 ms and the 0.4 ms of a packet of 1,500 bytes.
    let bound: f64 = 300e3 / 0.200_4;
    let mean = (bound * 90e6 / 8.0 * 14.0 / 15.0).sqrt();
    assert!((greedy.bytes_per_sec / mean - 1.0).abs() < 1e-9, "{greedy:?}");
    assert_eq!(greedy.limit, Limit::ReceiveBuffer);
    assert_eq!((selective.paths, selective.limit), (vec![0], Limit::Rate));
}

#[test]
fn losses_hold_loss_based_control_down_and_bbr_not() {
    let lossy = ModelPath { loss: 0.01, ..path(100.0, 50) };
    let with = |control| path_rate(&lossy, &MultipathOptions { control, ..OPTIONS }).unwrap();
    let (reno, bbr) = (with(PathControl::NewReno), with(PathControl::Bbr));
    // Mathis: 1400 B / 50.12 ms sqrt(1.5 / 0.01), of which 0.99 arrive.
    let mathis = 1_400.0 / 0.050_12 * 150_f64.sqrt() * 0.99;
    assert!((reno.bytes_per_sec / mathis - 1.0).abs() < 1e-9, "{reno:?}");
    assert_eq!((reno.limit, bbr.limit), (Limit::Loss, Limit::Rate));
    assert!(bbr.bytes_per_sec > 10e6, "{bbr:?}");
}

#[test]
fn a_sawtooth_without_queue_fills_three_quarters_with_reno() {
    assert_eq!(filled_by_sawtooth(0.5, 0.0), 0.75);
    assert_eq!(filled_by_sawtooth(0.7, 0.0), 0.85);
    assert_eq!(filled_by_sawtooth(0.5, 1.0), 1.0);
}

#[test]
fn what_cannot_be_is_refused() {
    let message = |paths: &[ModelPath]| {
        multipath_rate(paths, &OPTIONS, SchedulerFamily::Greedy).unwrap_err().to_string()
    };
    assert_eq!(message(&[]), "no link; allowed: 1 to 64");
    assert!(message(&[path(0.0, 20)]).contains("rate of a link in bytes/s is 0"));
    assert!(message(&[ModelPath { loss: 2.0, ..path(1.0, 20) }]).contains("the loss is 2"));
    assert!(message(&[ModelPath { queue_bytes: f64::NAN, ..path(1.0, 20) }]).contains("NaN"));
}

fn any_path() -> impl Strategy<Value = ModelPath> {
    let ranges = (1_u64..100_000_000_000, 0_u64..10_000_000, 0.0..0.999_f64, 0.0..1e9_f64);
    ranges.prop_map(|(bits, micros, loss, queue_bytes)| ModelPath {
        rate: Bandwidth::from_bits_per_sec(bits),
        rtt: Duration::from_micros(micros),
        loss,
        queue_bytes,
    })
}

proptest! {
    #[test]
    fn more_paths_and_more_buffer_are_never_worse_where_the_scheduler_selects(
        paths in prop::collection::vec(any_path(), 2..=64),
        buffer in 1_u64..1_000_000_000_000,
        control in prop::sample::select(
            &[PathControl::Bbr, PathControl::Cubic, PathControl::NewReno][..]),
    ) {
        let options = MultipathOptions { control, receive_buffer: buffer, ..OPTIONS };
        let selective = |paths: &[ModelPath], options: &MultipathOptions| {
            mbit(paths, options, SchedulerFamily::Selective)
        };
        let all = selective(&paths, &options);
        let sum: f64 = paths.iter().map(|path| path.rate.mbit_per_sec()).sum();
        prop_assert!(all.is_finite() && all > 0.0 && all <= sum * 1.000_001);
        prop_assert!(all >= selective(&paths[1..], &options) * 0.999_999);
        let greedy = mbit(&paths, &options, SchedulerFamily::Greedy);
        prop_assert!(greedy > 0.0 && greedy <= sum * 1.000_001);
        let ahead = mbit(&paths, &options, SchedulerFamily::Ahead);
        prop_assert!(ahead.is_finite() && ahead > 0.0 && ahead <= sum * 1.000_001);
        let alone = mbit(&paths[..1], &options, SchedulerFamily::Ahead);
        prop_assert!(ahead >= alone * 0.999_999);
        let twice = MultipathOptions { receive_buffer: buffer * 2, ..options };
        prop_assert!(selective(&paths, &twice) >= all * 0.999_999);
    }
}
