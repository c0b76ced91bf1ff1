//! Signals to commands that have not come to their end.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::world::{Node, Process, World};

/// What shells say of a program that SIGINT ended.
const INTERRUPTED: i32 = 130;
/// 20 MB at 4 Mbit/s take 40 s, less what the buffers hold: a sender that goes on is told from one
/// that stops. What it has queued by then is given up, so that its end takes some RTTs.
const RATE: &str = "4 Mbit/s";
const SIZE: usize = 20_000_000;
const PROMPT: Duration = Duration::from_secs(5);
/// Of this test's own.
const NAME_SERVER: &str = "127.77.0.53";

fn send(world: &World, join: &str, file: &str) -> Process {
    let known = ["send", file, "--key", world.edge_key(), "--join", join];
    Process::spawn(world.command(&[&known[..], &["--path", "a=127.0.0.1"]].concat()))
}

/// The exit code of a command that was just told to end.
#[expect(clippy::disallowed_methods, reason = "what is measured is how long a process takes")]
fn end_at_once(process: &Process) -> Option<i32> {
    let start = Instant::now();
    let status = process.wait();
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    status.code()
}

/// The bytes of each file in the inbox, whole or not.
fn inbox(world: &World) -> Vec<u64> {
    let files = fs::read_dir(world.path("inbox")).unwrap();
    // A file may be gone between the two looks.
    files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).collect()
}

fn bonds(world: &World, hub: &Node) -> usize {
    world.status(hub.control())["bonds"].as_array().unwrap().len()
}

#[test]
fn a_signal_ends_a_send_and_the_hub_keeps_no_part_of_it() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox"), "--max-bandwidth", RATE]);
    let file = world.file("x.bin", &vec![7; SIZE]);
    for signal in ["INT", "TERM", "HUP"] {
        let sending = send(&world, hub.join_string(), &file);
        while inbox(&world).iter().sum::<u64>() == 0 {
            world.status(hub.control());
        }
        sending.signal(signal);
        assert_eq!(end_at_once(&sending), Some(INTERRUPTED), "{signal}");
        // The hub forgets a bond behind the last of its streams, and closes a file before that.
        while bonds(&world, &hub) > 0 {}
        assert!(inbox(&world).is_empty(), "{signal}");
    }
    assert!(!hub.log().contains("IdleTimeout"), "it was told of each: {}", hub.log());
}

/// Without an answer a path gives up after 5 s, and the command with it.
#[test]
fn a_signal_ends_a_send_that_has_not_joined() {
    let world = World::new();
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (_, public) = world.new_key("other.key");
    let join = format!("polypath:1/{}/{public}", silent.local_addr().unwrap());
    let sending = send(&world, &join, &world.file("x.bin", b"x"));
    silent.recv(&mut [0; 2_000]).unwrap();
    sending.signal("INT");
    assert_eq!(end_at_once(&sending), Some(INTERRUPTED));
}

/// A command in a mount namespace of its own, where the only name server is the one of the file.
fn with_name_server(file: &str, args: &[&str]) -> Process {
    let mut command = Command::new("unshare");
    let script = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"";
    command.args(["--mount", "sh", "-c", script, file, env!("CARGO_BIN_EXE_polypath")]);
    command.args(args).env_remove("RUST_LOG");
    Process::spawn(command)
}

/// A name server that does not answer, for a test, unless none can be had here: that is told then.
#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
fn silent_server(test: &str) -> Option<UdpSocket> {
    let unshared = Command::new("unshare").args(["--mount", "true"]).status();
    let socket = UdpSocket::bind((NAME_SERVER, 53));
    match (unshared, socket) {
        (Ok(unshared), Ok(socket)) if unshared.success() => Some(socket),
        _ => {
            println!("skipped: {test}: no permission to unshare, or for port 53");
            None
        }
    }
}

/// The name server of these settings is given up after 20 s.
#[test]
fn a_signal_ends_commands_that_wait_for_the_name_of_the_hub() {
    let world = World::new();
    let settings = format!("nameserver {NAME_SERVER}\noptions timeout:10 attempts:2\n");
    let settings = world.file("resolv.conf", settings.as_bytes());
    let (file, control) = (world.file("x.bin", b"x"), world.path("edge.sock"));
    let join = format!("polypath:1/hub.test:4433/{}", world.new_key("other.key").1);
    let bond = ["--key", world.edge_key(), "--join", &join, "--path", "a=127.0.0.1"];
    let scenario =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/presets/two_path.toml");
    let emulate = ["emulate", scenario.to_str().unwrap(), "--hub", "hub.test:4433"];
    for (command, code) in [
        ([&["edge", "--control", &control], &bond[..]].concat(), 0),
        ([&["send", &file], &bond[..]].concat(), INTERRUPTED),
        (emulate.to_vec(), 0),
    ] {
        let test = "a_signal_ends_commands_that_wait_for_the_name_of_the_hub";
        let Some(silent) = silent_server(test) else { return };
        silent.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let process = with_name_server(&settings, &command);
        silent.recv(&mut [0; 512]).unwrap();
        process.signal("INT");
        assert_eq!(end_at_once(&process), Some(code), "{command:?}");
    }
}
