//! Multipath TCP over networks.

use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::failure::FailureKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_link::{LinkConfig, Loss, QueueLimit, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::MptcpEnd;
use polypath_sim::fabric::EndpointId;
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::tcp::ReceiveBuffer;
use polypath_sim::topology::{Graph, Topology};
use polypath_sim::{ApplicationId, PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// 1,500 bytes less IPv4, TCP, timestamps and the data sequence signal.
const PAYLOAD: f64 = 1_424.0 / 1_500.0;

#[derive(Clone, Copy)]
struct Link(f64, u64, f64);

struct World {
    simulator: Simulator,
    topology: Topology,
    ends: (EndpointId, EndpointId),
    bulk: ApplicationId,
}

fn world(links: &[Link], config: &MptcpConfig, backup: &[bool], bytes: Option<u64>) -> World {
    let links = links.iter().enumerate().map(|(n, &Link(rate, ms, loss))| {
        let rate = Bandwidth::from_mbit_per_sec(rate);
        let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
        link.queue = QueueLimit::Bdp { multiple: 1.0, rtt: None }.into();
        if loss > 0.0 {
            link.loss = Loss::Bernoulli(loss);
        }
        (format!("path{n}"), PathLinks::symmetric(link))
    });
    let topology = Topology::from(&Graph::between_two_hosts(links));
    let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
    let (client, server) = topology.pairs()[0];
    let routes = topology.routes(client, server);
    let ends =
        MptcpEnd::connect(&mut simulator, &topology, &routes, backup, config, Timestamp::ZERO);
    let bulk = Bulk::new(ends.0, ends.1, bytes, Timestamp::ZERO);
    let bulk = simulator.add_application(Box::new(bulk));
    World { simulator, topology, ends, bulk }
}

impl World {
    fn goodput(&mut self, from: u64, to: u64) -> f64 {
        self.simulator.run_until(Timestamp::from_millis(1_000 * from));
        let before = self.simulator.report(self.ends.1).delivered;
        self.simulator.run_until(Timestamp::from_millis(1_000 * to));
        let bytes = self.simulator.report(self.ends.1).delivered - before;
        bytes as f64 * 8e-6 / (to - from) as f64
    }
}

fn config(avoidance: CongestionKind, scheduler: SchedulerKind, buffer: u64) -> MptcpConfig {
    let mut config = MptcpConfig::default();
    config.composition.scheduler = scheduler.into();
    config.composition.congestion =
        CongestionConfig { avoidance: avoidance.into(), ..CongestionConfig::default() };
    config.tcp.receive_buffer = ReceiveBuffer::Fixed(buffer);
    config
}

const TWO: [Link; 2] = [Link(50.0, 10, 0.0), Link(20.0, 30, 0.0)];
const NONE: [bool; 2] = [false, false];

/// Each scheduler and each controller once; the [experiment](crate::experiments::mptcp) has every
/// pair.
#[test]
fn every_scheduler_and_controller_fills_two_links() {
    let count = SchedulerKind::ALL.len().max(CongestionKind::ALL.len());
    let schedulers = SchedulerKind::ALL.iter().cycle();
    let pairs = schedulers.zip(CongestionKind::ALL.iter().cycle()).take(count);
    pairs.for_each(|(&scheduler, &avoidance)| fill_two_links(scheduler, avoidance));
}

/// With room for everything the two links are full, whatever chooses; BBR is at four packets for
/// 200 ms of every 10 s. Where it keeps the queue of the fast link short, `cp_conservative` does
/// without the slow one: 40 ms more at 50 Mbit/s are more than 20 ms at 70.
pub(crate) fn fill_two_links(scheduler: SchedulerKind, avoidance: CongestionKind) {
    let mut world = world(&TWO, &config(avoidance, scheduler, 8 << 20), &NONE, None);
    let share = world.goodput(5, 25) / (70.0 * PAYLOAD);
    let full = match scheduler {
        SchedulerKind::CpConservative => 50.0 / 70.0,
        _ => 1.0,
    };
    let range = 0.96 * full..=1.01;
    assert!(range.contains(&share), "{scheduler:?} {avoidance:?}: {share:.3}");
}

/// Everything arrives once and in order, the end is told, and both ends know it.
#[test]
fn a_transfer_ends() {
    let lossy = [Link(50.0, 10, 0.01), Link(20.0, 30, 0.01)];
    for failure in FailureKind::ALL {
        let mut config = config(CongestionKind::Lia, SchedulerKind::LowRtt, 1 << 20);
        config.composition.failure = (*failure).into();
        let mut world = world(&lossy, &config, &NONE, Some(5_000_000));
        world.simulator.run_until(Timestamp::from_millis(60_000));
        let done = world.simulator.application::<Bulk>(world.bulk).unwrap().finished();
        assert!(done.is_some(), "{failure:?}: {:?}", world.simulator.report(world.ends.1));
        let server = world.simulator.endpoint::<MptcpEnd>(world.ends.1).unwrap().connection();
        assert_eq!((server.delivered(), server.out_of_order()), (5_000_000, 0));
        assert!(server.peer_finished());
    }
}

/// The fast path dies for good at 5 s: the slow one carries on alone, after a timeout of the dead
/// one at most (srtt + 200 ms; 1 s is generous).
#[test]
fn the_other_subflow_carries_on() {
    for failure in FailureKind::ALL {
        let mut config = config(CongestionKind::Cubic, SchedulerKind::LowRtt, 4 << 20);
        config.composition.failure = (*failure).into();
        let mut world = world(&TWO, &config, &NONE, None);
        world.simulator.run_until(Timestamp::from_millis(5_000));
        for link in world.topology.both_ways("path0").unwrap() {
            world.simulator.fabric_mut().change_link(link, |link, now| link.set_down(now, true));
        }
        let share = world.goodput(6, 16) / (20.0 * PAYLOAD);
        assert!((0.95..=1.01).contains(&share), "{failure:?}: {share:.3}");
    }
}

/// A backup carries nothing while the other subflow works, and everything after its death.
#[test]
fn a_backup_waits() {
    let config = config(CongestionKind::Cubic, SchedulerKind::LowRtt, 4 << 20);
    let mut world = world(&TWO, &config, &[false, true], None);
    let goodput = world.goodput(2, 5);
    assert!(goodput <= 50.0 * PAYLOAD * 1.01, "{goodput:.1}");
    let sent = world.simulator.report(world.ends.0).paths[1].sent_bytes;
    assert_eq!(sent, 0);
    let link = world.topology.link("path0").unwrap();
    world.simulator.fabric_mut().change_link(link, |link, now| link.set_down(now, true));
    let share = world.goodput(7, 12) / (20.0 * PAYLOAD);
    assert!(share >= 0.95, "{share:.3}");
}

/// What round robin puts on a slow path stands there for 200 ms and more, and a receive buffer of
/// 300 kB is full after 50 ms of the fast path: it is blocked, unless the oldest data is sent again
/// on the fast path and the slow one is given less.
#[test]
fn opportunistic_retransmission_and_penalisation_save_a_small_buffer() {
    let links = [Link(50.0, 5, 0.0), Link(5.0, 100, 0.0)];
    let goodput = |again, penalise| {
        let mut config = config(CongestionKind::Cubic, SchedulerKind::RoundRobin, 300_000);
        (config.composition.opportunistic_retransmission, config.composition.penalisation) =
            (again, penalise);
        world(&links, &config, &NONE, None).goodput(5, 25)
    };
    let (neither, both) = (goodput(false, false), goodput(true, true));
    assert!(both > 1.2 * neither, "{both:.1} with, {neither:.1} without");
}

/// With buffers for the subflows, as Linux has them: equal paths are filled, nothing is sent again,
/// and backups wait and take over as before.
#[test]
fn send_buffers_of_subflows_keep_both_paths_busy() {
    let mut config = config(CongestionKind::Cubic, SchedulerKind::LowRtt, 4 << 20);
    config.subflow_buffers = true;
    let links = [Link(20.0, 20, 0.0), Link(20.0, 20, 0.0)];
    let mut both = world(&links, &config, &NONE, None);
    let share = both.goodput(5, 25) / (40.0 * PAYLOAD);
    assert!((0.97..=1.01).contains(&share), "{share:.3}");
    assert_eq!(both.simulator.report(both.ends.0).reinjected_bytes, 0);

    let mut one = world(&links, &config, &[false, true], None);
    let share = one.goodput(5, 25) / (20.0 * PAYLOAD);
    assert!((0.97..=1.01).contains(&share), "{share:.3}");
    let link = one.topology.link("path0").unwrap();
    one.simulator.fabric_mut().change_link(link, |link, now| link.set_down(now, true));
    let share = one.goodput(28, 40) / (20.0 * PAYLOAD);
    assert!(share >= 0.95, "{share:.3}");
}

/// What the buffer of a subflow holds when it turns slow arrives late: without buffers the
/// scheduler gives a lossy path only what its window takes, with them the fast path waits for it.
#[test]
fn send_buffers_of_subflows_wait_for_a_lossy_path() {
    let links = [Link(20.0, 20, 0.0), Link(20.0, 20, 0.02)];
    let goodput = |subflow_buffers| {
        let mut config = config(CongestionKind::Cubic, SchedulerKind::LowRtt, 1 << 20);
        config.subflow_buffers = subflow_buffers;
        world(&links, &config, &NONE, None).goodput(5, 35)
    };
    let (without, with) = (goodput(false), goodput(true));
    assert!(with < 0.95 * without, "{with:.1} with, {without:.1} without");
}

/// A burst goes to the buffer that would be empty the soonest, and to nobody if that is full. That
/// of the fast path holds two windows for which it is paced at 1.2 windows in each of its round
/// trips of at most 20 ms (10 ms and a full queue): 35 ms with what memory is rounded by. So the
/// slow path never gets more than that and a burst of 64 KiB, 27 ms of its link, in each round trip
/// of 200 ms: 0.37 of its link with its pace of 1.2, and is idle for the rest.
#[test]
fn a_slow_path_starves_beside_full_send_buffers() {
    let links = [Link(100.0, 5, 0.0), Link(20.0, 100, 0.0)];
    let share = |subflow_buffers| {
        let mut config = config(CongestionKind::Cubic, SchedulerKind::LowRtt, 16 << 20);
        config.composition.congestion.slow_start = SlowStartKind::Hystart.into();
        config.subflow_buffers = subflow_buffers;
        let goodput = world(&links, &config, &NONE, None).goodput(10, 30);
        (goodput - 100.0 * PAYLOAD) / (20.0 * PAYLOAD)
    };
    let (without, with) = (share(false), share(true));
    assert!(with < 0.4 && without > 0.6, "{with:.2} with, {without:.2} without");
}
