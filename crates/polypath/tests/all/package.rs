//! The Debian package in a bare root, from its installation to its purge.

mod root;
mod unit;

/// Minutes: a root is made of packages that are fetched.
mod experiments {
    use super::root::Root;
    use super::unit::Unit;
    use crate::http::{Server, content};
    use crate::namespace::Namespace;
    use crate::process::Process;

    const TRANSFER: usize = 3_000_000;

    fn start(root: &Root, network: &Namespace, unit: &str, instance: &str) -> Process {
        let unit = Unit::read(root, unit, instance);
        let manager = root.notify_socket();
        let started = Process::spawn(unit.command(root, network));
        let mut said = [0; 16];
        let length = manager.recv(&mut said).unwrap();
        assert_eq!(&said[..length], b"READY=1", "what a unit of Type=notify is waited for");
        started
    }

    fn start_hub(root: &Root, network: &Namespace) -> (Process, String) {
        let hub = start(root, network, "polypath-hub.service", "");
        let join = hub.line();
        assert!(join.starts_with("polypath:1/127.0.0.1:4433/"), "{join}");
        (hub, join)
    }

    fn start_edge(root: &Root, network: &Namespace) -> Process {
        let edge = start(root, network, "polypath-edge@.service", "edge");
        assert_eq!(edge.line(), "socks5 127.0.0.1:1080");
        assert_eq!(edge.line(), "joined");
        edge
    }

    fn transfer(network: &Namespace) {
        let server = network.within(Server::start);
        let url = server.url(&TRANSFER.to_string());
        let args = ["-q", "-sS", "--max-time", "60", "--socks5-hostname", "127.0.0.1:1080", &url];
        let got = network.command("curl", &args).output().unwrap();
        assert!(got.stdout == content(TRANSFER), "{}", crate::process::stderr(&got));
    }

    #[test]
    fn a_package_is_installed_carries_data_is_upgraded_and_leaves_nothing_when_it_is_purged() {
        let test =
            "a_package_is_installed_carries_data_is_upgraded_and_leaves_nothing_when_it_is_purged";
        let Some(root) = Root::new(test) else { return };
        let Some(network) = Namespace::new(test) else { return };
        network.ip("link set lo up");
        let [first, second] = ["1", "2"].map(|revision| root.package(revision));
        let before = root.files();

        root.run(&["dpkg", "--install", &first]);
        assert!(root.run(&["polypath", "--version"]).starts_with("polypath "));
        assert_eq!(root.run(&["stat", "-c", "%U %a", "/var/lib/polypath"]), "polypath 750\n");

        let key = ["polypath", "key", "--out", "/var/lib/polypath/edge.key"];
        let key = root.run(&[&["runuser", "-u", "polypath", "--"][..], &key].concat());
        root.append("etc/polypath/allow", &key);
        let listen = "listen = [\"127.0.0.1:4433\"]\ntarget = [\"127.0.0.1:*\"]\n";
        root.append("etc/polypath/hub.toml", listen);
        let (hub, join) = start_hub(&root, &network);
        let paths = "path = [\"a=127.0.0.1\", \"b=127.0.0.1\"]";
        root.replace("etc/polypath/edge.toml", "auto = true", paths);
        root.append("etc/polypath/edge.toml", &format!("join = \"{join}\"\n"));
        let edge = start_edge(&root, &network);
        transfer(&network);
        // Without --control: the folders of services are looked into.
        let status = root.run(&["polypath", "status", "--json"]);
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        assert_eq!(status["role"], "edge");
        assert_eq!(status["bonds"][0]["paths"].as_array().unwrap().len(), 2, "{status}");

        root.run(&["dpkg", "--install", &second]);
        let version = root.run(&["dpkg-query", "--show", "--showformat=${Version}", "polypath"]);
        assert!(version.ends_with("-2"), "{version}");
        assert!(root.read("etc/polypath/edge.toml").contains(&join), "what was changed stays");
        for process in [&edge, &hub] {
            assert_eq!(process.stop().code(), Some(0));
        }
        let (hub, same) = start_hub(&root, &network);
        assert_eq!(same, join, "the hub has kept its key");
        let edge = start_edge(&root, &network);
        transfer(&network);
        for process in [&edge, &hub] {
            assert_eq!(process.stop().code(), Some(0));
        }

        root.run(&["dpkg", "--remove", "polypath"]);
        assert!(root.read("etc/polypath/edge.toml").contains(&join), "until it is purged");
        assert!(!root.files().contains("usr/bin/polypath"));
        root.run(&["dpkg", "--purge", "polypath"]);
        let left: Vec<_> = root.files().difference(&before).cloned().collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(!root.read("etc/passwd").contains("polypath"));
        assert!(!root.read("etc/group").contains("polypath"));
    }
}
