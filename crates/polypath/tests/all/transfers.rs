//! What applications send over the bond, by proxies, forwarded ports and `polypath send`.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use super::http::{self, Server, content, sha256};
use super::world::{Node, World, curl, stderr, stdout};

#[test]
fn downloads_and_uploads_arrive_whole_through_both_proxies() {
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = world.edge(&hub, &["--socks", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    let (socks, http) = (edge.address_of("socks5"), edge.address_of("http"));
    let file = world.file("up.bin", &content(2_000_000));
    for proxy in [["--socks5-hostname", &socks], ["-x", &http]] {
        let got = curl(&[&proxy, [&*server.url("3000000"), "--no-progress-meter"].as_slice()]);
        assert!(got.status.success(), "{proxy:?}: {}", stderr(&got));
        assert_eq!(got.stdout.len(), 3_000_000, "{proxy:?}");
        assert_eq!(sha256(&got.stdout), sha256(&content(3_000_000)), "{proxy:?}");

        let put = curl(&[&proxy, ["-T", &file, &server.url("put")].as_slice()]);
        assert!(put.status.success(), "{proxy:?}: {}", stderr(&put));
        assert_eq!(stdout(&put), sha256(&content(2_000_000)), "{proxy:?}");
    }
}

#[test]
fn a_forwarded_port_leads_to_its_target() {
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&[]);
    let forward = format!("tcp:127.0.0.1:0={}", server.address());
    let edge = world.edge(&hub, &["--forward", &forward]);
    let local = edge.forwarded();
    let got = curl(&[&[&format!("http://{local}/100000")]]);
    assert_eq!(sha256(&got.stdout), sha256(&content(100_000)), "{}", stderr(&got));
}

#[test]
fn twenty_downloads_at_once_arrive_whole() {
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = world.edge(&hub, &["--socks", "127.0.0.1:0"]);
    let socks = edge.address_of("socks5");
    let url = server.url("1000000");
    let expected = sha256(&content(1_000_000));
    std::thread::scope(|scope| {
        let fetch = || curl(&[&["--socks5-hostname", &socks, &url]]);
        let all: Vec<_> = (0..20).map(|_| scope.spawn(fetch)).collect();
        for got in all {
            let got = got.join().unwrap();
            assert_eq!(sha256(&got.stdout), expected, "{}", stderr(&got));
        }
    });
}

/// The server says no length: only the end of the connection says that all has come. Whoever is
/// stopped, what has come so far must not pass for all.
#[test]
fn a_download_that_was_broken_off_is_not_taken_for_whole() {
    let server = Server::start();
    let world = World::new();
    for stop_hub in [true, false] {
        let hub = world.hub(&[]);
        let edge =
            world.edge(&hub, &["--forward", &format!("tcp:127.0.0.1:0={}", server.address())]);
        let mut client = TcpStream::connect(edge.forwarded()).unwrap();
        client.write_all(b"GET /endless HTTP/1.1\r\n\r\n").unwrap();
        client.read_exact(&mut vec![0; http::ENDLESS_BYTES]).unwrap();
        let stopped = if stop_hub { hub.stop() } else { edge.stop() };
        assert_eq!(stopped.code(), Some(0));
        let end = client.read(&mut [0]).map_err(|error| error.kind());
        assert_eq!(end, Err(ErrorKind::ConnectionReset), "stop_hub: {stop_hub}");
    }
}

#[test]
fn a_file_reaches_the_inbox_once() {
    let world = World::new();
    let hub = world.hub(&["--inbox", &world.path("inbox")]);
    let sent = content(5_000_000);
    let file = world.file("x.bin", &sent);
    let first = world.send(&hub, &[&file, "--json"]);
    assert!(first.status.success(), "{}", stderr(&first));
    let report: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(report["bytes"], 5_000_000);
    assert_eq!(report["sha256"], sha256(&sent));
    assert!(report["mbit_s"].as_f64().unwrap() > 0.0);
    let on_paths = report["paths"].as_array().unwrap().iter();
    let carried: u64 = on_paths.map(|path| path["bytes_sent"].as_u64().unwrap()).sum();
    assert!(carried > 5_000_000, "{report}");
    assert!(fs::read(world.path("inbox/x.bin")).unwrap() == sent);

    // Who does not know whether it was stored asks again, and nothing is sent twice.
    let again = world.send(&hub, &[&file]);
    assert!(again.status.success(), "{}", stderr(&again));
    assert!(stdout(&again).contains("5000000 of which the hub had before"), "{}", stdout(&again));

    let other = world.file("y.bin", b"another one");
    let taken = world.send(&hub, &[&other, "--name", "x.bin"]);
    assert_eq!(taken.status.code(), Some(1));
    let message = stderr(&taken);
    assert!(message.contains("error: the hub did not take x.bin: the name is taken"), "{message}");
    assert!(message.contains("is there already"), "{message}");
    let shown = fs::read_dir(world.path("inbox")).unwrap().map(|entry| entry.unwrap().file_name());
    let shown: Vec<_> = shown.filter(|name| name != ".polypath").collect();
    assert_eq!(shown, ["x.bin"], "nothing is left behind");
}

#[test]
fn a_hub_without_inbox_takes_no_files() {
    let world = World::new();
    let hub = world.hub(&[]);
    let refused = world.send(&hub, &[&world.file("x", b"x")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("takes no files"), "{}", stderr(&refused));
}

#[test]
fn status_shows_both_ends_and_both_paths() {
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = world.edge_over(&hub, &["a=127.0.0.1", "b=127.0.0.2"], &[]);
    let hubs = hub.join_string().split('/').nth(1).unwrap();
    for (role, control, column, addresses) in [
        ("hub", hub.control(), "edge at", ["127.0.0.1:", "127.0.0.2:"]),
        ("edge", edge.control(), "hub at", [hubs, hubs]),
    ] {
        // The second path may join a moment after the first.
        let status = loop {
            let asked = world.run(&["status", "--json", "--control", control]);
            assert!(asked.status.success(), "{}", stderr(&asked));
            let status: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
            if status["bonds"][0]["paths"].as_array().is_some_and(|paths| paths.len() == 2) {
                break status;
            }
        };
        assert_eq!(status["role"], role);
        let paths = status["bonds"][0]["paths"].as_array().unwrap();
        let names: Vec<_> = paths.iter().map(|path| path["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(paths.iter().all(|path| path["state"] == "active"), "{status}");
        let table = world.run(&["status", "--control", control]);
        assert!(stdout(&table).contains(column), "{}", stdout(&table));
        for (path, address) in paths.iter().zip(addresses) {
            let remote = path["remote"].as_str().unwrap();
            assert!(remote.starts_with(address), "{remote} is not {address}");
            assert!(stdout(&table).contains(remote), "{}", stdout(&table));
        }
    }
    let nobody = world.run(&["status", "--control", &world.path("nobody")]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(stderr(&nobody).contains("no hub or edge is running"), "{}", stderr(&nobody));
}

/// The rates are those of now; the estimate of what the paths can carry stays.
#[test]
fn status_shows_what_passes_now_and_nothing_when_that_has_ended() {
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = world.edge(&hub, &["--forward", &format!("tcp:127.0.0.1:0={}", server.address())]);
    let sum = |control: &str, rate: &str| -> f64 {
        let status = world.status(control);
        let paths = status["bonds"][0]["paths"].as_array().unwrap().iter();
        paths.map(|path| path[rate].as_f64().unwrap()).sum()
    };
    let passes = |node: &Node, rate| sum(node.control(), rate) > 0.0;
    let download = || {
        let mut client = TcpStream::connect(edge.forwarded()).unwrap();
        client.write_all(b"GET /endless HTTP/1.1\r\n\r\n").unwrap();
        client.read_exact(&mut vec![0; http::ENDLESS_BYTES]).unwrap();
        client
    };
    // On a busy host more than a second may have passed since.
    let mut held = vec![download()];
    while !(passes(&hub, "sent_mbit_s") && passes(&edge, "received_mbit_s")) {
        held.push(download());
    }
    for rate in ["sent_mbit_s", "received_mbit_s"] {
        while passes(&hub, rate) || passes(&edge, rate) {}
    }
    assert!(passes(&hub, "mbit_s"));
}

#[test]
fn signals_end_both_in_good_order() {
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = world.edge(&hub, &[]);
    let (hub_control, edge_control) = (hub.control().to_owned(), edge.control().to_owned());
    assert_eq!(edge.stop().code(), Some(0));
    assert_eq!(hub.stop().code(), Some(0));
    for control in [hub_control, edge_control] {
        assert!(!fs::exists(&control).unwrap(), "{control} is left behind");
    }
}

#[test]
fn who_may_not_join_is_told_in_one_line() {
    let world = World::new();
    let hub = world.hub(&[]);
    let stranger = world.new_key("stranger").0;
    let other = world.new_key("other").1;
    let impostor = hub.join_string().rsplit_once('/').unwrap().0.to_owned() + "/" + &other;
    for (key, join, expected) in [
        (world.edge_key(), impostor.as_str(), "but the hub's is"),
        (stranger.as_str(), hub.join_string(), "this key may not use the hub"),
    ] {
        let control = world.path("refused.sock");
        let path = ["--path", "a=127.0.0.1", "--path", "b=127.0.0.1"];
        let edge = ["edge", "--key", key, "--join", join, "--control", &control];
        let refused = world.run(&[edge.as_slice(), &path].concat());
        assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
        let errors: Vec<_> = stderr(&refused).lines().filter(|l| l.starts_with("error:")).collect();
        assert_eq!(errors.len(), 1, "{}", stderr(&refused));
        assert!(errors[0].contains(expected), "{}", errors[0]);
        assert!(!stdout(&refused).contains("joined"));
    }
}

#[test]
fn what_is_in_use_or_missing_is_named() {
    let world = World::new();
    let hub = world.hub(&[]);
    let taken = hub.join_string().split('/').nth(1).unwrap();
    let failed = |args: &[&str], expected: &str| {
        let output = world.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stderr(&output));
        let last = stderr(&output).lines().last().unwrap_or_default().to_owned();
        assert!(last.starts_with("error: ") && last.contains(expected), "{last}");
    };
    let (key, allow) = (world.path("hub.key"), world.path("allow"));
    let own = world.path("own.sock");
    let hub_with = |control, listen| {
        ["hub", "--key", &key, "--allow", &allow, "--control", control, "--listen", listen]
    };
    failed(&hub_with(&own, taken), &format!("cannot listen on {taken}: UDP port"));
    failed(&hub_with(hub.control(), "127.0.0.1:0"), "another hub or edge answers");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let known = ["--key", world.edge_key(), "--join", hub.join_string(), "--path"];
    let edge = ["a=127.0.0.1", "--socks", &taken, "--control", &own];
    failed(&[&["edge"], &known[..], &edge].concat(), "cannot listen on 127.0.0.1");
    // An edge waits for these.
    let file = world.file("report.txt", b"all is well");
    for (path, expected) in [
        ("a=192.0.2.77", "no interface has the address 192.0.2.77"),
        ("a=nosuchdevice", "\"nosuchdevice\""),
    ] {
        failed(&[&["send", &file], &known[..], &[path]].concat(), expected);
    }
}

#[test]
fn what_the_user_wrote_wrong_ends_with_2() {
    let world = World::new();
    let config = world.file("bad.toml", b"max_memory = \"1 kB\"\n");
    for (args, expected) in [
        (["hub", "--config", &config, "--key", "k"].as_slice(), "bad.toml:1: max_memory: "),
        (&["edge", "--auto"], "--join: missing"),
    ] {
        let output = world.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

/// 16 Mbit/s are 2 MB/s. 1 MB less the burst of 40 kB takes 0.48 s in either direction: the server
/// answers an upload when it has read all of it.
#[test]
fn a_limit_on_the_rate_holds_in_both_directions() {
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&["--max-bandwidth", "16 Mbit/s", "--max-memory", "1 MB"]);
    let edge = world.edge(&hub, &["--socks", "127.0.0.1:0"]);
    let socks = edge.address_of("socks5");
    let time = |args: &[&str]| {
        let got = curl(&[&["--socks5-hostname", &socks, "-o", "/dev/null"], args]);
        assert!(got.status.success(), "{}", stderr(&got));
        stdout(&got).parse::<f64>().unwrap()
    };
    let total = ["-w", "%{time_total}"];
    let down = time(&[&total[..], &[&server.url("1000000")]].concat());
    assert!((0.48..2.0).contains(&down), "{down}");
    let file = world.file("up.bin", &content(1_000_000));
    let up = time(&[&total[..], &["-T", &file, &server.url("put")]].concat());
    assert!((0.48..2.0).contains(&up), "{up}");
}
