//! What is left of a gateway when it has ended, in good order or not.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use polypath_gateway::host::{Cleaned, Gateway, HostError, clean};
use polypath_gateway::plan::{EdgePlan, HubPlan, Plan, Translation};

use super::network::{DEVICE, Network, device, plan};
use crate::process::Process;
use crate::runtime::{run, within};

/// In the environment of a process that holds a gateway until it is killed: its directory.
const HELD_IN: &str = "POLYPATH_TEST_GATEWAY";

fn everything() -> Plan {
    Plan::Edge(EdgePlan { kill_switch: true, ..plan() })
}

fn hub() -> Plan {
    Plan::Hub(HubPlan {
        device: DEVICE.parse().unwrap(),
        mtu: 1400.try_into().unwrap(),
        prefixes: ["10.77.0.0/16", "fd77::/48"].map(|net| net.parse().unwrap()).to_vec(),
        behind_edges: Vec::new(),
        translation: Translation::Masquerade,
        published: Vec::new(),
    })
}

#[test]
fn nothing_is_left_of_a_gateway_that_was_removed_or_dropped() {
    let test = "nothing_is_left_of_a_gateway_that_was_removed_or_dropped";
    let Some(network) = Network::new(test) else { return };
    let before = network.state();
    let directory = tempfile::tempdir().unwrap();
    for plan in [everything(), hub()] {
        let set = async || {
            let device = device().await;
            (device, Gateway::set(plan.clone(), directory.path()).await.unwrap())
        };
        let during = within(&network.edge, async || {
            let (_device, gateway) = set().await;
            let during = network_of_this_thread();
            gateway.remove().await.unwrap();
            during
        });
        assert!(during.contains(plan.table().name()), "{during}");
        assert_eq!(network.state(), before);
        within(&network.edge, async || drop(set().await));
        assert_eq!(network.state(), before);
        let files = directory.path().read_dir().unwrap().count();
        assert_eq!(files, 0);
    }
}

