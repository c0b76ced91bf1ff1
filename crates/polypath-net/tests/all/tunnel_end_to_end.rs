//! Proxies at one end, the exit at the other, the tunnel protocol in between: over in-memory
//! streams and flows where the bond will be.

use std::future::pending;
use std::io::Cursor;
use std::net::SocketAddr;
use std::time::Duration;

use crate::common::*;
use bytes::Bytes;
use polypath_bond::identity::SecretKey;
use polypath_net::exit::{
    EdgeInbox, Exit, ExitOptions, FileStore, FileStoreOptions, InboxQuota, Lookup, Resolve,
    Resolving, ServeError, Served, StoreError,
};
use polypath_net::proxy::*;
use polypath_net::tunnel::handshake::{RequestFailed, request};
use polypath_net::tunnel::*;
use polypath_units::ByteCount;
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

impl Association for Flow {
    /// There are no paths here to choose from.
    async fn send_as(
        &self,
        _: &Carriage,
        target: &Target,
        payload: &[u8],
    ) -> Result<(), FlowError> {
        self.send(target, payload).await
    }
}

#[derive(Clone)]
struct Edge {
    exit: Exit,
    store: Option<EdgeInbox>,
    ended: mpsc::UnboundedSender<Result<Served, ServeError>>,
}

impl Edge {
    fn new(
        exit: Exit,
        store: Option<EdgeInbox>,
    ) -> (Self, mpsc::UnboundedReceiver<Result<Served, ServeError>>) {
        let (ended, reports) = mpsc::unbounded_channel();
        (Self { exit, store, ended }, reports)
    }

    async fn open(
        &self,
        asked: Request,
        flow: Option<Flow>,
    ) -> Result<DuplexStream, RequestFailed> {
        let (mut near, far) = duplex(4096);
        let edge = self.clone();
        let mut flow = flow;
        tokio::spawn(async move {
            let flows = |_| flow.take();
            let served = serve(&edge.exit, far, flows, edge.store.as_ref()).await;
            let _ = edge.ended.send(served);
        });
        request(&mut near, &asked).await?;
        Ok(near)
    }
}

/// Serves what an edge that never leaves asks for on a stream.
async fn serve(
    exit: &Exit,
    mut stream: DuplexStream,
    flows: impl FnMut(u64) -> Option<Flow>,
    inbox: Option<&EdgeInbox>,
) -> Result<Served, ServeError> {
    let request = exit.request(&mut stream).await?;
    exit.serve(stream, request, flows, inbox, pending()).await
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

    let socket = udp_socket().await;
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

/// The client could not tell them from the target's.
#[tokio::test]
async fn a_forward_brings_nothing_from_other_ports_of_its_target() {
    let (edge, _reports) = Edge::new(exit(), None);
    let [target, other] = [udp_socket().await, udp_socket().await];
    let port = target.local_addr().unwrap().port();
    for target_as_told in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        let socket = udp_socket().await;
        let client = udp_client(socket.local_addr().unwrap()).await;
        let to = target_as_told.parse().unwrap();
        tokio::spawn(forward_udp(socket, edge.clone(), to, options()));
        client.send(b"question").await.unwrap();
        let mut buffer = [0; 64];
        let (_, at_exit) = within(target.recv_from(&mut buffer)).await.unwrap();
        other.send_to(b"stranger", at_exit).await.unwrap();
        target.send_to(b"answer", at_exit).await.unwrap();
        let length = within(client.recv(&mut buffer)).await.unwrap();
        assert_eq!(&buffer[..length], b"answer", "{target_as_told}");
    }
}

async fn udp_client(to: SocketAddr) -> UdpSocket {
    let socket = udp_socket().await;
    socket.connect(to).await.unwrap();
    socket
}

async fn udp_socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.unwrap()
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
    let _flow =
        edge.associate(FlowOptions { idle_timeout, ..FlowOptions::default() }).await.unwrap();
    assert!(matches!(within(reports.recv()).await.unwrap(), Ok(Served::Udp)));
}

