//! The Debian package in a bare root, from its installation to its purge.

mod gateway;
mod root;
mod services;
mod unit;

/// Minutes: a root is made of packages that are fetched.
mod experiments {
    use super::gateway;
    use super::root::Root;
    use super::services::Service;
    use crate::gateway::sites::Sites;
    use crate::http::{Server, content};
    use crate::namespace::Namespace;

    const TRANSFER: usize = 3_000_000;

    fn transfer(network: &Namespace) {
        let server = network.within(Server::start);
        let url = server.url(&TRANSFER.to_string());
        let args = ["-q", "-sS", "--max-time", "60", "--socks5-hostname", "127.0.0.1:1080", &url];
        let got = network.command("curl", &args).output().unwrap();
        assert!(got.stdout == content(TRANSFER), "{}", crate::process::stderr(&got));
    }

    /// From the example files, and with a key of the edge that the hub allows. Returns what runs
    /// and the join string.
    fn set_up(root: &Root, network: &Namespace) -> ([Service; 2], String) {
        let key = ["polypath", "key", "--out", "/var/lib/polypath/edge.key"];
        let key = root.run(&[&["runuser", "-u", "polypath", "--"][..], &key].concat());
        root.append("etc/polypath/allow", &key);
        let listen = "listen = [\"127.0.0.1:4433\"]\ntarget = [\"127.0.0.1:*\"]\n";
        root.append("etc/polypath/hub.toml", listen);
        let (hub, join) = Service::hub(root, network);
        assert!(join.starts_with("polypath:1/127.0.0.1:4433/"), "{join}");
        let paths = "path = [\"a=127.0.0.1\", \"b=127.0.0.1\"]";
        root.replace("etc/polypath/edge.toml", "auto = true", paths);
        root.append("etc/polypath/edge.toml", &format!("join = \"{join}\"\n"));
        ([Service::edge(root, network), hub], join)
    }

    #[test]
    fn a_package_is_installed_carries_data_is_upgraded_and_leaves_nothing_when_it_is_purged() {
        let test =
            "a_package_is_installed_carries_data_is_upgraded_and_leaves_nothing_when_it_is_purged";
        let (Some(sites), Some(network)) = (Sites::new(test), Namespace::new(test)) else { return };
        let Some(root) = Root::new(test) else { return };
        network.ip("link set lo up");
        let [first, second] = ["1", "2"].map(|revision| root.package(revision));
        let before = (root.files(), sites.settings());

        root.run(&["dpkg", "--install", &first]);
        assert!(root.run(&["polypath", "--version"]).starts_with("polypath "));
        assert_eq!(root.run(&["stat", "-c", "%U %a", "/var/lib/polypath"]), "polypath 750\n");
        let (services, join) = set_up(&root, &network);
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
        services.iter().for_each(Service::stop);
        let (hub, same) = Service::hub(&root, &network);
        assert_eq!(same, join, "the hub has kept its key");
        let edge = Service::edge(&root, &network);
        transfer(&network);
        [edge, hub].iter().for_each(Service::stop);

        gateway::carries_and_is_killed(&root, &sites);
        root.run_in(&sites.hub, &["polypath", "gateway", "clean"]);
        root.run_in(&sites.edge, &["dpkg", "--remove", "polypath"]);
        assert_eq!(sites.settings(), before.1, "of the kill switch, too");
        assert!(root.read("etc/polypath/edge.toml").contains("join"), "until it is purged");
        assert!(!root.files().contains("usr/bin/polypath"));
        root.run(&["dpkg", "--purge", "polypath"]);
        let left: Vec<_> = root.files().difference(&before.0).cloned().collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(!root.path().join("run/polypath").exists());
        assert!(!root.read("etc/passwd").contains("polypath"));
        assert!(!root.read("etc/group").contains("polypath"));
    }
}
