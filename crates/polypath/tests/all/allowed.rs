//! The list of the keys that may join a hub: none at first, changed while the hub runs.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use super::http::{ENDLESS_BYTES, Server};
use super::world::{Node, Process, World, stderr, stdout};

/// Against hanging only: far less than the 30 s after which a bond whose peer is silent ends.
const PATIENCE: Duration = Duration::from_secs(15);

/// Writes the list anew and waits until the hub has read it. The hub answers meanwhile.
fn allow(world: &World, hub: &Node, list: &str) {
    let readings = || hub.log().matches("read the allowed keys").count();
    let before = readings();
    world.file("allow", list.as_bytes());
    hub.signal("HUP");
    while readings() == before {
        world.status(hub.control());
    }
}

fn join(world: &World, key: &str, join: &str) -> Process {
    let control = world.path("join.sock");
    let edge = ["edge", "--key", key, "--join", join, "--path", "a=127.0.0.1"];
    Process::spawn(world.command(&[&edge[..], &["--control", &control]].concat()))
}

#[test]
fn sighup_makes_a_hub_read_the_list_again() {
    let world = World::new();
    let hub = world.hub(&[]);
    let (key, public) = world.new_key("new.key");
    allow(&world, &hub, &public);
    let edge = join(&world, &key, hub.join_string());
    assert_eq!(edge.line(), "joined");
    assert_eq!(hub.stop().code(), Some(0));
}

/// As on a terminal that was closed, or a disk that is full.
#[test]
fn a_hub_whose_log_cannot_be_written_goes_on() {
    let world = World::new();
    let (key, list, control) = (world.path("hub.key"), world.path("allow"), world.path("hub.sock"));
    let files = ["hub", "--key", &key, "--allow", &list, "--control", &control];
    let mut command = world.command(&[&files[..], &["--listen", "127.0.0.1:0"]].concat());
    command.stderr(OpenOptions::new().write(true).open("/dev/full").unwrap());
    let hub = Process::spawn(command);
    let string = hub.line();
    let edge = join(&world, world.edge_key(), &string);
    assert_eq!(edge.line(), "joined");
    assert_eq!(hub.stop().code(), Some(0));
}

#[test]
fn a_key_that_is_taken_from_the_list_loses_its_bond_at_once() {
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = world.edge(&hub, &["--forward", &format!("tcp:127.0.0.1:0={}", server.address())]);
    let mut client = TcpStream::connect(edge.forwarded()).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(b"GET /endless HTTP/1.1\r\n\r\n").unwrap();
    client.read_exact(&mut vec![0; ENDLESS_BYTES]).unwrap();

    let public = fs::read_to_string(world.path("allow")).unwrap();
    allow(&world, &hub, "# nobody\n");
    let end = client.read(&mut [0]).map_err(|error| error.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    let log = hub.log();
    let ended = log.lines().find(|line| line.contains("no longer allowed")).expect(&log);
    assert!(ended.contains(&public), "{ended}");
    while world.status(hub.control())["bonds"].as_array().is_some_and(|bonds| !bonds.is_empty()) {}
    assert_eq!(edge.wait().code(), Some(1));
    let log = edge.log();
    assert!(log.contains("error: this key may not use the hub"), "{log}");
}

/// The first hub of somebody who has not read on: what it says helps, and it leaves nothing behind.
#[test]
fn a_hub_without_a_list_makes_no_key_and_says_how_to_make_the_list() {
    let world = World::new();
    let control = world.path("hub.sock");
    let hub = ["hub", "--listen", "127.0.0.1:0", "--control", &control];
    let refused = world.run(&hub);
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    let list = world.path(".config/polypath/allow");
    assert!(stderr(&refused).contains(&format!("there is no list {list}")), "{}", stderr(&refused));
    let (_, rest) = stderr(&refused).split_once('`').expect("a command");
    let (make, _) = rest.split_once('`').expect("its end");

    let key = world.run(&["key"]);
    assert!(key.status.success(), "{}", stderr(&key));
    let make = make.replace("ppp1...", stdout(&key).trim());
    assert!(Command::new("sh").args(["-c", &make]).status().unwrap().success(), "{make}");
    let hub = Process::spawn(world.command(&hub));
    assert!(hub.line().starts_with("polypath:1/127.0.0.1:"));
    assert_eq!(hub.stop().code(), Some(0));
}
