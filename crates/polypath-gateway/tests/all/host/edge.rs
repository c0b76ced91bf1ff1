//! What passes through an edge, and what passes by it.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::process::Command;

use polypath_gateway::device::{TunReader, TunWriter};
use polypath_gateway::host::{Gateway, HostError};
use polypath_gateway::listen_transparently;
use polypath_gateway::plan::{DualStack, EdgePlan, Family, Marks, Plan};
use rustix::io::Errno;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::network::{
    CLIENT, CLIENT_V6, DEVICE, EDGE, EDGE_AT_UPLINK, EDGE_V6, EXCLUDED, FAR, FAR_V6, HUB, LISTENER,
    Network, ROUTER, device, hearing, plan, receive, sending, socket_address,
};
use crate::packet::{TCP, UDP, addresses, back, next, payload, segment};
use crate::runtime::{PATIENCE, beside, within};

/// What a test does with an edge that is set up.
struct Edge {
    reader: TunReader,
    writer: TunWriter,
    gateway: Gateway,
}

/// Sets a plan up on the edge, and does something in its namespace.
fn on_edge<T: Send>(
    network: &Network,
    plan: EdgePlan,
    act: impl AsyncFnOnce(Edge) -> T + Send,
) -> T {
    let directory = tempfile::tempdir().unwrap();
    within(&network.edge, async || {
        let (reader, writer) = device().await;
        let gateway = Gateway::set(Plan::Edge(plan), directory.path()).await.unwrap();
        act(Edge { reader, writer, gateway }).await
    })
}

/// Sends a datagram from a socket to a far host and has it answered out of the device, which it
/// leaves with this source.
async fn exchange(edge: &mut Edge, socket: &UdpSocket, source: &str, far: &str) {
    let far = socket_address(far, 9);
    socket.send_to(b"there", far).unwrap();
    let packet = next(&mut edge.reader, UDP).await;
    assert_eq!(addresses(&packet), [source.parse().unwrap(), far.ip()]);
    assert_eq!(payload(&packet), b"there");
    edge.writer.send([back(&packet)]).await.unwrap();
    assert_eq!(receive(socket), (b"there".to_vec(), far));
}

#[test]
fn datagrams_of_the_lan_and_of_the_host_leave_by_the_device_with_the_address_of_the_edge() {
    let test =
        "datagrams_of_the_lan_and_of_the_host_leave_by_the_device_with_the_address_of_the_edge";
    let Some(network) = Network::new(test) else { return };
    let sockets = [&network.client, &network.edge].map(|of| {
        let bound = |any| hearing(of, socket_address(any, 0));
        [(bound("0.0.0.0"), EDGE, FAR), (bound("::"), EDGE_V6, FAR_V6)]
    });
    on_edge(&network, plan(), async |mut edge| {
        for (socket, source, far) in sockets.as_flattened() {
            exchange(&mut edge, socket, source, far).await;
        }
    });
}

#[test]
fn what_the_hub_routes_keeps_its_address() {
    let Some(network) = Network::new("what_the_hub_routes_keeps_its_address") else { return };
    let client = sending(&network.client);
    let plan = EdgePlan { routed: vec!["192.168.5.0/24".parse().unwrap()], ..plan() };
    on_edge(&network, plan, async |mut edge| exchange(&mut edge, &client, CLIENT, FAR).await);
}

/// Connects to an address, sends a word and ends, and reads what comes back. Returns that, and the
/// address of the client.
fn call(from: Option<SocketAddr>, to: SocketAddr) -> (String, SocketAddr) {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).unwrap();
    from.iter().for_each(|from| socket.bind(&(*from).into()).unwrap());
    socket.connect_timeout(&to.into(), PATIENCE).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"there").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer, stream.local_addr().unwrap())
}

