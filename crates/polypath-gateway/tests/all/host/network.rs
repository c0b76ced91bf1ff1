//! An edge with an uplink and a LAN, with strict reverse path filters.

use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::thread;

use polypath_gateway::device::{DeviceSettings, Tun, TunReader, TunWriter};
use polypath_gateway::plan::{DualStack, EdgePlan, Marks};

use crate::namespace::Namespace;
use crate::process::stdout;
use crate::runtime::PATIENCE;

/// The device of the edge.
pub(super) const DEVICE: &str = "pp0";
/// The edge, as the hub knows it.
pub(super) const EDGE: &str = "10.77.0.5";
pub(super) const EDGE_V6: &str = "fd77::5";
/// The edge, as the uplink knows it.
pub(super) const EDGE_AT_UPLINK: &str = "192.0.2.2";
/// The edge, as its LAN knows it.
pub(super) const EDGE_AT_LAN: &str = "192.168.5.1";
/// A client in the LAN.
pub(super) const CLIENT: &str = "192.168.5.2";
pub(super) const CLIENT_V6: &str = "fd05::2";
/// The next router of the uplink, directly connected.
pub(super) const ROUTER: &str = "192.0.2.1";
pub(super) const ROUTER_V6: &str = "2001:db8:1::1";
/// A host in the internet, to which both the uplink and the bond lead.
pub(super) const FAR: &str = "198.18.0.1";
pub(super) const FAR_V6: &str = "2001:db8:ffff::1";
/// Another, which is excluded.
pub(super) const EXCLUDED: &str = "198.18.5.1";
/// The hub, as the internet knows it.
pub(super) const HUB: &str = "198.18.9.1";
/// The port of the transparent listener.
pub(super) const LISTENER: u16 = 4700;

pub(super) struct Network {
    pub(super) edge: Namespace,
    pub(super) client: Namespace,
    /// What is behind the uplink: all of the internet.
    pub(super) internet: Namespace,
}

impl Network {
    /// `None` where it cannot be made; that is told.
    pub(super) fn new(test: &str) -> Option<Self> {
        if !has_nft(test) {
            return None;
        }
        let (edge, client) = (Namespace::new(test)?, Namespace::new(test)?);
        let internet = Namespace::new(test)?;
        for namespace in [&edge, &client, &internet] {
            namespace.ip("link set lo up");
            // No address is tentative.
            namespace.set("net/ipv6/conf/default/accept_dad", "0");
        }
        for conf in ["all", "default"] {
            edge.set(&format!("net/ipv4/conf/{conf}/rp_filter"), "1");
        }
        // As a router asks for what it forwards: with an address of the link.
        internet.set("net/ipv4/conf/all/arp_announce", "2");
        join((&edge, "up0"), (&internet, "net0"));
        join((&edge, "eth1"), (&client, "eth0"));
        for (namespace, device, addresses) in [
            (&edge, "up0", [&format!("{EDGE_AT_UPLINK}/24"), "2001:db8:1::2/64"]),
            (&internet, "net0", [&format!("{ROUTER}/24"), &format!("{ROUTER_V6}/64")]),
            (&edge, "eth1", [&format!("{EDGE_AT_LAN}/24"), "fd05::1/64"]),
            (&client, "eth0", [&format!("{CLIENT}/24"), &format!("{CLIENT_V6}/64")]),
        ] {
            addresses.iter().for_each(|to| namespace.ip(&format!("addr add {to} dev {device}")));
        }
        edge.ip(&format!("route add default via {ROUTER}"));
        edge.ip(&format!("route add default via {ROUTER_V6}"));
        client.ip(&format!("route add default via {EDGE_AT_LAN}"));
        client.ip("route add default via fd05::1");
        for address in [FAR, EXCLUDED, HUB, FAR_V6] {
            internet.ip(&format!("addr add {address} dev lo"));
        }
        // This LAN is known to the internet and forwarded for: what passes by the bond is answered.
        edge.set("net/ipv4/conf/up0/forwarding", "1");
        internet.ip(&format!("route add 192.168.5.0/24 via {EDGE_AT_UPLINK}"));
        Some(Self { edge, client, internet })
    }

