//! What is left of an emulator that was killed, and what is done about it.
//!
//! The test runs itself again as the emulator, with a program in place of `ip` that kills it at one
//! of its calls and does the work only then.

use super::network::{ip, is_permitted, plan, two_path};
use polypath_emulator::netns::{CLEAN_COMMAND, Cleaned, Namespaces, NetnsError, StateDirectory};
use polypath_emulator::plan::NetworkPlan;
use polypath_sim::topology::Topology;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The test in which the emulator is.
const EMULATOR: &str = "netns::clean::an_emulator_that_is_killed";
/// The state directory of the emulator, and its prefix.
const DIRECTORY: &str = "POLYPATH_TEST_DIRECTORY";
const PREFIX: &str = "POLYPATH_TEST_PREFIX";

/// Stands for `ip`. At its call number KILL_AT it kills its parent, the emulator, and goes on after
/// a while, as if it had been slow.
const FATAL_IP: &str = r#"#!/bin/sh
calls=$(($(cat "$CALLS" 2>/dev/null || echo 0) + 1))
echo "$calls" > "$CALLS"
if [ "$calls" = "$KILL_AT" ]; then kill -9 "$PPID"; sleep 0.05; fi
PATH=${PATH#*:} exec ip "$@"
"#;

/// Not a test but the emulator of others: it builds, starts programs, tells their numbers, waits.
#[test]
#[allow(clippy::print_stdout, reason = "the other test reads it")]
fn an_emulator_that_is_killed() {
    let (Ok(directory), Ok(prefix)) = (std::env::var(DIRECTORY), std::env::var(PREFIX)) else {
        return;
    };
    let topology = Topology::from(&two_path());
    let plan = NetworkPlan::new(&prefix.parse().unwrap(), &topology).unwrap();
    let mut namespaces = Namespaces::build_in(&StateDirectory::at(directory), plan).unwrap();
    // One that nobody has written down, and one outside of the namespaces that is written down.
    let mut inside = namespaces.command("client", "sh").unwrap();
    let mut inside =
        inside.args(["-c", "echo in; exec sleep 600"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut word = String::new();
    BufReader::new(inside.stdout.take().unwrap()).read_line(&mut word).unwrap();
    let mut outside = namespaces.spawn(Command::new("sleep").arg("600")).unwrap();
    println!("\npids {} {}", inside.id(), outside.id());
    // Until it is killed.
    let _ = std::io::stdin().read(&mut [0]);
    drop(namespaces);
    inside.wait().unwrap();
    outside.wait().unwrap();
}

/// A folder with state files and a program for `ip`.
struct Scene {
    folder: tempfile::TempDir,
    plan: NetworkPlan,
}

impl Scene {
    fn new(test: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin/ip");
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        std::fs::write(&program, FATAL_IP).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        Self { folder, plan: plan(test, &two_path()) }
    }

    fn directory(&self) -> StateDirectory {
        StateDirectory::at(self.folder.path().join("state"))
    }

    /// An emulator that is killed at this call of `ip`.
    fn emulator(&self, kill_at: u32) -> Child {
        let path = std::env::var("PATH").unwrap();
        let calls = self.folder.path().join("calls");
        let _ = std::fs::remove_file(&calls);
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", EMULATOR, "--nocapture"])
            .env("PATH", format!("{}:{path}", self.folder.path().join("bin").display()))
            .env("CALLS", calls)
            .env("KILL_AT", kill_at.to_string())
            .env(DIRECTORY, self.directory().path())
            .env(PREFIX, self.plan.prefix.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// The processes that an emulator has started, or how it ended before it could.
    fn started(emulator: &mut Child) -> Result<Vec<u32>, ExitStatus> {
        let lines = BufReader::new(emulator.stdout.as_mut().unwrap()).lines();
        let told = lines.map_while(Result::ok).find(|line| line.starts_with("pids "));
        match told {
            Some(line) => Ok(line.split(' ').skip(1).map(|pid| pid.parse().unwrap()).collect()),
            None => Err(emulator.wait().unwrap()),
        }
    }

    fn namespaces(&self) -> Vec<&str> {
        let there = |name: &&str| Path::new("/run/netns").join(name).exists();
        self.plan.namespaces().filter(there).collect()
    }

    /// Nothing that has anything to do with the emulator is there.
    fn assert_empty(&self, when: &str) {
        assert_eq!(self.namespaces(), [""; 0], "{when}");
        let files: Vec<_> = std::fs::read_dir(self.directory().path()).unwrap().collect();
        assert!(files.is_empty(), "{when}: {files:?}");
        let devices = ip(&["-o", "link", "show"]);
        let ours = ["lte", "wifi", "w1a", "w1b", "w2a", "w2b"];
        let found = ours.iter().find(|name| devices.contains(&format!(": {name}@")));
        assert_eq!(found, None, "{when}: {devices}");
    }
}

/// Whether a process is there and has not ended.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn nothing_is_left_of_an_emulator_that_was_killed_while_it_ran() {
    if !is_permitted("nothing_is_left_of_an_emulator_that_was_killed_while_it_ran") {
        return;
    }
    let scene = Scene::new("killed");
    let mut emulator = scene.emulator(0);
    let mut pids = Scene::started(&mut emulator).unwrap();
    assert!(pids.iter().all(|&pid| runs(pid)));
    let prefix = scene.plan.prefix.clone();
    let directory = scene.directory();
    let running = Cleaned::Running { prefix: prefix.clone(), pid: emulator.id() };
    assert_eq!(directory.clean(None).unwrap(), [running]);
    emulator.kill().unwrap();
    // Not waited for: a process that has ended is dead even if nobody has asked how.
    while runs(emulator.id()) {
        std::thread::yield_now();
    }
    let error = Namespaces::build_in(&directory, scene.plan.clone()).unwrap_err();
    assert!(matches!(error, NetnsError::Stale { .. }), "{error}");
    assert!(error.to_string().contains(&format!("`{CLEAN_COMMAND} {prefix}`")), "{error}");
    assert_eq!(directory.clean(Some(&"another".parse().unwrap())).unwrap(), []);
    let cleaned = directory.clean(Some(&prefix)).unwrap();
    let [Cleaned::Removed { namespaces, ended, .. }] = &cleaned[..] else { panic!("{cleaned:?}") };
    assert_eq!(namespaces.len(), 3);
    let mut ended = ended.clone();
    ended.sort_unstable();
    pids.sort_unstable();
    assert_eq!(ended, pids);
    assert!(!pids.iter().any(|&pid| runs(pid)));
    scene.assert_empty("after cleaning up");
    assert_eq!(directory.clean(None).unwrap(), []);
    emulator.wait().unwrap();
}

#[test]
fn nothing_is_left_of_an_emulator_that_was_killed_at_any_moment() {
    let test = "nothing_is_left_of_an_emulator_that_was_killed_at_any_moment";
    if !is_permitted(test) {
        return;
    }
    let scene = Scene::new("anytime");
    let mut most = 0;
    for call in 1.. {
        let mut emulator = scene.emulator(call);
        let built = Scene::started(&mut emulator).is_ok();
        // Told to end it cleans up, which calls `ip` too.
        drop(emulator.stdin.take());
        if emulator.wait().unwrap().success() {
            // There were no more calls: to make three namespaces and to fill them, to list what
            // runs in them and to remove them.
            assert!(built && call > 15, "{call}");
            scene.assert_empty("after an orderly end");
            break;
        }
        let cleaned = scene.directory().clean(None).unwrap();
        let [Cleaned::Removed { namespaces, .. }] = &cleaned[..] else { panic!("{cleaned:?}") };
        most = most.max(namespaces.len());
        scene.assert_empty(&format!("killed at call {call}"));
    }
    assert_eq!(most, 3);
}

#[test]
fn a_prefix_belongs_to_one_emulator_at_a_time() {
    if !is_permitted("a_prefix_belongs_to_one_emulator_at_a_time") {
        return;
    }
    let scene = Scene::new("once");
    let (directory, plan) = (scene.directory(), scene.plan.clone());
    let first = Namespaces::build_in(&directory, plan.clone()).unwrap();
    let pid = std::process::id();
    let second = Namespaces::build_in(&directory, plan.clone()).unwrap_err();
    assert!(matches!(&second, NetnsError::InUse { pid: other, .. } if *other == pid), "{second}");
    assert_eq!(scene.namespaces().len(), 3);
    first.remove().unwrap();
    scene.assert_empty("after removing");
    // And then it is free.
    drop(Namespaces::build_in(&directory, plan).unwrap());
    scene.assert_empty("after dropping");
}

#[test]
fn what_others_have_made_is_left_alone() {
    if !is_permitted("what_others_have_made_is_left_alone") {
        return;
    }
    let scene = Scene::new("others");
    let name = scene.plan.node("server").unwrap().namespace.clone();
    ip(&["netns", "add", &name]);
    let error = Namespaces::build_in(&scene.directory(), scene.plan.clone()).unwrap_err();
    assert!(matches!(&error, NetnsError::Exists { namespace } if *namespace == name), "{error}");
    assert_eq!(scene.directory().clean(None).unwrap(), []);
    assert_eq!(scene.namespaces(), [&name]);
    ip(&["netns", "delete", &name]);
}

#[test]
fn a_network_that_fails_half_way_is_removed() {
    if !is_permitted("a_network_that_fails_half_way_is_removed") {
        return;
    }
    let scene = Scene::new("half");
    let mut plan = scene.plan.clone();
    plan.host_sysctls.push(("net.ipv4.tcp_congestion_control".into(), "nonsense".into()));
    let error = Namespaces::build_in(&scene.directory(), plan).unwrap_err().to_string();
    let parameter = "the kernel parameter net.ipv4.tcp_congestion_control to \"nonsense\"";
    let client = &scene.plan.node("client").unwrap().namespace;
    let expected =
        format!("{client}: cannot set {parameter}: No such file or directory (os error 2)");
    assert_eq!(error, expected);
    scene.assert_empty("after a wrong parameter");
    let mut plan = scene.plan.clone();
    plan.nodes[0].routes[0].device = "missing".into();
    let error = Namespaces::build_in(&scene.directory(), plan).unwrap_err().to_string();
    let command = "route add 0.0.0.0/0 via 10.0.1.2 dev missing table 101";
    let said = "Cannot find device \"missing\"";
    assert!(error.contains(&format!("`ip -n {client} {command}`: {said}")), "{error}");
    scene.assert_empty("after a wrong route");
}

#[test]
fn without_iproute2_it_is_named() {
    if !is_permitted("without_iproute2_it_is_named") {
        return;
    }
    let scene = Scene::new("noip");
    let nowhere = scene.folder.path().join("nowhere");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", EMULATOR, "--nocapture"])
        .env("PATH", nowhere)
        .env(DIRECTORY, scene.directory().path())
        .env(PREFIX, scene.plan.prefix.as_str())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("error: Missing"), "{said}");
    scene.assert_empty("without ip");
}

#[test]
fn parameters_are_those_of_hosts() {
    if !is_permitted("parameters_are_those_of_hosts") {
        return;
    }
    let scene = Scene::new("sysctl");
    let mut plan = scene.plan.clone();
    plan.host_sysctls.push(("net.ipv4.tcp_congestion_control".into(), "reno".into()));
    plan.host_sysctls.push(("net.ipv4.tcp_rmem".into(), "4096 65536 1000000".into()));
    let namespaces = Namespaces::build_in(&scene.directory(), plan).unwrap();
    let read = |node, key| {
        let mut command = namespaces.command(node, "cat").unwrap();
        let output = command.arg(format!("/proc/sys/net/ipv4/{key}")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for node in ["client", "server"] {
        assert_eq!(read(node, "tcp_congestion_control"), "reno\n");
        assert_eq!(read(node, "tcp_rmem"), "4096\t65536\t1000000\n");
        assert_eq!(read(node, "tcp_no_metrics_save"), "1\n");
    }
    let error = namespaces.command("nobody", "true").unwrap_err().to_string();
    assert_eq!(error, "the network has no node \"nobody\"; it has client, server");
}
