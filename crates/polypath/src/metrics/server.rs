//! A server of HTTP/1 for one resource, with one exchange for each connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use httparse::{EMPTY_HEADER, Status};
use polypath_net::accept;
use polypath_net::limit::{Client, FairLimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::exposition::MEDIA_TYPE;

/// Where metrics are.
const RESOURCE: &str = "/metrics";
/// Connections at the same time, which hosts share fairly.
const CONNECTIONS: usize = 32;
/// Time for a whole exchange, which is that of Prometheus for a scrape by default.
const EXCHANGE_TIME: Duration = Duration::from_secs(10);
/// Longest head of a request in bytes: several times what scrapers send.
const MAX_HEAD: usize = 8 * 1024;
/// Most fields in it.
const MAX_FIELDS: usize = 64;

/// Answers requests for [`RESOURCE`] with what `text` says. Runs until dropped, which ends all
/// connections.
///
/// # Errors
/// See [`accept`].
pub(super) async fn serve<F>(listener: TcpListener, text: Arc<F>) -> io::Result<()>
where
    F: Fn() -> String + Send + Sync + 'static,
{
    serve_within(EXCHANGE_TIME, listener, text).await
}

async fn serve_within<F>(time: Duration, listener: TcpListener, text: Arc<F>) -> io::Result<()>
where
    F: Fn() -> String + Send + Sync + 'static,
{
    let limit = FairLimit::new("connections for metrics", CONNECTIONS);
    let mut connections = JoinSet::new();
    loop {
        let (stream, peer) = accept("metrics", |cx| listener.poll_accept(cx)).await?;
        while connections.try_join_next().is_some() {}
        let place = match limit.take(&Client::host(peer.ip()), CONNECTIONS) {
            Ok(place) => place,
            Err(error) => {
                tracing::debug!(%error, "a connection for metrics was refused");
                continue;
            }
        };
        let text = Arc::clone(&text);
        connections.spawn(async move {
            match timeout(time, exchange(stream, &*text)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%peer, %error, "a client of the metrics left"),
                Err(_) => tracing::debug!(%peer, "a client of the metrics was too slow"),
            }
            drop(place);
        });
    }
}

async fn exchange(mut stream: TcpStream, text: &impl Fn() -> String) -> io::Result<()> {
    let Some(request) = read(&mut stream).await? else { return Ok(()) };
    stream.write_all(&answer(request, text)).await?;
    stream.shutdown().await
}

/// What a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// GET of the metrics.
    Metrics,
    /// HEAD of the metrics.
    Head,
}

/// A request that is not answered with metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Refused {
    #[error("400 Bad Request")]
    Malformed,
    #[error("404 Not Found")]
    NotFound,
    #[error("405 Method Not Allowed")]
    Method,
    #[error("431 Request Header Fields Too Large")]
    TooLarge,
    #[error("505 HTTP Version Not Supported")]
    Version,
}

impl Refused {
    /// What is allowed.
    const fn allowed(self) -> &'static str {
        match self {
            Self::Malformed => "this is not a request of HTTP/1; allowed: GET /metrics\n",
            Self::NotFound => "there is nothing here; allowed: /metrics\n",
            Self::Method => "this method can do nothing here; allowed: GET, HEAD\n",
            Self::TooLarge => "the request is too large; allowed: 8 KiB and 64 fields\n",
            Self::Version => "this version of HTTP is not known; allowed: 1.0, 1.1\n",
        }
    }
}

/// Reads a request; `None` if the client leaves without one.
async fn read(stream: &mut TcpStream) -> io::Result<Option<Result<Request, Refused>>> {
    let mut head = Vec::with_capacity(1024);
    loop {
        let room = (MAX_HEAD - head.len()) as u64;
        if stream.take(room).read_buf(&mut head).await? == 0 {
            return Ok(match head.len() {
                0 => None,
                MAX_HEAD => Some(Err(Refused::TooLarge)),
                _ => Some(Err(Refused::Malformed)),
            });
        }
        if let Some(request) = parse(&head) {
            return Ok(Some(request));
        }
    }
}

