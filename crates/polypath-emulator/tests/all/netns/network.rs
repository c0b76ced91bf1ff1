//! Networks for tests, joined by bridges in place of links.

use polypath_emulator::netns::{Namespaces, StateDirectory};
use polypath_emulator::plan::NetworkPlan;
use polypath_link::LinkConfig;
use polypath_sim::PathLinks;
use polypath_sim::topology::{Ends, Graph, GraphLink, Topology};
use polypath_units::Bandwidth;
use std::process::Command;
use std::time::Duration;

/// Links of this delay both ways.
pub(crate) fn link(delay_ms: u64) -> PathLinks {
    let rate = Bandwidth::from_mbit_per_sec(100.0);
    PathLinks::symmetric(LinkConfig::new(rate, Duration::from_millis(delay_ms)))
}

/// A client and a server with two links.
pub(crate) fn two_path() -> Graph {
    Graph::between_two_hosts(["lte", "wifi"].map(|name| (name.to_owned(), link(10))))
}

/// Two hosts with two ways between them, over a router each; the second is the shorter.
pub(crate) fn two_ways() -> Graph {
    let links = [
        ("a", "client", "r1", 10),
        ("b", "r1", "server", 10),
        ("c", "client", "r2", 5),
        ("d", "r2", "server", 5),
    ];
    let joined = |(name, from, to, ms): (&str, &str, &str, u64)| GraphLink {
        name: name.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        links: link(ms),
    };
    let pairs = vec![Ends::new("client", "server")];
    Graph { nodes: Vec::new(), links: links.map(joined).into(), pairs }
}

/// A plan for a test of this process.
pub(crate) fn plan(test: &str, graph: &Graph) -> NetworkPlan {
    let prefix = format!("netns_{test}_{}", std::process::id()).parse().unwrap();
    NetworkPlan::new(&prefix, &Topology::from(graph)).unwrap()
}

/// Whether namespaces can be made here; says so if not.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn is_permitted(test: &str) -> bool {
    let name = format!("netns_probe_{test}_{}", std::process::id());
    let added = Command::new("ip").args(["netns", "add", &name]).output();
    if !added.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {test}: no permission to make network namespaces, or no iproute2");
        return false;
    }
    ip(&["netns", "delete", &name]);
    true
}

/// A network whose frames cross bridges. Its state file is in a folder of its own.
pub(crate) struct Bridged {
    pub(crate) namespaces: Namespaces,
    _folder: tempfile::TempDir,
}

impl Bridged {
    pub(crate) fn new(test: &str, graph: &Graph) -> Self {
        let network = Self::apart(test, graph);
        network.join();
        network
    }

    /// Without bridges.
    pub(crate) fn apart(test: &str, graph: &Graph) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let directory = StateDirectory::at(folder.path());
        let namespaces = Namespaces::build_in(&directory, plan(test, graph)).unwrap();
        Self { namespaces, _folder: folder }
    }

    fn join(&self) {
        let plan = self.namespaces.plan();
        for (link, n) in plan.links.iter().zip(1..) {
            let bridge = format!("bridge{n}");
            let wire = ["-n", &plan.wire, "link"];
            let run = |arguments: &[&str]| ip(&[&wire[..], arguments].concat());
            // Snooping bridges tell others that they are there.
            run(&["add", "name", &bridge, "type", "bridge", "mcast_snooping", "0"]);
            for device in [&link.from_device, &link.to_device] {
                run(&["set", "dev", device, "master", &bridge]);
            }
            run(&["set", "dev", &bridge, "up"]);
        }
    }

    /// Does something in a node.
    pub(crate) fn within<T: Send>(&self, node: &str, act: impl FnOnce() -> T + Send) -> T {
        let enter = || {
            self.namespaces.enter(node).unwrap();
            act()
        };
        std::thread::scope(|scope| scope.spawn(enter).join().unwrap())
    }

    /// What a program prints in a node.
    pub(crate) fn output(&self, node: &str, program: &str, arguments: &[&str]) -> String {
        let output = self.namespaces.command(node, program).unwrap().args(arguments).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(crate) fn ip(arguments: &[&str]) -> String {
    let output = Command::new("ip").args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {}: {error}", arguments.join(" "));
    String::from_utf8(output.stdout).unwrap()
}
