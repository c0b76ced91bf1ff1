//! Which paths the datagrams of a flow take in each mode, over links of 20 Mbit/s.
use crate::common::{Link, link, world};
use crate::world::World;
use polypath_bond::{
    Bond, BondConfig, FlowConfig, FlowId, FlowMode, ListedPath, PathList, Redundancy,
};
use polypath_units::{PathId, Timestamp};
use std::num::NonZeroU8;
use std::time::Duration;

const SIZE: usize = 1_000;

fn second() -> Duration {
    Duration::from_secs(1)
}

/// Paths in this order, with these weights.
fn listed(paths: &[(u8, u8)]) -> PathList {
    let listed = |&(path, weight)| ListedPath { path: PathId::new(path).unwrap(), weight };
    PathList::new(&paths.iter().map(listed).collect::<Vec<_>>()).unwrap()
}

fn over(mode: FlowMode, paths: &[(u8, u8)]) -> FlowConfig {
    FlowConfig { paths: listed(paths), ..FlowConfig::of(mode) }
}

fn clean(delays_ms: &[f64]) -> Vec<Link> {
    delays_ms.iter().map(|&ms| link(20.0, ms)).collect()
}

/// An edge that sends datagrams on a flow, and its hub.
struct Sender {
    world: World,
    flow: FlowId,
    sent: u64,
    delivered: u64,
}

impl Sender {
    fn new(links: &[Link], config: FlowConfig) -> Self {
        let mut world = world(links, &BondConfig::default(), 0);
        let all = links.len();
        let joined = world.run_until(Timestamp::from_millis(1_000), |world| {
            world.hub_bond().is_some_and(|hub| hub.status().paths.len() == all)
        });
        assert!(joined);
        // The answer to the join, and the first RTT samples.
        world.run_until(Timestamp::from_millis(1_500), |_| false);
        let flow = world.edge_bond().open_flow(config).unwrap();
        Self { world, flow, sent: 0, delivered: 0 }
    }

    /// Sends at this rate for so long, and then waits for half a second. What each path has sent
    /// meanwhile, in bytes.
    fn run(&mut self, mbit_s: f64, time: Duration) -> Vec<u64> {
        let before = bytes_sent(self.world.edge_bond());
        let interval = Duration::from_secs_f64(SIZE as f64 * 8e-6 / mbit_s);
        let start = self.world.now();
        while self.world.now() < start + time {
            let now = self.world.now();
            let _ = self.world.edge_bond().send_datagram(self.flow, &vec![1; SIZE].into(), now);
            self.sent += 1;
            let until = self.world.now() + interval;
            self.receive_until(until);
        }
        self.receive_until(self.world.now() + second() / 2);
        let after = bytes_sent(self.world.edge_bond());
        after.iter().zip(before).map(|(after, before)| after - before).collect()
    }

    fn receive_until(&mut self, until: Timestamp) {
        let (flow, delivered) = (self.flow, &mut self.delivered);
        self.world.run_until(until, |world| {
            let hub = world.hub_bond().unwrap();
            while hub.recv_datagram(flow).is_some() {
                *delivered += 1;
            }
            false
        });
    }
}

fn bytes_sent(bond: &Bond) -> Vec<u64> {
    bond.status().paths.iter().map(|path| path.counters.bytes_sent).collect()
}

/// What each path has sent, in parts of all that was.
fn shares(sent: &[u64]) -> Vec<f64> {
    let all: u64 = sent.iter().sum();
    sent.iter().map(|&sent| sent as f64 / all as f64).collect()
}

/// The first path is the fastest, and not listed. It carries what the bond says of itself alone.
#[test]
fn both_ends_keep_to_the_paths_of_a_flow() {
    for mode in FlowMode::ALL {
        let config = over(mode, &[(2, 0), (1, 0)]);
        let mut sender = Sender::new(&clean(&[5.0, 10.0, 15.0]), config);
        let sent = sender.run(4.0, second());
        assert_eq!(sender.delivered, sender.sent, "{mode}");
        assert!(shares(&sent)[0] < 0.06, "{mode}: {sent:?}");

        let (flow, before) = (sender.flow, bytes_sent(sender.world.hub_bond().unwrap()));
        let mut answers = 0;
        for _ in 0..500 {
            let now = sender.world.now();
            let hub = sender.world.hub_bond().unwrap();
            hub.send_datagram(flow, &vec![1; SIZE].into(), now).unwrap();
            let until = sender.world.now() + Duration::from_millis(2);
            sender.world.run_until(until, |_| false);
        }
        sender.world.run_until(sender.world.now() + second(), |_| false);
        while sender.world.edge_bond().recv_datagram(flow).is_some() {
            answers += 1;
        }
        assert_eq!(answers, 500, "{mode}");
        let after = bytes_sent(sender.world.hub_bond().unwrap());
        let sent: Vec<_> = after.iter().zip(before).map(|(after, before)| after - before).collect();
        assert!(shares(&sent)[0] < 0.06, "{mode}: {sent:?}");
    }
}

#[test]
fn what_may_take_paths_that_do_not_work_waits_for_them() {
    for mode in FlowMode::ALL.into_iter().filter(|&mode| mode != FlowMode::Redundant) {
        let mut sender = Sender::new(&clean(&[5.0, 10.0]), over(mode, &[(1, 0)]));
        sender.world.set_down(1, true);
        // It is found out by what is sent.
        sender.run(1.0, second());
        let before = sender.delivered;
        assert!(before < 40, "{mode}: {before}");
        sender.world.set_down(1, false);
        sender.receive_until(sender.world.now() + 5 * second());
        assert!(sender.delivered > before + 50, "{mode}: {}", sender.delivered);
    }
}

