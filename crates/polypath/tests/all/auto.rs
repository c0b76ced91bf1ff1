//! `polypath send --auto` in a network namespace, where a second uplink comes up while it sends.

use super::http::content;
use super::namespace::Namespace;
use super::world::{Process, World, stdout};

const HUB: &str = "10.1.0.2:4433";
/// What the hub takes at once and in a second leaves some six seconds for the second uplink.
const BYTES: usize = 20_000_000;
const LIMITS: [&str; 4] = ["--max-memory", "16 MB", "--max-bandwidth", "20 Mbit/s"];

/// An uplink with a default route. That the hub is on the same host spares a second namespace: what
/// the paths of `--auto` are goes by interfaces, addresses and routes alone.
fn add_uplink(namespace: &Namespace, n: u8) {
    namespace.ip(&format!("link add up{n} type veth peer name far{n}"));
    namespace.ip(&format!("addr add 10.{n}.0.2/24 dev up{n}"));
    namespace.ip(&format!("link set far{n} up"));
    namespace.ip(&format!("link set up{n} up"));
    namespace.ip(&format!("route add default via 10.{n}.0.1 dev up{n} metric {n}"));
}

#[test]
fn send_shows_the_uplinks_that_come_while_it_sends() {
    let Some(namespace) = Namespace::new("send_shows_the_uplinks_that_come_while_it_sends") else {
        return;
    };
    namespace.ip("link set lo up");
    add_uplink(&namespace, 1);
    let world = World::new();
    let [key, allow, inbox] = ["hub.key", "allow", "inbox"].map(|name| world.path(name));
    let [asked, of_hub, shown] = ["send.sock", "hub.sock", "send.log"].map(|name| world.path(name));
    let files = ["hub", "--key", &key, "--allow", &allow, "--inbox", &inbox, "--control", &of_hub];
    let hub = [&files[..], &["--listen", HUB], &LIMITS].concat();
    let hub = Process::spawn(world.command_by(&namespace.runner(), &hub));
    let join = hub.line();

    let file = world.file("x.bin", &content(BYTES));
    let known = ["send", &file, "--auto", "--key", world.edge_key(), "--join", &join];
    let send = [&known[..], &["--control", &asked]].concat();
    let mut send = world.command_by(&namespace.runner(), &send);
    send.stderr(std::fs::File::create(&shown).unwrap());
    let send = Process::spawn(send);
    // The socket is there a moment after the start.
    while !world.run(&["status", "--control", &asked]).status.success() {}
    let paths = || {
        let status = world.status(&asked);
        assert_eq!(status["role"], "send");
        let bonds = status["bonds"].as_array().unwrap().iter();
        let paths = bonds.flat_map(|bond| bond["paths"].as_array().unwrap());
        paths.map(|path| path["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    while paths() != ["up1"] {}
    add_uplink(&namespace, 2);
    while paths() != ["up1", "up2"] {}
    let table = world.run(&["status", "--control", &asked]);
    assert!(stdout(&table).starts_with("send "), "{}", stdout(&table));

    let report = [send.line(), send.line()].join("\n");
    assert!(send.wait().success());
    let progress = std::fs::read_to_string(&shown).unwrap();
    for path in ["up1 ", "up2 "] {
        assert!(progress.lines().any(|line| line.starts_with(path)), "{progress}");
        assert!(report.contains(path), "{report}");
    }
    assert!(!std::fs::exists(&asked).unwrap(), "the socket is left behind");
}
