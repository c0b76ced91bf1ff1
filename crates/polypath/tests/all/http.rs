//! A web server: `GET /N` gives N bytes, `GET /` a page, `GET /endless` never ends, `PUT` gives the
//! digest of what it got.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What `/endless` sends, its head included, before it says nothing more.
pub(crate) const ENDLESS_BYTES: usize = 1_000_000;

/// Bytes that no shift or cut leaves as they are.
pub(crate) fn content(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) struct Server {
    address: SocketAddr,
    flowing: Receiver<()>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_at(Ipv4Addr::LOCALHOST.into(), "")
    }

    /// At another address, and with this page.
    pub(crate) fn start_at(address: IpAddr, page: &str) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (flows, flowing) = channel();
        let page: Arc<str> = page.into();
        thread::spawn(move || {
            for client in listener.incoming() {
                let (flows, page) = (flows.clone(), Arc::clone(&page));
                // A client that leaves is the test's business, not the server's.
                thread::spawn(move || serve(client.unwrap(), &flows, &page));
            }
        });
        Self { address, flowing }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Waits until one more client of `/half/SIZE`, or of a PUT to `/half`, is half-way.
    pub(crate) fn wait_until_flowing(&self) {
        self.flowing.recv().unwrap();
    }
}

fn serve(client: TcpStream, flows: &Sender<()>, page: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut writer = client;
    let (mut request, mut length) = (String::new(), 0);
    reader.read_line(&mut request)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let lower = line.trim().to_ascii_lowercase();
        if lower.is_empty() {
            break;
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if lower.starts_with("expect:") {
            writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
    }
    let mut words = request.split(' ');
    match (words.next(), words.next()) {
        (Some("PUT"), path) => {
            let mut body = vec![0; length];
            let (first, second) = body.split_at_mut(length / 2);
            reader.read_exact(first)?;
            if path == Some("/half") {
                let _ = flows.send(());
            }
            reader.read_exact(second)?;
            answer(&mut writer, sha256(&body).as_bytes(), || ())
        }
        (_, Some("/")) => answer(&mut writer, page.as_bytes(), || ()),
        // What browsers ask for by themselves.
        (_, Some("/favicon.ico")) => answer(&mut writer, b"", || ()),
        (_, Some("/endless")) => endless(&mut reader, &mut writer),
        (_, Some(path)) if path.starts_with("/half/") => {
            let body = content(path["/half/".len()..].parse().unwrap());
            answer(&mut writer, &body, || {
                let _ = flows.send(());
            })
        }
        (_, Some(path)) => answer(&mut writer, &content(path[1..].parse().unwrap()), || ()),
        // Who connected has been killed meanwhile.
        _ if request.is_empty() => Ok(()),
        _ => panic!("{request}"),
    }
}

fn answer(writer: &mut TcpStream, body: &[u8], half_way: impl FnOnce()) -> std::io::Result<()> {
    let length = body.len();
    write!(writer, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    let (first, second) = body.split_at(length / 2);
    writer.write_all(first)?;
    half_way();
    writer.write_all(second)
}

/// Without a length, only the end of the connection says that all has come; it does not come.
fn endless(reader: &mut impl Read, writer: &mut TcpStream) -> std::io::Result<()> {
    let head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    writer.write_all(head)?;
    writer.write_all(&content(ENDLESS_BYTES - head.len()))?;
    reader.read_to_end(&mut Vec::new()).map(|_| ())
}