/// The request at the front of `head`; `None` while its head is incomplete.
fn parse(head: &[u8]) -> Option<Result<Request, Refused>> {
    let mut fields = [EMPTY_HEADER; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    Some(match request.parse(head) {
        Ok(Status::Partial) => return None,
        Ok(Status::Complete(_)) => wanted(request.method, request.path),
        Err(httparse::Error::TooManyHeaders) => Err(Refused::TooLarge),
        Err(httparse::Error::Version) => Err(Refused::Version),
        Err(_) => Err(Refused::Malformed),
    })
}

/// A query is passed over, as Prometheus sends one if it is told to.
fn wanted(method: Option<&str>, target: Option<&str>) -> Result<Request, Refused> {
    let path = target.and_then(|target| target.split('?').next());
    match (path, method) {
        (Some(RESOURCE), Some("GET")) => Ok(Request::Metrics),
        (Some(RESOURCE), Some("HEAD")) => Ok(Request::Head),
        (Some(RESOURCE), _) => Err(Refused::Method),
        _ => Err(Refused::NotFound),
    }
}

fn answer(request: Result<Request, Refused>, text: &impl Fn() -> String) -> Vec<u8> {
    let (status, media_type, more, body) = match request {
        Ok(_) => ("200 OK".to_owned(), MEDIA_TYPE, "", text()),
        Err(refused) => {
            let more = if refused == Refused::Method { "Allow: GET, HEAD\r\n" } else { "" };
            let media_type = "text/plain; charset=utf-8";
            (refused.to_string(), media_type, more, refused.allowed().to_owned())
        }
    };
    let length = body.len();
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\
         {more}Connection: close\r\n\r\n"
    );
    if request != Ok(Request::Head) {
        answer.push_str(&body);
    }
    answer.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::SocketAddr;

    fn body() -> String {
        "polypath_bonds 0\n".to_owned()
    }

    /// A server with the listener's address.
    async fn server() -> (SocketAddr, JoinSet<io::Result<()>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut running = JoinSet::new();
        running.spawn(serve(listener, Arc::new(body)));
        (address, running)
    }

    async fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn metrics_are_served_to_get_and_their_size_to_head() {
        let (address, _running) = server().await;
        let got = ask(address, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
        let (head, text) = got.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("\r\nContent-Type: text/plain; version=0.0.4; "), "{head}");
        assert_eq!(text, body());
        let only_head = ask(address, b"HEAD /metrics?x=y HTTP/1.0\r\n\r\n").await;
        assert_eq!(only_head, format!("{head}\r\n\r\n"));
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body().len())), "{head}");
    }

    #[tokio::test]
    async fn what_is_not_such_a_request_is_told_what_is_allowed() {
        let (address, _running) = server().await;
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(MAX_HEAD));
        let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MAX_FIELDS + 1));
        for (request, status, allowed) in [
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found", "/metrics"),
            ("GET /metrics/ HTTP/1.1\r\n\r\n", "404 Not Found", "/metrics"),
            ("GET http://x/metrics HTTP/1.1\r\n\r\n", "404 Not Found", "/metrics"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "GET, HEAD"),
            ("GET /metrics HTTP/3.0\r\n\r\n", "505 HTTP Version Not Supported", "1.0, 1.1"),
            ("GET /metrics HTTP/1.1\r\n: x\r\n\r\n", "400 Bad Request", "GET /metrics"),
            ("\u{16}\u{3}\u{1}\r\n\r\n", "400 Bad Request", "GET /metrics"),
            (&long, "431 Request Header Fields Too Large", "8 KiB and 64 fields"),
            (&many, "431 Request Header Fields Too Large", "8 KiB and 64 fields"),
        ] {
            let answer = ask(address, request.as_bytes()).await;
            let expected = format!("HTTP/1.1 {status}\r\n");
            assert!(answer.starts_with(&expected), "{request:?}: {answer}");
            assert!(answer.ends_with(&format!("allowed: {allowed}\n")), "{request:?}: {answer}");
        }
    }

    #[tokio::test]
    async fn a_request_may_come_in_pieces_and_its_end_may_be_missing() {
        let (address, _running) = server().await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for byte in b"GET /metrics HTTP/1.1\r\n\r\n" {
            stream.write_all(&[*byte]).await.unwrap();
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with(&body()), "{answer}");

        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /metrics HT").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }

    /// One host has at most three quarters of the places, so that the others are left for those
    /// who come from elsewhere.
    #[tokio::test]
    async fn silent_clients_of_one_host_leave_room_for_another() {
        let (address, _running) = server().await;
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        // The last ones are closed at once, which says that all have been accepted.
        let refused = silent.last_mut().unwrap().read(&mut [0]).await;
        assert!(refused.is_err() || refused.is_ok_and(|read| read == 0));
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let mut other = socket.connect(address).await.unwrap();
        other.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        other.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with(&body()), "{answer}");
    }

    #[tokio::test]
    async fn a_client_that_says_nothing_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut running = JoinSet::new();
        running.spawn(serve_within(Duration::from_millis(50), listener, Arc::new(body)));
        let mut silent = TcpStream::connect(address).await.unwrap();
        assert_eq!(silent.read(&mut [0]).await.unwrap(), 0);
    }

    const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: text/plain\r\n\r\n";

    proptest! {
        /// Requests that are cut short, and of which some bytes are others.
        #[test]
        fn no_bytes_make_it_panic_or_answer_out_of_form(
            changes in prop::collection::vec((0..REQUEST.len(), any::<u8>()), 0..4),
            length in 0..=REQUEST.len(),
        ) {
            let mut bytes = REQUEST[..length].to_vec();
            for (at, byte) in changes {
                if let Some(changed) = bytes.get_mut(at) {
                    *changed = byte;
                }
            }
            if let Some(request) = parse(&bytes) {
                let answer = String::from_utf8(answer(request, &body)).unwrap();
                prop_assert!(answer.starts_with("HTTP/1.1 "));
                let is_metrics = [&b"GET /metrics "[..], b"GET /metrics?"];
                let is_metrics = is_metrics.iter().any(|start| bytes.starts_with(start));
                prop_assert_eq!(answer.ends_with(&body()), is_metrics && request.is_ok());
            }
        }
    }
}
