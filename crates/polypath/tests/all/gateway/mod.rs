//! A host, and others behind it, whose traffic passes through a gateway: the real programs in
//! network namespaces.

mod browser;
mod conversations;
pub(crate) mod icmp;
mod marks;
mod mptcp;
mod name_answer;
mod names;
mod origins;
mod programs;
pub(crate) mod sites;
mod ssh;
mod web_socket;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use super::world::{stderr, stdout};
use sites::{LAN, SERVER, Sites};

/// Against hanging only.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(30));

/// A conversation says nothing for longer than the two seconds after which a flow is taken for
/// quiet.
#[expect(clippy::disallowed_methods, reason = "that nothing happens is what is tested")]
fn idle() {
    thread::sleep(Duration::from_millis(2_500));
}

/// Answers a datagram with the same; returns where it came from.
fn echo(socket: &UdpSocket) -> SocketAddr {
    let mut buffer = [0; 65_535];
    socket.set_read_timeout(PATIENCE).unwrap();
    let (length, from) = socket.recv_from(&mut buffer).unwrap();
    socket.send_to(&buffer[..length], from).unwrap();
    from
}

/// A datagram of so many bytes, and its answer; returns where it seems to come from.
pub(crate) fn ask(asking: &UdpSocket, answering: &UdpSocket, size: usize) -> SocketAddr {
    let payload = vec![size as u8; size];
    asking.set_read_timeout(PATIENCE).unwrap();
    thread::scope(|scope| {
        let answered = scope.spawn(|| echo(answering));
        asking.send_to(&payload, answering.local_addr().unwrap()).unwrap();
        let mut answer = [0; 65_535];
        let length = asking.recv(&mut answer).unwrap();
        assert!(answer[..length] == payload, "{size} bytes from {asking:?}");
        answered.join().unwrap()
    })
}

/// The client says something, ends its half, and hears the same from the server.
pub(crate) fn exchange(mut client: TcpStream, listener: &TcpListener) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut server, _) = listener.accept().unwrap();
            let mut heard = Vec::new();
            server.read_to_end(&mut heard).unwrap();
            server.write_all(&heard).unwrap();
        });
        client.set_read_timeout(PATIENCE).unwrap();
        client.write_all(&[7; 100_000]).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, vec![7; 100_000]);
    });
}

/// Nothing is set there but an address and a default route.
#[test]
fn whatever_a_lan_and_the_host_send_passes_through_the_bond() {
    let Some(sites) = Sites::new("whatever_a_lan_and_the_host_send_passes_through_the_bond") else {
        return;
    };
    let gateway = sites.start(&[], &[]);
    for (server, from) in [(SERVER.0, LAN.0), (SERVER.1, LAN.1)] {
        for (client, name) in [(&sites.lan, "lan"), (&sites.edge, "edge")] {
            let listener = sites.server.within(|| TcpListener::bind((server, 0)).unwrap());
            let address = listener.local_addr().unwrap();
            exchange(client.within(|| TcpStream::connect(address).unwrap()), &listener);

            let answering = sites.server.within(|| UdpSocket::bind((server, 0)).unwrap());
            let local: IpAddr = if name == "lan" { from } else { unspecified(server) };
            let asking = client.within(|| UdpSocket::bind((local, 0)).unwrap());
            // An IPv6 packet of 1,500 bytes, and one that is sent as fragments.
            for size in [160, 1_452, 20_000] {
                ask(&asking, &answering, size);
            }
        }
    }
    sites.lan.within(|| icmp::ping(SERVER.0));
    sites.edge.within(|| icmp::ping(SERVER.0));
    let status = gateway.status();
    assert!(status["gateway"]["sent"].as_u64() > Some(8), "{status}");
    assert_eq!(status["gateway"]["away"], 0, "{status}");
    assert!(sites.only_the_bond_left(), "{}", sites.left_beside());
}

fn unspecified(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    }
}

