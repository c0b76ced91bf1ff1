//! SOCKS5 with real clients and byte by byte.

use std::net::SocketAddr;
use std::time::Duration;

use crate::common::*;
use polypath_net::exit::{Exit, ExitOptions, Lookup, Resolve, Resolving};
use polypath_net::proxy::socks5::{decode_udp, encode_udp};
use polypath_net::proxy::{Credentials, Opener, ProxyLimits, ProxyOptions, serve_socks5};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream, UdpSocket};

const SUCCEEDED: u8 = 0;
const GENERAL_FAILURE: u8 = 1;
/// Asks for a UDP association from a port that is not known yet.
const ASSOCIATE: [u8; 10] = [5, 3, 0, 1, 0, 0, 0, 0, 0, 0];

async fn proxy<O: Opener>(opener: O, options: ProxyOptions) -> SocketAddr {
    let (listener, addr) = listener().await;
    tokio::spawn(serve_socks5(listener, opener, options));
    addr
}

fn connect_request(target: SocketAddr) -> Vec<u8> {
    let mut out = vec![5, 1, 0];
    polypath_net::tunnel::Target::from(target).encode(&mut out);
    out
}

async fn read<const N: usize>(stream: &mut TcpStream) -> [u8; N] {
    let mut out = [0; N];
    within(stream.read_exact(&mut out)).await.unwrap();
    out
}

/// A client past its handshake with the target.
async fn connected(proxy: SocketAddr, target: SocketAddr) -> TcpStream {
    connected_on(TcpStream::connect(proxy).await.unwrap(), target).await
}

async fn connected_on(mut client: TcpStream, target: SocketAddr) -> TcpStream {
    assert_eq!(request(&mut client, &connect_request(target)).await, SUCCEEDED);
    client
}

/// The reply code to a request.
async fn request(client: &mut TcpStream, request: &[u8]) -> u8 {
    client.write_all(&[5, 1, 0]).await.unwrap();
    assert_eq!(read(client).await, [5, 0]);
    client.write_all(request).await.unwrap();
    let [5, reply, 0, 1, 0, 0, 0, 0, 0, 0] = read(client).await else { panic!("no reply") };
    reply
}

async fn reply_to_connect(proxy: SocketAddr, target: SocketAddr) -> u8 {
    let mut client = TcpStream::connect(proxy).await.unwrap();
    request(&mut client, &connect_request(target)).await
}

/// The reply code to a request that fails.
async fn reply_to(proxy: SocketAddr, asked: &[u8]) -> u8 {
    let mut client = TcpStream::connect(proxy).await.unwrap();
    let reply = request(&mut client, asked).await;
    assert_eq!(within(client.read(&mut [0; 1])).await.unwrap(), 0, "the proxy closes cleanly");
    reply
}

#[tokio::test]
async fn curl_gets_a_page_by_name_and_by_address() {
    let (origin, proxy) = (origin().await, proxy(exit(), options()).await);
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("http://{host}:{}/page", origin.port());
        let (ok, body, error) =
            curl(&["--socks5-hostname", &proxy.to_string(), &url, "-d", "content"]).await;
        assert!(ok && body.starts_with("POST /page") && body.ends_with("content"), "{body}{error}");
    }
}

#[tokio::test]
async fn curl_logs_in_with_user_and_password_or_not_at_all() {
    let credentials = Some(Credentials::new("me", "secret").unwrap());
    let proxy = proxy(exit(), ProxyOptions { credentials, ..options() }).await.to_string();
    let url = format!("http://{}/", origin().await);
    let try_as = async |user: &str| curl(&["--socks5-hostname", &proxy, "-U", user, &url]).await.0;
    assert!(try_as("me:secret").await);
    assert!(!try_as("me:wrong").await);
    assert!(!curl(&["--socks5-hostname", &proxy, &url]).await.0);
}

