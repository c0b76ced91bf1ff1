//! The HTTP proxy with curl and byte by byte.

use std::net::SocketAddr;
use std::time::Duration;

use crate::common::*;
use polypath_net::exit::{Exit, ExitOptions};
use polypath_net::proxy::{Credentials, Opener, ProxyLimits, ProxyOptions, serve_http};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn proxy<O: Opener>(opener: O, options: ProxyOptions) -> SocketAddr {
    let (listener, addr) = listener().await;
    tokio::spawn(serve_http(listener, opener, options));
    addr
}

/// Sends `request` and reads to the end.
async fn exchange(proxy: SocketAddr, request: &[u8]) -> std::io::Result<String> {
    let mut client = TcpStream::connect(proxy).await.unwrap();
    client.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    within(client.read_to_end(&mut answer)).await?;
    Ok(String::from_utf8(answer).unwrap())
}

#[tokio::test]
async fn curl_gets_pages_plainly_and_through_a_tunnel() {
    let origin = origin().await;
    let (proxy, url) = (proxy(exit(), options()).await.to_string(), format!("http://{origin}/p?q"));
    let (ok, plain, error) = curl(&["-x", &proxy, &url, "-d", "content"]).await;
    assert!(ok && plain.starts_with("POST /p?q HTTP/1.1\r\n"), "{plain}{error}");
    assert!(plain.contains(&format!("\r\nHost: {origin}\r\n")), "{plain}");
    assert!(plain.contains("\r\nConnection: close\r\n"), "{plain}");
    assert!(!plain.to_ascii_lowercase().contains("proxy-connection"), "{plain}");
    assert!(plain.ends_with("content"), "{plain}");

    let (ok, tunnelled, error) =
        curl(&["-x", &proxy, "--proxytunnel", &url, "-d", "content"]).await;
    assert!(ok && tunnelled.ends_with("content"), "{tunnelled}{error}");
    assert!(!tunnelled.contains("Via:"), "{tunnelled}");
}

#[tokio::test]
async fn curl_sends_chunks_and_several_pages_one_after_the_other() {
    let proxy = proxy(exit(), options()).await.to_string();
    let url = format!("http://{}/", origin().await);
    let chunked = ["-x", &proxy, "-H", "Transfer-Encoding: chunked", "-d", "content", &url];
    let (ok, seen, error) = curl(&chunked).await;
    assert!(ok && seen.ends_with("7\r\ncontent\r\n0\r\n\r\n"), "{seen}{error}");
    let (ok, seen, error) = curl(&["-x", &proxy, &url, &url, &url]).await;
    assert!(ok && seen.matches("GET / HTTP/1.1").count() == 3, "{seen}{error}");
}

#[tokio::test]
async fn curl_logs_in_or_is_refused() {
    let credentials = Some(Credentials::new("me", "secret").unwrap());
    let proxy = proxy(exit(), ProxyOptions { credentials, ..options() }).await.to_string();
    let url = format!("http://{}/", origin().await);
    let code = async |arguments: &[&str]| {
        let common = ["-x", &proxy, "-o", "/dev/null", "-w", "%{http_code}/%{http_connect}", &url];
        curl(&[&common, arguments].concat()).await.1
    };
    assert_eq!(code(&["-U", "me:secret"]).await, "200/000");
    assert_eq!(code(&["-U", "me:secret", "-p"]).await, "200/200");
    assert_eq!(code(&["-U", "me:wrong"]).await, "407/000");
    assert_eq!(code(&["-p"]).await, "000/407");
}

#[tokio::test]
async fn a_request_may_come_byte_by_byte() {
    let (origin, proxy) = (origin().await, proxy(exit(), options()).await);
    let mut client = TcpStream::connect(proxy).await.unwrap();
    client.set_nodelay(true).unwrap();
    let request = format!("POST http://{origin}/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
    for byte in request.bytes() {
        client.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let mut answer = String::new();
    within(client.read_to_string(&mut answer)).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nabc"),
        "{answer}"
    );
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn a_second_request_never_reaches_the_first_origin() {
    let (origin, proxy) = (origin().await, proxy(exit(), options()).await);
    let two = format!("GET http://{origin}/1 HTTP/1.1\r\n\r\nGET http://other/2 HTTP/1.1\r\n\r\n");
    let answer = exchange(proxy, two.as_bytes()).await.unwrap();
    assert!(answer.contains("GET /1") && !answer.contains("/2"), "{answer}");
}

#[tokio::test]
async fn data_sent_along_with_connect_arrives_and_half_close_passes() {
    let (echo, proxy) = (echo_after_eof().await, proxy(exit(), options()).await);
    let mut client = TcpStream::connect(proxy).await.unwrap();
    let request = format!("CONNECT {echo} HTTP/1.1\r\nHost: {echo}\r\n\r\nearly");
    client.write_all(request.as_bytes()).await.unwrap();
    client.write_all(b" and late").await.unwrap();
    client.shutdown().await.unwrap();
    let mut answer = String::new();
    within(client.read_to_string(&mut answer)).await.unwrap();
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nearly and late");
}

#[tokio::test]
async fn a_cut_response_resets_the_client() {
    let cut = |response: &'static str| {
        server(move |mut client| async move {
            let _ = client.read(&mut [0; 2048]).await;
            client.write_all(response.as_bytes()).await.unwrap();
        })
    };
    let proxy = proxy(exit(), options()).await;
    for response in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n",
    ] {
        let request = format!("GET http://{}/ HTTP/1.1\r\n\r\n", cut(response).await);
        let error = exchange(proxy, request.as_bytes()).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{response}");
    }
    let whole = cut("HTTP/1.1 200 OK\r\n\r\nall").await;
    let request = format!("GET http://{whole}/ HTTP/1.1\r\n\r\n");
    assert!(exchange(proxy, request.as_bytes()).await.unwrap().ends_with("all"));
    for faulty in [
        "no HTTP\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n",
    ] {
        let request = format!("GET http://{}/ HTTP/1.1\r\n\r\n", cut(faulty).await);
        let answer = exchange(proxy, request.as_bytes()).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 502 "), "{faulty}: {answer}");
    }
}

