//! Servers for the proxy tests: origins, echoes, and an exit that may reach loopback.

pub(crate) mod namespace;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use polypath_bond::identity::SecretKey;
use polypath_bond::{BondConfig, HubPolicy};
use polypath_net::edge::{EdgeConfig, EdgePaths, Local, WantedPath};
use polypath_net::exit::{Exit, ExitOptions, TargetPolicy};
use polypath_net::hub::{Edges, Hub, HubConfig};
use polypath_net::proxy::ProxyOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

/// Against hanging only; nothing here takes a second.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("test hangs")
}

pub(crate) fn exit() -> Exit {
    let rules = ["127.0.0.0/8:*", "[::1]:*"].map(|rule| rule.parse().unwrap());
    Exit::new(ExitOptions { policy: TargetPolicy::new(rules.into()), ..ExitOptions::default() })
}

/// A hub on loopback that leads to loopback, for tests to change.
pub(crate) fn hub_config() -> HubConfig {
    let policy = TargetPolicy::new(vec!["127.0.0.1:*".parse().unwrap()]);
    HubConfig {
        edges: Edges::default(),
        identity: SecretKey::from_seed([1; 32]),
        listen: vec![(Ipv4Addr::LOCALHOST, 0).into()],
        policy: HubPolicy::default(),
        bond: BondConfig::default(),
        exit: ExitOptions { policy, ..ExitOptions::default() },
        inbox: None,
        gateway: None,
        mptcp: None,
    }
}

/// An edge with a path of each name from loopback to a hub at `by`, for tests to change.
pub(crate) fn edge_config(hub: &Hub, by: SocketAddr, paths: &[&str]) -> EdgeConfig {
    let path = |name: &&str| WantedPath {
        name: (*name).to_owned(),
        local: Local::Address(Ipv4Addr::LOCALHOST.into()),
        remote: None,
        backup: false,
    };
    EdgeConfig {
        identity: SecretKey::from_seed([2; 32]),
        hub: hub.public(),
        hub_addresses: vec![by.into()],
        bond: BondConfig::default(),
        paths: EdgePaths::Listed(paths.iter().map(path).collect()),
    }
}

pub(crate) fn options() -> ProxyOptions {
    ProxyOptions::default()
}

pub(crate) async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    (listener, addr)
}

/// A port where nobody listens.
pub(crate) async fn closed_port() -> SocketAddr {
    listener().await.1
}

/// Serves each client with `serve`.
pub(crate) async fn server<F, S>(serve: S) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
    S: Fn(TcpStream) -> F + Send + 'static,
{
    let (listener, addr) = listener().await;
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(serve(client));
        }
    });
    addr
}

/// Sends back what it received, but only after the client has half-closed.
pub(crate) async fn echo_after_eof() -> SocketAddr {
    server(|mut client| async move {
        let mut all = Vec::new();
        if client.read_to_end(&mut all).await.is_ok() {
            let _ = client.write_all(&all).await;
        }
    })
    .await
}

/// Sends five bytes and resets.
pub(crate) async fn resetter() -> SocketAddr {
    server(|mut client| async move {
        let _ = client.write_all(b"start").await;
        // The reset must not overtake the bytes: wait for one of the client's.
        let _ = client.read(&mut [0; 1]).await;
        client.set_zero_linger().unwrap();
    })
    .await
}

pub(crate) async fn udp_echo() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let _ = socket.send_to(&buffer[..length], from).await;
        }
    });
    addr
}

/// Runs curl and returns whether it succeeded, what it printed and its complaints.
pub(crate) async fn curl(arguments: &[&str]) -> (bool, String, String) {
    let mut command = tokio::process::Command::new("curl");
    command.args(["-sS", "--max-time", "20", "--noproxy", ""]).args(arguments);
    let output = command.output().await.expect("curl is needed for these tests");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// An HTTP origin that answers each request with what it received, head and body, as its body.
pub(crate) async fn origin() -> SocketAddr {
    server(|mut client| async move {
        let mut seen = Vec::new();
        let end = loop {
            if let Some(at) = seen.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            if client.read_buf(&mut seen).await.unwrap_or(0) == 0 {
                return;
            }
        };
        let head = String::from_utf8_lossy(&seen[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |l| l.trim().parse().unwrap());
        let chunked = head.contains("transfer-encoding: chunked");
        while seen.len() < end + length || (chunked && !seen.ends_with(b"0\r\n\r\n")) {
            if client.read_buf(&mut seen).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", seen.len());
        let _ = client.write_all(&[head.as_bytes(), &seen].concat()).await;
        // Like a bad origin, it ignores `Connection: close` and waits.
        let _ = client.read(&mut [0; 1]).await;
    })
    .await
}