#[tokio::test]
async fn a_request_may_come_byte_by_byte_and_with_early_data() {
    let (target, proxy) = (echo_after_eof().await, proxy(exit(), options()).await);
    let mut client = TcpStream::connect(proxy).await.unwrap();
    client.set_nodelay(true).unwrap();
    let early = [vec![5, 1, 0], connect_request(target), b"early".to_vec()].concat();
    for byte in early {
        client.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    client.shutdown().await.unwrap();
    let mut answer = Vec::new();
    within(client.read_to_end(&mut answer)).await.unwrap();
    assert_eq!(answer, b"\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0early");
}

#[tokio::test]
async fn half_close_passes_and_the_other_direction_goes_on() {
    let mut client = connected(proxy(exit(), options()).await, echo_after_eof().await).await;
    let sent = vec![7; 3_000_000];
    let mut received = Vec::new();
    let (mut from, mut to) = client.split();
    let send = async {
        to.write_all(&sent).await.unwrap();
        to.shutdown().await.unwrap();
    };
    let (_, result) = within(async { tokio::join!(send, from.read_to_end(&mut received)) }).await;
    result.unwrap();
    assert!(received == sent);
}

#[tokio::test]
async fn a_reset_of_the_target_resets_the_client() {
    let mut client = connected(proxy(exit(), options()).await, resetter().await).await;
    assert_eq!(&read::<5>(&mut client).await, b"start");
    client.write_all(b"x").await.unwrap();
    let error = within(client.read(&mut [0; 1])).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

/// The proxy has read all that the client had to say, and has nothing to write that would fail.
#[tokio::test]
async fn a_client_that_resets_behind_its_end_is_noticed_though_the_target_is_silent() {
    let target = server(async |mut stream| {
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
        stream.write_all(b"x").await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let proxy = proxy(exit(), ProxyOptions { limits: ProxyLimits::new(1, 1), ..options() }).await;
    let mut client = connected(proxy, target).await;
    client.shutdown().await.unwrap();
    assert_eq!(&read::<1>(&mut client).await, b"x");
    client.set_zero_linger().unwrap();
    drop(client);
    within(free_again(proxy, target)).await;
}

/// Waits until the proxy serves one more.
async fn free_again(proxy: SocketAddr, target: SocketAddr) {
    while reply_to_connect(proxy, target).await != SUCCEEDED {}
}

#[tokio::test]
async fn a_reset_of_the_client_resets_the_target() {
    let (seen, mut outcome) = tokio::sync::mpsc::channel(1);
    let target = server(move |mut stream| {
        let seen = seen.clone();
        async move {
            stream.write_all(b"x").await.unwrap();
            seen.send(stream.read(&mut [0; 1]).await).await.unwrap();
        }
    })
    .await;
    let mut client = connected(proxy(exit(), options()).await, target).await;
    assert_eq!(&read::<1>(&mut client).await, b"x");
    client.set_zero_linger().unwrap();
    drop(client);
    let error = within(outcome.recv()).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[derive(Debug)]
struct NoNames;

impl Resolve for NoNames {
    fn resolve<'a>(&'a self, _: &'a str, _: Lookup) -> Resolving<'a> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

#[tokio::test]
async fn each_failure_has_its_reply_code() {
    let open = proxy(exit(), options()).await;
    assert_eq!(reply_to(open, &connect_request(closed_port().await)).await, 5);
    let nameless = proxy(Exit::with_resolver(ExitOptions::default(), NoNames), options()).await;
    assert_eq!(reply_to(nameless, b"\x05\x01\x00\x03\x09a.example\x00\x50").await, 4);
    assert_eq!(reply_to(open, b"\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50").await, 7);
    assert_eq!(reply_to(open, b"\x05\x09\x00\x01\x7f\x00\x00\x01\x00\x50").await, 7);
    assert_eq!(reply_to(open, b"\x05\x01\x00\x07\x7f\x00\x00\x01\x00\x50").await, 8);
    assert_eq!(reply_to(open, b"\x05\x01\x00\x03\x02a \x00\x50").await, 1);
    let closed = proxy(Exit::new(ExitOptions::default()), options()).await;
    assert_eq!(reply_to(closed, &connect_request(origin().await)).await, 2);
    assert_eq!(reply_to(closed, b"\x05\x01\x00\x03\x09localhost\x00\x50").await, 2);
    let limit = Exit::new(ExitOptions { max_connections: 0, ..ExitOptions::default() });
    assert_eq!(reply_to(proxy(limit, options()).await, &connect_request(open)).await, 1);
}

#[tokio::test]
async fn other_protocols_and_idle_clients_are_dropped() {
    let handshake_timeout = Duration::from_millis(100);
    let proxy = proxy(exit(), ProxyOptions { handshake_timeout, ..options() }).await;
    for sent in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x04\x01\x00\x50", b"\x05", b""] {
        let mut client = TcpStream::connect(proxy).await.unwrap();
        client.write_all(sent).await.unwrap();
        let mut answer = Vec::new();
        let ended = within(client.read_to_end(&mut answer)).await;
        assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
        assert_eq!(answer, b"");
    }
    let mut client = TcpStream::connect(proxy).await.unwrap();
    client.write_all(&[5, 1, 9]).await.unwrap();
    assert_eq!(read(&mut client).await, [5, 0xff]);
}

#[tokio::test]
async fn no_more_clients_are_served_than_allowed() {
    let proxy = proxy(exit(), ProxyOptions { limits: ProxyLimits::new(1, 1), ..options() }).await;
    let target = echo_after_eof().await;
    let first = connected(proxy, target).await;
    assert_eq!(reply_to(proxy, &connect_request(target)).await, GENERAL_FAILURE);
    drop(first);
    within(free_again(proxy, target)).await;
}

/// Of four places one client has three, for which one is left, and the next client that one.
#[tokio::test]
async fn clients_at_other_addresses_find_places_in_every_proxy_of_the_edge() {
    let options = ProxyOptions { limits: ProxyLimits::new(4, 4), ..options() };
    let (one, other) = (proxy(exit(), options.clone()).await, proxy(exit(), options).await);
    let target = echo_after_eof().await;
    let mut held = vec![connected(one, target).await];
    held.push(connected(other, target).await);
    held.push(connected(one, target).await);
    for proxy in [one, other] {
        assert_eq!(reply_to(proxy, &connect_request(target)).await, GENERAL_FAILURE);
    }
    let neighbour = TcpSocket::new_v4().unwrap();
    neighbour.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let neighbour = neighbour.connect(other).await.unwrap();
    held.push(connected_on(neighbour, target).await);
}

#[tokio::test]
async fn no_more_associations_are_opened_than_allowed() {
    let proxy = proxy(exit(), ProxyOptions { limits: ProxyLimits::new(9, 1), ..options() }).await;
    let _first = associated(proxy).await;
    assert_eq!(reply_to(proxy, &ASSOCIATE).await, GENERAL_FAILURE);
}

/// A UDP association: control connection, local socket, and the proxy's UDP address.
async fn associated(proxy: SocketAddr) -> (TcpStream, UdpSocket, SocketAddr) {
    let mut control = TcpStream::connect(proxy).await.unwrap();
    control.write_all(&[5, 1, 0]).await.unwrap();
    assert_eq!(read(&mut control).await, [5, 0]);
    control.write_all(&ASSOCIATE).await.unwrap();
    let [5, 0, 0, 1, a, b, c, d, p, q] = read(&mut control).await else { panic!("refused") };
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    (control, socket, ([a, b, c, d], u16::from_be_bytes([p, q])).into())
}

#[tokio::test]
async fn datagrams_go_out_and_come_back_with_their_source() {
    let (echo, proxy) = (udp_echo().await, proxy(exit(), options()).await);
    let (_control, socket, relay) = associated(proxy).await;
    let name = format!("localhost:{}", echo.port()).parse().unwrap();
    for (target, payload) in [(echo.into(), &b"one"[..]), (name, b"two")] {
        // Malformed, fragmented and foreign datagrams are dropped and do no harm.
        let foreign = UdpSocket::bind("127.0.0.2:0").await.unwrap();
        foreign.send_to(&encode_udp(&target, b"foreign"), relay).await.unwrap();
        for bad in [&b""[..], &[0, 0, 0, 9], &[0, 0, 1, 1, 127, 0, 0, 1, 0, 9]] {
            socket.send_to(bad, relay).await.unwrap();
        }
        socket.send_to(&encode_udp(&target, payload), relay).await.unwrap();
        let mut buffer = [0; 2048];
        let (length, from) = within(socket.recv_from(&mut buffer)).await.unwrap();
        assert_eq!(from, relay);
        assert_eq!(decode_udp(&buffer[..length]), Ok((echo.into(), payload)));
    }
}

#[tokio::test]
async fn an_association_ends_with_its_connection_and_when_idle() {
    let (mut control, _socket, relay) = associated(proxy(exit(), options()).await).await;
    control.shutdown().await.unwrap();
    assert_eq!(within(control.read(&mut [0; 1])).await.unwrap(), 0);
    // A child of another test, between fork and exec, still has this process's sockets: until then
    // the port is not free.
    let freed = async {
        while UdpSocket::bind(relay).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    within(freed).await;

    let udp_idle_timeout = Duration::from_millis(100);
    let proxy = proxy(exit(), ProxyOptions { udp_idle_timeout, ..options() }).await;
    let (mut control, _socket, _) = associated(proxy).await;
    assert_eq!(within(control.read(&mut [0; 1])).await.unwrap(), 0);
}
