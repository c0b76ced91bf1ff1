//! Hub and edge without a session, as a service manager starts them.

use std::fs::{self, File};
use std::process::{Command, Output};

use super::world::{Process, World, stderr, stdout};

/// A command whose session has no folder that could be used, in a service that has one.
fn in_service(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(args);
    command.env("XDG_RUNTIME_DIR", world.path("no-session"));
    command.env("RUNTIME_DIRECTORY", world.path("service"));
    command.env("TMPDIR", world.path("temporary"));
    command
}

fn status(world: &World) -> Output {
    in_service(world, &["status"]).output().unwrap()
}

#[test]
fn a_hub_starts_without_a_session_and_is_found_by_status() {
    let world = World::new();
    let [service, temporary] = ["service", "temporary"].map(|name| world.path(name));
    fs::create_dir(&service).unwrap();
    fs::create_dir(&temporary).unwrap();
    let [key, allow] = ["hub.key", "allow"].map(|name| world.path(name));
    let args = ["hub", "--key", &key, "--allow", &allow, "--listen", "127.0.0.1:0"];
    let (mut command, log) = (in_service(&world, &args), world.path("log"));
    command.stderr(File::create(&log).unwrap());
    let hub = Process::spawn(command);
    hub.line();
    let socket = format!("{service}/control.sock");
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains(&format!("control socket path={socket}")), "{log}");

    let found = status(&world);
    assert_eq!(found.status.code(), Some(0), "{}", stderr(&found));
    assert!(stdout(&found).starts_with("hub "), "{}", stdout(&found));

    assert_eq!(hub.stop().code(), Some(0));
    assert!(!fs::exists(&socket).unwrap(), "a hub takes its socket with it");
}

/// The socket that was named is the one that is wanted: no other is made instead.
#[test]
fn a_control_socket_that_was_named_and_cannot_be_made_is_an_error() {
    let world = World::new();
    let [key, allow, file] = ["hub.key", "allow", "edge.key"].map(|name| world.path(name));
    let control = format!("{file}/control.sock");
    let args = ["hub", "--key", &key, "--allow", &allow, "--control", &control];
    let refused = in_service(&world, &args).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains(&control), "{}", stderr(&refused));
}

/// A hub begins anew before it reads its configuration, which can be read once here.
#[test]
fn a_hub_takes_its_configuration_from_a_pipe() {
    let world = World::new();
    let piped = "exec \"$0\" \"$@\" <<END\nadvertise = [\"hub.example.org:4433\"]\nEND\n";
    let runner = ["/bin/sh", "-c", piped];
    let hub = world.hub_run_by(&runner, "127.0.0.1:0", &["--config", "/dev/stdin"]);
    assert!(hub.join_string().contains("hub.example.org:4433"), "{}", hub.join_string());
}
