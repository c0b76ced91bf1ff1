//! A path that the user has marked as a backup.

use serde_json::Value;

use super::emulated::Emulated;
use super::http::{Server, content, sha256};
use super::world::{curl, stderr, stdout};

const UPLOAD: usize = 10_000_000;

/// The edge's backup path, as its status shows it, once both paths have joined.
fn backup(emulated: &Emulated) -> Value {
    loop {
        let asked = emulated.world.run(&["status", "--json", "--control", emulated.edge.control()]);
        assert!(asked.status.success(), "{}", stderr(&asked));
        let status: Value = serde_json::from_slice(&asked.stdout).unwrap();
        let paths = status["bonds"][0]["paths"].as_array().unwrap();
        if let (2, Some(backup)) = (paths.len(), paths.iter().find(|p| p["backup"] == true)) {
            return backup.clone();
        }
    }
}

fn bytes_sent(emulated: &Emulated) -> u64 {
    backup(emulated)["bytes_sent"].as_u64().unwrap()
}

/// Were it not a backup, the fast path would carry at least half. As one it carries its handshake,
/// the probes for a larger MTU and the answers to what the hub says, until the other path dies.
#[test]
fn a_backup_carries_data_only_when_the_other_path_has_died() {
    let server = Server::start();
    let emulated = Emulated::with_backup(&["--socks", "127.0.0.1:0"]);
    assert_eq!(backup(&emulated)["name"], "fast");
    let socks = emulated.edge.address_of("socks5");
    let file = emulated.world.file("up.bin", &content(UPLOAD));
    let upload = || {
        let put = curl(&[&["--socks5-hostname", &socks, "-T", &file, &server.url("put")]]);
        assert!(put.status.success(), "{}", stderr(&put));
        assert_eq!(stdout(&put), sha256(&content(UPLOAD)));
    };
    upload();
    let before = bytes_sent(&emulated);
    assert!(before < UPLOAD as u64 / 20, "{before}");

    emulated.kill_the_slow_path();
    upload();
    let after = bytes_sent(&emulated);
    assert!(after - before > UPLOAD as u64, "{before}, then {after}");
}
