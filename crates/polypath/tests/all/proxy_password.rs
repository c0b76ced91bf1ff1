//! Proxies that ask for a password, which they have to where other hosts can use them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::http::{Server, content};
use super::world::{Node, World, curl, stderr, stdout};

const EVERYWHERE: [&str; 4] = ["--socks", "0.0.0.0:0", "--http", "0.0.0.0:0"];
const LOOPBACK: [&str; 4] = ["--socks", "127.0.0.1:0", "--http", "127.0.0.1:0"];

/// A file that its owner alone can read.
fn credentials(world: &World, text: &str) -> String {
    let file = world.file("proxy.password", text.as_bytes());
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    file
}

/// What curl gets through either proxy, by loopback wherever it listens: SOCKS5, then HTTP.
fn fetch(edge: &Node, url: &str, user: &[&str]) -> [Option<Vec<u8>>; 2] {
    [("socks5", "--socks5-hostname"), ("http", "-x")].map(|(surface, option)| {
        let proxy = edge.address_of(surface).replace("0.0.0.0", "127.0.0.1");
        let got = curl(&[&["--fail", option, &proxy, url], user]);
        got.status.success().then_some(got.stdout)
    })
}

fn only_with_the_password(listen: &[&str]) {
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&[]);
    let file = credentials(&world, "me:a secret\n");
    let edge = world.edge(&hub, &[listen, &["--proxy-credentials", &file]].concat());
    let url = server.url("100");
    let page = Some(content(100));
    assert_eq!(fetch(&edge, &url, &["-U", "me:a secret"]), [page.clone(), page]);
    for user in [&[][..], &["-U", "me:secret"], &["-U", "you:a secret"]] {
        assert_eq!(fetch(&edge, &url, user), [None, None], "{user:?}");
    }
    let log = edge.log();
    assert!(!log.contains("secret") && !log.contains("no password is asked for"), "{log}");
}

#[test]
fn other_hosts_use_the_proxies_with_the_password_alone() {
    only_with_the_password(&EVERYWHERE);
}

#[test]
fn proxies_on_loopback_ask_for_a_password_that_is_given() {
    only_with_the_password(&LOOPBACK);
}

#[test]
fn an_edge_refuses_to_offer_proxies_to_other_hosts_without_a_password() {
    let world = World::new();
    let hub = world.hub(&[]);
    let config = world.file("edge.toml", b"socks = \"[::]:0\"\n");
    let edge = ["edge", "--key", world.edge_key(), "--join", hub.join_string(), "--auto"];
    for (more, flag) in [
        (&EVERYWHERE[..2], "--socks"),
        (&EVERYWHERE[2..], "--http"),
        (&["--config", &config], "--socks"),
    ] {
        let refused = world.run(&[&edge[..], more].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert_eq!(stdout(&refused), "");
        let error = stderr(&refused);
        assert!(error.contains(&format!("{flag}: other hosts can use a proxy at ")), "{error}");
        assert!(error.contains("allowed: --proxy-credentials FILE"), "{error}");
    }
}

#[test]
fn a_password_that_others_can_read_is_not_used() {
    let world = World::new();
    let hub = world.hub(&[]);
    let file = credentials(&world, "me:a secret\n");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let edge = ["edge", "--key", world.edge_key(), "--join", hub.join_string(), "--auto"];
    let more = ["--proxy-credentials", &file, "--control", &world.path("edge.sock")];
    let refused = world.run(&[&edge, &EVERYWHERE[..], &more].concat());
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    let error = stderr(&refused);
    assert!(error.contains(&file) && error.contains("allowed: `chmod 600`"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}
