//! Programs that people use, on a host of the LAN that knows nothing but a default route.

use std::net::{IpAddr, UdpSocket};
use std::process::{Command, Output};
use std::thread;

use super::super::http::{Server, content};
use super::super::name_server;
use super::super::process::{are_there, stderr};
use super::name_answer::answer;
use super::sites::{SERVER, Sites};

/// The server in each family, and how programs are told to use that.
const FAMILIES: [(IpAddr, &str); 2] = [(SERVER.0, "-4"), (SERVER.1, "-6")];
/// A page that takes more than what is under way at once.
const PAGE: usize = 3_000_000;
/// Of no host anywhere: what is sent there arrives only where the edge leads it elsewhere.
const NAME_SERVER: &str = "192.0.2.53";

/// With curl, started by this command.
fn load(runner: &[&str], family: &str, url: &str) -> Output {
    let mut curl = Command::new(runner[0]);
    curl.args(&runner[1..]).args(["curl", "-q", "-g", "-sS", "--max-time", "120", family, url]);
    curl.output().unwrap()
}

fn is_whole(got: &Output) {
    assert!(got.stdout == content(PAGE), "{} bytes: {}", got.stdout.len(), stderr(got));
}

#[test]
fn curl_loads_a_page_of_either_family() {
    let Some(sites) = Sites::new("curl_loads_a_page_of_either_family") else { return };
    let _gateway = sites.start(&[], &[]);
    for (address, family) in FAMILIES {
        let server = sites.server.within(|| Server::start_at(address, ""));
        is_whole(&load(&sites.lan.runner(), family, &server.url(&PAGE.to_string())));
    }
}

/// By `dig`, and by the resolver of the C library, which asks for both families at once.
#[test]
fn names_are_found_wherever_a_host_looks_for_them() {
    let test = "names_are_found_wherever_a_host_looks_for_them";
    if !are_there(test, &["dig"]) {
        return;
    }
    let Some(sites) = Sites::new(test) else { return };
    let _gateway = sites.start(&[], &["--dns", &SERVER.0.to_string()]);
    let names = sites.server.within(|| UdpSocket::bind((SERVER.0, 53)).unwrap());
    thread::spawn(move || {
        loop {
            answer(&names, SERVER);
        }
    });
    for (kind, address) in [("A", SERVER.0), ("AAAA", SERVER.1)] {
        let asked = format!("-r +short +tries=1 @{NAME_SERVER} www.example.org {kind}");
        assert_eq!(sites.lan.output("dig", &asked), format!("{address}\n"));
    }

    let settings = name_server::settings(&sites.world, NAME_SERVER);
    let resolving = name_server::runner(&settings);
    let runner = [&sites.lan.runner()[..], &resolving].concat();
    for (address, family) in FAMILIES {
        let server = sites.server.within(|| Server::start_at(address, ""));
        let port = server.address().port();
        let by_name = format!("http://www.example.org:{port}/{PAGE}");
        is_whole(&load(&runner, family, &by_name));
    }
}

/// Echo requests of packets of 1,500 bytes that nobody may fragment, and a download, over paths
/// that swallow large packets without a word.
#[test]
fn ping_and_curl_know_nothing_of_small_paths() {
    let test = "ping_and_curl_know_nothing_of_small_paths";
    if !are_there(test, &["ping"]) {
        return;
    }
    let Some(sites) = Sites::new(test) else { return };
    sites.hub.ip("link set p1 mtu 1280");
    sites.edge.ip("link set p2 mtu 1280");
    let _gateway = sites.start(&[], &[]);
    for ((address, family), size) in FAMILIES.into_iter().zip([1_472, 1_452]) {
        let asked = format!("-n -c 3 -i 0.2 -W 30 -M do -s {size} {address}");
        let told = sites.lan.output("ping", &asked);
        assert!(told.contains("3 packets transmitted, 3 received, 0% packet loss"), "{told}");
        let server = sites.server.within(|| Server::start_at(address, ""));
        is_whole(&load(&sites.lan.runner(), family, &server.url(&PAGE.to_string())));
    }
}

/// What a host of the LAN finds on its way.
fn hops(sites: &Sites, arguments: &str, to: IpAddr) -> Vec<String> {
    let told = sites.lan.output("traceroute", &format!("-n {arguments} {to}"));
    // Behind a line that repeats what was asked.
    let lines = told.lines().skip(1).map(|line| line.split_whitespace().nth(1));
    lines.map(|hop| hop.expect(&told).to_owned()).collect()
}

/// Each takes one from the time to live, as routers do. Where the edge accepts connections itself,
/// it answers in place of the target.
#[test]
fn traceroute_finds_the_edge_the_hub_and_the_server() {
    let test = "traceroute_finds_the_edge_the_hub_and_the_server";
    if !are_there(test, &["traceroute"]) {
        return;
    }
    let Some(sites) = Sites::new(test) else { return };
    // Otherwise they tell a host but once a second.
    for host in [&sites.edge, &sites.hub, &sites.server] {
        host.set("net/ipv4/icmp_ratelimit", "0");
        host.set("net/ipv6/icmp/ratelimit", "0");
    }
    let [edge, hub] = [["192.168.5.1", "fd05::1"], ["10.77.0.1", "fd77::1"]];
    for tcp in ["split", "tunnel"] {
        let gateway = sites.start(&[], &["--tcp", tcp]);
        for (family, (to, _)) in FAMILIES.into_iter().enumerate() {
            let way = [edge[family].to_owned(), hub[family].to_owned(), to.to_string()];
            for datagrams in ["-w 30", "-w 30 -I"] {
                assert_eq!(hops(&sites, datagrams, to), way, "{tcp} {datagrams}");
            }
            let seen = if tcp == "split" { &way[2..] } else { &way };
            assert_eq!(hops(&sites, "-w 30 -T -p 80", to), seen, "{tcp}");
        }
        gateway.stop();
    }
}
