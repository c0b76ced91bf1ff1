//! Two hosts with two links between them, and connections of Multipath TCP.

use crate::namespace::Namespace;
use crate::process::are_there;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

/// Looks at the sockets of a namespace after which they count as staying.
pub(crate) const LOOKS: usize = 1_000;

/// A client and a server with two links between them.
pub(crate) struct Network {
    pub(crate) client: Namespace,
    pub(crate) server: Namespace,
}

impl Network {
    pub(crate) fn new(test: &str) -> Option<Self> {
        if !are_there(test, &["ip", "nft", "ss", "nsenter", "unshare"]) {
            return None;
        }
        let network = Self { client: Namespace::new(test)?, server: Namespace::new(test)? };
        for link in 1..=2 {
            network.connect(link);
        }
        network.client.ip("mptcp limits set subflow 8 add_addr_accepted 8");
        network.server.ip("mptcp limits set subflow 8 add_addr_accepted 8");
        network.client.ip("mptcp endpoint add 10.77.2.1 dev link2 subflow");
        lose(&network.client);
        lose(&network.server);
        Some(network)
    }

    /// No packet is lost from now on.
    pub(crate) fn deliver_all(&self) {
        for host in [&self.client, &self.server] {
            nft(host, "delete table inet lossy");
        }
    }

    /// A link whose packets are not larger than the MTU, so that one that is lost is one.
    fn connect(&self, link: u8) {
        let (client, server) = (self.client.process(), self.server.process());
        let limits = "gso_max_segs 1 gso_max_size 1514";
        self.client.ip(&format!(
            "link add link{link} netns {client} {limits} type veth \
             peer name link{link} {limits} netns {server}"
        ));
        for (host, side) in [(&self.client, 1), (&self.server, 2)] {
            host.ip(&format!("address add 10.77.{link}.{side}/24 dev link{link}"));
            host.ip(&format!("link set link{link} up"));
        }
    }
}

/// One packet of 200 does not arrive at a host.
fn lose(host: &Namespace) {
    let rules = "add table inet lossy; \
        add chain inet lossy in { type filter hook input priority 0; }; \
        add rule inet lossy in meta length > 500 numgen random mod 200 == 0 drop";
    nft(host, rules);
}

fn nft(host: &Namespace, rules: &str) {
    let nft = host.command("nft", &[rules]).output().expect("nft is there");
    assert!(nft.status.success(), "{}", String::from_utf8_lossy(&nft.stderr));
}

/// What `ss` tells of a host's subflows, a line for each, once it is as wanted.
pub(crate) fn subflows(host: &Namespace, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for _ in 0..LOOKS {
        let all = host.output("ss", "-HOtin state established");
        lines = all.lines().map(str::to_owned).collect();
        if wanted(&lines) {
            break;
        }
    }
    lines
}

pub(crate) fn mptcp() -> Socket {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).expect("MPTCP is enabled")
}

pub(crate) fn address(host: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from(host), port))
}

/// Carries bytes from the client to the server, where they arrive as they were; does something once
/// half of them have.
pub(crate) fn carry(
    client: &mut Socket,
    server: &mut Socket,
    bytes: usize,
    halfway: impl FnOnce(),
) {
    let sent: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
    let mut received = vec![0; bytes];
    let (first, rest) = received.split_at_mut(bytes / 2);
    thread::scope(|scope| {
        scope.spawn(|| client.write_all(&sent).unwrap());
        server.read_exact(first).unwrap();
        halfway();
        server.read_exact(rest).unwrap();
    });
    assert!(received == sent, "other bytes arrived");
}

/// Waits at the server for a connection by an algorithm.
fn listen(network: &Network, name: &str) -> (Socket, u16) {
    let listener = network.server.within(|| {
        let socket = mptcp();
        socket.set_tcp_congestion(name.as_bytes()).unwrap();
        socket.bind(&address([0; 4], 0).into()).unwrap();
        socket.listen(1).unwrap();
        socket
    });
    let port = listener.local_addr().unwrap().as_socket().unwrap().port();
    (listener, port)
}

/// Both ends of a connection with two subflows by an algorithm.
pub(crate) fn connect(network: &Network, name: &str) -> (Socket, Socket) {
    let (listener, port) = listen(network, name);
    let mut client = network.client.within(|| {
        let socket = mptcp();
        socket.set_tcp_congestion(name.as_bytes()).unwrap();
        socket.connect(&address([10, 77, 1, 2], port).into()).unwrap();
        socket
    });
    let (mut server, _) = listener.accept().unwrap();
    // A connection has other subflows once data of the first one was acknowledged.
    client.write_all(&[1; 1_000]).unwrap();
    server.read_exact(&mut [0; 1_000]).unwrap();
    for host in [&network.client, &network.server] {
        let joined = subflows(host, |lines| lines.len() == 2);
        assert_eq!(joined.len(), 2, "{name}: {joined:#?}");
    }
    (client, server)
}