    /// All that a gateway could change, as programs tell it once there is no device any more.
    pub(super) fn state(&self) -> String {
        let commands = [
            "ip -4 rule",
            "ip -6 rule",
            "ip -4 route show table all",
            "ip -6 route show table all",
            "nft list ruleset",
            "sysctl -a --pattern net.ipv[46].*(forwarding|ip_forward|accept_ra$|src_valid|rp_filter)",
        ];
        // Processes that other tests are just starting may have the device open still.
        let shown = ["link", "show", DEVICE];
        while self.edge.command("ip", &shown).output().unwrap().status.success() {
            thread::yield_now();
        }
        let told = |command: &&str| {
            let (program, arguments) = command.split_once(' ').unwrap();
            let arguments: Vec<_> = arguments.split(' ').collect();
            let output = self.edge.command(program, &arguments).output().unwrap();
            assert!(output.status.success(), "{command}: {output:?}");
            // What comes by itself once a link is up.
            let late = |line: &&str| line.contains("fe80::") || line.contains("ff00::/8");
            let lines = stdout(&output).lines().filter(|line| !late(line));
            let lines = lines.flat_map(|line| [line, "\n"]);
            [*command, "\n"].into_iter().chain(lines).collect::<String>()
        };
        commands.iter().map(told).collect()
    }
}

pub(super) fn join((one, name): (&Namespace, &str), (other, far_name): (&Namespace, &str)) {
    let process = other.process();
    one.ip(&format!("link add {name} type veth peer name {far_name} netns {process}"));
    one.ip(&format!("link set {name} up"));
    other.ip(&format!("link set {far_name} up"));
}

#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
pub(super) fn has_nft(test: &str) -> bool {
    let has = Command::new("nft").arg("--version").output().is_ok();
    if !has {
        println!("skipped: {test}: nft is not installed");
    }
    has
}

pub(super) fn plan() -> EdgePlan {
    EdgePlan {
        device: DEVICE.parse().unwrap(),
        addresses: DualStack { v4: EDGE.parse().ok(), v6: EDGE_V6.parse().ok() },
        mtu: 1400.try_into().unwrap(),
        lan: ["eth1".parse().unwrap()].into(),
        routed: Vec::new(),
        excluded: vec!["198.18.5.0/24".parse().unwrap()],
        hub: vec![HUB.parse().unwrap()],
        listener: LISTENER.try_into().ok(),
        resolvers: None,
        kill_switch: false,
        marks: Marks::default(),
    }
}

/// The device of the plan, in the network namespace of this thread.
pub(super) async fn device() -> (TunReader, TunWriter) {
    let addresses = [format!("{EDGE}/32"), format!("{EDGE_V6}/128")];
    let settings = DeviceSettings {
        name: DEVICE.parse().unwrap(),
        addresses: addresses.map(|address| address.parse().unwrap()).to_vec(),
        mtu: 1400.try_into().unwrap(),
        offload: true,
    };
    Tun::create(&settings).await.unwrap().split()
}

/// A socket of a namespace that hears what comes to an address.
pub(super) fn hearing(namespace: &Namespace, address: SocketAddr) -> UdpSocket {
    let socket = namespace.within(|| UdpSocket::bind(address).unwrap());
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// A socket that sends, from an address that the kernel chooses.
pub(super) fn sending(namespace: &Namespace) -> UdpSocket {
    hearing(namespace, socket_address("0.0.0.0", 0))
}

pub(super) fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buffer = [0; 2000];
    let (length, from) = socket.recv_from(&mut buffer).unwrap();
    (buffer[..length].to_vec(), from)
}

pub(super) fn socket_address(ip: &str, port: u16) -> SocketAddr {
    SocketAddr::new(ip.parse().unwrap(), port)
}
