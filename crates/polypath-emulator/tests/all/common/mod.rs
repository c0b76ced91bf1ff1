//! Two hosts and a wire between them, each in a network namespace of its own.
#![allow(dead_code, unreachable_pub, reason = "each program uses a part")]

use polypath_emulator::realtime::Clock;
use polypath_emulator::wire::{Wire, WireSpec};
use polypath_link::LinkConfig;
use rustix::fd::AsFd;
use rustix::net::sockopt;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The addresses of the two hosts.
pub const HOSTS_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
pub const HOSTS_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2)];

const HARDWARE: [&str; 2] = ["02:77:00:00:00:01", "02:77:00:00:00:02"];

/// Why namespaces cannot be made here, if so.
pub fn no_privilege() -> Option<String> {
    let probe = Namespace::new("probe");
    probe.err().map(|error| error.to_string())
}

/// A network namespace, which goes when this is dropped.
pub struct Namespace(String);

impl Namespace {
    fn new(role: &str) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("polypath-wire-{}-{count}-{role}", std::process::id());
        ip(&format!("netns add {name}"))?;
        Ok(Self(name))
    }

    /// What moves a thread into it.
    pub fn enter(&self) -> impl FnOnce() -> io::Result<()> + Send + 'static {
        let path = format!("/run/netns/{}", self.0);
        move || {
            let file = File::open(path)?;
            Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?)
        }
    }

    /// Does something in a thread inside.
    pub fn inside<T: Send + 'static>(&self, task: impl FnOnce() -> T + Send + 'static) -> T {
        let enter = self.enter();
        std::thread::spawn(move || enter().map(|()| task())).join().unwrap().unwrap()
    }

    /// The name, for `ip netns exec`.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = ip(&format!("netns del {}", self.0));
    }
}

fn ip(arguments: &str) -> io::Result<()> {
    let output = Command::new("ip").args(arguments.split(' ')).output()?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("ip {arguments}: {reason}")))
}

/// Two hosts. The wire takes `up` in its namespace, which comes from host 0, and `down`.
pub struct Network {
    pub hosts: [Namespace; 2],
    pub between: Namespace,
}

impl Network {
    pub fn new() -> io::Result<Self> {
        let hosts = [Namespace::new("a")?, Namespace::new("b")?];
        let between = Namespace::new("wire")?;
        for (index, (host, end)) in hosts.iter().zip(["up", "down"]).enumerate() {
            connect(&host.0, index, &between.0, end)?;
        }
        Ok(Self { hosts, between })
    }

    pub fn wire(&self, up: LinkConfig, down: LinkConfig) -> Wire {
        let spec = WireSpec {
            name: "test".to_owned(),
            up_from: "up".to_owned(),
            down_from: "down".to_owned(),
            up,
            down,
            seeds: [1, 2],
        };
        Wire::start(spec, Clock::start(), self.between.enter()).unwrap()
    }

    /// A UDP socket of each host, joined with each other.
    pub fn sockets(&self, addresses: [IpAddr; 2]) -> [UdpSocket; 2] {
        let bind = |host: usize| {
            let address = SocketAddr::new(addresses[host], 0);
            self.hosts[host].inside(move || UdpSocket::bind(address).unwrap())
        };
        let sockets = [bind(0), bind(1)];
        for socket in &sockets {
            // A receiver may be late on a busy host.
            sockopt::set_socket_recv_buffer_size_force(socket, 16 << 20).unwrap();
        }
        sockets[0].connect(sockets[1].local_addr().unwrap()).unwrap();
        sockets[1].connect(sockets[0].local_addr().unwrap()).unwrap();
        sockets
    }
}

impl Network {
    /// A TCP connection from host 0 to host 1, through a wire that runs.
    pub fn connection(&self, addresses: [IpAddr; 2]) -> [TcpStream; 2] {
        let any_port = SocketAddr::new(addresses[1], 0);
        let listener = self.hosts[1].inside(move || TcpListener::bind(any_port).unwrap());
        let target = listener.local_addr().unwrap();
        let client = self.hosts[0].inside(move || TcpStream::connect(target).unwrap());
        [client, listener.accept().unwrap().0]
    }
}

fn connect(host: &str, index: usize, between: &str, end: &str) -> io::Result<()> {
    let (mine, other) = (HARDWARE[index], HARDWARE[1 - index]);
    let gso = "gso_max_segs 1 gso_max_size 1514";
    ip(&format!("link add eth0 netns {host} type veth peer name {end} netns {between}"))?;
    ip(&format!("-n {host} link set dev eth0 address {mine} {gso} up"))?;
    ip(&format!("-n {between} link set dev {end} {gso} up"))?;
    ip(&format!("-n {host} address add {}/24 dev eth0", HOSTS_V4[index]))?;
    ip(&format!("-n {host} address add {}/64 dev eth0 nodad", HOSTS_V6[index]))?;
    for address in [HOSTS_V4[1 - index].to_string(), HOSTS_V6[1 - index].to_string()] {
        ip(&format!("-n {host} neigh add {address} lladdr {other} dev eth0 nud permanent"))?;
    }
    Ok(())
}
