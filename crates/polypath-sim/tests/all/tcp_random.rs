//! Whatever the pipe does, all bytes arrive once and in order, the connection ends, and the
//! sender's count of what is in flight is congestion control's.

use crate::random_scripts::Dice;
use crate::tcp_pipe::{Action, CLIENT, Class, Fault, SERVER, World, reno};
use polypath_sim::tcp::{LossDetection, Pacing, Reading, ReceiveBuffer, State, TcpConfig};
use polypath_units::{Bandwidth, PathId, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
struct Rates {
    drop: f64,
    delay: f64,
    duplicate: f64,
    mark: f64,
}

fn rates() -> impl Strategy<Value = Rates> {
    (0.0..0.25, 0.0..0.3, 0.0..0.1, 0.0..0.1).prop_map(|(drop, delay, duplicate, mark)| Rates {
        drop,
        delay,
        duplicate,
        mark,
    })
}

fn config() -> impl Strategy<Value = TcpConfig> {
    let modes = prop_oneof![
        4 => Just(TcpConfig::LINUX),
        2 => Just(TcpConfig { loss_detection: LossDetection::DupackThreshold, prr: false, ..TcpConfig::LINUX }),
        2 => Just(TcpConfig::NEW_RENO),
        1 => Just(TcpConfig { frto: true, limited_transmit: false, ..TcpConfig::NEW_RENO }),
    ];
    let readings =
        prop_oneof![Just(Reading::AtOnce), Just(Reading::Rate(Bandwidth::from_mbit_per_sec(2.0))),];
    let buffers = prop_oneof![
        Just(ReceiveBuffer::Fixed(5_000)),
        Just(ReceiveBuffer::Auto { initial: 65_536, max: 6 << 20 }),
    ];
    let pacing = prop_oneof![Just(Pacing::Off), Just(Pacing::Internal), Just(Pacing::Controller)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (modes, readings, buffers, pacing, flags, 0..3_u64).prop_map(
        |(mode, reading, receive_buffer, pacing, (ecn, timestamps, limited_transmit), gro)| {
            TcpConfig {
                reading,
                receive_buffer,
                pacing,
                ecn,
                timestamps: mode.timestamps && timestamps,
                limited_transmit,
                gro: Duration::from_micros(gro * 50),
                ..mode
            }
        },
    )
}

fn judge(
    seed: u64,
    rates: Rates,
) -> impl FnMut(usize, Class, u64, &polypath_sim::tcp::Segment) -> Option<Fault> {
    let mut dice = Dice::new(seed);
    move |_, _, _, _| {
        let (roll, size) = (dice.unit(), dice.unit());
        let by = Duration::from_micros((size * 60_000.0) as u64);
        let bounds = [rates.drop, rates.delay, rates.duplicate, rates.mark];
        let faults = [Fault::Drop, Fault::Delay(by), Fault::Duplicate(by), Fault::Mark];
        let mut sum = 0.0;
        bounds
            .into_iter()
            .zip(faults)
            .find(|(rate, _)| {
                sum += rate;
                roll < sum
            })
            .map(|(_, fault)| fault)
    }
}

fn flight_agrees(world: &World) {
    for end in &world.ends {
        let in_flight = end.congestion().bytes_in_flight(PathId::default());
        assert_eq!(
            end.endpoint().bytes_in_flight(),
            in_flight,
            "at {}\n{}",
            world.now,
            world.trace
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_once_and_in_order(
        config in config(),
        rates in rates(),
        seed in any::<u64>(),
        sizes in [0..400_000_u64, 0..60_000_u64],
        delay in 1..80_u64,
    ) {
        let config = TcpConfig {
            max_timeouts: 1_000,
            max_syn_retries: 1_000,
            // Some 40 of the longest timeouts: the last FIN finds somebody to acknowledge it.
            time_wait: Duration::from_secs(5_000),
            ..config
        };
        let delay = Duration::from_millis(delay);
        let mut world = World::new([config; 2], reno(), delay, judge(seed, rates));
        for side in [CLIENT, SERVER] {
            world.plan(Timestamp::ZERO, side, Action::Write(sizes[side]));
            world.plan(Timestamp::from_millis(1), side, Action::Close);
        }
        // Each loss costs at most a timeout of 120 s; more than an hour shows that it hangs.
        world.run(Timestamp::from_millis(20_000_000), flight_agrees);
        prop_assert_eq!(world.states(), [State::Closed; 2], "{}", world.trace);
        for side in [CLIENT, SERVER] {
            let end = world.ends[side].endpoint();
            prop_assert_eq!(end.delivered(), sizes[1 - side]);
            prop_assert_eq!(end.stats().bytes_delivered, sizes[1 - side]);
            prop_assert_eq!(end.bytes_in_flight(), 0);
            prop_assert_eq!(end.unread(), 0);
        }
    }
}