/// Answers one call. Returns the addresses of the connection, the local one first.
async fn answer(listener: std::net::TcpListener) -> [SocketAddr; 2] {
    let listener = TcpListener::from_std(listener).unwrap();
    let (mut stream, peer) = listener.accept().await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "there");
    stream.write_all(b"back").await.unwrap();
    [stream.local_addr().unwrap(), peer]
}

/// Calls the far host from a process, and answers in its place by the transparent listener.
async fn intercept(process: u32, to: SocketAddr) -> SocketAddr {
    let family = if to.is_ipv4() { Family::V4 } else { Family::V6 };
    let listener = listen_transparently(family, LISTENER.try_into().ok()).unwrap();
    let call = beside(process, move || call(None, to));
    let [wanted, client] = answer(listener).await;
    assert_eq!(wanted, to);
    assert_eq!(call.join().unwrap(), ("back".into(), client));
    client
}

#[test]
fn tcp_connections_arrive_at_the_listener_with_the_destination_that_they_had() {
    let test = "tcp_connections_arrive_at_the_listener_with_the_destination_that_they_had";
    let Some(network) = Network::new(test) else { return };
    let (client, own) = (network.client.process(), network.edge.process());
    on_edge(&network, plan(), async |_edge| {
        for (process, far, from) in [
            (client, FAR, CLIENT),
            (client, FAR_V6, CLIENT_V6),
            (own, FAR, EDGE),
            (own, FAR_V6, EDGE_V6),
        ] {
            let seen = intercept(process, socket_address(far, 80)).await;
            assert_eq!(seen.ip(), from.parse::<IpAddr>().unwrap());
        }
    });
}

#[test]
fn without_a_listener_tcp_connections_leave_by_the_device() {
    let test = "without_a_listener_tcp_connections_leave_by_the_device";
    let Some(network) = Network::new(test) else { return };
    let (client, own) = (network.client.process(), network.edge.process());
    let plan = EdgePlan { listener: None, ..plan() };
    on_edge(&network, plan, async |mut edge| {
        for process in [client, own] {
            let connecting = move || {
                let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
                socket.set_nonblocking(true).unwrap();
                // It is under way.
                let error = socket.connect(&socket_address(FAR, 80).into()).unwrap_err();
                assert_eq!(error.raw_os_error(), Some(Errno::INPROGRESS.raw_os_error()));
            };
            beside(process, connecting).join().unwrap();
            let syn = next(&mut edge.reader, TCP).await;
            assert_eq!(addresses(&syn), [EDGE, FAR].map(|ip| ip.parse::<IpAddr>().unwrap()));
            // The first option of a SYN of Linux is the largest segment (RFC 9293, section 3.2).
            let options = &segment(&syn)[20..];
            assert_eq!(options[..2], [2, 4]);
            assert_eq!(u16::from_be_bytes([options[2], options[3]]), 1400 - 40);
        }
    });
}

/// Sends a datagram from one socket to another, to be answered.
fn pass(one: &UdpSocket, other: &UdpSocket) -> SocketAddr {
    let to = other.local_addr().unwrap();
    one.send_to(b"there", to).unwrap();
    let (_, from) = receive(other);
    other.send_to(b"back", from).unwrap();
    assert_eq!(receive(one), (b"back".to_vec(), to));
    from
}

#[test]
fn what_is_marked_excluded_or_near_passes_by() {
    let Some(network) = Network::new("what_is_marked_excluded_or_near_passes_by") else { return };
    let at = |ip| hearing(&network.internet, socket_address(ip, 9));
    let (far, excluded, hub, router) = (at(FAR), at(EXCLUDED), at(HUB), at(ROUTER));
    let (bond, own, client) =
        (sending(&network.edge), sending(&network.edge), sending(&network.client));
    SockRef::from(&bond).set_mark(Marks::default().of_bond()).unwrap();
    on_edge(&network, plan(), async |_edge| {
        let at_uplink: IpAddr = EDGE_AT_UPLINK.parse().unwrap();
        assert_eq!(pass(&bond, &far).ip(), at_uplink);
        for other in [&excluded, &hub, &router] {
            assert_eq!(pass(&own, other).ip(), at_uplink);
            assert_eq!(pass(&client, other).ip(), CLIENT.parse::<IpAddr>().unwrap());
        }
    });
}