fn network_of_this_thread() -> String {
    let output = Command::new("nft").args(["list", "tables"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_plan_that_is_replaced_leaves_nothing_either() {
    let test = "a_plan_that_is_replaced_leaves_nothing_either";
    let Some(network) = Network::new(test) else { return };
    let before = network.state();
    let directory = tempfile::tempdir().unwrap();
    // Those of the LAN's interface: by itself, with all others, and not at all.
    let forwards = || {
        let read = |path| fs::read_to_string(format!("/proc/sys/net/{path}")).unwrap();
        ["ipv4/conf/eth1/forwarding", "ipv6/conf/all/forwarding"].map(|path| read(path) == "1\n")
    };
    within(&network.edge, async || {
        let _device = device().await;
        let mut gateway = Gateway::set(everything(), directory.path()).await.unwrap();
        assert_eq!(forwards(), [true, false]);
        let alone = Plan::Edge(EdgePlan { lan: [].into(), ..plan() });
        for (plan, forwarding) in [
            (hub(), [true, true]),
            (hub(), [true, true]),
            (alone, [false, false]),
            (everything(), [true, false]),
        ] {
            gateway.replace(plan.clone()).await.unwrap();
            assert_eq!(gateway.plan(), &plan);
            assert_eq!(forwards(), forwarding, "{plan:?}");
        }
        gateway.remove().await.unwrap();
    });
    assert_eq!(network.state(), before);
}

#[test]
fn a_plan_that_is_refused_leaves_nothing() {
    let Some(network) = Network::new("a_plan_that_is_refused_leaves_nothing") else { return };
    let before = network.state();
    let directory = tempfile::tempdir().unwrap();
    within(&network.edge, async || {
        // Without the device.
        let error = Gateway::set(everything(), directory.path()).await.unwrap_err();
        assert!(matches!(error, HostError::NoDevice { .. }), "{error}");
    });
    assert_eq!(network.state(), before);
}

#[test]
fn a_second_gateway_is_refused_with_the_process_of_the_first() {
    let test = "a_second_gateway_is_refused_with_the_process_of_the_first";
    let Some(network) = Network::new(test) else { return };
    let directory = tempfile::tempdir().unwrap();
    within(&network.edge, async || {
        let _device = device().await;
        let first = Gateway::set(everything(), directory.path()).await.unwrap();
        let own = Some(std::process::id());
        let told = |error| matches!(error, HostError::Occupied { process } if process == own);
        let other = tempfile::tempdir().unwrap();
        assert!(told(Gateway::set(hub(), other.path()).await.unwrap_err()));
        assert!(told(clean(other.path()).await.unwrap_err()));
        first.remove().await.unwrap();
        let second = Gateway::set(hub(), other.path()).await.unwrap();
        second.remove().await.unwrap();
    });
}

#[test]
fn what_somebody_else_has_removed_is_missed_and_set_again() {
    let test = "what_somebody_else_has_removed_is_missed_and_set_again";
    let Some(network) = Network::new(test) else { return };
    let directory = tempfile::tempdir().unwrap();
    within(&network.edge, async || {
        let _device = device().await;
        let mut gateway = Gateway::set(everything(), directory.path()).await.unwrap();
        assert!(gateway.is_whole().await.unwrap());
        for (program, arguments) in [
            ("nft", "flush ruleset"),
            ("ip", "-6 rule delete priority 7704"),
            ("ip", "route delete default table 7700"),
        ] {
            let removing = Command::new(program).args(arguments.split(' ')).status();
            assert!(removing.unwrap().success());
            assert!(!gateway.is_whole().await.unwrap(), "{arguments}");
            gateway.replace(everything()).await.unwrap();
            assert!(gateway.is_whole().await.unwrap(), "{arguments}");
        }
    });
}

/// The gateway of a process that runs until it is killed.
fn hold(directory: &Path) -> ! {
    run(async || {
        let _device = device().await;
        let _gateway = Gateway::set(everything(), directory).await.unwrap();
        tell("set");
        std::future::pending::<()>().await;
    });
    unreachable!("it waits for ever");
}

#[expect(clippy::print_stdout, reason = "it is for the process that started this one")]
fn tell(text: &str) {
    println!("{text}");
}

/// Has another process set a gateway and kills it.
fn killed(network: &Network, test: &str, directory: &Path) {
    let program = crate::program();
    let test = format!("host::removal::{test}");
    let arguments = ["--exact", &test, "--nocapture"];
    let mut command = network.edge.command(program.to_str().unwrap(), &arguments);
    command.env(HELD_IN, directory);
    let process = Process::spawn(command);
    // The test program says on the same line which test it runs.
    while !process.line().ends_with("set") {}
    process.signal("KILL");
    process.wait();
}

#[test]
fn what_a_killed_gateway_left_is_cleaned() {
    let test = "what_a_killed_gateway_left_is_cleaned";
    if let Some(directory) = env::var_os(HELD_IN) {
        hold(Path::new(&directory));
    }
    let Some(network) = Network::new(test) else { return };
    let before = network.state();
    let directory = tempfile::tempdir().unwrap();
    killed(&network, test, directory.path());
    // The kill switch holds.
    let left = network.state();
    assert!(left.contains("chain kill_switch_own"), "{left}");
    let (cleaned, again) = within(&network.edge, async || {
        let cleaned = clean(directory.path()).await.unwrap();
        (cleaned, clean(directory.path()).await.unwrap())
    });
    assert_eq!(network.state(), before);
    let Cleaned { tables, rules, routes, parameters } = cleaned;
    assert_eq!(tables, ["polypath_edge"]);
    assert!(rules > 0 && routes > 0 && parameters > 0, "{rules} {routes} {parameters}");
    assert!(again.is_empty(), "{again:?}");
}

#[test]
fn the_next_gateway_takes_the_place_of_a_killed_one() {
    let test = "the_next_gateway_takes_the_place_of_a_killed_one";
    if let Some(directory) = env::var_os(HELD_IN) {
        hold(Path::new(&directory));
    }
    let Some(network) = Network::new(test) else { return };
    let before = network.state();
    let directory = tempfile::tempdir().unwrap();
    killed(&network, test, directory.path());
    within(&network.edge, async || {
        let _device = device().await;
        let gateway = Gateway::set(hub(), directory.path()).await.unwrap();
        let tables = network_of_this_thread();
        assert_eq!(tables, "table inet polypath_hub\n");
        gateway.remove().await.unwrap();
    });
    assert_eq!(network.state(), before);
}
