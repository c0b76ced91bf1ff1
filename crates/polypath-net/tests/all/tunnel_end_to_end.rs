//! Proxies at one end, the exit at the other, the tunnel protocol in between: over in-memory
//! streams and flows where the bond will be.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::common::*;
use bytes::Bytes;
use polypath_net::exit::{Exit, ExitOptions, FileStore, Resolve, Resolving, ServeError, Served};
use polypath_net::proxy::*;
use polypath_net::tunnel::handshake::{RequestFailed, request};
use polypath_net::tunnel::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::net::UdpSocket;
use tokio::sync::{Mutex, mpsc};

/// One end of a datagram flow that drops when its queue is full.
struct Flow {
    out: mpsc::Sender<Vec<u8>>,
    inbound: Mutex<mpsc::Receiver<Vec<u8>>>,
    _stream: Option<DuplexStream>,
}

fn flow_pair() -> (Flow, Flow) {
    let (a, b) = (mpsc::channel(64), mpsc::channel(64));
    let flow = |out, inbound| Flow { out, inbound: Mutex::new(inbound), _stream: None };
    (flow(a.0, b.1), flow(b.0, a.1))
}

impl DatagramFlow for Flow {
    async fn send(&self, target: &Target, payload: &[u8]) -> Result<(), FlowError> {
        let _ = self.out.try_send(encode_datagram(target, payload));
        Ok(())
    }

    async fn recv(&self) -> Result<(Target, Bytes), FlowError> {
        let datagram = self.inbound.lock().await.recv().await.ok_or(FlowError::Closed)?;
        let (target, payload) = decode_datagram(&datagram).unwrap();
        Ok((target, Bytes::copy_from_slice(payload)))
    }
}

#[derive(Clone)]
struct Edge {
    exit: Exit,
    store: Arc<Option<FileStore>>,
    ended: mpsc::UnboundedSender<Result<Served, ServeError>>,
}

impl Edge {
    fn new(
        exit: Exit,
        store: Option<FileStore>,
    ) -> (Self, mpsc::UnboundedReceiver<Result<Served, ServeError>>) {
        let (ended, reports) = mpsc::unbounded_channel();
        (Self { exit, store: Arc::new(store), ended }, reports)
    }

    async fn open(
        &self,
        asked: Request,
        flow: Option<Flow>,
    ) -> Result<DuplexStream, RequestFailed> {
        let (mut near, far) = duplex(4096);
        let edge = self.clone();
        tokio::spawn(async move {
            let served =
                edge.exit.serve(far, |_| flow, edge.store.as_ref().as_ref(), pending()).await;
            let _ = edge.ended.send(served);
        });
        request(&mut near, &asked).await?;
        Ok(near)
    }
}

impl Opener for Edge {
    type Stream = DuplexStream;
    type Flow = Flow;

    async fn connect(&self, target: Target) -> Result<DuplexStream, OpenError> {
        Ok(self.open(Request::Tcp(target), None).await?)
    }

    async fn associate(&self, options: FlowOptions) -> Result<Flow, OpenError> {
        let (near, far) = flow_pair();
        let association = UdpAssociation { flow: 1, idle_timeout: options.idle_timeout };
        let stream = self.open(Request::Udp(association), Some(far)).await?;
        Ok(Flow { _stream: Some(stream), ..near })
    }
}

#[tokio::test]
async fn curl_gets_a_page_through_the_tunnel() {
    let (edge, mut reports) = Edge::new(exit(), None);
    let (listener, proxy) = listener().await;
    tokio::spawn(serve_http(listener, edge, options()));
    let url = format!("http://{}/", origin().await);
    let (ok, body, error) = curl(&["-x", &proxy.to_string(), &url]).await;
    assert!(ok && body.starts_with("GET / "), "{body}{error}");
    let served = within(reports.recv()).await.unwrap();
    assert!(matches!(served, Ok(Served::Tcp(_)) | Err(ServeError::Splice(_))), "{served:?}");
}

#[tokio::test]
async fn forwards_carry_tcp_and_udp() {
    let (edge, _reports) = Edge::new(exit(), None);
    let (tcp_listener, tcp) = listener().await;
    tokio::spawn(forward_tcp(tcp_listener, edge.clone(), echo_after_eof().await.into(), options()));
    let mut client = tokio::net::TcpStream::connect(tcp).await.unwrap();
    client.write_all(b"hello").await.unwrap();
    client.shutdown().await.unwrap();
    let mut answer = Vec::new();
    within(client.read_to_end(&mut answer)).await.unwrap();
    assert_eq!(answer, b"hello");

    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let udp = socket.local_addr().unwrap();
    tokio::spawn(forward_udp(socket, edge, udp_echo().await.into(), options()));
    // Two clients at the same time, each with its own answers.
    let clients = [udp_client(udp).await, udp_client(udp).await];
    for (client, text) in clients.iter().zip([b"one", b"two"]) {
        client.send(text).await.unwrap();
    }
    for (client, text) in clients.iter().zip([b"one", b"two"]) {
        let mut buffer = [0; 64];
        let length = within(client.recv(&mut buffer)).await.unwrap();
        assert_eq!(&buffer[..length], text);
    }
}