#[tokio::test]
async fn an_interim_response_passes() {
    let origin = server(|mut client| async move {
        let _ = client.read(&mut [0; 2048]).await;
        let answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
        client.write_all(answer).await.unwrap();
    })
    .await;
    let request = format!("GET http://{origin}/ HTTP/1.1\r\n\r\n");
    let answer = exchange(proxy(exit(), options()).await, request.as_bytes()).await.unwrap();
    assert_eq!(
        answer,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
    );
}

#[tokio::test]
async fn each_failure_has_its_status() {
    let open = proxy(exit(), options()).await;
    let closed = proxy(Exit::new(ExitOptions::default()), options()).await;
    let limit = Exit::new(ExitOptions { max_connections: 0, ..ExitOptions::default() });
    let full = proxy(limit, options()).await;
    let large = format!("GET http://a/ HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(70_000));
    let refused = format!("CONNECT {} HTTP/1.1\r\n\r\n", closed_port().await);
    for (proxy, request, status) in [
        (open, "GET / HTTP/1.1\r\n\r\n", 400),
        (open, "GET http://u@a/ HTTP/1.1\r\n\r\n", 400),
        (open, "CONNECT nowhere HTTP/1.1\r\n\r\n", 400),
        (open, "\0\0\0\r\n\r\n", 400),
        (open, "GET http://a/ HTTP/2.0\r\n\r\n", 505),
        (open, "POST http://a/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (open, "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (open, &large, 431),
        (open, &refused, 502),
        (closed, "CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n", 403),
        (closed, "GET http://localhost:1/ HTTP/1.1\r\n\r\n", 403),
        (full, "GET http://192.0.2.1/ HTTP/1.1\r\n\r\n", 503),
    ] {
        let answer = exchange(proxy, request.as_bytes()).await.unwrap();
        let line = answer.lines().next().unwrap_or_default();
        assert!(line.starts_with(&format!("HTTP/1.1 {status} ")), "{:.60}: {answer}", request);
    }
}

#[tokio::test]
async fn a_client_for_whom_no_place_is_left_is_told_so() {
    let full = proxy(exit(), ProxyOptions { limits: ProxyLimits::new(0, 0), ..options() }).await;
    let answer = exchange(full, b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    let body = "127.0.0.1 has 0 connections to the proxies of this edge; 0 of 0 are left";
    assert!(answer.contains(body), "{answer}");
}

#[tokio::test]
async fn a_client_that_says_nothing_is_told_so_and_dropped() {
    let handshake_timeout = Duration::from_millis(100);
    let proxy = proxy(exit(), ProxyOptions { handshake_timeout, ..options() }).await;
    for sent in ["", "GET http://a/ HTTP/1.1\r\nA: "] {
        let answer = exchange(proxy, sent.as_bytes()).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
}

/// An origin that never answers, and what the end of its reading was.
async fn deaf_origin() -> (SocketAddr, tokio::sync::mpsc::Receiver<std::io::Result<usize>>) {
    let (seen, ends) = tokio::sync::mpsc::channel(1);
    let origin = server(move |mut client| {
        let seen = seen.clone();
        async move {
            let _ = seen.send(client.read_to_end(&mut Vec::new()).await).await;
        }
    });
    (origin.await, ends)
}

#[tokio::test]
async fn a_request_does_not_outlive_a_client_that_has_left() {
    let half_closed_timeout = Duration::from_millis(100);
    let proxy = proxy(exit(), ProxyOptions { half_closed_timeout, ..options() }).await;
    let (origin, mut ends) = deaf_origin().await;
    let mut client = TcpStream::connect(proxy).await.unwrap();
    let request = format!("GET http://{origin}/ HTTP/1.1\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    drop(client);
    let end = within(ends.recv()).await.unwrap().unwrap_err();
    assert_eq!(end.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_client_that_ends_its_half_gets_its_answer_or_a_word() {
    let half_closed_timeout = Duration::from_millis(100);
    let short = proxy(exit(), ProxyOptions { half_closed_timeout, ..options() }).await;
    let long = proxy(exit(), options()).await;
    let (deaf, _ends) = deaf_origin().await;
    for (proxy, origin, status) in [(short, deaf, 504), (long, origin().await, 200)] {
        let mut client = TcpStream::connect(proxy).await.unwrap();
        let request = format!("GET http://{origin}/ HTTP/1.1\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        client.shutdown().await.unwrap();
        let mut answer = String::new();
        within(client.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}