#[test]
fn a_connection_that_the_target_refuses_is_reset() {
    let Some(sites) = Sites::new("a_connection_that_the_target_refuses_is_reset") else { return };
    let _gateway = sites.start(&[], &[]);
    let closed = sites.server.within(|| TcpListener::bind((SERVER.0, 0)).unwrap());
    let address = closed.local_addr().unwrap();
    drop(closed);
    let mut client = sites.lan.within(|| TcpStream::connect(address).unwrap());
    client.set_read_timeout(PATIENCE).unwrap();
    let error = client.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn tcp_passes_as_packets_where_that_is_asked_for() {
    let Some(sites) = Sites::new("tcp_passes_as_packets_where_that_is_asked_for") else { return };
    let gateway = sites.start(&[], &["--tcp", "tunnel"]);
    let listener = sites.server.within(|| TcpListener::bind((SERVER.0, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    exchange(sites.lan.within(|| TcpStream::connect(address).unwrap()), &listener);
    // A hundred thousand bytes each way, in segments of at most 1460.
    assert!(gateway.status()["gateway"]["sent"].as_u64() > Some(100_000 / 1_460));
}

#[test]
fn a_port_of_the_hub_leads_to_a_host_behind_an_edge() {
    let Some(sites) = Sites::new("a_port_of_the_hub_leads_to_a_host_behind_an_edge") else {
        return;
    };
    // The edge's address is in the file of leases from its first session on.
    let first = sites.start(&[], &[]);
    let own = first.own_address();
    drop(first);
    let publish = format!("tcp:8080={own}:80");
    let _gateway = sites.start(&["--publish", &publish], &[]);
    let listener = sites.edge.within(|| TcpListener::bind((own, 80)).unwrap());
    let client = sites.server.within(|| TcpStream::connect((sites::HUB, 8_080)).unwrap());
    exchange(client, &listener);
}

/// On their way to the hub by one path, and from it by the other; nobody tells the sender.
#[test]
fn packets_of_any_size_pass_paths_that_swallow_large_ones() {
    let test = "packets_of_any_size_pass_paths_that_swallow_large_ones";
    let Some(sites) = Sites::new(test) else { return };
    sites.hub.ip("link set p1 mtu 1280");
    sites.edge.ip("link set p2 mtu 1280");
    let _gateway = sites.start(&[], &[]);
    let answering = sites.server.within(|| UdpSocket::bind((SERVER.0, 0)).unwrap());
    let asking = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    for size in [160, 1_472, 20_000] {
        ask(&asking, &answering, size);
    }
    let listener = sites.server.within(|| TcpListener::bind((SERVER.0, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    exchange(sites.lan.within(|| TcpStream::connect(address).unwrap()), &listener);
}

/// The first path in the edge's list.
#[test]
fn a_path_that_is_dead_from_the_start_holds_nobody_up() {
    let test = "a_path_that_is_dead_from_the_start_holds_nobody_up";
    let Some(sites) = Sites::new(test) else { return };
    sites.hub.run("nft", &swallowing("iifname \"p1\""));
    let gateway = sites.start(&[], &[]);
    let listener = sites.server.within(|| TcpListener::bind((SERVER.0, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    exchange(sites.lan.within(|| TcpStream::connect(address).unwrap()), &listener);
    let answering = sites.server.within(|| UdpSocket::bind((SERVER.0, 0)).unwrap());
    let asking = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    ask(&asking, &answering, 160);
    let status = gateway.status();
    let paths = status["bonds"][0]["paths"].as_array().unwrap();
    let answered = paths.iter().filter(|path| path["srtt_ms"].is_number());
    assert_eq!(answered.map(|path| &path["name"]).collect::<Vec<_>>(), ["b"], "{status}");
}

/// A table of nftables that drops what comes and matches, without a word.
fn swallowing(what: &str) -> String {
    let hook = "type filter hook input priority 0;";
    format!("table inet swallowing {{\nchain in {{\n{hook}\n{what} drop\n}}\n}}")
}

/// A host keeps its own address there, and is reached by it.
#[test]
fn a_network_behind_an_edge_is_reached_by_its_own_addresses() {
    let test = "a_network_behind_an_edge_is_reached_by_its_own_addresses";
    let Some(sites) = Sites::new(test) else { return };
    let allowed = fs::read_to_string(sites.world.path("allow")).unwrap();
    let allowed = format!("{} network=192.168.5.0/24\n", allowed.trim());
    sites.world.file("allow", allowed.as_bytes());
    let _gateway = sites.start(&["--gateway-routed"], &[]);
    sites.server.ip("route add 192.168.5.0/24 via 198.18.0.1");
    let answering = sites.server.within(|| UdpSocket::bind((SERVER.0, 0)).unwrap());
    let asking = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    assert_eq!(ask(&asking, &answering, 160), asking.local_addr().unwrap());
    let listener = sites.lan.within(|| TcpListener::bind((LAN.0, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    exchange(sites.server.within(|| TcpStream::connect(address).unwrap()), &listener);
}

/// UDP, echo requests and connections, of IPv4 and IPv6.
#[test]
fn a_hub_that_may_not_make_a_device_carries_what_sockets_can() {
    let test = "a_hub_that_may_not_make_a_device_carries_what_sockets_can";
    let Some(sites) = Sites::new(test) else { return };
    sites.hub.set("net/ipv4/ping_group_range", "0 2147483647");
    let _gateway = sites.start_without_device();
    for server in [SERVER.0, SERVER.1] {
        let listener = sites.server.within(|| TcpListener::bind((server, 0)).unwrap());
        let address = listener.local_addr().unwrap();
        exchange(sites.lan.within(|| TcpStream::connect(address).unwrap()), &listener);
        let answering = sites.server.within(|| UdpSocket::bind((server, 0)).unwrap());
        let asking = sites.lan.within(|| UdpSocket::bind((unspecified(server), 0)).unwrap());
        ask(&asking, &answering, 1_400);
    }
    sites.lan.within(|| icmp::ping(SERVER.0));
}

/// It would forward nothing, and nobody would know why.
#[test]
fn a_hub_that_does_not_see_the_parameters_of_the_kernel_says_so() {
    let test = "a_hub_that_does_not_see_the_parameters_of_the_kernel_says_so";
    let Some(sites) = Sites::new(test) else { return };
    let [enter, namespace] = sites.hub.runner();
    // As ProcSubset=pid of a service.
    let script = "mount -t proc -o subset=pid proc /proc && exec \"$0\" \"$@\"";
    // Against hanging only.
    let limit = ["timeout", "60"];
    let hiding = [enter, namespace, "unshare", "--mount", "sh", "-c", script];
    let runner = [&limit[..], &hiding].concat();
    let [key, allow] = ["hub.key", "allow"].map(|name| sites.world.path(name));
    let line = ["hub", "--key", &key, "--allow", &allow, "--gateway", "10.77.0.0/16"];
    let refused = sites.world.command_by(&runner, &line).output().unwrap();
    let told = stderr(&refused);
    assert!(told.contains("the kernel's parameters are not to be seen"), "{told}");
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn what_others_have_removed_is_set_again() {
    let Some(sites) = Sites::new("what_others_have_removed_is_set_again") else { return };
    let gateway = sites.start(&[], &[]);
    sites.edge.ip("link del polypath0");
    // Whichever is noticed first, that the device is gone or that its routes are.
    gateway.set_up_anew("the gateway is set up anew", 2);
    sites.edge.run("nft", "flush ruleset");
    gateway.set_up_anew("something has removed rules", 3);
    let answering = sites.server.within(|| UdpSocket::bind((SERVER.0, 0)).unwrap());
    let asking = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    ask(&asking, &answering, 160);
}

#[test]
fn nothing_that_it_has_set_stays_behind() {
    let Some(sites) = Sites::new("nothing_that_it_has_set_stays_behind") else { return };
    let before = sites.settings();
    let gateway = sites.start(&[], &["--dns", "198.18.0.2", "--kill-switch"]);
    assert_ne!(sites.settings(), before);
    gateway.stop();
    assert_eq!(sites.settings(), before);
    let gateway = sites.start(&[], &["--exclude", "192.0.2.0/24", "--kill-switch"]);
    gateway.kill();
    assert_ne!(sites.settings(), before, "the kill switch holds");
    for host in [&sites.edge, &sites.hub] {
        let clean = sites.world.command_by(&host.runner(), &["gateway", "clean"]).output().unwrap();
        assert!(clean.status.success(), "{}", stderr(&clean));
        assert!(stdout(&clean).starts_with("removed: table polypath_"), "{}", stdout(&clean));
    }
    assert_eq!(sites.settings(), before);
}

/// As after it was killed: until somebody says otherwise, nothing leaves.
#[test]
fn a_kill_switch_outlives_an_edge_that_has_failed() {
    let Some(sites) = Sites::new("a_kill_switch_outlives_an_edge_that_has_failed") else { return };
    let before = sites.settings();
    let mut gateway = sites.start(&[], &["--kill-switch"]);
    let told = gateway.lose_gateway();
    assert!(told.contains("the kill switch stays"), "{told}");
    let asking = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    asking.send_to(b"?", (SERVER.0, 9)).unwrap();
    // The host's own is refused at once, where the table says so.
    let own = sites.edge.within(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap());
    let _ = own.send_to(b"?", (SERVER.0, 9));
    assert!(sites.only_the_bond_left(), "{}", sites.left_beside());
    let runner = sites.edge.runner();
    let clean = sites.world.command_by(&runner, &["gateway", "clean"]).output().unwrap();
    assert!(stdout(&clean).contains("table polypath_edge"), "{}", stdout(&clean));
    assert_eq!(sites.settings(), before);
}

#[test]
fn a_second_gateway_on_the_same_host_is_refused() {
    let Some(sites) = Sites::new("a_second_gateway_on_the_same_host_is_refused") else { return };
    let gateway = sites.start(&[], &[]);
    let mut more = gateway.edge_line(&["--gateway-device", "second0"]);
    more.extend(["--control".to_owned(), sites.world.path("second.sock")]);
    let more: Vec<_> = more.iter().map(String::as_str).collect();
    let refused = sites.world.command_by(&sites.edge.runner(), &more).output().unwrap();
    let told = stderr(&refused);
    assert!(told.contains("another gateway runs in this network namespace"), "{told}");
    assert_eq!(refused.status.code(), Some(1));
}

/// Both come back with the addresses of before, and clients go on.
#[test]
fn a_gateway_outlives_its_hub() {
    let Some(sites) = Sites::new("a_gateway_outlives_its_hub") else { return };
    let mut gateway = sites.start(&[], &[]);
    let own = gateway.own_address();
    gateway.restart_hub(&sites);
    let answering = sites.server.within(|| UdpSocket::bind((SERVER.0, 0)).unwrap());
    let address = answering.local_addr().unwrap();
    let asking = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    // What is sent before the edge has a bond again is lost, as it would be anywhere.
    asking.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| echo(&answering));
        let answered = (0..600).any(|_| {
            asking.send_to(b"?", address).unwrap();
            asking.recv(&mut [0; 8]).is_ok()
        });
        assert!(answered, "the edge has no gateway again");
    });
    assert_eq!(gateway.own_address(), own);
}
