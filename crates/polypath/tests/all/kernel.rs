//! `polypath kernel`: what is loaded, and programs that are run by it. Needs root.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output, Stdio};

use serde_json::Value;
use socket2::{Domain, Protocol, Socket, Type};

use crate::namespace::Namespace;
use crate::own_bpffs::with_own_bpffs;
use crate::process::{Process, stderr, stdout};

/// A program that makes sockets, linked statically.
struct Sockets(tempfile::TempDir);

impl Sockets {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/kernel/sockets.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-static", "-Wall", "-Werror", source, "-o"]);
        let output = compiler.arg(folder.path().join("sockets")).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        Self(folder)
    }

    fn file(&self) -> String {
        self.0.path().join("sockets").to_str().unwrap().to_owned()
    }
}

fn kernel(words: &[&str]) -> Command {
    let mut command = Command::new(crate::program());
    command.arg("kernel").args(words);
    command
}

fn output(words: &[&str]) -> Output {
    kernel(words).output().unwrap()
}

/// What a command prints that succeeds, as JSON.
fn json(words: &[&str]) -> Value {
    let output = output(words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// How a congestion control is loaded: `null` if it is not.
fn loaded(name: &str) -> Value {
    let rows = json(&["list", "--json"]);
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == name);
    row.expect(name)["loaded"].clone()
}

#[test]
fn it_is_loaded_once_listed_and_unloaded() {
    with_own_bpffs("it_is_loaded_once_listed_and_unloaded", || {
        assert_eq!(loaded("cabe"), Value::Null);
        let words = ["load", "cabe", "--slow-start", "bess", "--uncoupled", "--json"];
        assert_eq!(json(&words)["was_loaded"], false);
        assert_eq!(json(&words)["was_loaded"], true);
        assert_eq!(loaded("cabe")["slow_start"], "bess");
        assert_eq!(loaded("cabe")["coupled"], false);
        let other = output(&["load", "cabe"]);
        assert_eq!(other.status.code(), Some(1));
        let said = "error: pp_cabe is loaded already with slow start bess, uncoupled: unload it";
        assert!(stderr(&other).starts_with(said), "{}", stderr(&other));
        assert_eq!(json(&["unload", "cabe", "--json"])["still_use_it"], 0);
        assert_eq!(json(&["unload", "cabe", "--json"])["was_loaded"], false);
        assert_eq!(loaded("cabe"), Value::Null);
        let unknown = output(&["load", "cubic"]);
        assert_eq!(unknown.status.code(), Some(2));
        assert!(stderr(&unknown).contains("balia, cabe, lia"), "{}", stderr(&unknown));
    });
}

#[test]
fn sockets_of_a_static_program_are_multipath_tcp_and_others_are_left_alone() {
    let test = "sockets_of_a_static_program_are_multipath_tcp_and_others_are_left_alone";
    with_own_bpffs(test, || {
        let sockets = Sockets::new();
        for (act, code) in
            [("kinds", 42), ("forks", 0), ("owner", 0), ("descriptors", errno::EMFILE)]
        {
            let ran = output(&["run", "--congestion", "lia", "--", &sockets.file(), act]);
            assert_eq!(ran.status.code(), Some(code), "{act}: {}", stderr(&ran));
            assert_eq!(stderr(&ran), "");
        }
        assert_eq!(loaded("lia"), Value::Null);
    });
}

/// Numbers of Linux.
mod errno {
    pub(super) const EMFILE: i32 = 24;
    pub(super) const ENETUNREACH: i32 = 101;
    pub(super) const ECONNREFUSED: i32 = 111;
}

#[test]
fn sockets_are_of_the_network_namespace_of_who_makes_them() {
    let test = "sockets_are_of_the_network_namespace_of_who_makes_them";
    with_own_bpffs(test, || {
        let Some(host) = Namespace::new(test) else { return };
        host.ip("link set lo up");
        let sockets = Sockets::new();
        let run = |words: &[&str]| {
            let words = [&["kernel", "run", "--congestion", "lia", "--"][..], words].concat();
            host.command(crate::program(), &words).output().unwrap()
        };
        let here = run(&[&sockets.file(), "refused"]);
        assert_eq!(here.status.code(), Some(errno::ECONNREFUSED), "{}", stderr(&here));
        // In a new one the loopback device is down.
        let there = run(&["unshare", "--net", &sockets.file(), "refused"]);
        assert_eq!(there.status.code(), Some(errno::ENETUNREACH), "{}", stderr(&there));

        // Where there is no Multipath TCP, it is TCP, and that is said.
        let script = "echo 0 >/proc/sys/net/mptcp/enabled; \"$0\" protocol";
        let without = run(&["unshare", "--net", "sh", "-c", script, &sockets.file()]);
        assert_eq!(without.status.code(), Some(6), "IPPROTO_TCP");
        let said = "note: the program has sockets of TCP";
        assert_eq!(stderr(&without).matches(said).count(), 1, "{}", stderr(&without));
        host.set("net/mptcp/enabled", "0");
        let refused = run(&["true"]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(stderr(&refused).contains("net.mptcp.enabled"), "{}", stderr(&refused));
        assert_eq!(loaded("lia"), Value::Null);
    });
}

#[test]
fn status_shows_the_connection_of_a_program() {
    let test = "status_shows_the_connection_of_a_program";
    with_own_bpffs(test, || {
        let Some(host) = Namespace::new(test) else { return };
        host.ip("link set lo up");
        let listener = host.within(|| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).unwrap();
            let address: std::net::SocketAddr = ([127, 0, 0, 1], 0).into();
            socket.bind(&address.into()).unwrap();
            socket.listen(1).unwrap();
            socket
        });
        let port = listener.local_addr().unwrap().as_socket().unwrap().port();
        let url = format!("http://127.0.0.1:{port}/");
        let words = ["kernel", "run", "--", "curl", "-q", "-sS", "--max-time", "120", &url];
        let curl = Process::spawn(host.command(crate::program(), &words));
        let (mut server, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            server.read_exact(&mut byte).unwrap();
            request.extend(byte);
        }
        let status = host.command(crate::program(), &["kernel", "status", "--json"]);
        let status = { status }.output().unwrap();
        assert!(status.status.success(), "{}", stderr(&status));
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        assert_eq!(status["controls"].as_array().unwrap().len(), 1, "{status:#}");
        let control = &status["controls"][0];
        assert_eq!(control["name"], "balia", "{status:#}");
        let connection = &control["connections"][0];
        assert_eq!(connection["multipath"], true, "{status:#}");
        let subflow = &connection["subflows"][0];
        assert_eq!(subflow["remote"], format!("127.0.0.1:{port}"), "{status:#}");
        assert!(subflow["window_packets"].as_u64() > Some(0), "{status:#}");
        assert!(subflow["rtt_ms"].as_f64() > Some(0.0), "{status:#}");
        let text = host.output(crate::program(), "kernel status");
        assert!(text.contains(&format!("-> 127.0.0.1:{port}  established")), "{text}");

        server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes").unwrap();
        assert_eq!(curl.line(), "yes");
        assert_eq!(curl.wait().code(), Some(0));
    });
}

