//! `polypath emulate` as a relay between an edge and a hub.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::http::content;
use crate::name_server;
use crate::process::{Process, end_at_once, stderr};
use crate::world::World;

/// 2 paths of 20 Mbit/s: 3 MB take at least 3e6 * 8 / 40e6 = 0.6 s, however fast this machine is.
/// Of equal paths each carries far more than a tenth. How fast the bond is, is not tested here.
#[test]
fn emulated_paths_carry_a_file_together() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox")]);
    let path = |name: &str| {
        format!("[[path]]\nname = \"{name}\"\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n")
    };
    let network = path("near") + &path("far");
    let scenario = world.file("two.toml", network.as_bytes());
    let at = hub.join_string().split('/').nth(1).unwrap();
    let emulation = Process::spawn(world.command(&["emulate", &scenario, "--hub", at]));
    let lines: Vec<_> = (0..3).map(|_| emulation.line()).collect();
    assert!(lines[0].starts_with("path near 127.0.0.1:"), "{lines:?}");
    let flags: Vec<_> = lines[2].split(' ').collect();
    assert_eq!(flags.len(), 4, "{lines:?}");

    let sent = content(3_000_000);
    let file = world.file("x.bin", &sent);
    let args = ["send", &file, "--json", "--key", world.edge_key(), "--join", hub.join_string()];
    let output = world.run(&[&args, flags.as_slice()].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let seconds = report["seconds"].as_f64().unwrap();
    assert!(seconds >= 0.6, "{report}");
    for path in report["paths"].as_array().unwrap() {
        assert!(path["bytes_sent"].as_u64().unwrap() > 300_000, "{report}");
    }
    assert!(fs::read(world.path("inbox/x.bin")).unwrap() == sent);
    assert_eq!(emulation.stop().code(), Some(0));
}

#[test]
fn a_bad_scenario_ends_with_2() {
    let world = World::new();
    let scenario = world.file("bad-scenario.toml", b"[[path]]\nname = \"a\"\nspeed = 1\n");
    let output = world.run(&["emulate", &scenario, "--hub", "127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("bad-scenario.toml:"), "{}", stderr(&output));
}

#[test]
fn a_signal_ends_the_relay_while_it_waits_for_the_name_of_the_hub() {
    let world = World::new();
    let settings = name_server::settings(&world, name_server::ADDRESSES[0]);
    let scenario =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/presets/two_path.toml");
    let emulate = ["emulate", scenario.to_str().unwrap(), "--hub", "hub.test:4433"];
    let test = "a_signal_ends_the_relay_while_it_waits_for_the_name_of_the_hub";
    let Some(silent) = name_server::silent_server(test, name_server::ADDRESSES[0]) else { return };
    silent.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let process = name_server::with_name_server(&settings, &emulate);
    silent.recv(&mut [0; 512]).unwrap();
    process.signal("INT");
    assert_eq!(end_at_once(&process), Some(0));
}
