//! What is logged, in which form, and that what goes well gives no cause to worry.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;

use super::disk::Disk;
use super::http::Server;
use super::world::{Process, World, curl, stderr, stdout};

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

/// Which of the hub's paths hears first that all is over is a race: it is run a few times. On a
/// busy host a path of one of them may really be silent for too long, which is told as it should.
#[test]
fn a_send_that_succeeds_warns_of_nothing() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox")]);
    let file = world.file("x.bin", &vec![7; 1_000_000]);
    for number in 0..20 {
        let sent = world.send(&hub, &[&file, "--name", &format!("{number}.bin")]);
        assert!(sent.status.success(), "{}", stderr(&sent));
        let said: String =
            stderr(&sent).lines().filter(|line| !line.contains(": failed path=")).collect();
        assert!(!worries(&said), "{}", stderr(&sent));
    }
    assert_eq!(hub.stop().code(), Some(0));
    assert!(!worries(&hub.log()), "{}", hub.log());
}

/// A target, a limit and a file: each is told to who asked, and to the operator with the edge and
/// where it comes from.
#[test]
fn what_a_hub_refuses_is_logged_with_edge_and_address() {
    let world = World::new();
    let key = fs::read_to_string(world.path("allow")).unwrap();
    world.file("allow", format!("{} van 7\n", key.trim()).as_bytes());
    let server = Server::start().address().to_string();
    let hub = world.hub(&["--max-connections", "1", "--inbox", &world.path("inbox")]);
    let edge = world.edge(&hub, &["--http", "127.0.0.1:0"]);
    let proxy = edge.address_of("http");
    let refused = |target: &str, status: &str, logged: &str| {
        let url = format!("http://{target}/");
        let answer = curl(&[&["-i", "--noproxy", "", "--proxy", &proxy, &url]]);
        assert!(stdout(&answer).starts_with(&format!("HTTP/1.1 {status} ")), "{answer:?}");
        let line = hub.log_line(logged);
        assert!(line.contains("from=\"127.0.0.1:") && line.contains("edge=van 7"), "{line}");
    };
    refused("127.0.0.2:9", "403", "a target was refused");
    let mut held = TcpStream::connect(&proxy).unwrap();
    held.write_all(format!("CONNECT {server} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
    let mut answer = [0; 12];
    held.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    refused(&server, "503", "a request was refused because of a limit");

    let sent = |bytes: &[u8]| world.send(&hub, &[&world.file("x.bin", bytes)]);
    assert!(sent(b"one").status.success());
    let taken = sent(b"other");
    assert!(!taken.status.success() && stderr(&taken).contains("x.bin"), "{}", stderr(&taken));
    let line = hub.log_line("a file was not stored");
    assert!(line.contains("from=\"127.0.0.1:") && line.contains(key.trim()), "{line}");
}

/// The sender is told, and the operator, with the edge and where it comes from; with room again the
/// file arrives.
#[test]
fn a_full_disk_is_told_to_the_sender_and_logged() {
    let world = World::new();
    let test = "a_full_disk_is_told_to_the_sender_and_logged";
    let Some(disk) = Disk::new(test, &world, 4) else { return };
    let inbox = ["--inbox", &disk.path("inbox")];
    let hub = world.hub_run_by(&disk.runner(), "127.0.0.1:0", &inbox);
    let key = fs::read_to_string(world.path("allow")).unwrap();
    let file = world.file("x.bin", &vec![7; 100_000]);
    disk.fill();
    let full = world.send(&hub, &[&file]);
    assert_eq!(full.status.code(), Some(1));
    let why = "No space left on device";
    for told in [stderr(&full), &hub.log_line("a file was not stored")] {
        assert!(told.contains("x.bin") && told.contains(why), "{told}");
    }
    let line = hub.log_line(why);
    assert!(line.contains("from=\"127.0.0.1:") && line.contains(key.trim()), "{line}");
    disk.free();
    let sent = world.send(&hub, &[&file]);
    assert!(sent.status.success(), "{}", stderr(&sent));
}

fn worries(log: &str) -> bool {
    log.contains(" WARN ") || log.contains(" ERROR ")
}
