//! Signals to commands that have not come to their end.

use std::fs;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::time::Duration;

use super::name_server;
use super::process::end_at_once;
use super::world::{Node, Process, World};

/// What shells say of a program that SIGINT ended.
const INTERRUPTED: i32 = 130;
/// 20 MB at 4 Mbit/s take 40 s, less what the buffers hold: a sender that goes on is told from one
/// that stops. What it has queued by then is given up, so that its end takes some RTTs.
const RATE: &str = "4 Mbit/s";
const SIZE: usize = 20_000_000;

fn send(world: &World, join: &str, file: &str) -> Process {
    let known = ["send", file, "--key", world.edge_key(), "--join", join];
    Process::spawn(world.command(&[&known[..], &["--path", "a=127.0.0.1"]].concat()))
}

/// The bytes of the unfinished file; the inbox shows no file.
fn unfinished(world: &World) -> u64 {
    let list = |path: PathBuf| fs::read_dir(path).into_iter().flatten();
    let entries = |path| list(path).map(|entry| entry.unwrap().path());
    assert_eq!(entries(world.path("inbox").into()).count(), 1);
    let edges = entries(world.path("inbox/.polypath").into());
    let files = edges.filter(|path| path.is_dir()).flat_map(entries);
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

fn bonds(world: &World, hub: &Node) -> usize {
    world.status(hub.control())["bonds"].as_array().unwrap().len()
}

#[test]
fn a_signal_ends_a_send_and_the_hub_keeps_what_it_has() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox"), "--max-bandwidth", RATE]);
    let file = world.file("x.bin", &vec![7; SIZE]);
    let mut before = 0;
    for signal in ["INT", "TERM", "HUP"] {
        let sending = send(&world, hub.join_string(), &file);
        while unfinished(&world) <= before {
            world.status(hub.control());
        }
        sending.signal(signal);
        assert_eq!(end_at_once(&sending), Some(INTERRUPTED), "{signal}");
        // The hub forgets a bond behind the last of its streams, and closes a file before that.
        while bonds(&world, &hub) > 0 {}
        let kept = unfinished(&world);
        assert!(kept > before, "{signal}: {kept} after {before}");
        before = kept;
    }
    assert!(!hub.log().contains("IdleTimeout"), "it was told of each: {}", hub.log());
}

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

#[test]
fn a_signal_ends_commands_that_wait_for_the_name_of_the_hub() {
    let world = World::new();
    let settings = name_server::settings(&world, name_server::ADDRESSES[0]);
    let (file, control) = (world.file("x.bin", b"x"), world.path("edge.sock"));
    let join = format!("polypath:1/hub.test:4433/{}", world.new_key("other.key").1);
    let bond = ["--key", world.edge_key(), "--join", &join, "--path", "a=127.0.0.1"];
    for (command, code) in [
        ([&["edge", "--control", &control], &bond[..]].concat(), 0),
        ([&["send", &file], &bond[..]].concat(), INTERRUPTED),
    ] {
        let test = "a_signal_ends_commands_that_wait_for_the_name_of_the_hub";
        let address = name_server::ADDRESSES[0];
        let Some(silent) = name_server::silent_server(test, address) else { return };
        silent.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let process = name_server::with_name_server(&settings, &command);
        silent.recv(&mut [0; 512]).unwrap();
        process.signal("INT");
        assert_eq!(end_at_once(&process), Some(code), "{command:?}");
    }
}