#[test]
fn signals_and_exit_codes_are_passed_on() {
    with_own_bpffs("signals_and_exit_codes_are_passed_on", || {
        let run = |words: &[&str]| output(&[&["run", "--"], words].concat()).status.code();
        assert_eq!(run(&["sh", "-c", "exit 7"]), Some(7));
        assert_eq!(run(&["sh", "-c", "kill -9 $$"]), Some(128 + 9));
        assert_eq!(run(&["/nothing/is/here"]), Some(127));
        assert_eq!(run(&["/"]), Some(126));

        let script = "trap 'exit 5' TERM; echo there; while read line; do :; done";
        let mut command = kernel(&["run", "--", "sh", "-c", script]);
        command.stdin(Stdio::piped());
        let program = Process::spawn(command);
        assert_eq!(program.line(), "there");
        // Whoever waits for a process closes its input, at whose end the loop would end, too.
        let _input = program.input();
        assert_eq!(program.stop().code(), Some(5));
    });
}

#[test]
fn it_ends_with_the_last_process_of_the_program() {
    with_own_bpffs("it_ends_with_the_last_process_of_the_program", || {
        let mut command = kernel(&["run", "--", "sh", "-c", "exec 3<&0; cat <&3 & exit 3"]);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("waiting for them"), "{said}");
        assert_ne!(loaded("balia"), Value::Null);
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(3));
        assert_eq!(loaded("balia"), Value::Null);
    });
}

#[test]
fn what_a_run_that_was_killed_has_loaded_goes_with_the_next_call() {
    with_own_bpffs("what_a_run_that_was_killed_has_loaded_goes_with_the_next_call", || {
        let mut command = kernel(&["run", "--", "sh", "-c", "echo there; read end"]);
        command.stdin(Stdio::piped());
        let program = Process::spawn(command);
        assert_eq!(program.line(), "there");
        assert_ne!(loaded("balia"), Value::Null);
        let refused = output(&["unload", "balia"]);
        assert!(stderr(&refused).contains("end that first"), "{}", stderr(&refused));
        program.signal("KILL");
        program.wait();
        let pinned = Path::new("/sys/fs/bpf/polypath/pp_balia");
        assert!(pinned.exists());
        let status = output(&["status"]);
        let nothing = "nothing is loaded, and no connection of this network namespace uses any\n";
        assert_eq!(stdout(&status), nothing, "{}", stderr(&status));
        assert!(!pinned.exists());
    });
}

/// A cgroup of cgroup2, removed with its last process.
struct Cgroup(PathBuf);

impl Cgroup {
    #[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
    fn new(test: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let mut mounts = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let folder = mounts.find(|of| of[2] == "cgroup2").map(|of| of[1].to_owned());
        let made = folder.map(|of| Path::new(&of).join(format!("polypath-{}", process::id())));
        let made = made.filter(|folder| fs::create_dir(folder).is_ok());
        if made.is_none() {
            println!("skipped: {test}: no cgroup2 where a cgroup can be made");
        }
        made.map(Self)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It is not there any more, or the test has failed with a process in it.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn processes_of_a_cgroup_have_its_congestion_control() {
    let test = "processes_of_a_cgroup_have_its_congestion_control";
    with_own_bpffs(test, || {
        let Some(cgroup) = Cgroup::new(test) else { return };
        let folder = cgroup.0.to_str().unwrap();
        let other = output(&["load", "wvegas", "--cgroup", "/proc"]);
        assert!(stderr(&other).contains("/proc is not a folder of cgroup2"), "{}", stderr(&other));
        for _ in 0..2 {
            let told = json(&["load", "wvegas", "--cgroup", folder, "--json"]);
            assert_eq!(told["loaded"]["cgroups"], 1);
        }
        let sockets = Sockets::new();
        let within = |script: &str| {
            let script = format!("echo $$ >{folder}/cgroup.procs; {script}");
            let mut command = Command::new("unshare");
            command.args(["--net", "sh", "-c", &script]).arg(sockets.file()).output().unwrap()
        };
        let script = "ip link set lo up; exec \"$0\" accepted";
        for (name, known) in [("pp_wvegas", true), ("pp_wvegas", false)] {
            let ran = within(&format!("{script} {name}"));
            assert_eq!(ran.status.code(), Some(i32::from(!known)), "{}", stderr(&ran));
            output(&["unload", "wvegas"]);
        }
    });
}