async fn udp_client(to: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(to).await.unwrap();
    socket
}

#[tokio::test]
async fn a_forward_to_a_closed_port_resets_its_client() {
    let (edge, _reports) = Edge::new(exit(), None);
    let (listener, addr) = listener().await;
    tokio::spawn(forward_tcp(listener, edge, closed_port().await.into(), options()));
    let mut client = tokio::net::TcpStream::connect(addr).await.unwrap();
    let error = within(client.read(&mut [0; 1])).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn an_association_ends_at_the_hub_when_the_edge_leaves_or_falls_silent() {
    let (edge, mut reports) = Edge::new(exit(), None);
    let echo = udp_echo().await;
    let flow = edge.associate(FlowOptions::default()).await.unwrap();
    flow.send(&echo.into(), b"x").await.unwrap();
    let (source, payload) = within(flow.recv()).await.unwrap();
    assert_eq!((source, &payload[..]), (echo.into(), &b"x"[..]));
    drop(flow);
    assert!(matches!(within(reports.recv()).await.unwrap(), Ok(Served::Udp)));

    let idle_timeout = Some(Duration::from_secs(1));
    let _flow = edge.associate(FlowOptions { idle_timeout }).await.unwrap();
    assert!(matches!(within(reports.recv()).await.unwrap(), Ok(Served::Udp)));
}

#[derive(Debug)]
struct Rebinding;

impl Resolve for Rebinding {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async { Ok(vec!["::ffff:127.0.0.1".parse().unwrap()]) })
    }
}

#[tokio::test]
async fn a_name_that_turns_into_the_hub_itself_is_refused() {
    let exit = Exit::with_resolver(ExitOptions::default(), Rebinding);
    let (edge, _reports) = Edge::new(exit, None);
    let target = format!("rebind.example:{}", origin().await.port()).parse().unwrap();
    match edge.connect(target).await {
        Err(OpenError::Refused(refusal)) => assert_eq!(refusal.kind, RefusalKind::Policy),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn malformed_requests_are_answered() {
    let (mut near, far) = duplex(4096);
    let exit = exit();
    let serve = exit.serve(far, |_| None::<Flow>, None, pending());
    let client = async {
        near.write_all(&[7, 7, 7, 7]).await.unwrap();
        handshake::receive(&mut near, Status::decode).await.unwrap()
    };
    let (served, status) = within(async { tokio::join!(serve, client) }).await;
    assert!(matches!(served, Err(ServeError::Refused(_))), "{served:?}");
    assert!(matches!(status, Status::Refused(r) if r.kind == RefusalKind::BadRequest));
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn offer(name: &str, size: usize) -> Request {
    Request::File(FileOffer { name: FileName::new(name).unwrap(), size: size as u64 })
}

#[tokio::test]
async fn a_file_arrives_whole_and_is_never_replaced() {
    let folder = folder("whole");
    let (edge, mut reports) = Edge::new(exit(), Some(FileStore::new(&folder, 1 << 20)));
    let content: Vec<u8> = (0..300_000_u32).map(|i| (i / 3) as u8).collect();
    let mut stream = edge.open(offer("a.bin", content.len()), None).await.unwrap();
    let digest = within(send_file(&mut stream, &mut &content[..], content.len() as u64)).await;
    let digest = digest.unwrap();
    assert!(matches!(within(reports.recv()).await.unwrap(), Ok(Served::File(d)) if d == digest));
    assert!(std::fs::read(folder.join("a.bin")).unwrap() == content);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file stays");

    for (name, size) in [("a.bin", 1), ("large.bin", (1 << 20) + 1)] {
        match edge.open(offer(name, size), None).await {
            Err(RequestFailed::Refused(refusal)) => assert_eq!(refusal.kind, RefusalKind::Storage),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_file_that_is_cut_or_changed_leaves_nothing() {
    let folder = folder("cut");
    let (edge, mut reports) = Edge::new(exit(), Some(FileStore::new(&folder, 1 << 20)));
    for wire in [b"ab".to_vec(), [b"abc".as_slice(), &[0; 32]].concat()] {
        let mut stream = edge.open(offer("a.bin", 3), None).await.unwrap();
        stream.write_all(&wire).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        within(stream.read_to_end(&mut answer)).await.unwrap();
        assert_eq!(answer, b"", "no digest, no success");
        assert!(matches!(within(reports.recv()).await.unwrap(), Err(ServeError::Store(_))));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
}
