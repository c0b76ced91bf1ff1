//! Hub and edge on a host without a network: both start.

use std::process::Command;

use super::world::{Process, World};

/// A command in a network namespace of its own, where nothing is up.
fn alone(world: &World, args: &[&str]) -> Process {
    let mut command = Command::new("unshare");
    command.arg("--net").arg(crate::program()).args(args);
    command.env("HOME", world.path("")).env_remove("RUST_LOG");
    Process::spawn(command)
}

/// Whether there can be such a namespace; if not, that is told.
#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
fn can_be_alone(test: &str) -> bool {
    let tried = Command::new("unshare").args(["--net", "true"]).output();
    let can = tried.is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: {test}: no permission to unshare");
    }
    can
}

#[test]
fn a_hub_without_a_default_route_starts() {
    if !can_be_alone("a_hub_without_a_default_route_starts") {
        return;
    }
    let world = World::new();
    let (key, allow) = (world.path("hub.key"), world.path("allow"));
    let control = world.path("hub.sock");
    let files = ["hub", "--key", &key, "--allow", &allow, "--control", &control];
    let hub = alone(&world, &files);
    let join = hub.line();
    assert!(join.starts_with("polypath:1/127.0.0.1:4433/"), "{join}");
    assert_eq!(hub.stop().code(), Some(0));
}

#[test]
fn an_edge_waits_for_an_uplink_and_offers_its_proxies_meanwhile() {
    if !can_be_alone("an_edge_waits_for_an_uplink_and_offers_its_proxies_meanwhile") {
        return;
    }
    let world = World::new();
    let join = format!("polypath:1/192.0.2.1:4433/{}", world.new_key("other.key").1);
    let control = world.path("edge.sock");
    let known = ["edge", "--key", world.edge_key(), "--join", &join, "--control", &control];
    for path in [&["--auto"][..], &["--path", "a=wwan0"], &["--path", "a=10.0.0.2"]] {
        let edge = alone(&world, &[&known[..], path, &["--http", "127.0.0.1:0"]].concat());
        assert!(edge.line().starts_with("http 127.0.0.1:"), "{path:?}");
        assert_eq!(edge.stop().code(), Some(0), "{path:?}");
    }
}
