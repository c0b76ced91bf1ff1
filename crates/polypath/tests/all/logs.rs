//! What is logged, in which form, and that what goes well gives no cause to worry.

use std::fs::{self, File};

use super::world::{Process, World, stderr};

/// The log of a hub that has started and was stopped, with `RUST_LOG` as given.
fn log_of_hub(world: &World, filter: Option<&str>, more: &[&str]) -> String {
    let [key, allow, control] = ["hub.key", "allow", "hub.sock"].map(|name| world.path(name));
    let files = ["hub", "--key", &key, "--allow", &allow, "--control", &control];
    let mut command = world.command(&[&files[..], &["--listen", "127.0.0.1:0"], more].concat());
    let log = world.path("hub.log");
    command.stderr(File::create(&log).unwrap()).envs(filter.map(|filter| ("RUST_LOG", filter)));
    let hub = Process::spawn(command);
    hub.line();
    assert_eq!(hub.stop().code(), Some(0));
    fs::read_to_string(log).unwrap()
}

#[test]
fn rust_log_says_what_is_logged() {
    let world = World::new();
    let default = log_of_hub(&world, None, &[]);
    assert!(default.contains(" INFO polypath") && !default.contains(" DEBUG "), "{default}");
    assert_eq!(log_of_hub(&world, Some("warn"), &[]), "");
    let one = log_of_hub(&world, Some("polypath::control=info"), &[]);
    assert!(one.lines().all(|line| line.contains(" INFO polypath::control")), "{one}");
    assert!(one.contains("hub.sock"), "{one}");
}

#[test]
fn a_malformed_rust_log_is_refused() {
    let world = World::new();
    let mut command = world.command(&["hub"]);
    let refused = command.env("RUST_LOG", "polypath=loud").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let message = stderr(&refused);
    assert!(message.contains("RUST_LOG: "), "{message}");
    assert!(message.contains("allowed: such as polypath_net=debug"), "{message}");
}

#[test]
fn a_log_for_programs_has_an_object_a_line() {
    let world = World::new();
    let log = log_of_hub(&world, None, &["--log", "json"]);
    assert!(log.lines().count() > 1, "{log}");
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for key in ["timestamp", "level", "target", "message"] {
            assert!(line[key].is_string(), "{key}: {line}");
        }
    }
    assert!(log.contains(r#""message":"listening""#), "{log}");
}

/// Which of the hub's paths hears first that all is over is a race: it is run a few times.
#[test]
fn a_send_that_succeeds_warns_of_nothing() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox")]);
    let file = world.file("x.bin", &vec![7; 1_000_000]);
    for number in 0..20 {
        let sent = world.send(&hub, &[&file, "--name", &format!("{number}.bin")]);
        assert!(sent.status.success(), "{}", stderr(&sent));
        assert!(!worries(stderr(&sent)), "{}", stderr(&sent));
    }
    assert_eq!(hub.stop().code(), Some(0));
    assert!(!worries(&hub.log()), "{}", hub.log());
}

fn worries(log: &str) -> bool {
    log.contains(" WARN ") || log.contains(" ERROR ")
}