#[test]
fn an_active_path_with_a_place_in_an_order_is_active_again_when_it_is_back() {
    let config = over(FlowMode::Best, &[(1, 0), (0, 0)]);
    let mut sender = Sender::new(&clean(&[5.0, 10.0]), config);
    assert!(shares(&sender.run(4.0, second()))[1] > 0.9);
    sender.world.set_down(1, true);
    sender.run(4.0, second());
    assert!(shares(&sender.run(4.0, second()))[0] > 0.9);
    sender.world.set_down(1, false);
    sender.run(4.0, 2 * second());
    assert!(shares(&sender.run(4.0, second()))[1] > 0.9);
}

/// Of 30 Mbit/s, a link of 20 takes two thirds.
#[test]
fn a_priority_based_flow_takes_its_next_path_while_the_first_is_congested() {
    let config = over(FlowMode::PriorityBased, &[(1, 0), (0, 0)]);
    let mut sender = Sender::new(&clean(&[5.0, 10.0]), config);
    let calm = shares(&sender.run(10.0, 2 * second()));
    assert!(calm[1] > 0.95, "{calm:?}");
    sender.run(30.0, 3 * second());
    let (sent, delivered) = (sender.sent, sender.delivered);
    let busy = shares(&sender.run(30.0, 3 * second()));
    assert!((0.55..0.7).contains(&busy[1]), "{busy:?}");
    let arrived = (sender.delivered - delivered) as f64 / (sender.sent - sent) as f64;
    assert!(arrived > 0.99, "{arrived}");
    let calm = shares(&sender.run(10.0, 2 * second()));
    assert!(calm[1] > 0.95, "{calm:?}");
}

#[test]
fn a_load_balancing_flow_keeps_to_its_weights() {
    for (weights, expected) in [([80, 20], 0.8), ([1, 1], 0.5), ([10, 90], 0.1)] {
        let config = over(FlowMode::LoadBalancing, &[(0, weights[0]), (1, weights[1])]);
        let mut sender = Sender::new(&clean(&[5.0, 30.0]), config);
        let shares = shares(&sender.run(8.0, 3 * second()));
        assert!((shares[0] - expected).abs() < 0.02, "{weights:?}: {shares:?}");
        assert_eq!(sender.delivered, sender.sent, "{weights:?}");
    }
}

/// Links of 20 and 5 Mbit/s, which 22 Mbit/s fill nearly.
#[test]
fn a_load_balancing_flow_without_weights_gives_each_path_what_it_carries() {
    let links = [link(20.0, 10.0), link(5.0, 10.0)];
    let mut sender = Sender::new(&links, FlowConfig::of(FlowMode::LoadBalancing));
    sender.run(22.0, 5 * second());
    let (sent, delivered) = (sender.sent, sender.delivered);
    let shares = shares(&sender.run(22.0, 5 * second()));
    assert!((0.77..0.83).contains(&shares[0]), "{shares:?}");
    let arrived = (sender.delivered - delivered) as f64 / (sender.sent - sent) as f64;
    assert!(arrived > 0.99, "{arrived}");
}

#[test]
fn as_many_copies_leave_as_there_are_to_be_on_the_fastest_paths() {
    let redundancy = Redundancy { copies: NonZeroU8::new(2), ..Redundancy::default() };
    let config = FlowConfig { redundancy, ..FlowConfig::of(FlowMode::Redundant) };
    let mut sender = Sender::new(&clean(&[15.0, 5.0, 10.0]), config);
    let shares = shares(&sender.run(4.0, 2 * second()));
    assert!(shares[0] < 0.03 && shares[1] > 0.45 && shares[2] > 0.45, "{shares:?}");
    assert_eq!(sender.delivered, sender.sent);
}

/// The share of what the busiest path has sent, where copies depend on these limits.
fn busiest(links: &[Link], rtt_above_ms: Option<u64>, loss_above: Option<u32>) -> f64 {
    let redundancy = Redundancy {
        rtt_above: rtt_above_ms.map(Duration::from_millis),
        loss_above,
        ..Redundancy::default()
    };
    let config = FlowConfig { redundancy, ..FlowConfig::of(FlowMode::Redundant) };
    let mut sender = Sender::new(links, config);
    sender.run(4.0, 5 * second());
    shares(&sender.run(4.0, 2 * second())).into_iter().fold(0.0, f64::max)
}

#[test]
fn copies_leave_only_while_no_path_is_within_the_limits() {
    let lossy = |delay, percent| Link { loss_percent: percent, ..link(20.0, delay) };
    // RTTs of 20 and 40 ms.
    for (limit, copied) in [(15, true), (30, false), (100, false)] {
        let busiest = busiest(&clean(&[10.0, 20.0]), Some(limit), None);
        assert_eq!(busiest < 0.6, copied, "{limit} ms: {busiest}");
    }
    for (losses, copied) in [([0.0, 0.0], false), ([5.0, 0.0], false), ([5.0, 5.0], true)] {
        let links = [lossy(10.0, losses[0]), lossy(20.0, losses[1])];
        let busiest = busiest(&links, None, Some(10_000));
        assert_eq!(busiest < 0.6, copied, "{losses:?}: {busiest}");
    }
}
