//! The silent death of a path with the kernel's Multipath TCP and with the bond, in a short
//! scenario. The whole table is `polypath validate death`.

use crate::alone::alone;
use polypath_emulator::netns::Namespaces;
use polypath_emulator::plan::{NetworkPlan, Prefix};
use polypath_emulator::validate::death::{CONTESTANTS, Outcome, World};
use polypath_sim::topology::Topology;

/// The path is dead for 3 of 10 s; the rates are such that a busy machine keeps up.
const SHORT: [&str; 6] = [
    "duration=10 s",
    "warm_up=1 s",
    "event.0.at=3 s",
    "event.1.at=6 s",
    "path.fast.rate=10 Mbit/s",
    "path.slow.rate=5 Mbit/s",
];
const DEAD_MS: f64 = 3_000.0;

/// One run; nothing where namespaces may not be made, which is said.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn outcome(test: &str, name: &str, world: World, more: &[&str]) -> Option<Outcome> {
    let _alone = alone();
    let process = std::process::id();
    let number = CONTESTANTS.iter().position(|one| one.name == name && one.world == world).unwrap();
    let prefix: Prefix = format!("death_{number}_{process}").parse().unwrap();
    let nothing = NetworkPlan::new(&prefix, &Topology::new()).unwrap();
    if let Err(error) = Namespaces::build(nothing) {
        eprintln!("skipped: {test}: {error}");
        return None;
    }
    let contestant = &CONTESTANTS[number];
    let set: Vec<_> = SHORT.iter().chain(more).map(|&set| set.to_owned()).collect();
    let plan = contestant.plan(&set).unwrap();

    let row = contestant.row(&plan, 1, &prefix);
    assert_eq!(row.missing, None);
    Some(row.runs[0])
}

/// What both must do: deliveries go on over the other path while the first is dead, no faster than
/// that path, and the first is used again.
fn assert_survived(outcome: Outcome) {
    let Outcome { stall_ms, goodput_share, reuse_ms, .. } = outcome;
    let stall_ms = stall_ms.expect("deliveries go on");
    assert!(stall_ms < DEAD_MS, "{outcome:?}");
    // What waited behind the dead path, and what was on its way, comes on top: both queues and
    // buffers of sender and receiver hold less than a second of it.
    assert!(goodput_share > 0.0 && goodput_share < 1.0 + 1_000.0 / DEAD_MS, "{outcome:?}");
    assert!(reuse_ms.is_some(), "{outcome:?}");
}

/// The kernel repeats data of a dead path over another at the earliest when a timer of 200 ms at
/// least (`TCP_RTO_MIN`) has expired. What came until then over the living path waits for it, but
/// for what is older than the last of the dead path: packets from one queue (50 ms of delay and as
/// much in the queue). The timer of the dead path's TCP doubles, so that its next probe after the
/// return is no later than the path was dead.
#[test]
fn multipath_tcp_of_the_kernel_outlives_a_path() {
    let test = "multipath_tcp_of_the_kernel_outlives_a_path";
    let Some(outcome) = outcome(test, "Multipath TCP", World::Kernel, &[]) else { return };
    assert_survived(outcome);
    assert!(outcome.stall_ms.unwrap() > 100.0, "{outcome:?}");
    assert!(outcome.reuse_ms.unwrap() < DEAD_MS + 500.0, "{outcome:?}");
}

/// The bond takes a path for dead that was silent for three round trips of the slowest, which are
/// at most 100 ms each with a full queue: a tenth of the 3 s is lost, and 5 % of the rest are
/// headers, which leaves 0.85. What is below it is for a busy machine. Dead paths are probed every
/// 400 ms at least.
#[test]
fn the_bond_outlives_a_path() {
    let Some(outcome) = outcome("the_bond_outlives_a_path", "bond", World::Sockets, &[]) else {
        return;
    };
    assert_survived(outcome);
    assert!(outcome.goodput_share > 0.6, "{outcome:?}");
    assert!(outcome.reuse_ms.unwrap() < 1_000.0, "{outcome:?}");
}

/// An application with 4 Mbit/s over two paths that carry more, each. The kernel alone waits for a
/// timer of 200 ms at least (`TCP_RTO_MIN`) after the last ACK. With the agent the silence is that
/// of the RTT, 20 or 50 ms without a queue, four times its deviation, 10 ms, and a look; what was
/// lost is sent again at once: less than half of that. After the return the peer is asked within
/// half a second, and the answer and a handshake take two round trips.
#[test]
fn multipath_tcp_with_the_agent_outlives_a_path_in_half_the_time() {
    const APPLICATION: [&str; 2] = ["flow.0.kind=constant_rate", "flow.0.rate=4 Mbit/s"];
    let test = "multipath_tcp_with_the_agent_outlives_a_path_in_half_the_time";
    let run = |name| outcome(test, name, World::Kernel, &APPLICATION);
    let (Some(alone), Some(agent)) = (run("Multipath TCP"), run("Multipath TCP, agent")) else {
        return;
    };
    assert_survived(agent);
    let stalls = [alone, agent].map(|outcome| outcome.stall_ms.expect("deliveries go on"));
    assert!(stalls[1] < stalls[0] / 2.0, "{stalls:?}");
    assert!(agent.reuse_ms.unwrap() < 1_000.0, "{agent:?}");
}
