//! Algorithms that the caller brings: they stand in place of those of the registry.

use polypath_core::congestion::{CongestionAvoidance, CongestionKind};
use polypath_core::registry::Factory;
use polypath_core::scheduler::{Scheduler, SchedulerKind};
use polypath_sim::run::{Keep, Plan, RunReport};
use polypath_sim::scenario::Scenario;
use std::path::Path;

const NETWORK: &str = r#"
duration = "2 s"
[[path]]
name = "wifi"
rate = "20 Mbit/s"
delay = "10 ms"
loss = 0.001
[[path]]
name = "lte"
rate = "10 Mbit/s"
delay = "30 ms"
[[connection]]
name = "plain"
transport = "tcp"
[[flow]]
connection = "plain"
kind = "bulk"
[[flow]]
connection = "own"
kind = "bulk"
[[connection]]
name = "own"
"#;

/// TCP, and another connection with these options.
fn plan(options: &str) -> Plan {
    let text = format!("{NETWORK}{options}");
    let read = Scenario::parse(&text, Path::new("test.toml"), &mut |_| unreachable!()).unwrap();
    Plan::new(read).unwrap()
}

fn run(plan: &Plan) -> RunReport {
    plan.run(3, Keep::default(), &mut |_| {}).unwrap().report
}

fn round_robin() -> Factory<dyn Scheduler> {
    Factory::new(|| SchedulerKind::RoundRobin.build())
}

fn avoidance(kind: CongestionKind) -> Factory<dyn CongestionAvoidance> {
    Factory::new(move || kind.build(0))
}

#[test]
fn what_is_brought_runs_as_what_is_registered() {
    for transport in ["mptcp", "bond", "tunnel"] {
        let options = |names: &str| format!("transport = \"{transport}\"\n{names}");
        let (scheduler, congestion) = ("scheduler = \"round_robin\"\n", "congestion = \"lia\"\n");
        let registered = run(&plan(&options(&[scheduler, congestion].concat())));
        let mut own = plan(&options(congestion));
        own.use_scheduler(Some("own"), &round_robin()).unwrap();
        assert_eq!(run(&own), registered, "{transport}");
        let mut own = plan(&options(scheduler));
        own.use_avoidance(Some("own"), &avoidance(CongestionKind::Lia)).unwrap();
        assert_eq!(run(&own), registered, "{transport}");
    }
}

/// LIA is made to couple: Multipath TCP couples it unless told otherwise.
#[test]
fn coupling_is_as_the_scenario_says() {
    let uncoupled = "transport = \"mptcp\"\ncoupled = false\n";
    let registered = run(&plan(&format!("{uncoupled}congestion = \"lia\"\n")));
    let mut own = plan(uncoupled);
    own.use_avoidance(Some("own"), &avoidance(CongestionKind::Lia)).unwrap();
    assert_eq!(run(&own), registered);
    let mut coupled = plan("transport = \"mptcp\"\n");
    coupled.use_avoidance(Some("own"), &avoidance(CongestionKind::Lia)).unwrap();
    assert_ne!(run(&coupled), registered);
}

#[test]
fn without_a_name_all_that_can_have_it_do() {
    let mut own = plan("transport = \"mptcp\"\n");
    own.use_scheduler(None, &round_robin()).unwrap();
    assert_eq!(run(&own), run(&plan("transport = \"mptcp\"\nscheduler = \"round_robin\"\n")));
    let mut own = plan("transport = \"tcp\"\n");
    own.use_avoidance(None, &avoidance(CongestionKind::Reno)).unwrap();
    let reno = "transport = \"tcp\"\ncongestion = \"reno\"\n";
    assert_eq!(run(&own).connections[1], {
        let mut registered = plan(reno);
        registered.use_avoidance(Some("plain"), &avoidance(CongestionKind::Reno)).unwrap();
        run(&registered).connections[1].clone()
    });
}

#[test]
fn connections_that_cannot_have_it_are_told() {
    let mut plan = plan("transport = \"tcp\"\n");
    let mut problem = |name| plan.use_scheduler(name, &round_robin()).unwrap_err().to_string();
    assert_eq!(problem(Some("plain")), "connection \"plain\": it has no scheduler");
    assert_eq!(problem(None), "connection \"plain, own\": it has no scheduler");
    assert_eq!(problem(Some("none")), "there is no connection \"none\"; there are plain, own");
}
