//! Clients and targets that no longer read, beside others that do.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use super::http::{Server, content, sha256};
use super::world::{World, curl, stdout};

/// A client that has asked an HTTP proxy for `url`, has the head of the answer, and reads no more.
pub(super) fn stalled(proxy: &str, url: &str) -> TcpStream {
    let mut client = TcpStream::connect(proxy).unwrap();
    write!(client, "GET {url} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
    let mut head = [0; 64];
    client.read_exact(&mut head).unwrap();
    client
}

/// Each of them has asked for more than its sockets (16 MB at most) and the unread data of the bond
/// (4 MB) hold together. Another download and an upload pass whole.
#[test]
fn downloads_that_nobody_reads_stop_no_other_transfer() {
    let (world, server) = (World::new(), Server::start());
    let hub = world.hub(&[]);
    let small = ["--http", "127.0.0.1:0", "--receive-buffer", "1 MB"];
    let edge = world.edge(&hub, &small);
    let proxy = edge.address_of("http");
    let stalled: Vec<_> = (0..8).map(|_| stalled(&proxy, &server.url("40000000"))).collect();

    let through = ["--proxy", &format!("http://{proxy}")];
    let file = world.path("down.bin");
    let url = server.url("30000000");
    let got = curl(&[&through, &["--output", &file, &url, "--max-time", "60"]]);
    assert!(got.status.success(), "{got:?}");
    assert_eq!(sha256(&std::fs::read(&file).unwrap()), sha256(&content(30_000_000)));

    let up = world.file("up.bin", &content(10_000_000));
    let put = curl(&[&through, &["--upload-file", &up, &server.url("x"), "--max-time", "60"]]);
    assert_eq!(stdout(&put), sha256(&content(10_000_000)));
    drop(stalled);
}

/// A client that goes on sending to `target` through an HTTP proxy until it is shut down.
pub(super) fn endless_upload(proxy: &str, target: &str) -> TcpStream {
    let mut client = TcpStream::connect(proxy).unwrap();
    write!(client, "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").unwrap();
    let mut answer = [0; 12];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    let mut sending = client.try_clone().unwrap();
    thread::spawn(move || while sending.write_all(&[7; 1 << 16]).is_ok() {});
    client
}

/// A target that accepts connections and never reads.
pub(super) fn silent_target() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || listener.incoming().collect::<Vec<_>>());
    address
}

/// Others pass while eight uploads to a target that never reads go on for ever, and when the
/// clients of these have gone.
#[test]
fn uploads_to_a_target_that_does_not_read_stop_no_other_transfer() {
    let (world, server, target) = (World::new(), Server::start(), silent_target());
    let hub = world.hub(&[]);
    let edge = world.edge(&hub, &["--http", "127.0.0.1:0"]);
    let proxy = edge.address_of("http");
    let stalled: Vec<_> = (0..8).map(|_| endless_upload(&proxy, &target)).collect();

    let through = ["--proxy", &format!("http://{proxy}")];
    let up = world.file("up.bin", &content(20_000_000));
    let put = || curl(&[&through, &["--upload-file", &up, &server.url("x"), "--max-time", "60"]]);
    assert_eq!(stdout(&put()), sha256(&content(20_000_000)));
    for client in stalled {
        // Where more than the hub's bound was unread, the stream has been given up before.
        let _ = client.shutdown(Shutdown::Both);
    }
    assert_eq!(stdout(&put()), sha256(&content(20_000_000)));
}
