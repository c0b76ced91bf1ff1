//! What hub and edge tell the service manager that starts them.

use std::os::unix::net::UnixDatagram;
use std::process::Stdio;

use super::world::{Process, World};

/// A socket of a service manager whose watchdog waits for a fifth of a second.
struct Manager(UnixDatagram, String);

impl Manager {
    fn new(world: &World) -> Self {
        let path = world.path("notify");
        Self(UnixDatagram::bind(&path).unwrap(), path)
    }

    fn next(&self) -> String {
        let mut bytes = [0; 64];
        let length = self.0.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    fn start(&self, world: &World, args: &[&str]) -> Process {
        let mut command = world.command(args);
        command.env("NOTIFY_SOCKET", &self.1).env("WATCHDOG_USEC", "200000");
        command.stderr(Stdio::null());
        Process::spawn(command)
    }

    /// It is ready once, lives for as long as it runs, and says that it ends.
    fn sees_a_life_of(&self, process: &Process) {
        assert_eq!(self.next(), "READY=1");
        for _ in 0..5 {
            assert_eq!(self.next(), "WATCHDOG=1");
        }
        assert_eq!(process.stop().code(), Some(0));
        let mut last = self.next();
        while last == "WATCHDOG=1" {
            last = self.next();
        }
        assert_eq!(last, "STOPPING=1");
    }
}

#[test]
fn a_service_manager_is_told_that_a_hub_is_ready_lives_and_ends() {
    let world = World::new();
    let manager = Manager::new(&world);
    let [key, allow, control] = ["hub.key", "allow", "s"].map(|name| world.path(name));
    let files = ["hub", "--key", &key, "--allow", &allow, "--control", &control];
    let hub = manager.start(&world, &[&files[..], &["--listen", "127.0.0.1:0"]].concat());
    assert!(hub.line().starts_with("polypath:1/"));
    manager.sees_a_life_of(&hub);
}

/// An edge is ready when applications can use it: it waits for a hub that is away.
#[test]
fn a_service_manager_is_told_that_an_edge_is_ready_while_its_hub_is_away() {
    let world = World::new();
    let manager = Manager::new(&world);
    let hub = world.hub(&[]);
    let (join, control) = (hub.join_string().to_owned(), world.path("s"));
    hub.stop();
    let args = ["edge", "--key", world.edge_key(), "--join", &join, "--path", "a=127.0.0.1"];
    let edge = manager.start(&world, &[&args[..], &["--control", &control]].concat());
    manager.sees_a_life_of(&edge);
}
