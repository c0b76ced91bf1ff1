//! The algorithms in the kernel at hand, as congestion control of two subflows. Needs root.

use crate::namespace::Namespace;
use crate::process::are_there;
use polypath_core::slow_start::SlowStartKind;
use polypath_kernel::{CONGESTION, KernelConfig, Loaded, SLOW_STARTS};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

/// What each side sends: of 2,760 packets, of which one in 200 is lost, none is lost in one of
/// a million transfers.
const BYTES: usize = 4_000_000;
/// Looks at the sockets of a namespace after which they count as staying.
const LOOKS: usize = 1_000;

/// A client and a server with two links between them.
struct Network {
    client: Namespace,
    server: Namespace,
}

impl Network {
    fn new(test: &str) -> Option<Self> {
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
    let nft = host.command("nft", &[rules]).output().expect("nft is there");
    assert!(nft.status.success(), "{}", String::from_utf8_lossy(&nft.stderr));
}

/// What `ss` tells of a host's subflows, a line for each, once it is as wanted.
fn subflows(host: &Namespace, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
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

fn mptcp() -> Socket {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).expect("MPTCP is enabled")
}

fn address(host: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from(host), port))
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
fn connect(network: &Network, name: &str) -> (Socket, Socket) {
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

/// Sends to the server and back by an algorithm, and gives what `ss` tells of the subflows of
/// both hosts afterwards.
fn transfer(network: &Network, name: &str) -> [Vec<String>; 2] {
    let (mut client, mut server) = connect(network, name);
    let echo = thread::spawn(move || {
        let mut received = vec![0_u8; BYTES];
        server.read_exact(&mut received).unwrap();
        server.write_all(&received).unwrap();
        server
    });
    let sent: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
    client.write_all(&sent).unwrap();
    let mut received = vec![0_u8; BYTES];
    client.read_exact(&mut received).unwrap();
    assert!(received == sent, "{name}: other bytes arrived");
    let told = [&network.client, &network.server].map(|host| subflows(host, |_| true));
    drop((client, echo.join().unwrap()));
    told
}

/// The number behind a key in a line of `ss`.
fn number(line: &str, key: &str) -> Option<u64> {
    let (_, rest) = line.split_once(&format!(" {key}:"))?;
    rest.split([' ', '/', ',']).next()?.parse().ok()
}

fn run(network: &Network, config: KernelConfig) {
    let loaded = Loaded::new(config).unwrap_or_else(|error| panic!("{config:?}: {error}"));
    for lines in transfer(network, loaded.kernel_name()) {
        assert_eq!(lines.len(), 2, "{config:?}: {lines:#?}");
        for line in &lines {
            assert!(line.contains(loaded.kernel_name()), "{config:?}: {line}");
            assert!(number(line, "bytes_acked") > Some(100_000), "{config:?}: {line}");
            assert!(number(line, "cwnd") >= Some(1), "{config:?}: {line}");
        }
        let sent_again = lines.iter().any(|line| number(line, "bytes_retrans") > Some(0));
        assert!(sent_again, "{config:?}: nothing was lost: {lines:#?}");
    }
    subflows(&network.client, |_| loaded.connections() == 0);
    assert_eq!(loaded.connections(), 0, "{config:?}: state of connections that are gone");
}

#[test]
fn the_kernel_takes_each_algorithm_and_two_subflows_carry_data_by_it() {
    let test = "the_kernel_takes_each_algorithm_and_two_subflows_carry_data_by_it";
    let Some(network) = Network::new(test) else { return };
    let slow_starts = SLOW_STARTS.iter().map(|row| row.0).cycle();
    for (row, slow_start) in CONGESTION.iter().zip(slow_starts) {
        for coupled in [true, false] {
            run(&network, KernelConfig { congestion: row.kind, slow_start, coupled });
        }
    }
}

#[test]
fn what_the_kernel_lacks_is_said() {
    let config = KernelConfig {
        congestion: polypath_core::congestion::CongestionKind::Bbr,
        slow_start: SlowStartKind::Standard,
        coupled: true,
    };
    let error = Loaded::new(config).unwrap_err().to_string();
    assert!(error.contains("congestion control bbr is not"), "{error}");
}
