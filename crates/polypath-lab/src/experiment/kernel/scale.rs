//! Rates that the emulator carries.

use polypath_link::{LeafQueue, LinkConfig, QueueConfig, QueueLimit, Rate, RateStep};
use polypath_sim::scenario::{FlowKind, NetworkSpec, Scenario, ScenarioPath, Transport};
use polypath_sim::tcp::ReceiveBuffer;
use polypath_units::{Bandwidth, ByteCount};

/// What all links of a network may carry together in one direction, if nothing else is said: the
/// emulator holds one link of 300 Mbit/s full of TCP on two cores, and more as long as packets are
/// large.
pub(crate) const CAPACITY: Bandwidth = Bandwidth::from_bits_per_sec(350_000_000);

/// The smallest whole number by which the rates of all these scenarios are to be divided, so that
/// the links of each carry so much together at most.
///
/// # Errors
/// For a network that is not paths.
pub(super) fn factor<'a>(
    scenarios: impl IntoIterator<Item = &'a Scenario>,
    capacity: Bandwidth,
) -> Result<u32, String> {
    let each = scenarios.into_iter().map(|scenario| of_scenario(scenario, capacity));
    each.into_iter().try_fold(1, |most, one| Ok(one?.max(most)))
}

fn of_scenario(scenario: &Scenario, capacity: Bandwidth) -> Result<u32, String> {
    let paths = scenario.network.paths().ok_or(NOT_PATHS)?;
    let sum = |link: fn(&ScenarioPath) -> &LinkConfig| -> f64 {
        paths.iter().map(|path| link(path).rate.reference().mbit_per_sec()).sum()
    };
    let most = sum(|path| &path.links.up).max(sum(|path| &path.links.down));
    Ok((most / capacity.mbit_per_sec()).ceil().max(1.0) as u32)
}

const NOT_PATHS: &str = "only networks of [[path]] are scaled";

/// A scenario with all rates, and with them queues, transfers and receive buffers, divided by a
/// factor. Delays, losses and the size of segments stay.
///
/// # Errors
/// For what cannot be divided: rates of traces, queues with more than a limit, other flows than
/// transfers.
pub(super) fn scaled(scenario: &Scenario, factor: u32) -> Result<Scenario, String> {
    let mut scenario = scenario.clone();
    if factor == 1 {
        return Ok(scenario);
    }
    let NetworkSpec::Paths(paths) = &mut scenario.network else { return Err(NOT_PATHS.to_owned()) };
    for path in paths {
        for link in [&mut path.links.up, &mut path.links.down] {
            scale_rate(&mut link.rate, factor)?;
            scale_queue(&mut link.queue, factor)?;
        }
    }
    for flow in &mut scenario.flows {
        let FlowKind::Bulk(bulk) = &mut flow.kind else {
            return Err("only transfers (`kind = \"bulk\"`) are scaled".to_owned());
        };
        bulk.bytes = bulk.bytes.map(|bytes| ByteCount::new(bytes.get() / u64::from(factor)));
    }
    for event in &mut scenario.events {
        event.change.rate = event.change.rate.map(|rate| divided(rate, factor));
        event.change.queue.iter_mut().try_for_each(|queue| scale_queue(queue, factor))?;
    }
    for connection in &mut scenario.connections {
        let receive = match &mut connection.transport {
            Transport::Tcp(tcp) => &mut tcp.receive,
            Transport::Mptcp(mptcp) => &mut mptcp.receive,
            other => return Err(format!("{:?} is not scaled", other.name())),
        };
        receive.buffer = receive.buffer.map(|buffer| scaled_buffer(buffer, factor));
    }
    Ok(scenario)
}

const fn divided(rate: Bandwidth, factor: u32) -> Bandwidth {
    Bandwidth::from_bits_per_sec(rate.bits_per_sec() / factor as u64)
}

fn scale_rate(rate: &mut Rate, factor: u32) -> Result<(), String> {
    match rate {
        Rate::Constant(rate) => *rate = divided(*rate, factor),
        Rate::Schedule { initial, steps } => {
            *initial = divided(*initial, factor);
            for step in steps {
                *step = RateStep { rate: divided(step.rate, factor), ..*step };
            }
        }
        Rate::Trace { .. } => return Err("the rate of a trace is not scaled".to_owned()),
    }
    Ok(())
}

/// Limits in BDPs follow the rate.
fn scale_queue(queue: &mut QueueConfig, factor: u32) -> Result<(), String> {
    let QueueConfig::Leaf(LeafQueue::DropTail(limit)) = queue else {
        return Err("only queues that are `drop_tail` are scaled".to_owned());
    };
    match limit {
        QueueLimit::Bytes(size) | QueueLimit::Packets(size) => {
            *size = (*size / u64::from(factor)).max(1);
        }
        QueueLimit::Bdp { .. } => {}
    }
    Ok(())
}