#[test]
fn what_began_at_the_uplink_is_answered_there() {
    let Some(network) = Network::new("what_began_at_the_uplink_is_answered_there") else { return };
    let (internet, at_uplink) = (network.internet.process(), socket_address(EDGE_AT_UPLINK, 22));
    let at_client = socket_address(CLIENT, 22);
    let client = network.client.within(|| std::net::TcpListener::bind(at_client).unwrap());
    client.set_nonblocking(true).unwrap();
    on_edge(&network, plan(), async |_edge| {
        let own = std::net::TcpListener::bind(at_uplink).unwrap();
        own.set_nonblocking(true).unwrap();
        for (listener, to) in [(own, at_uplink), (client, at_client)] {
            let from = socket_address(FAR, 0);
            let call = beside(internet, move || call(Some(from), to));
            let [_, caller] = answer(listener).await;
            assert_eq!(call.join().unwrap(), ("back".into(), caller));
        }
    });
}

#[test]
fn queries_for_names_go_to_the_resolver_wherever_they_were_sent() {
    let test = "queries_for_names_go_to_the_resolver_wherever_they_were_sent";
    let Some(network) = Network::new(test) else { return };
    let (client, own) = (sending(&network.client), sending(&network.edge));
    let resolver: IpAddr = "10.77.0.1".parse().unwrap();
    let resolvers = Some(DualStack { v4: "10.77.0.1".parse().ok(), v6: None });
    on_edge(&network, EdgePlan { resolvers, ..plan() }, async |mut edge| {
        for socket in [&client, &own] {
            for asked in [ROUTER, FAR] {
                socket.send_to(b"name?", (asked, 53)).unwrap();
                let query = next(&mut edge.reader, UDP).await;
                assert_eq!(addresses(&query), [EDGE.parse().unwrap(), resolver]);
                edge.writer.send([back(&query)]).await.unwrap();
                assert_eq!(receive(socket), (b"name?".to_vec(), socket_address(asked, 53)));
            }
        }
    });
}

#[test]
fn without_addresses_all_is_refused_until_there_are_some() {
    let test = "without_addresses_all_is_refused_until_there_are_some";
    let Some(network) = Network::new(test) else { return };
    let own = sending(&network.edge);
    let none = EdgePlan { addresses: DualStack::default(), ..plan() };
    on_edge(&network, none.clone(), async |mut edge| {
        let refused = own.send_to(b"there", (FAR, 9)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::HostUnreachable);
        edge.gateway.replace(Plan::Edge(plan())).await.unwrap();
        exchange(&mut edge, &own, EDGE, FAR).await;
        edge.gateway.replace(Plan::Edge(none)).await.unwrap();
        let refused = own.send_to(b"there", (FAR, 9)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::HostUnreachable);
    });
}

#[test]
fn a_device_that_was_made_anew_is_used_when_the_plan_is_set_again() {
    let test = "a_device_that_was_made_anew_is_used_when_the_plan_is_set_again";
    let Some(network) = Network::new(test) else { return };
    let client = sending(&network.client);
    on_edge(&network, plan(), async |mut edge| {
        let Edge { reader, writer, .. } = edge;
        drop((reader, writer));
        // Processes that other tests are just starting may have it open still.
        let shown = ["link", "show", DEVICE];
        while Command::new("ip").args(shown).output().unwrap().status.success() {
            tokio::task::yield_now().await;
        }
        let error = edge.gateway.replace(Plan::Edge(plan())).await.unwrap_err();
        assert!(matches!(error, HostError::NoDevice { .. }), "{error}");
        (edge.reader, edge.writer) = device().await;
        edge.gateway.replace(Plan::Edge(plan())).await.unwrap();
        exchange(&mut edge, &client, EDGE, FAR).await;
    });
}