/// Eight flows are as many as an association may have.
#[tokio::test]
async fn an_association_takes_up_seven_further_flows_and_answers_by_the_one_that_asked() {
    let (exit, echo) = (exit(), udp_echo().await);
    let (mut near, far) = duplex(4096);
    let (ours, mut theirs): (Vec<_>, Vec<_>) = (1..=9).map(flow_pair_of).unzip();
    let serving = tokio::spawn(async move {
        let take = |number| {
            let at = theirs.iter().position(|(known, _)| *known == number)?;
            Some(theirs.remove(at).1)
        };
        serve(&exit, far, take, None).await
    });
    let association = UdpAssociation { flow: 1, idle_timeout: None };
    request(&mut near, &Request::Udp(association)).await.unwrap();
    for number in 1..=8_u64 {
        if number > 1 {
            near.write_all(&number.to_be_bytes()).await.unwrap();
        }
        let flow = &ours[number as usize - 1];
        flow.send(&echo.into(), &[number as u8]).await.unwrap();
        let (source, payload) = within(flow.recv()).await.unwrap();
        assert_eq!((source, &payload[..]), (echo.into(), &[number as u8][..]));
    }
    near.write_all(&9_u64.to_be_bytes()).await.unwrap();
    let error = within(serving).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "flow 9 of an association that has 8, as many as it may");
}

fn flow_pair_of(number: u64) -> (Flow, (u64, Flow)) {
    let (ours, theirs) = flow_pair();
    (ours, (number, theirs))
}

#[tokio::test]
async fn an_association_whose_edge_names_a_flow_that_is_in_use_ends() {
    let exit = exit();
    let (mut near, far) = duplex(4096);
    let (_ours, theirs) = flow_pair();
    let mut flow = Some(theirs);
    let serving = tokio::spawn(async move { serve(&exit, far, |_| flow.take(), None).await });
    let association = UdpAssociation { flow: 1, idle_timeout: None };
    request(&mut near, &Request::Udp(association)).await.unwrap();
    near.write_all(&1_u64.to_be_bytes()).await.unwrap();
    let error = within(serving).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "flow 1 is in use");
}

#[derive(Debug)]
struct Rebinding;

impl Resolve for Rebinding {
    fn resolve<'a>(&'a self, _: &'a str, _: Lookup) -> Resolving<'a> {
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
    let serve = serve(&exit, far, |_| None::<Flow>, None);
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

/// A store with room for 1 MiB of each edge and 2 MiB in all.
fn inbox(folder: &std::path::Path) -> FileStore {
    let quota = InboxQuota { edge: ByteCount::new(1 << 20), total: ByteCount::new(2 << 20) };
    let keep = Duration::from_secs(3600);
    FileStore::open(folder, FileStoreOptions { quota, keep }).unwrap()
}

fn of(store: &FileStore, edge: u8) -> EdgeInbox {
    store.of(SecretKey::from_seed([edge; 32]).public())
}

fn content(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i / 3) as u8).collect()
}