fn scaled_buffer(buffer: ReceiveBuffer, factor: u32) -> ReceiveBuffer {
    match buffer {
        ReceiveBuffer::Fixed(size) => ReceiveBuffer::Fixed(size / u64::from(factor)),
        ReceiveBuffer::Auto { max, .. } => ReceiveBuffer::up_to(max / u64::from(factor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::kernel::trial::tests::scenario;
    use polypath_units::Timestamp;
    use std::time::Duration;

    const TWO: &str = "
        duration = '1 s'
        [[path]]
        name = 'a'
        rate = '500 Mbit/s'
        delay = '5 ms'
        queue = '100 packets'
        loss = 0.01
        [[path]]
        name = 'b'
        rate = '200 Mbit/s'
        delay = '20 ms'
        queue = '90 kB'
        blockage = { at = '0.5 s', rate = '30 Mbit/s' }
        [connection]
        transport = 'mptcp'
        receive_buffer = '6 MB'
        [[flow]]
        kind = 'bulk'
        bytes = '10 MB'
        [[event]]
        at = '0.2 s'
        path = 'a'
        rate = '50 Mbit/s'
    ";

    /// 700 Mbit/s are twice what is carried, to the bit; one more is not.
    #[test]
    fn the_factor_is_the_smallest_that_suffices() {
        let of = |rate: &str| {
            let set = [format!("path.a.rate={rate}")];
            factor([&scenario(TWO, &set)], CAPACITY).unwrap()
        };
        assert_eq!(of("100 Mbit/s"), 1);
        assert_eq!(of("150 Mbit/s"), 1);
        assert_eq!(of("151 Mbit/s"), 2);
        assert_eq!((of("500 Mbit/s"), of("501 Mbit/s")), (2, 3));
        let both = [scenario(TWO, &[]), scenario(TWO, &["path.a.rate=900 Mbit/s".to_owned()])];
        assert_eq!(factor(&both, CAPACITY).unwrap(), 4, "of all of them");
        let less = Bandwidth::from_mbit_per_sec(100.0);
        assert_eq!(factor(&both, less).unwrap(), 11, "900 + 200 Mbit/s over 100 Mbit/s");
    }

    #[test]
    fn rates_queues_buffers_and_transfers_shrink_and_delays_stay() {
        let whole = scenario(TWO, &[]);
        let half = scaled(&whole, 2).unwrap();
        let paths = half.network.paths().unwrap();
        let [a, b] = [&paths[0].links.up, &paths[1].links.down];
        assert_eq!(a.rate, Rate::Constant(Bandwidth::from_mbit_per_sec(250.0)));
        assert_eq!(a.queue, QueueLimit::Packets(50).into());
        assert_eq!(b.queue, QueueLimit::Bytes(45_000).into());
        assert_eq!((a.delay, b.delay), (Duration::from_millis(5), Duration::from_millis(20)));
        assert_eq!(a.loss, whole.network.paths().unwrap()[0].links.up.loss);
        let Rate::Schedule { initial, steps } = &b.rate else { panic!("{:?}", b.rate) };
        assert_eq!(*initial, Bandwidth::from_mbit_per_sec(100.0));
        let at = Timestamp::from_millis(500);
        assert_eq!(steps[..], [RateStep { at, rate: Bandwidth::from_mbit_per_sec(15.0) }]);
        assert_eq!(half.events[0].change.rate, Some(Bandwidth::from_mbit_per_sec(25.0)));
        let FlowKind::Bulk(bulk) = &half.flows[0].kind else { panic!("a transfer") };
        assert_eq!(bulk.bytes.map(|bytes| bytes.get()), Some(5_000_000));
        let Transport::Mptcp(mptcp) = &half.connections[0].transport else { panic!("MPTCP") };
        assert_eq!(mptcp.receive.buffer, Some(ReceiveBuffer::Fixed(3_000_000)));
        assert_eq!(scaled(&whole, 1).unwrap(), whole);
    }

    #[test]
    fn what_cannot_be_divided_is_told() {
        for (set, expected) in [
            ("path.a.queue={ kind = 'codel' }", "drop_tail"),
            ("flow=[{ kind = 'constant_rate', rate = '1 Mbit/s' }]", "bulk"),
            ("connection={ transport = 'bond' }", "\"bond\" is not scaled"),
        ] {
            let problem = scaled(&scenario(TWO, &[set.to_owned()]), 2).unwrap_err();
            assert!(problem.contains(expected), "{set}: {problem}");
        }
    }
}
