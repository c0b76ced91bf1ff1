//! `polypath kernel agent` on a host of its own.

use std::process::Stdio;

use serde_json::Value;

use crate::namespace::Namespace;
use crate::process::{Process, nth_line};

const RULE: &str = "from 192.0.2.1 lookup 7801 proto 113";

struct Host {
    namespace: Namespace,
    folder: tempfile::TempDir,
}

impl Host {
    fn new(test: &str) -> Option<Self> {
        let namespace = Namespace::new(test)?;
        namespace.ip("link add wan0 type veth peer name isp0");
        namespace.ip("link set isp0 up");
        namespace.ip("link set wan0 up");
        namespace.ip("address add 192.0.2.1/24 dev wan0");
        namespace.ip("route add default via 192.0.2.254 dev wan0");
        Some(Self { namespace, folder: tempfile::tempdir().unwrap() })
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// One that manages by the time that this returns.
    fn agent(&self, log: &str) -> Process {
        let (control, log) = (self.path("control"), self.path(log));
        let arguments =
            ["kernel", "agent", "--interface", "wan0,backup,priority=2", "--control", &control];
        let mut command = self.namespace.command(crate::program(), &arguments);
        command.stderr(std::fs::File::create(&log).unwrap()).stdin(Stdio::null());
        let agent = Process::spawn(command);
        nth_line(&log, 1, "path 1: 192.0.2.1 of wan0");
        agent
    }

    fn rules(&self) -> String {
        self.namespace.output("ip", "rule show")
    }

    fn status(&self, more: &str) -> String {
        let control = self.path("control");
        self.namespace
            .output(crate::program(), format!("status --control {control}{more}").as_str())
    }
}

#[test]
fn an_agent_tells_its_paths_and_what_a_killed_one_has_left_is_removed() {
    let test = "an_agent_tells_its_paths_and_what_a_killed_one_has_left_is_removed";
    let Some(host) = Host::new(test) else { return };
    let agent = host.agent("first");
    assert!(host.rules().contains(RULE), "{}", host.rules());
    let status = host.status("");
    let (head, rest) = status.split_once('\n').unwrap();
    assert!(head.starts_with("agent ") && head.ends_with(", connections: 0"), "{head}");
    assert_eq!(rest, "paths: wan0 (192.0.2.1, backup, priority 2)\n");
    let json: Value = serde_json::from_str(&host.status(" --json")).unwrap();
    assert_eq!(json["role"], "agent");
    assert_eq!(json["mptcp"]["paths"][0]["interface"], "wan0");
    agent.signal("KILL");
    agent.wait();
    assert!(host.rules().contains(RULE), "it could not remove it");
    let next = host.agent("second");
    nth_line(&host.path("second"), 1, "rules and routes that an agent had left");
    assert_eq!(next.stop().code(), Some(0));
    assert!(!host.rules().contains("proto 113"), "{}", host.rules());
}