/// The files of the inbox, and the unfinished ones of all edges.
fn files(folder: &std::path::Path) -> (usize, usize) {
    let list = |path: &std::path::Path| -> Vec<std::path::PathBuf> {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let own = folder.join(".polypath");
    let edges = list(&own).into_iter().filter(|path| path.is_dir());
    let kept = edges.flat_map(|edge| list(&edge));
    let parts = kept.filter(|path| path.extension().is_some_and(|end| end == "part")).count();
    (list(folder).len() - 1, parts)
}

async fn send(edge: &Edge, name: &str, content: &[u8]) -> Result<SentFile, FileSendError> {
    let mut stream = edge.open(offer(name, content.len()), None).await.unwrap();
    within(send_file(&mut stream, &mut Cursor::new(content), content.len() as u64)).await
}

async fn refused(edge: &Edge, name: &str, size: usize) -> Refusal {
    match edge.open(offer(name, size), None).await {
        Err(RequestFailed::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

/// Sends the first bytes of a file and then breaks the stream, as when an edge is gone.
async fn cut(edge: &Edge, name: &str, size: usize, sent: &[u8]) {
    let mut stream = edge.open(offer(name, size), None).await.unwrap();
    stream.read_exact(&mut [0; Resume::LENGTH]).await.unwrap();
    stream.write_all(&0_u64.to_be_bytes()).await.unwrap();
    stream.write_all(sent).await.unwrap();
}

#[tokio::test]
async fn a_file_arrives_whole_and_is_never_replaced() {
    let folder = folder("whole");
    let store = inbox(&folder);
    let (edge, mut reports) = Edge::new(exit(), Some(of(&store, 1)));
    let content = content(300_000);
    let sent = send(&edge, "a.bin", &content).await.unwrap();
    assert_eq!(sent.resumed_at, 0);
    let served = within(reports.recv()).await.unwrap();
    assert!(matches!(served, Ok(Served::File(digest)) if digest == sent.digest));
    assert!(std::fs::read(folder.join("a.bin")).unwrap() == content);
    assert_eq!(files(&folder), (1, 0));

    assert_eq!(refused(&edge, "a.bin", 1).await.kind, RefusalKind::NameTaken);
    let mut other = content.clone();
    other[7] ^= 1;
    match send(&edge, "a.bin", &other).await {
        Err(FileSendError::Refused(refusal)) => assert_eq!(refusal.kind, RefusalKind::NameTaken),
        other => panic!("{other:?}"),
    }
    // Whoever was cut off before the answer asks again.
    assert_eq!(send(&edge, "a.bin", &content).await.unwrap().resumed_at, 300_000);
    // Another edge is not told what is in the file.
    let (stranger, _reports) = Edge::new(exit(), Some(of(&store, 2)));
    assert_eq!(refused(&stranger, "a.bin", 300_000).await.kind, RefusalKind::NameTaken);
    assert!(std::fs::read(folder.join("a.bin")).unwrap() == content);
}

#[tokio::test]
async fn a_file_that_was_cut_off_goes_on_also_at_a_hub_that_has_started_again() {
    let folder = folder("resumed");
    let content = content(300_000);
    for (run, cut_at) in [100_000, 200_000].into_iter().enumerate() {
        let store = inbox(&folder);
        let (edge, mut reports) = Edge::new(exit(), Some(of(&store, 1)));
        if run == 1 {
            // An unfinished file of another edge and the same name is another file.
            let (other, _reports) = Edge::new(exit(), Some(of(&store, 2)));
            assert_eq!(send(&other, "b.bin", &content).await.unwrap().resumed_at, 0);
        }
        cut(&edge, if run == 0 { "a.bin" } else { "c.bin" }, 300_000, &content[..cut_at]).await;
        let served = within(reports.recv()).await.unwrap();
        assert!(matches!(served, Err(ServeError::Store(_))), "{served:?}");
    }
    let store = inbox(&folder);
    let (edge, _reports) = Edge::new(exit(), Some(of(&store, 1)));
    assert_eq!(send(&edge, "a.bin", &content).await.unwrap().resumed_at, 100_000);
    // What begins otherwise is not mended: it is sent anew.
    let mut other = content.clone();
    other[7] ^= 1;
    assert_eq!(send(&edge, "c.bin", &other).await.unwrap().resumed_at, 0);
    assert!(std::fs::read(folder.join("a.bin")).unwrap() == content);
    assert!(std::fs::read(folder.join("c.bin")).unwrap() == other);
    assert_eq!(files(&folder), (3, 0));
}

/// The edge was killed and runs again before the hub has noticed.
#[tokio::test]
async fn a_newer_transfer_of_a_file_takes_over() {
    let folder = folder("taken-over");
    let store = inbox(&folder);
    let (edge, mut reports) = Edge::new(exit(), Some(of(&store, 1)));
    let content = content(300_000);
    let mut hanging = edge.open(offer("a.bin", content.len()), None).await.unwrap();
    hanging.read_exact(&mut [0; Resume::LENGTH]).await.unwrap();
    hanging.write_all(&0_u64.to_be_bytes()).await.unwrap();
    hanging.write_all(&content[..100_000]).await.unwrap();
    let sent = send(&edge, "a.bin", &content).await.unwrap();
    // What is still on its way in the old stream may be lost; it holds 4096 bytes.
    assert!((95_904..=100_000).contains(&sent.resumed_at), "{}", sent.resumed_at);
    let served = within(reports.recv()).await.unwrap();
    let Err(ServeError::Store(error)) = served else { panic!("{served:?}") };
    assert!(error.to_string().contains("again, by another stream"), "{error}");
    assert!(std::fs::read(folder.join("a.bin")).unwrap() == content);
}

#[tokio::test]
async fn a_file_that_is_not_what_its_sender_says_leaves_nothing() {
    let folder = folder("changed");
    let (edge, mut reports) = Edge::new(exit(), Some(of(&inbox(&folder), 1)));
    for (wire, kept) in [(b"ab".to_vec(), 1), ([b"abc".as_slice(), &[0; 32]].concat(), 0)] {
        let mut stream = edge.open(offer("a.bin", 3), None).await.unwrap();
        stream.read_exact(&mut [0; Resume::LENGTH]).await.unwrap();
        stream.write_all(&0_u64.to_be_bytes()).await.unwrap();
        stream.write_all(&wire).await.unwrap();
        stream.shutdown().await.unwrap();
        let status = within(handshake::receive(&mut stream, Status::decode)).await.unwrap();
        assert!(matches!(status, Status::Refused(r) if r.kind == RefusalKind::BadRequest));
        assert!(matches!(within(reports.recv()).await.unwrap(), Err(ServeError::Store(_))));
        assert_eq!(files(&folder), (0, kept));
    }
    // A beginning that was not agreed on.
    let mut stream = edge.open(offer("a.bin", 3), None).await.unwrap();
    stream.write_all(&1_u64.to_be_bytes()).await.unwrap();
    let served = within(reports.recv()).await.unwrap();
    assert!(matches!(served, Err(ServeError::Store(_))), "{served:?}");
}

#[tokio::test]
async fn quotas_hold_for_an_edge_and_for_all() {
    const HALF: usize = 1 << 19;
    let folder = folder("quota");
    let store = inbox(&folder);
    let (edges, mut reports): (Vec<_>, Vec<_>) =
        (1..=3).map(|edge| Edge::new(exit(), Some(of(&store, edge)))).unzip();
    let half = content(HALF);
    send(&edges[0], "a1", &half).await.unwrap();
    let large = refused(&edges[0], "large", HALF + 1).await;
    assert_eq!(large.kind, RefusalKind::Quota);
    assert!(large.to_string().contains("the edge has in the inbox"), "{large}");
    // What is unfinished counts, and makes room for what is sent now.
    cut(&edges[0], "a2", HALF, &half[..1000]).await;
    // The hub has seen the end.
    let is_cut = |served| matches!(served, Err(ServeError::Store(StoreError::Transfer(_))));
    while !is_cut(within(reports[0].recv()).await.unwrap()) {}
    send(&edges[0], "a3", &half).await.unwrap();
    assert_eq!(files(&folder), (2, 0));
    assert_eq!(refused(&edges[0], "a4", 0).await.kind, RefusalKind::Quota);

    for name in ["b1", "b2"] {
        send(&edges[1], name, &half).await.unwrap();
    }
    let full = refused(&edges[2], "c", 1).await;
    assert!(full.to_string().contains("all edges together have"), "{full}");
    // The operator takes a file away, of whichever edge.
    std::fs::remove_file(folder.join("b1")).unwrap();
    send(&edges[2], "c", &half).await.unwrap();
    // A hub that starts again knows whose the files are.
    drop((edges, store));
    let (edge, _reports) = Edge::new(exit(), Some(of(&inbox(&folder), 1)));
    assert_eq!(refused(&edge, "a4", 1).await.kind, RefusalKind::Quota);
}

#[tokio::test]
async fn what_nobody_goes_on_with_is_removed_at_the_start() {
    let folder = folder("old");
    std::fs::write(folder.join(".polypath-1-0.part"), b"of another version").unwrap();
    let open = |keep| {
        let quota = InboxQuota { edge: ByteCount::new(1 << 20), total: ByteCount::new(1 << 20) };
        FileStore::open(&folder, FileStoreOptions { quota, keep }).unwrap()
    };
    let store = open(Duration::from_secs(3600));
    assert_eq!(files(&folder), (0, 0));
    let (edge, mut reports) = Edge::new(exit(), Some(of(&store, 1)));
    cut(&edge, "a.bin", 3, b"ab").await;
    within(reports.recv()).await.unwrap().unwrap_err();
    drop((edge, store));
    drop(open(Duration::from_secs(3600)));
    assert_eq!(files(&folder), (0, 1));
    drop(open(Duration::ZERO));
    assert_eq!(files(&folder), (0, 0));
}
