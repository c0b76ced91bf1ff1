//! Paths that have a quota.

use std::fs;

use serde_json::Value;

use super::http::{Server, content, sha256};
use super::world::{Node, World, curl, stderr, stdout};

const UPLOAD: usize = 4_000_000;
/// What the quota of path a is here.
const QUOTA: u64 = 1_000_000;
/// What a backup may carry beside an upload of [`UPLOAD`]: its handshake, probes for a larger MTU
/// and answers, as in `backup`. A path that is none carries about half of it.
const BESIDE: u64 = UPLOAD as u64 / 20;

struct Site {
    world: World,
    hub: Node,
    server: Server,
    file: String,
}

impl Site {
    fn new() -> Self {
        let world = World::new();
        let (hub, file) = (world.hub(&[]), world.file("up.bin", &content(UPLOAD)));
        Self { world, hub, server: Server::start(), file }
    }

    /// An edge over two paths; the first one has a quota.
    fn edge(&self, quota: &str) -> Node {
        let first = format!("a=127.0.0.1,quota={quota}");
        let paths = [first.as_str(), "b=127.0.0.1"];
        let more = ["--socks", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
        let edge = self.world.edge_over(&self.hub, &paths, &more);
        while self.paths(&edge).len() < 2 {}
        edge
    }

    fn paths(&self, edge: &Node) -> Vec<Value> {
        let status = self.world.status(edge.control());
        status["bonds"][0]["paths"].as_array().cloned().unwrap_or_default()
    }

    fn is_backup(&self, edge: &Node) -> bool {
        let paths = self.paths(edge);
        let first = paths.iter().find(|path| path["name"] == "a");
        first.expect("it has joined")["backup"].as_bool().unwrap()
    }

    /// What the status says of the quota.
    fn quota(&self, edge: &Node) -> Value {
        let status = self.world.status(edge.control());
        let quotas = status["quotas"].as_array().unwrap();
        assert_eq!((quotas.len(), &quotas[0]["path"]), (1, &"a".into()));
        quotas[0].clone()
    }

    fn used(&self, edge: &Node) -> u64 {
        self.quota(edge)["used_bytes"].as_u64().unwrap()
    }

    fn upload(&self, edge: &Node) {
        let socks = edge.address_of("socks5");
        let url = self.server.url("put");
        let put = curl(&[&["--socks5-hostname", &socks, "-T", &self.file, &url]]);
        assert!(put.status.success(), "{}", stderr(&put));
        assert_eq!(stdout(&put), sha256(&content(UPLOAD)));
    }

    /// The file that keeps the counts, which is beside the key.
    fn kept(&self) -> String {
        format!("{}.quotas", self.world.edge_key())
    }

    /// Of an edge that has used the quota of path a up, and goes on with the other one.
    fn assert_spares(&self, edge: &Node) {
        assert!(self.is_backup(edge));
        let before = self.used(edge);
        self.upload(edge);
        let more = self.used(edge) - before;
        assert!(more < BESIDE, "{more} of {UPLOAD}");
    }
}

#[test]
fn a_path_that_has_used_its_quota_up_is_a_backup_also_after_a_restart() {
    let site = Site::new();
    let edge = site.edge("1MB/month");
    assert!(!site.is_backup(&edge));
    // Both paths are alike, so that one upload is enough, or a few.
    while !site.quota(&edge)["used_up"].as_bool().unwrap() {
        site.upload(&edge);
    }
    assert!(site.used(&edge) >= QUOTA);
    edge.log_line("the quota is used up: the path is a backup until then path=\"a\"");
    while !site.is_backup(&edge) {}
    site.assert_spares(&edge);
    let table = site.world.run(&["status", "--control", edge.control()]);
    assert!(stdout(&table).contains("\nquota of  period  used MB  of MB"), "{}", stdout(&table));

    let used = site.used(&edge);
    assert_eq!(edge.stop().code(), Some(0));
    let edge = site.edge("1MB/month");
    assert!(site.used(&edge) >= used, "what was counted at the end is kept");
    site.assert_spares(&edge);

    // Killed, it has what was written before.
    let kept = fs::read_to_string(site.kept()).unwrap();
    edge.signal("KILL");
    edge.wait();
    let edge = site.edge("1MB/month");
    let before: u64 = kept.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(site.used(&edge) >= before && before >= QUOTA);
    site.assert_spares(&edge);

    // With a larger quota it is a regular path again.
    assert_eq!(edge.stop().code(), Some(0));
    let edge = site.edge("1GB/month");
    assert!(!site.is_backup(&edge));
    assert!(site.used(&edge) >= before);
}

#[test]
fn a_new_period_begins_at_zero() {
    let site = Site::new();
    drop(site.edge("1MB/month"));
    let kept = fs::read_to_string(site.kept()).unwrap();
    let (heading, _) = kept.split_once('\n').unwrap();
    fs::write(site.kept(), format!("{heading}\na 2026-01-01 5000000\n")).unwrap();
    let edge = site.edge("1MB/month");
    assert!(!site.is_backup(&edge));
    let used = site.used(&edge);
    assert!(used < QUOTA, "{used}");
}

#[test]
fn a_damaged_count_is_told_with_file_and_line_and_no_zero() {
    let site = Site::new();
    drop(site.edge("1MB/month"));
    let kept = fs::read_to_string(site.kept()).unwrap();
    let damaged = kept.trim_end();
    fs::write(site.kept(), damaged).unwrap();
    let key = ["--key", site.world.edge_key(), "--join", site.hub.join_string()];
    let path = ["--path", "a=127.0.0.1,quota=1MB/month", "--control", &site.world.path("c.sock")];
    let ended = site.world.run(&[&["edge"], key.as_slice(), &path].concat());
    assert_eq!(ended.status.code(), Some(1));
    let told = stderr(&ended);
    let place = format!("{}, line 2: \"a ", site.kept());
    assert!(told.contains(&place) && told.contains("allowed: NAME DATE BYTES"), "{told}");
    assert_eq!(fs::read_to_string(site.kept()).unwrap(), damaged, "it is left as it is");
}

#[test]
fn metrics_say_what_is_used() {
    let site = Site::new();
    let edge = site.edge("1GB/month,reset=31");
    site.upload(&edge);
    let line = edge.log_line(": metrics address=");
    let address = line.rsplit_once("address=").unwrap().1.trim();
    let before = site.used(&edge);
    let scraped = curl(&[&["--fail", &format!("http://{address}/metrics")]]);
    let after = site.used(&edge);
    let text = stdout(&scraped);
    let value = |name: &str| {
        let series = format!("{name}{{path=\"a\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&series)?.parse::<u64>().ok())
    };
    assert_eq!(value("polypath_path_quota_bytes"), Some(1_000_000_000), "{text}");
    let used = value("polypath_path_quota_used_bytes").expect(text);
    assert!((before..=after).contains(&used) && used > 0, "{before} {used} {after}");
}
